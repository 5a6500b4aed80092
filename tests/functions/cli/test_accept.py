"""`gazette accept` on moto: each step passes, and fails if its promise is broken."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from gazette.adapters.aws.queues import encode_run_key
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.mail.ses import SesMailer
from gazette.bootstrap.parts.clock import now
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.identity import address_hash
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.feedback import bounces, feedback
from typer.testing import Result

from demo.ses_events import entries
from gazette_cli.reference.permissions import PERMISSIONS
from gazette_support.domain.acceptance.readers import CATEGORY
from tests.builders import KEY, SUPPRESSION_KEY
from tests.functions.cli.accepted_stage import AcceptedStage, accept, accepted_stage
from tests.functions.cli.conftest import outside
from tests.functions.cli.test_doctor import source  # noqa: F401  # a fixture
from tests.functions.cli.test_doctor import stage as healthy  # noqa: F401  # a fixture
from tests.functions.conftest import Cloud, Context
from tests.functions.in_stages import STAGES, Smtp
from tests.shapes import check, fields_of
from tests.unit.support.test_doctor_mail import ACCOUNT


@pytest.fixture
def stage(
    healthy: Cloud,  # noqa: F811
    logs: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> AcceptedStage:
    monkeypatch.chdir(tmp_path)
    return accepted_stage(healthy, logs, monkeypatch)


def rows(done: Result, result: str = "passed") -> set[str]:
    """The steps with this result."""
    document = json.loads(done.stdout)
    return {each["step"] for each in document["steps"] if each["result"] == result}


def seen(done: Result, step: str) -> Any:
    return {each["step"]: each["seen"] for each in json.loads(done.stdout)["steps"]}[step]


def state_files() -> list[Path]:
    return [*Path.cwd().iterdir()]


def assert_nothing_is_left(stage: AcceptedStage) -> None:
    cloud = stage.cloud
    assert cloud.rows("suppressions") == []
    assert cloud.rows("category_stats") == []
    assert cloud.rows("bounces") == []
    assert [row for row in cloud.rows("control") if row["kind"] == "hold"] == []
    assert all("erased_at" in row and "email" not in row for row in cloud.rows("subscribers"))
    assert cloud.rows("schedules") == []
    assert cloud.take("quarantine") == []
    removed = [
        request["EmailAddress"]
        for name, request in cloud.meter.requests
        if name == "sesv2.DeleteSuppressedDestination"
    ]
    assert set(removed) >= {each.to for each in stage.sent}
    assert len(set(removed)) == 4
    assert all(each.endswith("@simulator.amazonses.com") for each in removed)


def test_every_step_passes_and_nothing_is_left(stage: AcceptedStage) -> None:
    with stage.cloud.meter.acting("accept"):
        done = accept("--json")
    assert done.exit_code == 0, done.output
    assert rows(done, "failed") == rows(done, "not shown") == set()
    assert len(rows(done)) == 12
    assert {role: len(stage.emails(role)) for role in ("ok", "bounce", "complaint", "leaves")} == {
        "ok": 2,
        "bounce": 1,
        "complaint": 1,
        "leaves": 1,
    }
    assert_nothing_is_left(stage)
    assert state_files() == []
    assert check("accept", done) == fields_of("accept")
    assert PERMISSIONS["accept"] > PERMISSIONS["doctor"] - {
        ("identity/*", "ses:SendEmail"),
        ("configuration-set/*", "ses:SendEmail"),
    }


@pytest.mark.long
def test_messages_of_others_stay_and_holds_do_not(stage: AcceptedStage) -> None:
    """While the command waits, others leave messages, and more happens to its readers. Every
    granted call is made."""
    sqs, until, request = boto3.client("sqs"), stage.until, stage.request
    dead = sqs.get_queue_url(QueueName="gazette-prod-generate-dead")["QueueUrl"]

    def messages_come(instant: datetime) -> None:
        until(instant)
        with stage.acting():
            for url in (dead, stage.cloud.queues["quarantine"]):
                sqs.send_message(QueueUrl=url, MessageBody=encode_run_key(KEY))

    def more_happens(method: str, link: str) -> int:
        with stage.acting():
            DynamoCategoryHolds("control").add(category_hold(CATEGORY, "bounces", now()))
            suppressions = DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now)
            (bounced,) = stage.emails("bounce")
            suppressions.unsubscribe(address_hash(bounced.to), "bounced")
        return request(method, link)

    stage.until, stage.request = messages_come, more_happens  # type: ignore[method-assign]
    with stage.cloud.meter.acting("accept"):
        done = accept("--json")
    assert done.exit_code == 0, done.output
    for url in (dead, stage.cloud.queues["quarantine"]):
        (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
        assert message["Body"] == encode_run_key(KEY)
    sqs.purge_queue(QueueUrl=stage.cloud.queues["quarantine"])
    assert_nothing_is_left(stage)
    assert outside("accept", stage.cloud.meter.grants["accept"]) == (set(), set())


@pytest.mark.long
def test_missing_delivery_events_fail_the_digest(stage: AcceptedStage) -> None:
    stage.delivers = lambda _: []
    done = accept("--json")
    assert done.exit_code == 1
    assert rows(done, "failed") == {"digest", "immediate"}
    assert "no delivery event arrived" in seen(done, "digest")
    assert rows(done, "not shown") == {"bounce", "complaint", "redrive", "one-click", "opt-outs"}
    assert_nothing_is_left(stage)


def test_email_that_is_sent_twice_fails_the_digest(
    stage: AcceptedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = SesMailer.send

    def twice(self: SesMailer, mail: Any, attempt: int) -> Any:
        send(self, mail, attempt)
        return send(self, mail, attempt)

    monkeypatch.setattr(SesMailer, "send", twice)
    done = accept("--only", "digest", "--json")
    assert done.exit_code == 1
    assert rows(done, "failed") == {"digest"}
    assert "The provider sent 2 messages for one email of accept-" in seen(done, "digest")


@pytest.mark.long
def test_late_events_of_a_second_message_fail_the_digest(stage: AcceptedStage) -> None:
    first = stage.delivers
    stage.delivers = lambda taken: [
        *first(taken),
        *entries(replace(taken, message_id=f"{taken.message_id}-again")),
    ]
    done = accept("--only", "digest", "--json")
    assert rows(done, "failed") == {"digest"}


@pytest.mark.long
def test_redrive_that_sends_again_fails(stage: AcceptedStage) -> None:
    stage.sends_again = True
    done = accept("--only", "redrive", "--json")
    assert rows(done, "failed") == {"redrive"}
    assert "The provider sent 2 messages" in seen(done, "redrive")


@pytest.mark.parametrize("broken", ["suppress_recipient", "stop_reader"])
def test_bounce_without_suppression_fails(
    stage: AcceptedStage, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Feedback without any suppression, and feedback that lets the reader's status be."""
    module = feedback if broken == "suppress_recipient" else bounces
    monkeypatch.setattr(module, broken, lambda *_, **__: None)
    done = accept("--only", "bounce", "--only", "complaint", "--json")
    assert done.exit_code == 1
    assert rows(done, "failed") == {"bounce", "complaint"}
    assert "The delivery event `bounced` arrived" in seen(done, "bounce")
    assert_nothing_is_left(stage)


