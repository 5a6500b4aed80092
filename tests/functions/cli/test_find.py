"""`gazette find` on moto: whose an email is, by whatever somebody has of it."""

import json
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path

import boto3
import pytest
from gazette.domain.model import RunKey
from gazette.settings.delivery import GenerateSettings
from typer.testing import CliRunner, Result

from gazette_cli.find.clues import Address, MessageId, clue_in, clue_in_email
from gazette_cli.find.scan import SEGMENTS
from gazette_cli.main import app
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.messages import event, profile
from tests.shapes import check, fields_of

RUN = RunKey("ann", "daily", 1)
OF_SES = "0100018f2f3a9b1c-5f0c2d1e-8a4b-4c3d-9e2f-1a2b3c4d5e6f-000000"


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    deploy("generate", GenerateSettings.from_env().to_env())
    return cloud


def send(cloud: Cloud) -> str:
    """Sends Ann's digest, and returns its message id."""
    cloud.say("subscriber.changed", profile(email="Ann@Example.com"))
    cloud.say("event.created", event(1))
    cloud.work("generate", *fan_out(cloud))
    (row,) = cloud.rows("runs")
    cloud.meter.clear()
    return str(row["message_id"])


def run(cloud: Cloud, *arguments: str, said: str | bytes | None = None) -> Result:
    with cloud.meter.acting("an operator"):
        return CliRunner().invoke(app, ["find", *arguments], input=said)


def found(result: Result) -> list[Sequence[str]]:
    assert result.exit_code == 0, result.output
    return [line.split("\t")[:3] for line in result.stdout.splitlines()]


@pytest.mark.usefixtures("later")
def test_find_resolves_each_email_link_with_a_single_read(stage: Cloud) -> None:
    send(stage)
    for name in ("unsubscribe", "preferences", "email", "updates"):
        stage.meter.clear()
        link = f"https://example.com{stage.link(name)}"
        assert found(run(stage, link)) == [["ann", "ann-daily-1", "sent"]]
        assert stage.meter.actions["an operator"] == {("runs", "GetItem")}


@pytest.mark.usefixtures("later")
def test_run_id_is_resolved_to_the_run_with_its_times(stage: Cloud) -> None:
    message_id = send(stage)
    done = run(stage, "ann-daily-1", "--json")
    assert check("find", done) == fields_of("find")
    (told,) = json.loads(done.stdout)["found"]
    assert told["message_id"] == message_id
    assert told["created_at"] <= told["claimed_at"] <= told["sent_at"]


@pytest.mark.usefixtures("later")
def test_forwarded_email_is_resolved_to_its_run(stage: Cloud, tmp_path: Path) -> None:
    send(stage)
    forwarded = EmailMessage()
    forwarded["Subject"] = "Fwd: Your digest"
    forwarded.set_content(
        f"See below\n> Unsubscribe: https://example.com{stage.link('unsubscribe')}\n" * 2,
        cte="quoted-printable",
    )
    file = tmp_path / "forwarded.eml"
    file.write_bytes(bytes(forwarded))
    assert found(run(stage, str(file))) == [["ann", "ann-daily-1", "sent"]]
    assert found(run(stage, "-", said=bytes(forwarded))) == [["ann", "ann-daily-1", "sent"]]


@pytest.mark.usefixtures("later")
def test_message_id_is_searched_in_all_runs_after_confirmation(stage: Cloud) -> None:
    message_id = send(stage)
    asked = run(stage, f"<{message_id}@email.amazonses.com>", said="y\n")
    assert "Read all 1 rows of runs (0 MB) for $0.0000 in us-east-1?" in asked.stdout
    assert found(run(stage, message_id, "--yes")) == [["ann", "ann-daily-1", "sent"]]
    assert stage.meter.calls["dynamodb.Scan"] == 2 * SEGMENTS
    stage.meter.clear()
    assert run(stage, message_id, said="n\n").exit_code == 1
    assert stage.meter.calls["dynamodb.Scan"] == 0


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(
    "address",
    [
        "Ann@Example.com",
        "<Ann@Example.com>",
        "ann@example.com",
        "ANN@EXAMPLE.COM",
        '"ann"@example.com',
    ],
)
def test_address_is_resolved_to_its_readers_in_any_spelling(stage: Cloud, address: str) -> None:
    """In whatever spelling: services may spell it with capitals."""
    send(stage)
    stage.say("subscriber.changed", profile("cy", email="ANN@example.org"))
    stage.say("subscriber.changed", profile("bo", email="bo@example.com"))
    assert found(run(stage, address, "--yes")) == [["ann", "-", "-"]]
    assert "gazette explain USER" in run(stage, address, "--yes").stderr


