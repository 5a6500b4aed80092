"""`gazette export` on moto: every attribute of every row of a person, and nothing of others."""

import json
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import boto3
import pytest
from boto3.dynamodb.types import TypeSerializer
from gazette.adapters.dynamodb import tables
from gazette.adapters.dynamodb.client import Row
from gazette.adapters.dynamodb.feedback.personal_rows import DynamoPersonalRows
from gazette.adapters.dynamodb.runs import PARTITIONS, slot_partition
from gazette.adapters.dynamodb.values import read_instant
from gazette.domain.export import Cursor, InvalidCursor, NotIncluded, Part, StoredRow
from gazette.domain.identity import address_hash, keyed_hash, shard_of
from gazette.domain.scheduling.calendar import slot_of
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from gazette.steps.support.export import export_page
from pynamodb.attributes import (
    Attribute,
    BinaryAttribute,
    NumberAttribute,
    NumberSetAttribute,
    UnicodeSetAttribute,
)
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from tests.builders import SUPPRESSION_KEY
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.messages import ago, delivery_event, event, follow, profile
from tests.shapes import check

ROOT = Path(__file__).parents[3]
AT = "2026-11-21T09:30:00.000000Z"
ANN = address_hash("ann@example.com")
ROWS = {
    "subscribers": tables.SubscriberRow,
    "suppressions": tables.SuppressionRow,
    "bounces": tables.BounceRow,
    "schedules": tables.ScheduleRow,
    "follows": tables.FollowRow,
    "events": tables.EventRow,
    "runs": tables.RunRow,
    "engagement": tables.EngagementRow,
}
"""The tables with rows of a reader."""

OF_NO_READER = {"activities", "control", "pace", "category_stats"}
"""The tables without rows of a reader. Activities are those of an entity."""


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    deploy("ingest", IngestSettings.from_env().to_env())
    deploy("feedback", FeedbackSettings.from_env().to_env())
    return cloud


def rows() -> DynamoPersonalRows:
    return DynamoPersonalRows(tables={name: name for name in ROWS}, key=SUPPRESSION_KEY)


def run(cloud: Cloud, user_id: str = "ann") -> Result:
    with cloud.meter.acting("an operator"):
        return CliRunner().invoke(app, ["export", user_id, "--json"])


