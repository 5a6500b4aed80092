"""A stage's JSON Schemas (draft 07) for the data of its events, one per category.

Only processes of stages with such a schema import this module. fastjsonschema compiles a schema
into a Python function; importing the `jsonschema` library would take ten times as long.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import fastjsonschema
from fastjsonschema import JsonSchemaValueException, JsonSchemaValuesException

from gazette.adapters.contract.data import Place, Problem

_LONGEST = 300
"""The maximum length in characters of a problem's text, which may repeat parts of the schema, such
as an enum."""

_SENTENCE = re.compile(r"^data\S* ")


def read_schemas(files: Iterable[Path]) -> Mapping[str, "DataSchema"]:
    """Return the schemas in `categories/<category>/data.schema.json`, by category.

    Synthesis has already checked the schemas. Raises OSError, and ValueError for an invalid schema.
    """
    return {file.parent.name: DataSchema(json.loads(file.read_bytes())) for file in files}


class DataSchema:
    """A JSON Schema (draft 07) for the data of a category. Remote references are not resolved."""

    def __init__(self, schema: dict[str, Any]) -> None:
        """Compile the schema. Raises ValueError for an invalid schema."""
        self._check: Callable[[dict[str, Any]], object] = fastjsonschema.compile(
            schema, handlers=_NOTHING_REMOTE, use_default=False, fast_fail=False
        )

    def problems(self, data: dict[str, Any]) -> Iterator[Problem]:
        """Yield the errors in the data of an event. An event without data is checked as `{}`."""
        try:
            self._check(data)
        except JsonSchemaValuesException as err:
            for each in err.errors:
                yield from _in_words(each)


def _in_words(err: JsonSchemaValueException) -> Iterator[Problem]:
    place: Place = tuple(err.path[1:])
    data = err.value if isinstance(err.value, dict) else {}
    if err.rule == "required":
        missing = (name for name in err.rule_definition if name not in data)
        yield from (((*place, name), "Field required") for name in missing)
    elif err.rule == "additionalProperties" and err.rule_definition is False:
        known, patterns = (err.definition.get(name, {}) for name in _NAMES)
        for name in data:
            if name not in known and not any(re.search(each, name) for each in patterns):
                yield (*place, name), "the schema of the category has no such field"
    else:
        yield place, _SENTENCE.sub("", err.message)[:_LONGEST]


_NAMES = ("properties", "patternProperties")


def _refuse(address: str) -> Any:
    raise ValueError(f"{address[:200]!r} is outside the schema")


_NOTHING_REMOTE = dict.fromkeys(("", "http", "https", "ftp", "file", "data"), _refuse)
