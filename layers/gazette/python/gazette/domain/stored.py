"""Stored values of other Gazette versions, which this version reads and keeps unchanged. Pure.

After a rollback, rows may contain values that this version does not know. docs/decisions/0032
describes how each part of the code handles such a value.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from gazette.domain.errors import GazetteError, UnreadableRow

KindT = TypeVar("KindT", bound=StrEnum)
ValueT = TypeVar("ValueT")


def as_stored(kind: type[KindT], text: str) -> KindT:
    """Return the member of `kind` with the value `text`, or else a placeholder that equals no
    member.

    Use only for stored values; validate input with `kind(text)`. The placeholder keeps the text, so
    that a conditional write on the value that was read succeeds.
    """
    try:
        return kind(text)
    except ValueError:
        unknown = str.__new__(kind, text)
        unknown._name_ = text
        unknown._value_ = text
        return unknown


def is_known(value: StrEnum) -> bool:
    """Return True if this version knows the meaning of `value`."""
    return any(value is member for member in type(value))


def readable(rows: Iterable[ValueT | UnreadableRow]) -> Iterator[ValueT]:
    """Return the rows that this version can read."""
    return (row for row in rows if not isinstance(row, UnreadableRow))


def is_of_one_row(err: Exception) -> bool:
    """Return True if an error concerns only one row, which cannot be read or processed.

    Other errors affect more than one row. For example, a service does not respond.
    """
    return isinstance(err, UnreadableRow) or not isinstance(err, GazetteError)


@contextmanager
def of_one_row(table: str, *key: str) -> Iterator[None]:
    """Convert any unexpected error in the `with` block to UnreadableRow.

    Loops over many rows use this context manager and then continue with the next row. The error
    text names the type of the error and the line, but contains no value of the row.
    """
    try:
        yield
    except GazetteError:
        raise
    except Exception as err:  # noqa: BLE001 -- any error, because it must not stop the other rows
        why = f"processing it fails ({type(err).__name__}, {_line_of(err)})"
        raise UnreadableRow(
            table, key, why
        ) from None  # the error's text may contain values of the row


def _line_of(err: Exception) -> str:
    """Return the file and line that raised an error, such as `calendar.py:120`."""
    where = err.__traceback__
    while where and where.tb_next:
        where = where.tb_next
    return f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""


def require_readable(rows: Iterable[ValueT | UnreadableRow]) -> None:
    """Raise the error of the first unreadable row. Call this function after all other rows are
    processed."""
    for row in rows:
        if isinstance(row, UnreadableRow):
            raise row
