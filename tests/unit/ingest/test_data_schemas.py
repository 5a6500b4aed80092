"""What a stage demands of data: ingest and lint hold it, synthesis refuses what is no schema."""

import json
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.contract import decode, read_detail
from gazette.adapters.contract.data import SCHEMA_FILES, Schemas
from gazette.adapters.contract.schemas import DataSchema, read_schemas
from gazette.domain.commands import CreateActivity, CreateEvents
from gazette.domain.errors import InvalidEvent
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from gazette_cdk.assets.templates.build import build_templates
from gazette_cdk.assets.templates.data_schemas import DRAFT, check_schemas
from gazette_cdk.assets.templates.faults import TemplateError
from gazette_cdk.assets.templates.trial import try_out
from tests.unit.ingest.test_contract import ACTIVITY, EVENT, envelope

TEMPLATES = Path(__file__).parents[3] / "templates"
SCHEMA: dict[str, Any] = {
    "$schema": DRAFT,
    "type": "object",
    "properties": {
        "build": {
            "type": "object",
            "properties": {
                "number": {"type": "integer", "minimum": 1},
                "branch": {"type": "string", "maxLength": 8},
                "state": {"enum": ["passed", "failed"]},
                "steps": {"type": "array", "items": {"$ref": "#/definitions/step"}},
            },
            "patternProperties": {"^x-": {"type": "string"}},
            "required": ["number"],
            "additionalProperties": False,
        }
    },
    "required": ["build"],
    "definitions": {"step": {"type": "string", "pattern": "^[a-z]+$"}},
    "examples": [{"build": {"number": 4711, "state": "failed"}}],
}
FITS = {"build": {"number": 1, "branch": "main", "state": "passed", "steps": ["a"], "x-y": "z"}}


def schemas(folder: Path, schema: Any = None, category: str = "build") -> Schemas:
    """As ingest reads them from the templates of a stage."""
    write(folder, schema or SCHEMA, category)
    return read_schemas(sorted(folder.glob(SCHEMA_FILES)))


def write(folder: Path, schema: Any, category: str = "build") -> Path:
    file = folder / "categories" / category / "data.schema.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return file


def an_entry(data: Any, category: str = "build") -> dict[str, Any]:
    return {**EVENT, "category": category, **({} if data is None else {"data": data})}


def problems(data: Any, known: Schemas) -> tuple[str, ...]:
    return read_detail("event.created", an_entry(data), schemas=known).problems


# Held.


def test_data_matching_schema_is_accepted(tmp_path: Path) -> None:
    command = decode(envelope("event.created", an_entry(FITS)), schemas=schemas(tmp_path))
    assert isinstance(command, CreateEvents)
    assert json.loads(command.events[0].data) == FITS


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "data.build: Field required"),
        (None, "data.build: Field required"),
        ({"build": {}}, "data.build.number: Field required"),
        ({"build": {"number": "1"}}, "data.build.number: must be integer"),
        ({"build": {"number": 0}}, "data.build.number: must be bigger than or equal to 1"),
        ({"build": 1}, "data.build: must be object"),
        (
            {"build": {"number": 1, "state": "lost"}},
            "data.build.state: must be one of ['passed', 'failed']",
        ),
        (
            {"build": {"number": 1, "steps": ["a", "B"]}},
            "data.build.steps.1: must match pattern ^[a-z]+$",
        ),
        (
            {"build": {"number": 1, "colour": "red"}},
            "data.build.colour: the schema of the category has no such field",
        ),
        (
            {"build": {"number": 1, "branch": "too-long-"}},
            "data.build.branch: must be shorter than or equal to 8 characters",
        ),
    ],
)
def test_data_violating_schema_is_rejected_with_path(tmp_path: Path, data: Any, said: str) -> None:
    assert problems(data, schemas(tmp_path)) == (f"detail.{said}",)


