"""`gazette restore` on moto: a table holds what its copy holds, and no other row is touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from gazette.settings.ingest import IngestSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.restore import copies
from gazette_cli.restore.command import COPY, Restorable
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy
from tests.moto_tables import NAMES, table_definitions

Row = dict[str, Any]


@pytest.fixture
def tables(cloud: Cloud) -> Any:
    """The stage `prod`, with a copy of each table."""
    deploy("ingest", IngestSettings.from_env().to_env())
    create_copies()
    return boto3.client("dynamodb")


def create_copies() -> None:
    client: Any = boto3.client("dynamodb")
    names = {model: name for model, name in NAMES.items() if name in set(Restorable)}
    for definition in table_definitions(names):
        client.create_table(**{**definition, "TableName": f"{definition['TableName']}{COPY}"})


def write_once_more(table: str) -> None:
    """A row with made-up keys."""
    client: Any = boto3.client("dynamodb")
    keys = client.describe_table(TableName=table)["Table"]["KeySchema"]
    client.put_item(TableName=table, Item={key["AttributeName"]: {"S": "x"} for key in keys})


def event(number: int, *, user: str = "ann", body: str = "a") -> Row:
    return {
        "user_id": {"S": user},
        "event_id": {"S": f"e{number:03}"},
        "body": {"S": body},
        "names": {"SS": ["a", "b"] if number % 2 else ["b", "a"]},
    }


def put(tables: Any, table: str, *rows: Row) -> None:
    for row in rows:
        tables.put_item(TableName=table, Item=row)


def bodies(tables: Any, table: str = "events") -> dict[tuple[str, str], str]:
    found = tables.scan(TableName=table)["Items"]
    return {(row["user_id"]["S"], row["event_id"]["S"]): row["body"]["S"] for row in found}


def restore(*arguments: str, answer: str = "y\n") -> Result:
    return CliRunner().invoke(app, ["restore", *arguments], input=answer)


def test_restore_adds_changes_and_removes_rows_and_reports_the_counts(tables: Any) -> None:
    put(tables, f"events{COPY}", event(1), event(2), event(3))
    put(tables, "events", event(2, body="damaged"), event(3), event(4))
    done = restore("events")
    said = "1 rows to add, 1 to change, 1 to delete because they are not in the copy"
    assert done.exit_code == 0, done.output
    assert f"Table events of stage prod: {said}. Restore the table?" in done.output
    assert f"table events of stage prod is restored from events{COPY}: {said}" in done.output
    assert bodies(tables) == bodies(tables, f"events{COPY}")


def test_restore_changes_no_data_if_not_confirmed(tables: Any) -> None:
    put(tables, f"events{COPY}", event(1))
    put(tables, "events", event(2))
    assert restore("events", answer="n\n").exit_code == 1
    assert bodies(tables) == {("ann", "e002"): "a"}


def test_repeated_restore_writes_no_rows(tables: Any, cloud: Cloud) -> None:
    put(tables, f"events{COPY}", *map(event, range(60)))
    put(tables, "events", *(event(number) for number in range(40, 80)))
    cloud.meter.clear()
    assert restore("events").exit_code == 0
    assert cloud.meter.calls["dynamodb.BatchWriteItem"] == 3  # 40 rows, then 20 keys
    cloud.meter.clear()
    assert "0 rows to add, 0 to change, 0 to delete" in restore("events").output
    assert cloud.meter.calls["dynamodb.BatchWriteItem"] == 0


def test_restore_of_a_reader_affects_only_rows_of_that_reader(tables: Any) -> None:
    put(tables, f"events{COPY}", event(1), event(1, user="bo"))
    put(tables, "events", event(1, body="damaged"), event(1, user="bo", body="newer"))
    put(tables, "events", event(2), event(2, user="bo"))
    assert restore("events", "--user", "ann").exit_code == 0
    assert bodies(tables) == {
        ("ann", "e001"): "a",
        ("bo", "e001"): "newer",
        ("bo", "e002"): "a",
    }


def test_unprocessed_restore_writes_are_retried(
    tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_PAUSES", (0,))
    put(tables, f"events{COPY}", event(1), event(2))
    with drop_of_each_write(monkeypatch, calls=1) as left:
        assert restore("events").exit_code == 0
    assert (left, bodies(tables)) == ([], bodies(tables, f"events{COPY}"))


def test_persistently_unprocessed_restore_writes_are_reported(
    tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_PAUSES", (0,))
    put(tables, f"events{COPY}", event(1))
    with drop_of_each_write(monkeypatch, calls=2):
        done = restore("events")
    assert (done.exit_code, "Run the command again" in done.output) == (2, True)


@contextmanager
def drop_of_each_write(monkeypatch: pytest.MonkeyPatch, *, calls: int) -> Iterator[list[int]]:
    """DynamoDB takes the last row of none of the next writes; what is left of these."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    left = list(range(calls))

    def call(client: BaseClient, operation: str, request: Row) -> Any:
        if operation != "BatchWriteItem" or not left:
            return real(client, operation, request)
        left.pop()
        ((table, asked),) = request["RequestItems"].items()
        *taken, dropped = asked
        if taken:
            real(client, operation, {"RequestItems": {table: taken}})
        return {"UnprocessedItems": {table: [dropped]}}

    with monkeypatch.context() as patched:
        patched.setattr(BaseClient, "_make_api_call", call)
        yield left


def test_restore_rejects_a_copy_of_another_table(tables: Any) -> None:
    done = restore("events", "--from", f"runs{COPY}")
    assert (done.exit_code, f"runs{COPY} is not a copy of events" in done.output) == (2, True)


def test_missing_copy_is_reported_on_a_single_line(tables: Any) -> None:
    tables.delete_table(TableName=f"events{COPY}")
    done = restore("events")
    assert (done.exit_code, "At least one of" in done.output) == (2, True)


def test_follows_cannot_be_restored_by_reader(tables: Any) -> None:
    done = restore("follows", "--user", "ann")
    assert (done.exit_code, "Remove --user" in done.output) == (2, True)


def test_attack_restore_does_not_lift_later_unsubscribes(tables: Any) -> None:
    """Of suppressions, what was lost comes back, and nothing else changes."""
    before, since = ({"address_hash": {"S": name}} for name in ("h1", "h2"))
    put(tables, f"suppressions{COPY}", before, {"address_hash": {"S": "h3"}})
    put(tables, "suppressions", since, {"address_hash": {"S": "h3"}, "by": {"SS": ["ann"]}})
    assert restore("suppressions").exit_code == 0
    found = {
        row["address_hash"]["S"]: row for row in tables.scan(TableName="suppressions")["Items"]
    }
    assert set(found) == {"h1", "h2", "h3"}
    assert found["h3"]["by"] == {"SS": ["ann"]}
