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

from gazette_cdk.assets.templates.inline import TemplateError

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
    """Return a folder's schemas by category. Raise TemplateError, naming the file, if a schema is
    invalid.
    """
    return {file.parent.name: _checked(file) for file in sorted(templates.glob(SCHEMA_FILES))}


def example_of(templates: Path, category: str) -> str:
    """Return the first example in a category's schema as event data, or `{}` if the schema has no
    examples.
    """
    for file in templates.glob(SCHEMA_FILES.replace("*", category)):
        for example in json.loads(file.read_bytes()).get("examples", []):
            return compact(example)
    return ""


def _checked(file: Path) -> DataSchema:
    try:
        schema = read_json(file.read_text(encoding="utf-8"))
    except (UnreadableError, UnicodeError) as err:
        raise TemplateError(f"{file} is not JSON: {err}.") from err
    if not isinstance(schema, dict):
        raise TemplateError(f"{file}: a data schema must be an object.")
    if schema.get("$schema", DRAFT).rstrip("#") != DRAFT.rstrip("#"):
        raise TemplateError(f"{file}: $schema must be {DRAFT} or absent. Ingest uses draft 07.")
    try:
        Draft7Validator.check_schema(schema)
        for place, each in _schemas_in(schema, ""):
            _check(each, f"{file}, {place or 'at the top'}")
        data_schema = DataSchema(schema)
    except SchemaError as err:
        place = "/".join(map(str, err.absolute_path)) or "at the top"
        raise TemplateError(f"{file}, {place}: {err.message}.") from err
    except ValueError as err:
        raise TemplateError(f"{file}: {err}.") from err
    _check_examples(file, schema.get("examples", []), data_schema)
    return data_schema


def _schemas_in(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schema and its subschemas, each with its path."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for name, value in schema.items():
        here = f"{place}/{name}".lstrip("/")
        if name in _OF_SCHEMAS:
            inner = value.items()
        elif name in _LISTS or (name == "items" and isinstance(value, list)):
            inner = enumerate(value)
        elif name == "dependencies":
            inner = ((key, each) for key, each in value.items() if not isinstance(each, list))
        else:
            inner = [("", value)] if name in _ONE else []
        for key, each in inner:
            yield from _schemas_in(each, f"{here}/{key}".rstrip("/"))


def _check(schema: dict[str, Any], where: str) -> None:
    if unknown := sorted(schema.keys() - _KEYWORDS):
        raise TemplateError(
            f"{where}: draft 07 has no keyword {unknown[0]!r}, so ingest would ignore it. Remove "
            "it."
        )
    if not str(schema.get("$ref", "#")).startswith("#"):
        raise TemplateError(
            f"{where}: $ref must begin with #, because ingest reads no other document."
        )


def _check_examples(file: Path, examples: list[Any], schema: DataSchema) -> None:
    """Check the examples of a schema. The trial rendering of templates uses the first example."""
    for number, example in enumerate(examples):
        where = f"{file}, example {number + 1}"
        if not isinstance(example, dict):
            raise TemplateError(f"{where}: data must be an object.")
        if len(compact(example).encode()) > LARGEST:
            raise TemplateError(
                f"{where}: data must have at most {LARGEST:,} bytes as compact JSON."
            )
        for place, problem in schema.problems(example):
            raise TemplateError(f"{where}: {'.'.join(map(str, ('data', *place)))}: {problem}.")
