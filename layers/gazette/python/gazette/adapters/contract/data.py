"""Validation of custom JSON data, which producers send for use in templates."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from gazette.adapters.contract.fields import LINES

LARGEST = 2048
"""The maximum size of the data in bytes, as compact JSON in UTF-8."""

DEEPEST = 8
"""The maximum nesting depth of objects and lists, including the outermost. The limit bounds the
stack that parsers need.
"""

Place = tuple[str | int, ...]
"""The path of a value in the data, such as `("builds", 0, "number")`."""

Problem = tuple[Place, str]
"""The path of an invalid value, and a description of the problem."""


SCHEMA_FILES = "categories/*/data.schema.json"
"""The glob pattern of the categories' schema files in a template folder."""


class Schema(Protocol):
    """A stage's schema for the custom data of events in one category."""

    def problems(self, data: dict[str, Any]) -> Iterable[Problem]:
        """Return the errors in the data of an event. An event without data is checked as `{}`."""


Schemas = Mapping[str, Schema]
"""Schemas by category. A category without a schema accepts any data."""


def compact(data: dict[str, Any]) -> str:
    """Return the data as compact JSON."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def refuse(problems: Iterable[Problem], *, of: str) -> None:
    """Raise a ValidationError that lists the problems, if there are any."""
    lines = [
        InitErrorDetails(
            type=PydanticCustomError("data", "{why}", {"why": why}), loc=place, input=None
        )
        for place, why in problems
    ]
    if lines:
        raise ValidationError.from_exception_data(of, lines)


def _fits(data: dict[str, Any]) -> dict[str, Any]:
    refuse(_problems(data, ()), of="data")
    size = len(compact(data).encode())
    if size > LARGEST:
        raise ValueError(f"must be at most {LARGEST:,} bytes as compact JSON, not {size:,}")
    return data


def _problems(value: Any, place: Place) -> Iterator[Problem]:
    """Yield a problem for each value that templates cannot show or tables cannot store."""
    if isinstance(value, dict | list):
        if len(place) >= DEEPEST:
            yield place, f"must not be nested more than {DEEPEST} levels deep"
            return
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(name, str) and not _is_text(name):
                yield (*place, name), "the name must not contain control characters"
            yield from _problems(each, (*place, name))
    elif isinstance(value, str) and not _is_text(value):
        yield place, "must be valid UTF-8 text without control characters"
    elif isinstance(value, float) and not isfinite(value):
        yield place, "must be a number that fits in 64 bits"


def _is_text(text: str) -> bool:
    """Return True if the text has no control characters and no lone surrogates."""
    if any("\ud800" <= each <= "\udfff" for each in text):
        return False
    return re.fullmatch(LINES.pattern, text) is not None


Data = Annotated[dict[str, Any], AfterValidator(_fits)]
"""A JSON object of up to 2,048 bytes."""
