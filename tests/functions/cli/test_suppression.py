"""`gazette suppression` on moto: what it shows, and who gets email afterwards."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.bootstrap.parts.clock import now
from gazette.domain.identity import address_hash, keyed_hash
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, Suppression
from gazette.settings.feedback import FeedbackSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.suppression.lists import Unreadable, read_list, write_list
from tests.builders import NOW, SUPPRESSION_KEY
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy
from tests.functions.messages import ago, bounce, profile
from tests.functions.test_handlers import ann

ANN, BO = address_hash("ann@example.com"), address_hash("bo@example.com")
LISTED = keyed_hash(ANN, SUPPRESSION_KEY)
"""What the table has, and `list` shows."""


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """The commands find the tables in the settings of feedback alone."""
    deploy("feedback", FeedbackSettings.from_env().to_env())
    cloud.meter.clear()
    return cloud


def run(*arguments: str, said: str | None = None) -> Result:
    return CliRunner().invoke(app, ["suppression", *arguments], input=said)


def table() -> DynamoSuppressions:
    return DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now)


def cause(address: str = ANN) -> Cause | None:
    found = table().get(address)
    return found.cause if found else None


def test_address_is_hashed_locally_and_never_transmitted(stage: Cloud) -> None:
    done = run("add", " Ann@Example.COM ")
    assert done.exit_code == 0
    assert done.stdout == f"{LISTED} of stage prod is suppressed: manual\n"
    assert cause() is Cause.MANUAL
    assert "ann@" not in repr(stage.meter.requests).lower()
    assert ANN not in repr(stage.meter.requests)
    again = run("add", ANN.upper(), "--reason", "bounced")
    assert again.stdout == f"{LISTED} of stage prod was already suppressed: manual\n"


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(
    "wrong", ["ann", "ann@", "a b@example.com", ANN[1:], "", "a@b@c", LISTED[:-1], f"g{ANN}"]
)
@pytest.mark.parametrize("command", ["add", "remove"])
def test_suppression_of_an_invalid_address_is_rejected(command: str, wrong: str) -> None:
    done = run(command, wrong)
    assert done.exit_code == 2
    assert "is neither an address, such as ann@example.com, nor a hash" in done.stderr
    assert not list(table().each())


@pytest.mark.usefixtures("stage")
def test_removing_a_bounce_keeps_the_unsubscribe_of_the_same_address() -> None:
    table().unsubscribe(ANN, "ann")
    table().add(ANN, Cause.BOUNCED)
    done = run("remove", ANN, "--yes")
    assert done.stdout.endswith(" of stage prod is no longer suppressed for bounced\n")
    assert (
        "The address is still suppressed because a reader with this address also unsubscribed"
        in done.stderr
    )
    assert cause() is Cause.UNSUBSCRIBED
    run("remove", ANN, "--yes")
    assert cause() is None


@pytest.mark.usefixtures("stage")
def test_suppressions_are_listed_newest_first_and_paged() -> None:
    for number in range(5):
        since = datetime(2026, 1, 1 + number, tzinfo=UTC)
        table().add(address_hash(f"{number}@example.com"), Cause.BOUNCED, since)
    table().add(ANN, Cause.COMPLAINED, datetime(2026, 1, 3, 12, tzinfo=UTC))
    lines = run("list").stdout.splitlines()
    assert [line.split("\t")[2][8:10] for line in lines] == ["05", "04", "03", "03", "02", "01"]
    assert lines[2] == f"{LISTED}\tcomplained\t2026-01-03 12:00:00 UTC"
    first, second = run("list", "--limit", "4"), run("list", "--limit", "4", "--page", "2")
    assert first.stdout.splitlines() + second.stdout.splitlines() == lines
    assert ("--page 2" in first.stderr, second.stderr) == (True, "")
    assert run("list", "--reason", "complained").stdout.splitlines() == [lines[2]]
    assert run("list", "--since", "2026-01-04").stdout.splitlines() == lines[:2]
    assert "No suppressed addresses match." in run("list", "--page", "3").stderr
    assert run("list", "--since", "2026-01-04t00:00:00z").stdout.splitlines() == lines[:2]
    for wrong in ("soon", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"):
        assert "is not a date" in run("list", "--since", wrong).stderr


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(("answer", "left"), [("y\n", None), ("n\n", Cause.BOUNCED)])
def test_removal_asks_for_confirmation_and_explains_a_bounce(
    answer: str, left: Cause | None
) -> None:
    table().add(ANN, Cause.BOUNCED)
    done = run("remove", "ann@example.com", said=answer)
    assert "the next email will bounce too" in done.stderr
    assert (done.exit_code == 0) == (left is None)
    assert cause() is left


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize("each", list(Cause))
def test_every_cause_is_explained_before_removal(each: Cause) -> None:
    table().add(ANN, each)
    done = run("remove", ANN, "--yes")
    assert f"{each} since " in done.stderr
    assert "publish subscriber.changed with a newer changed_at" in done.stderr
    assert cause() is None
    assert run("remove", ANN).stdout == f"{LISTED} of stage prod was not suppressed\n"


class AccountList:
    """SES's own list: entries keep the case of their local part, and are found by exact spelling.

    https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list-tenant-level-manage.html
    """

    def __init__(self, cloud: Cloud, *entries: str, page: int = 1000) -> None:
        self.entries = list(entries)
        self._page = page
        cloud.answers["ListSuppressedDestinations"] = self._list
        cloud.answers["DeleteSuppressedDestination"] = self._delete

    def _list(self, asked: dict[str, Any]) -> dict[str, Any]:
        begin = int(asked.get("NextToken", "0"))
        end = begin + min(self._page, asked["PageSize"])
        summaries = [{"EmailAddress": each} for each in self.entries[begin:end]]
        more = {"NextToken": str(end)} if end < len(self.entries) else {}
        return {"SuppressedDestinationSummaries": summaries, **more}

    def _delete(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["EmailAddress"] not in self.entries:
            raise ClientError(
                {"Error": {"Code": "NotFoundException"}}, "DeleteSuppressedDestination"
            )
        self.entries.remove(asked["EmailAddress"])
        return {}


@pytest.mark.parametrize(
    ("entry", "given"),
    [
        ("ann@example.com", " ann@example.com"),
        ("Ann@example.com", "ann@example.com"),
        ("ann@example.com", "ANN@Example.COM"),
        ("ann@xn--bcher-kva.example", "Ann@Bücher.example"),
        ("Ann@xn--bcher-kva.example", "ann@XN--BCHER-KVA.example"),
        ('"ann"@example.com', "ann@example.com"),
        ("ann@example.com", '"Ann"@example.com.'),
    ],
)
def test_removal_also_removes_the_ses_entry_in_any_spelling(
    stage: Cloud, entry: str, given: str
) -> None:
    """Otherwise SES accepts the next email, and sends it to nobody."""
    ses = AccountList(stage, "bo@example.com", entry)
    run("add", given)
    done = run("remove", given, "--yes")
    assert done.stderr.endswith("Removed the address from the SES suppression list.\n")
    assert ses.entries == ["bo@example.com"]
    assert run("remove", given).stderr == "The address was not in the SES suppression list.\n"


def test_removal_also_removes_every_spelling_stored_by_ses(stage: Cloud) -> None:
    """They may be on several pages of its list."""
    others = [f"{number}@example.com" for number in range(5)]
    spellings = ["ann@example.com", "Ann@example.com", "ANN@example.com"]
    ses = AccountList(stage, *spellings[:1], *others[:3], *spellings[1:], *others[3:], page=2)
    done = run("remove", "aNN@example.com")
    assert done.stderr == "Removed 3 spellings of the address from the SES suppression list.\n"
    assert ses.entries == others


def test_ses_entry_removed_concurrently_is_reported_as_missing(stage: Cloud) -> None:
    ses = AccountList(stage, "ann@example.com")
    listed = stage.answers["ListSuppressedDestinations"]

    def list_then_remove(asked: dict[str, Any]) -> Any:
        found = listed(asked)
        ses.entries.clear()
        return found

    stage.answers["ListSuppressedDestinations"] = list_then_remove
    assert (
        run("remove", "ann@example.com").stderr
        == "The address was not in the SES suppression list.\n"
    )


def test_removal_by_hash_cannot_remove_the_ses_entry(stage: Cloud) -> None:
    ses = AccountList(stage, "ann@example.com")
    assert "run this command with the address" in run("remove", ANN).stderr
    assert ses.entries == ["ann@example.com"]


@pytest.mark.parametrize("action", ["ListSuppressedDestinations", "DeleteSuppressedDestination"])
def test_denied_ses_removal_names_the_required_action(stage: Cloud, action: str) -> None:
    def denied(_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied"}}, action)

    AccountList(stage, "ann@example.com")
    stage.answers[action] = denied
    run("add", "ann@example.com")
    done = run("remove", "ann@example.com", "--yes")
    assert (done.exit_code, cause()) == (2, None)
    assert f"need ses:{action}" in done.stderr


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(
    "other", ["Ann@Bücher.example", '"ann"@xn--bcher-kva.example', "\ufeffANN@bücher.example\u200b"]
)
def test_reader_is_suppressed_and_released_by_an_equivalent_spelling(
    stage: Cloud, other: str
) -> None:
    stage.say("subscriber.changed", profile(email="ann@xn--bcher-kva.example"))
    assert run("add", other).exit_code == 0
    stage.say("subscriber.changed", profile(changed_at=ago(), email="ann@xn--bcher-kva.example"))
    assert ann().status is SubscriberStatus.SUPPRESSED
    assert run("remove", other, "--yes").stdout.endswith("is no longer suppressed\n")
    assert not list(table().each())


def test_newer_profile_reactivates_the_reader_after_removal(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile())
    stage.arm("ann")
    stage.work("feedback", bounce())
    assert ann().status is SubscriberStatus.SUPPRESSED
    assert "due" not in stage.rows("schedules")[0]
    assert run("remove", "ann@example.com", "--yes").exit_code == 0
    assert ann().status is SubscriberStatus.SUPPRESSED
    stage.say("subscriber.changed", profile(changed_at=ago(days=1)))
    assert ann().status is SubscriberStatus.ACTIVE
    assert "due" in stage.rows("schedules")[0]


def test_soft_bounces_are_counted_from_zero_after_removal(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile())
    for number in range(5):
        stage.work("feedback", bounce(kind="Transient", message_id=f"m{number}"))
    assert cause() is Cause.BOUNCED
    run("remove", ANN, "--yes")
    stage.work("feedback", bounce(kind="Transient", message_id="m9"))
    assert cause() is None


@pytest.mark.usefixtures("stage")
def test_listed_hash_can_be_used_for_removal(stage: Cloud) -> None:
    stage.work("feedback", bounce(kind="Transient"))
    run("add", "ann@example.com")
    (line,) = run("list").stdout.splitlines()
    shown = line.split("\t")[0]
    assert shown == LISTED
    assert stage.rows("bounces")
    assert run("remove", shown.upper(), "--yes").exit_code == 0
    assert run("remove", shown).stdout == f"{LISTED} of stage prod was not suppressed\n"
    assert not stage.rows("suppressions")
    assert not stage.rows("bounces")


def test_attack_list_and_export_do_not_read_the_key(stage: Cloud) -> None:
    """With it they could ask what they have for any address."""
    run("add", "ann@example.com")
    stage.meter.clear()
    for command in ("list", "export"):
        assert LISTED in run(command).stdout
    assert stage.meter.calls == {"lambda.GetFunctionConfiguration": 2, "dynamodb.Scan": 2}


def test_attack_export_does_not_contain_unkeyed_hashes(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile())
    stage.work("feedback", bounce())
    given = run("export").stdout
    assert given.count("\n") == 2
    assert ANN not in given
    assert "ann" not in given


def test_unkeyed_hashes_of_another_system_can_be_imported(stage: Cloud, tmp_path: Path) -> None:
    file = tmp_path / "old.csv"
    file.write_text(f"address_hash,reason\n{ANN.upper()},bounced\n{ANN},bounced\n")
    assert (
        run("import", str(file)).stdout == "imported into stage prod: 1 new, 1 already suppressed\n"
    )
    assert [row["address_hash"] for row in stage.rows("suppressions")] == [LISTED]
    stage.say("subscriber.changed", profile())
    assert ann().status is SubscriberStatus.SUPPRESSED


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(
    "command", [["add", "ann@example.com"], ["remove", LISTED], ["import", "FILE"]]
)
def test_missing_key_prevents_lookups_without_showing_the_secret(
    stage: Cloud, tmp_path: Path, command: list[str]
) -> None:
    file = tmp_path / "old.csv"
    file.write_text(f"address_hash\n{ANN}\n")
    secrets = boto3.client("secretsmanager")
    secrets.put_secret_value(SecretId="suppressions", SecretString="p4ssw0rd")
    asked = [str(file) if each == "FILE" else each for each in command]
    done = run(*asked)
    assert done.exit_code == 2
    assert "secret:suppressions" in done.stderr
    assert "does not contain a suppression key" in done.stderr
    assert "p4ssw0rd" not in done.output
    secrets.delete_secret(SecretId="suppressions", ForceDeleteWithoutRecovery=True)
    gone = run(*asked)
    assert gone.exit_code == 2
    assert "The secret of the suppression key of stage prod does not exist" in gone.stderr
    assert not stage.rows("suppressions")


@pytest.mark.usefixtures("stage")
def test_exported_suppressions_can_be_imported(tmp_path: Path) -> None:
    table().add(ANN, Cause.COMPLAINED, datetime(2026, 1, 3, 12, 0, 0, 7, tzinfo=UTC))
    table().add(BO, Cause.UNSUBSCRIBED)
    before = {each.address: each for each in readable(table().each())}
    exported = run("export")
    assert exported.stderr == "2 addresses\n"
    file = tmp_path / "list.csv"
    file.write_text(exported.stdout)
    assert run("import", str(file)).stdout == (
        "imported into stage prod: 0 new, 2 already suppressed\n"
    )
    for each in before.values():
        table().lift(each.address, each.cause)
    assert run("import", str(file)).stdout == (
        "imported into stage prod: 2 new, 0 already suppressed\n"
    )
    assert {each.address: each for each in readable(table().each())} == before


@pytest.mark.usefixtures("stage")
def test_import_with_invalid_lines_fails_and_names_each_line(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text(
        "address,reason,since\n"
        "ann@example.com,bounced,2026-01-01\n"
        "nobody,bounced,\n"
        "bo@example.com,tired,\n"
        "bo@example.com,bounced,yesterday\n"
        "bo@example.com,bounced,2026-01-01T08:00\n"
        "bo@example.com,bounced,2999-01-01\n"
        "bo@example.com\n"
    )
    done = run("import", str(file))
    assert (done.exit_code, done.stdout) == (2, "")
    for number, words in {
        3: "neither an address",
        4: "reason is 'tired'; it must be one of",
        5: "is not a date",
        6: "has no time zone",
        7: "is in the future",
        8: "1 cells, but the header line has 3 columns",
    }.items():
        assert any(
            f"line {number}: " in line and words in line for line in done.stderr.splitlines()
        ), (number, done.stderr)
    assert "No address was imported" in done.stderr
    assert not list(table().each())


def test_imported_cause_and_time_default_to_manual_and_now() -> None:
    lines = ["Address\n", "Ann@example.com\n", "\n", f"{BO}\n"]
    assert [*read_list(lines, now=NOW)] == [
        Suppression(ANN, Cause.MANUAL, NOW),
        Suppression(BO, Cause.MANUAL, NOW),
    ]


def test_exported_unsubscription_has_its_latest_time() -> None:
    """A consent between the two times must not lift it after an import into another stage."""
    first, latest = NOW - timedelta(days=5), NOW - timedelta(days=1)
    entries = [
        Suppression("a" * 64, Cause.UNSUBSCRIBED, first, latest),
        Suppression("b" * 64, Cause.BOUNCED, first, latest),
    ]
    file = io.StringIO()
    assert [*write_list(entries, file)] == entries
    assert [each.since for each in read_list(file.getvalue().splitlines(), now=NOW)] == [
        latest,
        first,
    ]


@pytest.mark.parametrize(
    "heading", ["", "email\n", "address,address_hash\n", "reason,since\n", "address,address\n"]
)
def test_import_heading_without_an_address_column_is_rejected(heading: str) -> None:
    with pytest.raises(
        Unreadable, match="line 1: the header must contain the column `address` or `address_hash`"
    ):
        list(read_list([heading, "ann@example.com\n"], now=NOW))


def test_imported_date_means_midnight_utc() -> None:
    dated = ("a@example.com,2026-01-01\n", "b@example.com,2026-01-01T02:00+02:00\n")
    lines = ["address,since\n", *dated]
    assert {each.since for each in read_list(lines, now=NOW)} == {datetime(2026, 1, 1, tzinfo=UTC)}


@pytest.mark.usefixtures("stage")
def test_missing_or_binary_import_file_is_named(tmp_path: Path) -> None:
    missing = run("import", str(tmp_path / "none.csv"))
    assert missing.exit_code == 2
    assert "is unreadable" in missing.stderr
    (tmp_path / "bytes.csv").write_bytes(b"address\n\xff@example.com\n")
    done = run("import", str(tmp_path / "bytes.csv"))
    assert done.exit_code == 2
    assert "not CSV in UTF-8" in done.stderr