@pytest.mark.long
def test_event_that_is_stored_after_an_opt_out_fails(
    stage: AcceptedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Subscriber, "has_left", False)
    done = accept("--json")
    assert rows(done, "failed") == {"opt-outs"}
    assert "is stored after the opt-out" in seen(done, "opt-outs")


@pytest.mark.long
@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (lambda *_: 200, "but accept-"),
        (lambda _, method, __: 500 if method == "POST" else 200, "returned the status 500"),
        (lambda *_: 0, "returned the status none"),
        (lambda stage, _, link: stage.request("POST", link), "so link scanners would, too"),
    ],
)
def test_link_that_does_not_work_as_one_click_fails(
    stage: AcceptedStage, answers: Callable[[AcceptedStage, str, str], int], why: str
) -> None:
    stage.answers = answers
    done = accept("--only", "one-click", "--json")
    assert done.exit_code == 1
    assert rows(done, "failed") == {"one-click"}
    assert why in seen(done, "one-click")
    assert_nothing_is_left(stage)


def denied(operation: str) -> Callable[[object], Any]:
    def refuse(_: object) -> Any:
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, operation)

    return refuse


@pytest.mark.long
def test_missing_permission_for_the_link_key_is_said_and_not_a_failure(
    stage: AcceptedStage,
) -> None:
    stage.hides_links_secret()
    done = accept("--only", "one-click", "--json")
    assert done.exit_code == 2
    assert rows(done, "failed") == set()
    assert "secretsmanager:GetSecretValue" in seen(done, "one-click")
    assert "--to" in seen(done, "one-click")


