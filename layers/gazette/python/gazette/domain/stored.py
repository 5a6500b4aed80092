"""What another version of Gazette has stored: read as such, and kept as it is. Pure.

A deployment that is taken back leaves rows behind that say what this version does not know. What
each reader makes of such a value is in docs/decisions/0032.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeVar

from gazette.domain.errors import UnreadableRow

KindT = TypeVar("KindT", bound=StrEnum)
ValueT = TypeVar("ValueT")


def as_stored(kind: type[KindT], text: str) -> KindT:
    """The member of `kind` that `text` names; else one that equals no member, and says `text`.

    For what was stored alone: what comes in is refused by `kind(text)`. Because the text stays
    the same, a write on the condition of what was read holds.
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
    """Those of some rows that this version can read."""
    return (row for row in rows if not isinstance(row, UnreadableRow))


def require_readable(rows: Iterable[ValueT | UnreadableRow]) -> None:
    """Raise the first that cannot be read: once all others are done with, so that none is lost."""
    for row in rows:
        if isinstance(row, UnreadableRow):
            raise row