def test_address_is_also_found_in_lower_case(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile(email="ann@example.com"))
    assert found(run(stage, "ANN@example.com", "--yes")) == [["ann", "-", "-"]]


def test_international_address_is_found_by_either_form_of_its_domain(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile(email="Ann@XN--Bcher-KVA.example"))
    for given in ("ann@bücher.example", "ann@BÜCHER.example", "ann@xn--bcher-kva.example"):
        assert found(run(stage, given, "--yes")) == [["ann", "-", "-"]], given


def test_find_without_a_result_exits_with_1(stage: Cloud) -> None:
    for given in ("ann@example.com", OF_SES, "ann-daily-7"):
        done = run(stage, given, "--yes", "--json")
        assert (done.exit_code, json.loads(done.stdout)) == (1, {"found": []})


def test_table_scan_requires_yes_in_json_mode(stage: Cloud) -> None:
    done = run(stage, OF_SES, "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--yes" in json.loads(done.stderr)["error"]
    assert stage.meter.calls["dynamodb.Scan"] == 0


def test_unrecognised_input_is_reported_on_a_single_line(stage: Cloud) -> None:
    done = run(stage, "a word or two")
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("ann", "For a reader, run `gazette explain ann`."),
        ("forwarded-email-of-ann.eml", "is neither a file nor a link from an email"),
        ("saved/forwarded-email-of-ann", "is neither a file nor a link from an email"),
    ],
)
def test_input_that_is_not_a_message_id_reads_no_table(
    stage: Cloud, given: str, words: str
) -> None:
    done = run(stage, given, "--yes")
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert stage.meter.calls["dynamodb.Scan"] == 0


def test_table_is_scanned_in_parallel_and_paged(stage: Cloud) -> None:
    """Enough rows for several pages; moto has a megabyte a page, as DynamoDB."""
    for number in range(80):
        row = {
            "user_id": f"u{number}",
            "email": f"u{number}@example.com",
            "name": "x" * 100_000,
        }
        boto3.client("dynamodb").put_item(
            TableName="subscribers", Item={name: {"S": text} for name, text in row.items()}
        )
    stage.meter.clear()
    assert found(run(stage, "u79@example.com", "--yes")) == [["u79", "-", "-"]]
    assert stage.meter.calls["dynamodb.Scan"] > SEGMENTS


@pytest.mark.parametrize(
    ("given", "clue"),
    [
        ("ann-daily-17", RunKey("ann", "daily", 17)),
        (f"<{OF_SES}@eu-west-1.amazonses.com>", MessageId(OF_SES)),
        (f"{OF_SES}@email.amazonses.com", MessageId(OF_SES)),
        (OF_SES, MessageId(OF_SES)),
        ("ann@example.com", Address("ann@example.com")),
        ("ann+news@mail.example.com", Address("ann+news@mail.example.com")),
        ("Ann@Bücher.example", Address("Ann@Bücher.example")),
        ('"ann"@example.com', Address('"ann"@example.com')),
        ("k1.bm9uZQ.c2ln", None),
        ("ann", None),
        ("saved/forwarded-email-of-ann", None),
        ("forwarded-email-of-ann.eml", None),
        ("", None),
        ("a b", None),
    ],
)
def test_find_recognises_the_kind_of_its_input(given: str, clue: object) -> None:
    assert clue_in(given) == clue


def test_email_without_links_is_found_by_message_id() -> None:
    message = EmailMessage()
    message["Message-ID"] = f"<{OF_SES}@email.amazonses.com>"
    message.set_content("Hello")
    assert clue_in_email(bytes(message)) == MessageId(OF_SES)
    assert clue_in_email(b"no email at all") is None