@pytest.mark.long
def test_missing_permission_for_the_logs_is_said(stage: AcceptedStage) -> None:
    stage.cloud.answers["FilterLogEvents"] = denied("FilterLogEvents")
    done = accept("--only", "digest", "--json")
    assert done.exit_code == 2
    assert "Your credentials need logs:FilterLogEvents." in seen(done, "digest")


def test_stage_with_problems_is_refused_before_anything_is_published(stage: AcceptedStage) -> None:
    stage.cloud.answers["DescribeRule"] = lambda _: {"State": "DISABLED"}
    done = accept()
    assert done.exit_code == 2
    assert "rule R4: DISABLED. Enable the rule" in done.stderr
    assert not any(name == "events.PutEvents" for name, _ in stage.cloud.meter.requests)
    assert state_files() == []


@pytest.mark.long
def test_account_in_the_sandbox_is_accepted_without_its_suppression_list(
    stage: AcceptedStage,
) -> None:
    stage.cloud.answers["GetAccount"] = lambda _: {**ACCOUNT, "ProductionAccessEnabled": False}
    done = accept("--only", "bounce", "--json")
    assert done.exit_code == 0
    assert "SES is in the sandbox" in seen(done, "ready")
    assert seen(done, "erase").endswith("no address is suppressed in Gazette")
    names = [name for name, _ in stage.cloud.meter.requests]
    assert "sesv2.DeleteSuppressedDestination" not in names


def test_interrupted_acceptance_is_continued_and_sends_nothing_twice(stage: AcceptedStage) -> None:
    stage.interrupts_in = 3
    done = accept("--json")
    assert done.exit_code == 130
    (file,) = state_files()
    assert f"gazette accept --resume {file}`" in done.stderr
    assert f"gazette accept --resume {file} --only erase`" in done.stderr
    done = accept("--resume", str(file), "--json")
    assert done.exit_code == 0, done.output
    assert len(stage.sent) == 5
    assert_nothing_is_left(stage)
    assert state_files() == []


def test_kept_readers_are_erased_later(stage: AcceptedStage) -> None:
    done = accept("--only", "profiles", "--keep", "--json")
    assert done.exit_code == 0
    assert rows(done) == {"ready", "profiles"}
    (file,) = state_files()
    assert json.loads(done.stdout)["state_file"] == str(file)
    assert len(stage.cloud.rows("subscribers")) == 4
    done = accept("--resume", str(file), "--only", "erase", "--json")
    assert done.exit_code == 0
    assert_nothing_is_left(stage)
    assert state_files() == []


def test_steps_are_chosen_with_what_they_require(stage: AcceptedStage) -> None:
    done = accept("--only", "quarantine", "--json")
    assert rows(done) == {"ready", "profiles", "quarantine", "erase"}
    assert not stage.sent