def document(cloud: Cloud, user_id: str = "ann", *, exits: int = 0) -> dict[str, Any]:
    done = run(cloud, user_id)
    assert done.exit_code == exits, done.output
    check("export", done)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_table(found: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for each in found["rows"]:
        grouped.setdefault(each["table"], []).append(each["row"])
    return grouped


def put(table: str, **values: Any) -> None:
    item = {name: TypeSerializer().serialize(value) for name, value in values.items()}
    boto3.client("dynamodb").put_item(TableName=table, Item=item)


def all_rows(user_id: str, rows: DynamoPersonalRows, limit: int = 100) -> list[StoredRow]:
    found, cursor = list[StoredRow](), ""
    while True:
        page = export_page(user_id, cursor, limit=limit, rows=rows)
        found += page.rows
        if page.next is None:
            return found
        cursor = page.next.text()


def live(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("follow.created", follow())
    cloud.say("event.created", event(1), event(2))
    cloud.work("generate", *fan_out(cloud))
    cloud.work("feedback", delivery_event())
    cloud.say("event.created", event(3))


@pytest.mark.usefixtures("later")
def test_export_has_the_rows_of_every_table(stage: Cloud) -> None:
    live(stage)
    put("suppressions", address_hash=keyed_hash(ANN, SUPPRESSION_KEY), reason="manual", since=AT)
    found = document(stage)
    grouped = by_table(found)
    assert grouped.keys() == ROWS.keys() - {"bounces"}
    assert grouped["subscribers"][0]["email"] == "ann@example.com"
    assert [each["event_id"] for each in grouped["events"]] == [event(n)["id"] for n in (1, 2, 3)]
    assert grouped["events"][0]["body"]["category"] == event(1)["category"]
    assert grouped["engagement"][0]["run"] == "ann-daily-1"
    assert {each["what"] for each in found["not_included"]} == set(NotIncluded)


@pytest.mark.usefixtures("later")
def test_export_finds_nothing_after_an_erasure(stage: Cloud) -> None:
    live(stage)
    stage.say("subscriber.deleted", {"user_id": "ann", "deleted_at": ago()})
    found = document(stage, exits=1)
    assert found["rows"] == []
    assert {"before_erasure", "backups", "streams"} <= {
        each["what"] for each in found["not_included"]
    }


def test_page_on_export_and_erasure_states_what_happens(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs the code of the page: an export, the erasure by the producer, and an empty export."""
    page = (ROOT / "docs" / "export-and-erase.md").read_text()
    blocks = re.findall(r"```(sh|python)\n(.*?)```", page, re.DOTALL)
    assert [kind for kind, _ in blocks] == ["sh", "python", "sh"]
    published: list[Any] = []
    producer = ModuleType("gazette_events")
    producer.Producer = lambda source: SimpleNamespace(  # type: ignore[attr-defined]
        put=lambda details, kind: published.append((source, details, kind))
    )
    monkeypatch.setitem(sys.modules, "gazette_events", producer)
    stage.say("subscriber.changed", profile())
    for kind, code in blocks:
        if kind == "python":
            exec(code, {})  # noqa: S102 -- the code of our own page
            ((_, details, detail_type),) = published
            stage.say(detail_type, *details)
            continue
        (command,) = (shlex.split(line.partition(">")[0]) for line in code.splitlines())
        found = document(stage, command[2], exits=bool(published))
        assert command[:2] == ["gazette", "export"]
        assert bool(found["rows"]) is not bool(published)
    listed = re.findall(
        r"^\| (`[^|]*`) \|", page.partition("`not_included` lists")[2], re.MULTILINE
    )
    assert {name for cell in listed for name in re.findall(r"`(\w+)`", cell)} == {
        "what",
        *NotIncluded,
    }


def test_unknown_reader_has_no_rows(stage: Cloud) -> None:
    assert document(stage, "bo", exits=1)["rows"] == []
    done = run(stage, "two words")
    assert done.exit_code == 2
    assert "not a valid user id" in done.output


def test_choices_before_the_profile_are_exported(stage: Cloud) -> None:
    put("subscribers", user_id="ann", reader_choices='{"frequencies":[]}', active_on="2026-11-21")
    (found,) = document(stage)["rows"]
    assert found["row"]["reader_choices"] == {"frequencies": []}


def value_for(name: str, attribute: Attribute[Any]) -> Any:
    """Return a stored value of the attribute."""
    match attribute:
        case UnicodeSetAttribute():
            return {"ann", "bo"} if name == "by" else {f"{AT} message"}
        case NumberSetAttribute():
            return {1, 2}
        case BinaryAttribute():
            return b"\x00\xff"
        case NumberAttribute():
            return 7
    keys = {
        "slot": slot_partition(slot_of(read_instant(AT)), shard_of("ann", PARTITIONS)),
        "user_id": "ann",
        "email": "ann@example.com",
        "address_hash": keyed_hash(ANN, SUPPRESSION_KEY),
        "run": "daily#0000000001",
        "due_at": AT,
        "entity": "post#p1",
    }
    return keys.get(name, AT if name.endswith("_at") else f"some {name}")


def full_row(model: type[Row]) -> dict[str, Any]:
    """Return a row with every attribute, of a reader who was never erased."""
    row = {name: value_for(name, each) for name, each in model.get_attributes().items()}
    if model is tables.SubscriberRow:
        row |= {"erased_at": "1990-01-01T00:00:00.000000Z"}
    if model is tables.EngagementRow:
        row |= {"run": "ann-daily-1"}
    return row


@pytest.mark.usefixtures("cloud")
def test_export_has_every_attribute_of_every_row_class() -> None:
    """A new attribute is exported, also one that only a newer version knows."""
    for table, model in ROWS.items():
        put(table, **full_row(model), of_a_newer_version=Decimal("0.5"))
    found = all_rows("ann", rows())
    assert sorted(each.table for each in found) == sorted(ROWS)
    for each in found:
        assert each.values.keys() == {*full_row(ROWS[each.table]), "of_a_newer_version"}
        assert each.values["of_a_newer_version"] == 0.5
    json.dumps([each.values for each in found])


def test_every_row_class_is_exported_or_has_no_rows_of_a_reader() -> None:
    models = {
        (each.__doc__ or "").split("`")[1]: each
        for each in vars(tables).values()
        if isinstance(each, type) and issubclass(each, Row) and each is not Row
    }
    assert models.keys() == ROWS.keys() | OF_NO_READER
    assert {name: models[name] for name in ROWS} == ROWS


@pytest.mark.usefixtures("cloud")
def test_attack_export_shows_no_other_reader_of_the_address() -> None:
    put("subscribers", user_id="ann", email="ann@example.com")
    address = keyed_hash(ANN, SUPPRESSION_KEY)
    put("suppressions", address_hash=address, reason="unsubscribed", since=AT, by={"bo", "ann"})
    (_, suppression) = all_rows("ann", rows())
    assert suppression.values["by"] == ["ann"]


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_have_each_row_once(limit: int) -> None:
    put("subscribers", user_id="ann", email="ann@example.com")
    for number in range(5):
        for user_id in ("ann", "an", "bo"):
            put("events", user_id=user_id, event_id=f"e{number}#?/é", body="{}")
            put("follows", user_id=user_id, entity=f"post#{number}", changes="[]")
            put("runs", user_id=user_id, run=f"daily#{number}", due_at=AT)
    found = all_rows("ann", rows(), limit)
    for table in ("events", "follows", "runs"):
        some = [each.values for each in found if each.table == table]
        assert {each["user_id"] for each in some} == {"ann"}
        assert len(some) == 5
    assert len(found) == 16


@pytest.mark.usefixtures("cloud")
def test_emails_before_an_erasure_are_left_out_of_the_export_of_a_later_reader() -> None:
    put("subscribers", user_id="ann", email="ann@example.com", erased_at=AT)
    put("runs", user_id="ann", run="daily#0000000001", due_at=AT)
    put("runs", user_id="ann", run="daily#0000000002", due_at=AT.replace("09:30", "10:30"))
    found = [each for each in all_rows("ann", rows()) if each.table == "runs"]
    assert [each.values["run"] for each in found] == ["daily#0000000002"]


@pytest.mark.usefixtures("cloud")
def test_malformed_rows_are_exported_as_they_are() -> None:
    put("subscribers", user_id="ann", email="ann@example.com", choices="{", hour="soon")
    put("runs", user_id="ann", run="daily", due_at="soon")
    found = all_rows("ann", rows())
    assert (found[0].values["choices"], found[0].values["hour"]) == ("{", "soon")
    assert found[1].values["run"] == "daily"


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "é",
        "e30",
        "W10",
        "%",
        Cursor("bo").text(),
        Cursor("bo", Part.EVENTS, "e1").text(),
        replace(Cursor("ann"), part="control").text(),  # type: ignore[arg-type]
        "W" * 9_999,
    ],
)
def test_attack_cursor_of_another_reader_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor, match="no cursor to begin again"):
        export_page("ann", cursor, rows=rows())
