"""What the doctor says of the stacks, from what was deployed and what AWS says of it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from gazette.domain.console.levels import Level
from gazette.domain.errors import Unavailable
from gazette.domain.scheduling.calendar import slot_of

from gazette_cli.doctor.canary import check_canary
from gazette_cli.doctor.data_checks import check_data
from gazette_cli.doctor.findings import Finding, Unseen
from gazette_cli.doctor.stage_checks import check_stage
from gazette_cli.doctor.stage_facts import (
    ALIAS,
    MAPPING,
    QUEUE,
    RULE,
    SCHEDULE,
    SUBSCRIPTION,
    TABLE,
    TOPIC,
    Asker,
    Deployed,
    StageFacts,
)
from gazette_cli.doctor.work_checks import check_invoked, check_ticks, check_work
from gazette_cli.doctor.work_facts import WorkFacts
from gazette_cli.shared.next_commands import PUT_BACK, PUT_BACK_PAGE

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 23, 12, 4, tzinfo=UTC)
SIZE: dict[str, Any] = {"BatchSize": 1, "ScalingConfig": {"MaximumConcurrency": 20}}
MAPPED = {"State": "Enabled", "MaximumBatchingWindowInSeconds": 0, **SIZE}
FIRED = {
    "AlarmName": "gazette-prod-run-left-open",
    "AlarmDescription": "NOW: a run is open. See docs/runbook/late.md.",
}
_KEYS = [{"AttributeName": "user_id", "KeyType": "HASH"}]
_INDEX = {"IndexName": "open", "KeySchema": _KEYS, "Projection": {"ProjectionType": "INCLUDE"}}


def table(**now: Any) -> Deployed:
    """`runs`, as the template made it but for `now`."""
    return Deployed(
        name="Runs",
        kind=TABLE,
        physical="GazetteDataProd-Runs",
        template={
            "KeySchema": _KEYS,
            "GlobalSecondaryIndexes": [_INDEX],
            "DeletionProtectionEnabled": True,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
        },
        now={
            "Table": {
                "KeySchema": _KEYS,
                "GlobalSecondaryIndexes": now.get("indexes", [_INDEX]),
                "DeletionProtectionEnabled": now.get("protected", True),
            },
            "ContinuousBackupsDescription": {
                "PointInTimeRecoveryDescription": {
                    "PointInTimeRecoveryStatus": now.get("pitr", "ENABLED")
                }
            },
            "TimeToLiveDescription": {
                "TimeToLiveStatus": now.get("ttl", "ENABLED"),
                "AttributeName": "expires_at",
            },
        },
    )


def queue(name: str, **now: str) -> Deployed:
    """A queue with a redrive policy, as the template made it but for `now`."""
    policy = '{"deadLetterTargetArn": "arn", "maxReceiveCount": 5}'
    return Deployed(
        name=name.title(),
        kind=QUEUE,
        physical=f"https://sqs.us-east-1.amazonaws.com/1/gazette-prod-{name}",
        template={"VisibilityTimeout": 720, "RedrivePolicy": {"maxReceiveCount": 5}},
        now={"VisibilityTimeout": "720", "RedrivePolicy": policy, **now},
    )


def one(kind: str, now: Any, **made: Any) -> Deployed:
    return Deployed(name="One", kind=kind, physical="one", template=made, now=now)


WELL = StageFacts(
    stage="prod",
    resources=[
        table(),
        queue("generate"),
        queue("generate-dead", ApproximateNumberOfMessages="0"),
        one(SCHEDULE, {"State": "ENABLED"}, State="ENABLED"),
        one(RULE, {"State": "ENABLED"}),
        one(MAPPING, MAPPED, **SIZE),
        one(ALIAS, {"FunctionVersion": "3", "Newest": 3}),
        one(TOPIC, {"Subscriptions": [{"SubscriptionArn": "arn:aws:sns:…"}]}),
        one(SUBSCRIPTION, None, TopicArn="one"),
    ],
    alarms={"MetricAlarms": []},
)


def findings(facts: StageFacts) -> list[Finding]:
    return [*check_stage(facts), *check_data(facts)]


def wrong(found: Iterable[Finding]) -> list[Finding]:
    return [each for each in found if each.level is not Level.OK]


def with_one(changed: Deployed) -> StageFacts:
    """All is well but this resource."""
    assert isinstance(WELL.resources, list)
    others = [each for each in WELL.resources if each.kind != changed.kind]
    return replace(WELL, resources=[*others, changed])


def test_unchanged_stage_has_no_findings() -> None:
    assert wrong(findings(WELL)) == []
    assert len(findings(WELL)) == 10


@pytest.mark.parametrize(
    ("facts", "level", "words"),
    [
        (with_one(table(pitr="DISABLED")), Level.PROBLEM, "recovery is False, not True"),
        (with_one(table(ttl="DISABLED")), Level.PROBLEM, "expiry is None, not expires_at"),
        (with_one(table(protected=False)), Level.PROBLEM, "protection is False, not True"),
        (with_one(table(indexes=[])), Level.PROBLEM, "indexes is {}, not"),
        (with_one(replace(table(), now=None)), Level.PROBLEM, "Runs does not exist"),
        (
            with_one(replace(table(), now=Unseen("needs dynamodb:DescribeTable"))),
            Level.UNSEEN,
            "needs dynamodb:DescribeTable",
        ),
        (
            with_one(queue("generate", VisibilityTimeout="30")),
            Level.PROBLEM,
            "visibility timeout is 30, not 720",
        ),
        (
            with_one(queue("generate", RedrivePolicy="null")),
            Level.PROBLEM,
            "receives is None, not 5",
        ),
        (
            with_one(queue("generate-dead", ApproximateNumberOfMessages="3")),
            Level.PROBLEM,
            "3",
        ),
        (
            with_one(one(SCHEDULE, {"State": "DISABLED"}, State="ENABLED")),
            Level.PROBLEM,
            "DISABLED",
        ),
        (with_one(one(SCHEDULE, None)), Level.PROBLEM, "one does not exist"),
        (with_one(one(RULE, {"State": "DISABLED"})), Level.PROBLEM, "DISABLED"),
        (with_one(one(MAPPING, {"State": "Disabled"})), Level.PROBLEM, "Disabled"),
        (
            with_one(one(MAPPING, {**MAPPED, "BatchSize": 10}, **SIZE)),
            Level.WARNING,
            "BatchSize is 10, not 1",
        ),
        (
            with_one(one(MAPPING, {**MAPPED, "MaximumBatchingWindowInSeconds": 5}, **SIZE)),
            Level.WARNING,
            "MaximumBatchingWindowInSeconds is 5, not 0",
        ),
        (
            with_one(one(MAPPING, {**MAPPED, "ScalingConfig": {}}, **SIZE)),
            Level.WARNING,
            "MaximumConcurrency is 0, not 20",
        ),
        (
            with_one(one(ALIAS, {"FunctionVersion": "3", "Newest": 5})),
            Level.WARNING,
            "version 3; the newest is 5",
        ),
        (
            with_one(one(TOPIC, {"Subscriptions": [{"SubscriptionArn": "PendingConfirmation"}]})),
            Level.PROBLEM,
            "1 not confirmed",
        ),
        (with_one(one(TOPIC, {"Subscriptions": []})), Level.WARNING, "no subscription"),
        (
            replace(WELL, alarms={"MetricAlarms": [FIRED]}),
            Level.PROBLEM,
            "in alarm",
        ),
    ],
)
def test_each_changed_resource_is_a_finding(facts: StageFacts, level: Level, words: str) -> None:
    (finding,) = wrong(findings(facts))
    assert finding.level is level
    assert words in finding.seen
    assert (bool(finding.todo), bool(finding.page)) == (level is not Level.UNSEEN,) * 2
    assert finding.page.startswith("https://") or (ROOT / finding.page.partition("#")[0]).exists()


def test_unreadable_stack_is_a_finding_and_checks_continue() -> None:
    facts = replace(WELL, resources=Unseen("needs cloudformation:ListStackResources"))
    found = findings(facts)
    assert [each.check for each in wrong(found)] == ["stacks"]
    assert {each.check for each in found} == {"stacks", "alarms"}


def test_alarm_finding_links_to_its_runbook_page() -> None:
    facts = replace(WELL, alarms={"MetricAlarms": [FIRED]})
    (finding,) = wrong(findings(facts))
    assert finding.page == "docs/runbook/late.md"


def test_topic_without_subscription_is_ok_if_alarm_email_is_unset() -> None:
    assert isinstance(WELL.resources, list)
    others = [each for each in WELL.resources if each.kind not in {TOPIC, SUBSCRIPTION}]
    facts = replace(WELL, resources=[*others, one(TOPIC, {"Subscriptions": []})])
    assert wrong(findings(facts)) == []
    assert "none, because `alarm_email` is not set" in {each.seen for each in findings(facts)}


def test_changed_event_source_mapping_is_restored_by_a_command() -> None:
    changed = one(MAPPING, {**MAPPED, "ScalingConfig": {"MaximumConcurrency": 2}}, **SIZE)
    (finding,) = wrong(findings(with_one(changed)))
    assert (
        "`aws lambda update-event-source-mapping --uuid one --batch-size 1 "
        "--maximum-batching-window-in-seconds 0 --scaling-config MaximumConcurrency=20`"
    ) in finding.todo


def test_disabled_mapping_of_a_stream_names_what_is_lost() -> None:
    stream = {"StartingPosition": "TRIM_HORIZON", "BatchSize": 100}
    (finding,) = wrong(findings(with_one(one(MAPPING, {"State": "Disabled"}, **stream))))
    assert "no events out are published, and changes of over 24 hours ago are lost" in finding.todo
    assert finding.page == "docs/runbook/events-out-late.md"
    healthy = one(MAPPING, {"State": "Enabled", **stream}, **stream)
    assert wrong(findings(with_one(healthy))) == []


def test_deleted_resource_requires_a_deployment_with_drift_detection() -> None:
    for kind in (SCHEDULE, RULE, ALIAS, QUEUE):
        (finding,) = wrong(findings(with_one(one(kind, None))))
        assert f"`{PUT_BACK}` to create it again" in finding.todo
        assert finding.page == PUT_BACK_PAGE
    (lost,) = wrong(findings(with_one(replace(table(), now=None))))
    assert lost.todo.startswith("Restore the resource")
    for changed in (table(pitr="DISABLED"), queue("generate", VisibilityTimeout="30")):
        (finding,) = wrong(findings(with_one(changed)))
        assert f"To revert the change, run `{PUT_BACK}`" in finding.todo


def test_event_source_mapping_finding_does_not_suggest_a_deployment() -> None:
    (off,) = wrong(findings(with_one(one(MAPPING, {"State": "Disabled"}))))
    assert "`aws lambda update-event-source-mapping --uuid one --enabled`" in off.todo
    (gone,) = wrong(findings(with_one(one(MAPPING, None))))
    for each in (off, gone):
        assert PUT_BACK not in each.todo
    assert gone.page == PUT_BACK_PAGE


def test_alias_behind_the_latest_version_is_moved_by_a_rollback() -> None:
    (behind,) = wrong(findings(with_one(one(ALIAS, {"FunctionVersion": "3", "Newest": 5}))))
    assert re.findall("`([^`]+)`", behind.todo) == [
        "gazette rollback --list",
        "gazette rollback NAME",
    ]


class TwoPages:
    """CloudWatch with more alarms than one answer has."""

    def describe_alarms(self, **asked: str) -> dict[str, Any]:
        number = int(asked.get("NextToken", 0))
        more = {} if number else {"NextToken": "1"}
        return {"MetricAlarms": [{"AlarmName": f"gazette-prod-{number}"}], **more}

    def get_paginator(self, name: str) -> "TwoPages":
        assert name == "describe_alarms"
        return self

    def paginate(self, **asked: str) -> list[dict[str, Any]]:
        assert asked == {"AlarmNamePrefix": "gazette-prod-", "StateValue": "ALARM"}
        return [self.describe_alarms(), self.describe_alarms(NextToken="1")]


def test_more_than_a_hundred_firing_alarms_are_all_found() -> None:
    asker = object.__new__(Asker)
    asker._of = {"cloudwatch": TwoPages()}
    found = asker.alarms("prod")
    assert isinstance(found, dict)
    names = [each["AlarmName"] for each in found["MetricAlarms"]]
    assert names == ["gazette-prod-0", "gazette-prod-1"]


@pytest.mark.parametrize(
    ("name", "page", "why"),
    [
        ("Tick", "docs/runbook/fanout-silent.md", "digests do not start"),
        ("SweepTick", "docs/runbook/sweep-silent.md", "stuck runs do not recover"),
    ],
)
def test_disabled_schedule_links_to_the_page_of_its_target(name: str, page: str, why: str) -> None:
    off = replace(one(SCHEDULE, {"State": "DISABLED"}), name=name)
    (finding,) = wrong(findings(with_one(off)))
    assert (finding.page, why in finding.todo) == (page, True)


def test_silent_sweep_and_old_version_link_to_their_pages() -> None:
    assert check_invoked("sweep", 0, ticks=True).page == "docs/runbook/sweep-silent.md"
    late = check_ticks({0: NOW - timedelta(hours=1)}, shards=1, ticks=True, now=NOW)
    assert late.page == "docs/runbook/fanout-silent.md"
    (behind,) = wrong(findings(with_one(one(ALIAS, {"FunctionVersion": "3", "Newest": 5}))))
    assert behind.page == "docs/runbook/bad-deployment.md"
    for page in (behind.page, late.page, "docs/runbook/sweep-silent.md"):
        assert (ROOT / page).is_file()


@pytest.mark.parametrize(
    ("behind", "level"),
    [(timedelta(minutes=10), Level.OK), (timedelta(minutes=30), Level.PROBLEM)],
)
def test_slowest_shard_determines_the_clock_status(behind: timedelta, level: Level) -> None:
    checkpoints = {0: slot_of(NOW) - behind, 1: slot_of(NOW)}
    assert check_ticks(checkpoints, shards=2, ticks=True, now=NOW).level is level


def test_unread_shard_is_a_warning_unless_the_clock_is_disabled() -> None:
    assert check_ticks({0: NOW}, shards=2, ticks=True, now=NOW).level is Level.WARNING
    assert check_ticks({}, shards=2, ticks=False, now=NOW).level is Level.OK
    assert check_ticks(Unseen("no"), shards=2, ticks=True, now=NOW).level is Level.UNSEEN


def test_sweep_without_invocations_is_a_problem() -> None:
    assert check_invoked("sweep", 0, ticks=True).level is Level.PROBLEM
    assert check_invoked("sweep", 6, ticks=True).level is Level.OK
    assert check_invoked("sweep", None, ticks=True).level is Level.UNSEEN
    assert check_invoked("sweep", 0, ticks=False).level is Level.OK


@pytest.mark.parametrize(
    ("age", "level"), [(29, Level.WARNING), (30, Level.PROBLEM), (None, Level.PROBLEM)]
)
def test_sweep_without_invocations_is_a_warning_for_half_an_hour(
    age: int | None, level: Level
) -> None:
    """A pipeline runs `gazette doctor` at the end of the first deployment."""
    now = {} if age is None else {"LastModificationDate": NOW - timedelta(minutes=age)}
    schedule = Deployed(name="SweepTick", kind=SCHEDULE, physical="s", template={}, now=now)
    changed_at = StageFacts(stage="test", resources=[schedule]).schedule_changed_at("SweepTick")
    facts = WorkFacts(
        stage="test",
        shards=2,
        ticks=True,
        now=NOW,
        checkpoints={},
        sweeps=0,
        streams=Unseen("not asked"),
    )
    findings = check_work(facts, schedule_changed_at=changed_at)
    (finding,) = [each for each in findings if each.check == "last sweep"]
    assert finding.level is level


class Clock:
    """Time that passes only while somebody sleeps, and an event that comes after some of it."""

    def __init__(self, arrives: timedelta | None, *, refused: bool = False) -> None:
        self.now = NOW
        self.sent = 0
        self._arrives = arrives
        self._refused = refused

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def send(self) -> None:
        self.sent += 1
        if self._refused:
            raise Unavailable("The canary was not sent: not verified")

    def record(self, sent_at: datetime) -> None:
        raise NotImplementedError

    def latest(self) -> datetime:
        came = self._arrives is not None and self.now >= NOW + self._arrives
        return NOW if came else NOW - timedelta(minutes=1)


@pytest.mark.parametrize(
    ("world", "level", "words"),
    [
        (lambda: Clock(timedelta(seconds=31)), Level.OK, "arrived within 33 s"),
        (lambda: Clock(None), Level.PROBLEM, "no delivery event arrived"),
        (lambda: Clock(None, refused=True), Level.PROBLEM, "not verified"),
    ],
)
def test_canary_check_waits_for_the_event_of_its_own_email(
    world: Callable[[], Clock], level: Level, words: str
) -> None:
    """An event of an email that was sent before proves nothing of this one."""
    clock = world()
    found = check_canary(clock, clock, clock=clock, sleep=clock.sleep)
    assert found.level is level
    assert words in found.seen
    assert clock.sent == 1
    assert clock.now - NOW <= timedelta(minutes=2)
