"""Values that another version of Gazette has stored: read as they are, and kept. Pure.

A deployment that is rolled back leaves rows with values that this version does not know.
docs/decisions/0032 says what each part of the code does with such a value.
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


def is_of_one_row(err: Exception) -> bool:
    """Return whether an error concerns one row alone: it cannot be read, or not be computed with.

    What else Gazette reports concerns more: a service does not answer, or something keeps changing.
    """
    return isinstance(err, UnreadableRow) or not isinstance(err, GazetteError)


@contextmanager
def of_one_row(table: str, *key: str) -> Iterator[None]:
    """Raise UnreadableRow for a row with which something unexpected happens in this block.

    For loops over many rows, which then continue. Its text names the kind of error and the line,
    and nothing that the row holds.
    """
    try:
        yield
    except GazetteError:
        raise
    except Exception as err:  # noqa: BLE001 -- whatever it is, it must not stop the other rows
        why = f"working with it fails ({type(err).__name__}, {_line_of(err)})"
        raise UnreadableRow(table, key, why) from None  # its own text may hold values of the row


def _line_of(err: Exception) -> str:
    """Return the file and line that raised an error, such as `calendar.py:120`."""
    where = err.__traceback__
    while where and where.tb_next:
        where = where.tb_next
    return f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""


def require_readable(rows: Iterable[ValueT | UnreadableRow]) -> None:
    """Raise the first row that cannot be read. Call it after all others are processed."""
    for row in rows:
        if isinstance(row, UnreadableRow):
            raise row
