"""Values that another version of Gazette has stored: read as they are, and kept. Pure.

A deployment that is rolled back leaves rows with values that this version does not know.
docs/decisions/0032 says what each part of the code does with such a value.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeVar

from gazette.domain.errors import UnreadableRow

KindT = TypeVar("KindT", bound=StrEnum)
ValueT = TypeVar("ValueT")


def as_stored(kind: type[KindT], text: str) -> KindT:
    """The member of `kind` named `text`; else a value with that text that equals no member.

    Only for stored values; input is validated by `kind(text)`. The text is kept, so that a write on
    the condition of the value that was read succeeds.
    """
    try:
        return kind(text)
    except ValueError:
        unknown = str.__new__(kind, text)
        unknown._name_ = text
        unknown._value_ = text
        return unknown


def is_known(value: StrEnum) -> bool:
    """Whether this version knows what `value` means."""
    return any(value is member for member in type(value))


def readable(rows: Iterable[ValueT | UnreadableRow]) -> Iterator[ValueT]:
    """The rows without those that this version cannot read."""
    return (row for row in rows if not isinstance(row, UnreadableRow))


def require_readable(rows: Iterable[ValueT | UnreadableRow]) -> None:
    """Raise the first row that cannot be read. Call it after all others are processed."""
    for row in rows:
        if isinstance(row, UnreadableRow):
            raise row
