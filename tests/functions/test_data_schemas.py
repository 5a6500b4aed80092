"""Ingest holds data against the schemas in the templates of its stage."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functions.conftest import Cloud
from tests.functions.messages import envelope, event, profile


@pytest.fixture
def _a_schema_for_comments(
    built_templates: Path,
    templates_on_path: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """In the templates that the layer has."""
    folder = tmp_path / "gazette_templates"
    shutil.copytree(built_templates, folder)
    schema = {"properties": {"stars": {"type": "integer"}}, "required": ["stars"]}
    (folder / "categories" / "comment" / "data.schema.json").write_text(json.dumps(schema))
    monkeypatch.delitem(sys.modules, "gazette_templates", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("gazette_templates", None)


@pytest.mark.usefixtures("_a_schema_for_comments")
def test_data_that_violates_its_schema_is_quarantined_with_its_path(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    wrong = envelope("event.created", event(1) | {"data": {"stars": "five"}})
    cloud.work(
        "ingest",
        wrong,
        envelope("event.created", event(2) | {"data": {"stars": 5}}),
        envelope("event.created", event(3) | {"category": "like", "data": {"stars": "five"}}),
    )
    (kept,) = cloud.take("quarantine")
    assert kept["Body"] == wrong
    reason = kept["MessageAttributes"]["reason"]["StringValue"]
    assert "detail.data.stars: must be integer" in reason
    assert sorted(row["event_id"] for row in cloud.rows("events")) == ["e2", "e3"]


def test_any_data_is_stored_without_a_schema(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1) | {"data": {"stars": "five"}})
    (row,) = cloud.rows("events")
    assert json.loads(row["body"])["data"] == {"stars": "five"}
