"""docs/events: generated from the models, and true."""

import json
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.contract import DETAIL_MODELS, decode, read_detail
from gazette.adapters.contract.decoding import LIST_FORMS
from gazette.adapters.contract.details import Detail
from gazette.adapters.contract.reports import read_report
from gazette.domain.commands import CommandList, CreateActivity, CreateEvents
from gazette.domain.sources import DELIVERY_REPORTED
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gazette_support.adapters.published_contract import examples, schema
from gazette_support.adapters.published_events import documents
from tests.unit.ingest.test_contract import envelope

FOLDER = Path(__file__).parents[3] / "docs" / "events"
VALIDATORS = {name: Draft202012Validator(schema(name)) for name in DETAIL_MODELS}
EXAMPLES = examples()

Path_ = tuple[str | int, ...]


def fits_schema(detail_type: str, detail: object) -> bool:
    return bool(VALIDATORS[detail_type].is_valid(detail))


def fits_model(detail_type: str, detail: object) -> bool:
    return not read_detail(detail_type, detail).problems


def agree(detail_type: str, path: Path_, detail: object) -> bool:
    """Whether schema and model say the same.

    A schema has no list of time zones, and leaves what is in `data` to the schema of a stage.
    """
    in_schema, in_model = fits_schema(detail_type, detail), fits_model(detail_type, detail)
    return in_schema == in_model or (in_schema and ("time_zone" in path or "data" in path))


