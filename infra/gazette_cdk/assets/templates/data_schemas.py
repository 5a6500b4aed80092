"""Checks of the data schemas in an adopter's templates, before a deployment.

Ingest validates data with JSON Schema, draft 07, and would ignore misspelt keywords and keywords of
later drafts.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gazette.adapters.contract.data import LARGEST, SCHEMA_FILES, Schemas, compact
from gazette.adapters.contract.schemas import DataSchema
from gazette.adapters.contract.strict_json import UnreadableError, read_json
from jsonschema import Draft7Validator
from jsonschema.exceptions import SchemaError

from gazette_cdk.assets.templates.faults import (
    Fault,
    Faults,
    TemplateError,
    fault,
    line_of_json_error,
    read_text,
)
from gazette_cdk.assets.templates.json_lines import Key, Lines, line_at, lines_in

DRAFT = "http://json-schema.org/draft-07/schema#"

_OF_SCHEMAS = {"properties", "patternProperties", "definitions"}
_LISTS = {"allOf", "anyOf", "oneOf"}
_ONE = {
    *("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not"),
    *("propertyNames", "then"),
}
_KEYWORDS = {*Draft7Validator.META_SCHEMA["properties"]}
"""The keywords of draft 07.
https://json-schema.org/draft-07/draft-handrews-json-schema-validation-01
"""


def check_schemas(templates: Path) -> Schemas:
    """Return a folder's schemas by category. Raise TemplateError with all faults of all files."""
    faults = Faults()
    schemas: dict[str, DataSchema] = {}
    for file in sorted(templates.glob(SCHEMA_FILES)):
        with faults.collecting():
            schemas[file.parent.name] = _checked(file)
    faults.raise_all()
    return schemas


def example_of(templates: Path, category: str) -> str:
    """Return the first example in a category's schema as event data, or `{}` if the schema has no
    examples.
    """
    for file in templates.glob(SCHEMA_FILES.replace("*", category)):
        for example in json.loads(file.read_bytes()).get("examples", []):
            return compact(example)
    return ""


def _checked(file: Path) -> DataSchema:
    text = read_text(file)
    try:
        schema = read_json(text)
    except UnreadableError as err:
        raise fault(file, f"{err}.", line=line_of_json_error(err)) from err
    if not isinstance(schema, dict):
        raise fault(file, "a data schema must be an object.", line=1)
    lines = lines_in(text)
    if schema.get("$schema", DRAFT).rstrip("#") != DRAFT.rstrip("#"):
        line = line_at(lines, ["$schema"])
        raise fault(file, f"$schema must be {DRAFT} or absent. Ingest uses draft 07.", line=line)
    try:
        Draft7Validator.check_schema(schema)
        faults = [
            Fault(str(file), line_at(lines, path), f"{_named(place)}: {problem}")
            for place, each in _schemas_in(schema, ())
            for path, problem in _problems(each, place)
        ]
        if faults:
            raise TemplateError(*faults)
        data_schema = DataSchema(schema)
    except SchemaError as err:
        place = tuple(err.absolute_path)
        raise fault(file, f"{_named(place)}: {err.message}.", line=line_at(lines, place)) from err
    except ValueError as err:
        raise fault(file, f"{err}.", line=1) from err
    if faults := list(_faults_of_examples(file, lines, schema.get("examples", []), data_schema)):
        raise TemplateError(*faults)
    return data_schema


def _named(place: tuple[Key, ...]) -> str:
    return "/".join(map(str, place)) or "at the top"


def _schemas_in(
    schema: Any, place: tuple[Key, ...]
) -> Iterator[tuple[tuple[Key, ...], dict[str, Any]]]:
    """Yield the schema and its subschemas, each with its path."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for name, value in schema.items():
        here = (*place, name)
        if name in _OF_SCHEMAS:
            inner = [((*here, key), each) for key, each in value.items()]
        elif name in _LISTS or (name == "items" and isinstance(value, list)):
            inner = [((*here, key), each) for key, each in enumerate(value)]
        elif name == "dependencies":
            inner = [
                ((*here, key), each) for key, each in value.items() if not isinstance(each, list)
            ]
        else:
            inner = [(here, value)] if name in _ONE else []
        for path, each in inner:
            yield from _schemas_in(each, path)


def _problems(
    schema: dict[str, Any], place: tuple[Key, ...]
) -> Iterator[tuple[tuple[Key, ...], str]]:
    """Yield the problems with the keywords of a schema, each with its path."""
    for unknown in sorted(schema.keys() - _KEYWORDS):
        yield (
            (*place, unknown),
            f"draft 07 has no keyword {unknown!r}, so ingest would ignore it. Remove it.",
        )
    if not str(schema.get("$ref", "#")).startswith("#"):
        yield (
            (*place, "$ref"),
            "$ref must begin with #, because ingest reads no other document.",
        )


def _faults_of_examples(
    file: Path, lines: Lines, examples: list[Any], schema: DataSchema
) -> Iterator[Fault]:
    """Yield the faults in the examples of a schema. The trial rendering of templates uses the first
    example.
    """
    for number, example in enumerate(examples):
        where = f"example {number + 1}"
        at = ("examples", number)
        if not isinstance(example, dict):
            text = f"{where}: data must be an object."
            yield Fault(str(file), line_at(lines, at), text)
            continue
        if len(compact(example).encode()) > LARGEST:
            text = f"{where}: data must have at most {LARGEST:,} bytes as compact JSON."
            yield Fault(str(file), line_at(lines, at), text)
        for place, problem in schema.problems(example):
            text = f"{where}: {'.'.join(map(str, ('data', *place)))}: {problem}."
            yield Fault(str(file), line_at(lines, (*at, *place)), text)
