"""The schemas of data in an adopter's templates, checked before they are deployed.

Ingest holds data against them as JSON Schema of draft 07, and knows no keyword of later drafts: it
would pass over one, as over a misspelt one.
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

from infra.assets.inline import TemplateError

DRAFT = "http://json-schema.org/draft-07/schema#"

_OF_SCHEMAS = {"properties", "patternProperties", "definitions"}
_LISTS = {"allOf", "anyOf", "oneOf"}
_ONE = {
    *("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not"),
    *("propertyNames", "then"),
}
_KEYWORDS = {*Draft7Validator.META_SCHEMA["properties"]}
"""https://json-schema.org/draft-07/draft-handrews-json-schema-validation-01"""


def check_schemas(templates: Path) -> Schemas:
    """The schemas in a folder of templates, by category. Raises TemplateError, naming the file."""
    return {file.parent.name: _checked(file) for file in sorted(templates.glob(SCHEMA_FILES))}


def example_of(templates: Path, category: str) -> str:
    """The first example in the schema of a category, as an event has it; empty if it has none."""
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
        raise TemplateError(f"{file}: a schema of data is an object.")
    if schema.get("$schema", DRAFT).rstrip("#") != DRAFT.rstrip("#"):
        raise TemplateError(f"{file}: $schema must be {DRAFT}, or left out: ingest knows draft 07.")
    try:
        Draft7Validator.check_schema(schema)
        for place, each in _schemas_in(schema, ""):
            _check(each, f"{file}, {place or 'at the top'}")
        made = DataSchema(schema)
    except SchemaError as err:
        place = "/".join(map(str, err.absolute_path)) or "at the top"
        raise TemplateError(f"{file}, {place}: {err.message}.") from err
    except ValueError as err:
        raise TemplateError(f"{file}: {err}.") from err
    _check_examples(file, schema.get("examples", []), made)
    return made


def _schemas_in(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and those inside it, with the place of each."""
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
        raise TemplateError(f"{where}: draft 07 has no {unknown[0]!r}, so nothing would hold it.")
    if not str(schema.get("$ref", "#")).startswith("#"):
        raise TemplateError(f"{where}: $ref must begin with #: nothing is looked up elsewhere.")


def _check_examples(file: Path, examples: list[Any], schema: DataSchema) -> None:
    """Templates are tried out with the first one."""
    for number, example in enumerate(examples):
        where = f"{file}, example {number + 1}"
        if not isinstance(example, dict):
            raise TemplateError(f"{where}: data is an object.")
        if len(compact(example).encode()) > LARGEST:
            raise TemplateError(f"{where}: data has at most {LARGEST:,} bytes as compact JSON.")
        for place, said in schema.problems(example):
            raise TemplateError(f"{where}: {'.'.join(map(str, ('data', *place)))}: {said}.")