def test_all_schema_violations_are_reported(tmp_path: Path) -> None:
    wrong = {"build": {"number": "x", "state": "lost", "a": 1, "b": 1}}
    assert sorted(each.partition(": ")[0] for each in problems(wrong, schemas(tmp_path))) == [
        "detail.data.build.a",
        "detail.data.build.b",
        "detail.data.build.number",
        "detail.data.build.state",
    ]


def test_property_names_matching_a_pattern_are_accepted(tmp_path: Path) -> None:
    wrong = {"build": {"number": 1, "x-y": "z", "colour": "red"}}
    (found,) = problems(wrong, schemas(tmp_path))
    assert found.startswith("detail.data.build.colour: ")


def test_quarantine_reason_contains_path_without_value(tmp_path: Path) -> None:
    wrong = an_entry({"build": {"number": "a secret"}})
    with pytest.raises(InvalidEvent) as caught:
        decode(envelope("event.created", wrong), schemas=schemas(tmp_path))
    assert str(caught.value) == (
        "event.created does not match its schema: detail.data.build.number: must be integer."
    )


def test_attack_invalid_property_name_is_quoted_in_error(tmp_path: Path) -> None:
    (found,) = problems({"build": {"number": 1, "=1+1\u202e": 1}}, schemas(tmp_path))
    assert found.startswith(r"detail.data.build.'=1+1\u202e': ")


def test_only_invalid_event_in_list_is_rejected(tmp_path: Path) -> None:
    listed = {"events": [an_entry(FITS), {**an_entry({}), "id": "2"}, {**EVENT, "id": "3"}]}
    command = decode(envelope("event.created", listed), schemas=schemas(tmp_path))
    assert isinstance(command, CreateEvents)
    assert [event.id for event in command.events] == ["message1", "3"]
    assert "detail.events.1.data.build: Field required" in command.problems


def test_activity_data_is_validated_against_category_schema(tmp_path: Path) -> None:
    known = schemas(tmp_path)
    activity = {**ACTIVITY, "category": "build"}
    assert isinstance(
        decode(envelope("activity.created", {**activity, "data": FITS}), schemas=known),
        CreateActivity,
    )
    with pytest.raises(InvalidEvent, match=r"detail\.data\.build: Field required"):
        decode(envelope("activity.created", activity), schemas=known)


def test_category_without_schema_accepts_any_data(tmp_path: Path) -> None:
    known = schemas(tmp_path)
    assert not read_detail("event.created", an_entry({"a": 1}, "deploy"), schemas=known).problems


def test_schema_validation_does_not_modify_data(tmp_path: Path) -> None:
    """A `default` is a note for people."""
    known = schemas(tmp_path, {"properties": {"a": {"default": 1}}})
    command = decode(envelope("event.created", an_entry({"b": 2})), schemas=known)
    assert isinstance(command, CreateEvents)
    assert command.events[0].data == '{"b":2}'


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from(["", "a", "B", "passed"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["number", "branch", "state", "steps", "x-y", "z"]), inner
        )
    ),
    max_leaves=5,
)
SCHEMA_OF_ANY = DataSchema(SCHEMA)
ANOTHER_OPINION = Draft7Validator(SCHEMA)


@given(st.fixed_dictionaries({}, optional={"build": values, "other": values}))
@settings(max_examples=300, deadline=None)
def test_two_validation_libraries_agree_on_any_data(data: dict[str, Any]) -> None:
    """JSON has one kind of number, in which both agree; Python calls True an integer."""
    assert (not list(SCHEMA_OF_ANY.problems(data))) == ANOTHER_OPINION.is_valid(data)


# Checked before it is deployed.