def test_restricted_sources_and_hosts_are_kept(
    healthy: Cloud,  # noqa: F811
    logs: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = {"subscriber.changed": ["shop.accounts"], "event.created": ["shop.b", "shop.a"]}
    stage = accepted_stage(
        healthy, logs, monkeypatch, sources=json.dumps(sources), link_hosts='["*.shop.example"]'
    )
    done = accept("--only", "events", "--json")
    assert done.exit_code == 0, done.output
    entries_put = [
        entry
        for name, request in stage.cloud.meter.requests
        if name == "events.PutEvents"
        for entry in request["Entries"]
    ]
    assert {each["DetailType"]: each["Source"] for each in entries_put} == {
        "subscriber.changed": "shop.accounts",
        "event.created": "shop.a",
        "subscriber.deleted": "gazette.acceptance",
    }


@pytest.mark.long
def test_operator_clicks_the_link_in_their_own_mailbox(stage: AcceptedStage) -> None:
    stage.clicks_by_hand = "me@shop.example"
    done = accept("--to", "me@shop.example", "--only", "one-click", "--json")
    assert done.exit_code == 0, done.output
    assert "unsubscribed by the link in the email" in seen(done, "one-click")
    assert "Click the link that ends all email" in done.stderr
    secrets = [
        request["SecretId"]
        for name, request in stage.cloud.meter.requests
        if name == "secretsmanager.GetSecretValue"
    ]
    assert secrets
    assert_nothing_is_left_but(stage, "me@shop.example")


def assert_nothing_is_left_but(stage: AcceptedStage, to: str) -> None:
    """The list of SES is not touched for an operator's own address."""
    removed = [
        request["EmailAddress"]
        for name, request in stage.cloud.meter.requests
        if name == "sesv2.DeleteSuppressedDestination"
    ]
    assert to not in removed
    assert stage.cloud.rows("suppressions") == []


@pytest.fixture
def by_smtp(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The settings of a stage that sends by SMTP, before its functions are deployed."""
    for variable, value in STAGES["smtp"].items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(Context, "get_remaining_time_in_millis", lambda _: 900_000)
    with Smtp(cloud.letters).answering(monkeypatch):
        yield


@pytest.mark.long
def test_stage_by_smtp_shows_what_needs_no_simulator(
    by_smtp: None,
    healthy: Cloud,  # noqa: F811
    logs: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    stage = accepted_stage(healthy, logs, monkeypatch)
    done = accept("--json")
    assert done.exit_code == 2
    assert "Specify --to with an address" in done.stderr
    stage.clicks_by_hand, stage.clicks_after = "me@shop.example", 2
    done = accept("--to", "me@shop.example", "--json")
    assert done.exit_code == 2, done.output
    assert rows(done, "failed") == set()
    assert rows(done, "not shown") == {"bounce", "complaint"}
    assert "Only SES has a mailbox simulator" in seen(done, "bounce")
    assert [each.to for each in healthy.letters] == ["me@shop.example"] * 2
    assert not any(name == "sesv2.SendEmail" for name, _ in healthy.meter.requests)
    assert healthy.rows("suppressions") == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--to", "nobody"), "--to 'nobody' is not an email address."),
        (("--only", "erase"), "--only erase requires --resume"),
        (("--resume", "missing.json"), "missing.json does not exist."),
        (("--resume", "other.json"), "other.json is not the state of an acceptance"),
        (("--resume", "missing.json", "--to", "me@shop.example"), "--to belongs to the beginning."),
    ],
)
def test_wrong_options_are_refused(
    stage: AcceptedStage, arguments: tuple[str, ...], why: str
) -> None:
    Path("other.json").write_text('{"version": 9}')
    done = accept(*arguments)
    assert done.exit_code == 2
    assert why in done.stderr
    assert not any(name == "events.PutEvents" for name, _ in stage.cloud.meter.requests)


def test_command_asks_first_and_says_that_an_alarm_may_ring(stage: AcceptedStage) -> None:
    done = accept(said="n\n")
    assert done.exit_code == 1
    assert "The alarm quarantine-not-empty may ring" in done.stderr
    assert not any(name == "events.PutEvents" for name, _ in stage.cloud.meter.requests)
    assert state_files() == []
