"""Compare a command's output with `--json` with its shape in docs/cli."""

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from typer.testing import Result

from gazette_cli.reference.shapes import ONE_A_LINE, SHAPES, Shape


def documents(path: str, result: Result) -> list[Any]:
    """What the command printed; every line beside it is an object too."""
    for line in result.stderr.splitlines():
        assert json.loads(line).keys() <= {"note", "error", "exit_code"}, line
    if path in ONE_A_LINE:
        return [json.loads(line) for line in result.stdout.splitlines()]
    return [json.loads(result.stdout)] if result.stdout else []


def check(path: str, result: Result) -> set[str]:
    """The fields that the answer has, each where its shape says and of its kind."""
    found: set[str] = set()
    for document in documents(path, result):
        found |= set(_fields(document, SHAPES[path], path))
    return found


def fields_of(path: str) -> set[str]:
    """All fields of a shape, by their place in it."""
    return set(_named(SHAPES[path], path))


def _named(shape: Shape, place: str) -> Iterator[str]:
    if isinstance(shape, list):
        yield from _named(shape[0], f"{place}[]")
    elif isinstance(shape, Mapping):
        for name, inner in shape.items():
            yield from _named(inner, f"{place}.{name}")
    else:
        yield place


def _fields(value: Any, shape: Shape, place: str) -> Iterator[str]:
    if isinstance(shape, list):
        assert isinstance(value, list), place
        for each in value:
            yield from _fields(each, shape[0], f"{place}[]")
    elif isinstance(shape, Mapping):
        assert isinstance(value, dict), place
        assert shape.keys() - {"*"} <= value.keys(), (place, shape.keys() - value.keys())
        for name, inner in value.items():
            known = name if name in shape else "*"
            assert known in shape, f"{place}.{name} is in no shape"
            yield from _fields(inner, shape[known], f"{place}.{known}")
    else:
        assert _is_kind(value, shape), (place, shape, value)
        yield place


def _is_kind(value: Any, kind: str) -> bool:
    if value is None or kind == "any":
        return kind == "any" or kind.endswith("?")
    match kind.removesuffix("?"):
        case "text":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "date":
            return isinstance(value, str) and bool(date.fromisoformat(value))
        case "instant":
            at = datetime.fromisoformat(value)
            return value.endswith("Z") and at.utcoffset() == timedelta(0)
        case _:
            raise AssertionError(f"{kind} is no kind")