def paths(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The ways to everything in an example, itself included.

    All items of a list have the same schema, so only the first item is included.
    """
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, (*path, name))
    if isinstance(value, list):
        for number, inner in enumerate(value[:1]):
            yield from paths(inner, (*path, number))


def replaced(value: Any, path: Path_, new: Any) -> Any:
    """A copy with `new` at the end of `path`."""
    if not path:
        return new
    copy = deepcopy(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def models(model: type[Detail]) -> Iterator[type[Detail]]:
    """A model and those of its fields."""
    yield model
    for field in model.model_fields.values():
        for each in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(each, type) and issubclass(each, Detail):
                yield from models(each)


ALL_MODELS = sorted(
    {each for forms in DETAIL_MODELS.values() for form in forms for each in models(form)},
    key=lambda model: model.__name__,
)


# What is there.


def test_every_detail_type_has_schema_and_example() -> None:
    for name in DETAIL_MODELS:
        assert {f"{name}.schema.json", f"{name}.example.json"} <= documents().keys()
    for name in LIST_FORMS:
        assert f"{name}.list.example.json" in documents()
    assert "event.retracted.activity.example.json" in documents()


def test_published_schemas_are_up_to_date() -> None:
    """Where this fails, `make docs` writes the folder anew."""
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert found == documents()


def test_published_folder_contains_no_stray_files() -> None:
    """Where this fails, delete it: nothing makes it any more."""
    strays = {path.name for path in FOLDER.iterdir()} - documents().keys() - {"README.md"}
    assert strays == set()


def test_decoding_does_not_import_schema_publishing() -> None:
    program = (
        "import sys, gazette.adapters.contract\n"
        "assert 'gazette.adapters.contract.decoding' in sys.modules\n"
        "assert 'gazette_support.adapters.published_contract' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("model", ALL_MODELS)
def test_every_model_and_field_has_description_and_example(
    model: type[Detail],
) -> None:
    assert model.__doc__
    for name, field in model.model_fields.items():
        assert field.description, name
        holds_a_model = "Detail" in str(field.annotation) or "Reference" in str(field.annotation)
        is_a_list = name in {form.field for form in LIST_FORMS.values()}
        assert field.examples or holds_a_model or is_a_list, name


# What is true.


@pytest.mark.parametrize("detail_type", sorted(DETAIL_MODELS))
def test_published_schema_is_described_and_valid_under_draft_2020_12(detail_type: str) -> None:
    found = schema(detail_type)
    Draft202012Validator.check_schema(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["title"] == detail_type
    assert found["description"]
    assert "$id" not in found


@pytest.mark.parametrize("detail_type", sorted(DETAIL_MODELS))
def test_schema_contains_only_used_definitions(detail_type: str) -> None:
    text = json.dumps(schema(detail_type))
    for name in schema(detail_type).get("$defs", {}):
        assert f'"#/$defs/{name}"' in text


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example_is_putevents_entry_that_matches_schema(name: str) -> None:
    entry = json.loads((FOLDER / f"{name}.example.json").read_text(encoding="utf-8"))
    assert entry.keys() == {"Source", "DetailType", "Detail"}
    published = json.loads((FOLDER / f"{entry['DetailType']}.schema.json").read_text())
    Draft202012Validator(published).validate(entry["Detail"])


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_published_example_is_decoded(name: str) -> None:
    entry = json.loads((FOLDER / f"{name}.example.json").read_text(encoding="utf-8"))
    if entry["DetailType"] == DELIVERY_REPORTED:  # feedback decodes it, not ingest
        assert read_report(entry["Detail"])
        return
    command = decode(envelope(entry["DetailType"], entry["Detail"]))
    if isinstance(command, CreateEvents):
        assert not command.problems
        assert len(command.events) == (2 if "list" in name else 1)
    if "list" in name and isinstance(command, CommandList):
        assert not command.problems
        assert len(command.commands) == 2
    assert isinstance(command, CreateEvents | CommandList) or "list" not in name


def test_examples_contain_every_field() -> None:
    for detail_type, (model, *_) in DETAIL_MODELS.items():
        both = {**EXAMPLES[detail_type][1], **EXAMPLES.get(f"{detail_type}.activity", ("", {}))[1]}
        assert both.keys() == model.model_fields.keys()


def test_activity_example_reaches_followers_of_entity_and_parent() -> None:
    command = decode(envelope(*EXAMPLES["activity.created"]))
    assert isinstance(command, CreateActivity)
    assert len(command.activity.sides) == 2


# What schema and model say of the same detail.

PLACES = [(name, path) for name, (_, detail) in sorted(EXAMPLES.items()) for path in paths(detail)]
# Of each kind of field, one that fits and one that does not; each goes everywhere.
VALUES: list[Any] = [
    *(None, True, 0, 8, 8.0, 7.5, 24, -1, 1e400, "", " ", "x", "X", "a" * 33, "a" * 129),
    *("a" * 201, "é" * 501, "a\nb", "a\tb", "a\r\nb", "a\rb", "\x00", "\x9b", "\u2028", "\uffff"),
    *("ann lee", "1st", "http://x", "ftp://x", "https://x/<b>", "https://x.example/é", "//x"),
    *("ann@example", "ann@example.com", "Ann <ann@example.com>", "a" * 65 + "@example.com"),
    *("Europe/Berlin", "Factory", "localtime", "de-DE", "de_DE", "monday", "Monday", "never"),
    *("2026-11-21T09:30:00Z", "2026-11-21T09:30:00+05:30", "2026-11-21T09:30:00", "2026-11-21"),
    *("1989-12-31T23:59:59Z", "2200-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "1732276800"),
    *([], {}, ["monday"], ["monday", "monday"], ["sonntag"], ["monday"] * 8, [[]], [{}]),
    *({"like": "never"}, {"Like": "never"}, {"like": "often"}, {"type": "post", "id": "p1"}),
    *({f"c{number}": "daily" for number in range(count)} for count in (100, 101)),
]


@pytest.mark.parametrize(("name", "path"), PLACES)
def test_schema_and_model_agree_on_any_field_value(name: str, path: Path_) -> None:
    detail_type, detail = EXAMPLES[name]
    for value in VALUES:
        changed = replaced(detail, path, value)
        assert agree(detail_type, path, changed), value


@pytest.mark.parametrize(("name", "path"), [place for place in PLACES if place[1]])
def test_schema_and_model_agree_on_missing_and_unknown_fields(name: str, path: Path_) -> None:
    detail_type, detail = EXAMPLES[name]
    *outer, last = path
    without, more = deepcopy(detail), deepcopy(detail)
    inner: Any = without
    inner_more: Any = more
    for step in outer:
        inner, inner_more = inner[step], inner_more[step]
    del inner[last]
    if isinstance(inner_more, dict):
        inner_more["colour"] = "red"
    assert agree(detail_type, path, without)
    assert agree(detail_type, path, more)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@given(st.sampled_from(PLACES), json_values | st.sampled_from(VALUES))
@settings(max_examples=250, deadline=None)
def test_schema_and_model_agree(place: tuple[str, Path_], value: Any) -> None:
    """Python's `$`, unlike that of ECMA-262, lets a line break pass at the end."""
    assume(not json.dumps(value).replace('"', "").replace("}", "").endswith("\\n"))
    detail_type, detail = EXAMPLES[place[0]]
    assert agree(detail_type, place[1], replaced(detail, place[1], value))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("changed_at", "2026-02-30T12:00:00Z"),
        ("time_zone", "Mars/Olympus"),
        ("time_zone", "Europe"),
        ("name", "\ud83c"),
    ],
)
def test_model_rejects_values_that_schema_cannot_express(field: str, value: str) -> None:
    """It knows no calendar, no time zones, and no halves of characters."""
    changed = replaced(EXAMPLES["subscriber.changed"][1], (field,), value)
    assert fits_schema("subscriber.changed", changed)
    assert not fits_model("subscriber.changed", changed)


def test_overlong_pause_is_rejected_by_model_but_not_schema() -> None:
    """A schema compares no fields."""
    path = ("digest", "paused_until")
    changed = replaced(EXAMPLES["subscriber.changed"][1], path, "2027-02-14")
    assert fits_schema("subscriber.changed", changed)
    assert not fits_model("subscriber.changed", changed)


@pytest.mark.parametrize("value", ["22:00-07:00xyz", "nonsense none", "xdefault", "22:00"])
def test_schema_refuses_texts_around_quiet_hours(value: str) -> None:
    chosen = {"user_id": "ann", "chosen_at": "2026-11-21T09:00:00Z", "quiet_hours": "22:00-07:00"}
    assert fits_schema("preferences.chosen", chosen)
    assert not fits_schema("preferences.chosen", chosen | {"quiet_hours": value})
