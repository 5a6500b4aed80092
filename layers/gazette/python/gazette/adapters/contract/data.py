"""The producer's own JSON for templates: what it may hold."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from gazette.adapters.contract.fields import LINES

LARGEST = 2048
"""Bytes, as compact JSON in UTF-8."""

DEEPEST = 8
"""Objects and lists inside each other, with the outermost: no parser runs out of stack."""

Place = tuple[str | int, ...]
"""The path of a value in the data, such as `("builds", 0, "number")`."""

Problem = tuple[Place, str]
"""Where something is wrong, and what."""


SCHEMA_FILES = "categories/*/data.schema.json"
"""In a folder of templates: the schema of each category that has one."""


class Schema(Protocol):
    """What a stage demands of the data of a category."""

    def problems(self, data: dict[str, Any]) -> Iterable[Problem]:
        """What is wrong with the data of an event; `{}` where it has none."""


Schemas = Mapping[str, Schema]
"""By category; a category without a schema takes any data."""


def compact(data: dict[str, Any]) -> str:
    """The data as compact JSON."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def refuse(problems: Iterable[Problem], *, of: str) -> None:
    """Raise a ValidationError of `of` with a line for each problem, if there is any."""
    lines = [
        InitErrorDetails(
            type=PydanticCustomError("data", "{said}", {"said": said}), loc=place, input=None
        )
        for place, said in problems
    ]
    if lines:
        raise ValidationError.from_exception_data(of, lines)


def _fits(data: dict[str, Any]) -> dict[str, Any]:
    refuse(_problems(data, ()), of="data")
    size = len(compact(data).encode())
    if size > LARGEST:
        raise ValueError(f"must have at most {LARGEST:,} bytes as compact JSON, not {size:,}")
    return data


def _problems(value: Any, place: Place) -> Iterator[Problem]:
    """What no template could show, or no table could store."""
    if isinstance(value, dict | list):
        if len(place) >= DEEPEST:
            yield place, f"must not be nested more than {DEEPEST} levels deep"
            return
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(name, str) and not _is_text(name):
                yield (*place, name), "the name must not contain control characters"
            yield from _problems(each, (*place, name))
    elif isinstance(value, str) and not _is_text(value):
        yield place, "must be text without control characters that UTF-8 can encode"
    elif isinstance(value, float) and not isfinite(value):
        yield place, "must be a number that fits into 64 bits"


def _is_text(text: str) -> bool:
    """A lone surrogate is the only character that UTF-8 cannot encode."""
    if any("\ud800" <= each <= "\udfff" for each in text):
        return False
    return re.fullmatch(LINES.pattern, text) is not None


Data = Annotated[dict[str, Any], AfterValidator(_fits)]
"""A JSON object of up to 2,048 bytes."""