def test_valid_schema_is_packaged_with_templates(tmp_path: Path) -> None:
    write(tmp_path / "own", SCHEMA)
    built = tmp_path / "built"
    build_templates(TEMPLATES, built, overlay=tmp_path / "own")
    assert problems({}, read_schemas(built.glob(SCHEMA_FILES))) == (
        "detail.data.build: Field required",
    )


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", r"data\.schema\.json:1: not JSON"),
        ('{"type": "object", "type": "object"}', "the name 'type' twice"),
        ("[]", "a data schema must be an object"),
        ({"type": "objekt"}, r"type: 'objekt' is not valid"),
        ({"properties": {"a": {"minLength": "x"}}}, "properties/a/minLength: 'x' is not of type"),
        ({"properties": []}, r"properties: \[\] is not of type 'object'"),
        ({"properties": {"a": {"pattern": "("}}}, "unterminated subpattern|is not a 'regex'"),
        (
            {"$schema": "https://json-schema.org/draft/2020-12/schema"},
            r"\$schema must be http://json-schema\.org/draft-07/schema#",
        ),
        ({"requried": ["a"]}, "at the top: draft 07 has no keyword 'requried'"),
        (
            {"properties": {"a": {"prefixItems": [True]}}},
            "properties/a: draft 07 has no keyword 'prefixItems'",
        ),
        ({"allOf": [{}, {"not": {"$defs": {}}}]}, r"allOf/1/not: draft 07 has no keyword '\$defs'"),
        ({"dependencies": {"a": ["b"], "c": {"oops": 1}}}, "dependencies/c: draft 07 has no"),
        ({"$ref": "https://example.com/schema.json"}, r"\$ref must begin with #"),
        ({"items": [{"$ref": "other.json#/a"}]}, r"items/0: \$ref must begin with #"),
        ({"$ref": "#/definitions/none"}, "Unresolvable ref"),
        ({"required": ["a"], "examples": [{}]}, "example 1: data.a: Field required"),
        ({"examples": [1]}, "example 1: data must be an object"),
        ({"examples": [{"a": "b" * 3000}]}, "at most 2,048 bytes"),
    ],
)
def test_invalid_schema_is_rejected_with_file_name(tmp_path: Path, schema: Any, said: str) -> None:
    file = write(tmp_path / "own", schema)
    with pytest.raises(TemplateError, match=said) as caught:
        build_templates(TEMPLATES, tmp_path / "built", overlay=tmp_path / "own")
    assert str(caught.value).startswith(str(file))


def test_property_names_may_equal_schema_keywords(tmp_path: Path) -> None:
    write(tmp_path, {"properties": {"prefixItems": {"const": {"$defs": 1}}, "$ref": True}})
    assert check_schemas(tmp_path).keys() == {"build"}


def test_variation_cannot_have_its_own_schema(tmp_path: Path) -> None:
    """Ingest does not know who will read in which variation."""
    write(tmp_path / "own" / "variations" / "2", SCHEMA)
    with pytest.raises(TemplateError, match="this file has no effect"):
        build_templates(TEMPLATES, tmp_path / "built", overlay=tmp_path / "own")


def test_templates_are_tested_with_schema_example(tmp_path: Path) -> None:
    own = tmp_path / "own"
    write(own, SCHEMA)
    line = own / "categories" / "build" / "line.txt"
    line.write_text("Build {{ group.data.build.number }}")
    build_templates(TEMPLATES, tmp_path / "built", overlay=own)
    try_out(tmp_path / "built")
    write(own, {name: each for name, each in SCHEMA.items() if name != "examples"})
    build_templates(TEMPLATES, tmp_path / "second", overlay=own)
    with pytest.raises(TemplateError, match=r"^categories/build/line\.txt:1: "):
        try_out(tmp_path / "second")


def test_templates_are_tested_with_event_without_actor(tmp_path: Path) -> None:
    own = tmp_path / "own" / "categories" / "build"
    own.mkdir(parents=True)
    (own / "line.txt").write_text("{{ group.actor.name }} built")
    build_templates(TEMPLATES, tmp_path / "built", overlay=tmp_path / "own")
    with pytest.raises(TemplateError, match=r"^categories/build/line\.txt:1: "):
        try_out(tmp_path / "built")
