"""Comparison of the readings of two versions, and of the rows that they write."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Rows = Iterable[tuple[str, Mapping[str, Mapping[str, Any]]]]
"""Tables, and items in DynamoDB's format."""

ENUMERATED = {
    "control": ("kind", "what"),
    "runs": ("status", "reason"),
    "schedules": ("state",),
    "subscribers": ("status",),
    "suppressions": ("reason",),
}
"""The attributes of each table whose values are those of an enumeration."""


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which the reading of an older and of a newer version differ.

    A field that only the newer version has is no difference. A newer version with a renamed or
    removed field has one.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            inner = f"{path}.{name}".removeprefix(".")
            if name in new:
                yield from differences(value, new[name], inner)
            else:
                yield f"{inner} is missing"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (each, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(each, other, f"{path}[{place}]")
    elif old != new:
        yield f"{path or 'the row'}: {old!r} and {new!r}"


def written(rows: Rows) -> set[str]:
    """Return the attributes in rows, such as `runs.head`, and the values of enumerations, such as
    `runs.status=sent`."""
    found = set()
    for table, item in rows:
        for name, value in item.items():
            found.add(f"{table}.{name}")
            if name in ENUMERATED.get(table, ()):
                found.add(f"{table}.{name}={value['S']}")
    return found
