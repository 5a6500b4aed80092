"""The entries of a file in NDJSON or CSV, read in constant memory."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gazette.adapters.contract.strict_json import UnreadableError, read_json

_LONGEST = 1_000_000
"""The maximum length of a line in bytes. A larger detail does not fit a PutEvents entry."""

_BOM = b"\xef\xbb\xbf"
_NUMBERS = frozenset({"hour", "minute", "every_weeks", "day_of_month"})
_LISTS = frozenset({"days"})


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file: the offset in bytes, and the number of lines before it."""

    offset: int = 0
    line: int = 0


BEGIN = Place()


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a file."""

    line: int
    """The number of the entry's last line."""

    after: Place
    """The position behind the entry."""

    value: Any = None
    """The decoded entry."""

    problem: str = ""
    """The reason why there is no `value`."""


def read_entries(path: Path, start: Place = BEGIN) -> Iterator[Entry]:
    """Yield the entries of a file from `start` on, which is the position behind an entry.

    A file whose name ends in .csv is CSV with a header line. Any other file is NDJSON, with one
    object per line. Raises OSError.
    """
    with path.open("rb") as file:
        lines = _Lines(file)
        if path.suffix.lower() == ".csv":
            yield from _rows(lines, start)
        else:
            lines.go_to(start)
            yield from _objects(lines)


class _Lines:
    """An iterator over the lines of a file, which keeps the position."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.place = Place()

    def go_to(self, place: Place) -> None:
        if place.offset:
            self._file.seek(place.offset)
            self.place = place

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        """Return the next line. Raises _TooLong and UnicodeDecodeError, behind the line."""
        raw = self._file.readline(_LONGEST)
        if not raw:
            raise StopIteration
        is_first = not self.place.offset
        size, whole = len(raw), len(raw) < _LONGEST or raw.endswith(b"\n")
        while not whole:
            more = self._file.readline(_LONGEST)
            size, whole = size + len(more), len(more) < _LONGEST or more.endswith(b"\n")
        self.place = Place(self.place.offset + size, self.place.line + 1)
        if size > len(raw):
            raise _TooLong
        return (raw.removeprefix(_BOM) if is_first else raw).decode()


class _TooLong(Exception):
    """A line that is too long for an entry of EventBridge."""


_TOO_LONG = f"is longer than {_LONGEST:,} bytes. Remove some data"
_NOT_TEXT = "is not text in UTF-8. Convert the file to UTF-8"


def _objects(lines: _Lines) -> Iterator[Entry]:
    while True:
        value, problem = None, ""
        try:
            line = next(lines)
            if not line.strip():
                continue
            value = read_json(line)
        except StopIteration:
            return
        except _TooLong:
            problem = _TOO_LONG
        except UnicodeDecodeError:
            problem = _NOT_TEXT
        except UnreadableError as err:
            problem = f"is {err}. Write one JSON object per line"
        except RecursionError:
            problem = "is nested too deeply"
        yield Entry(lines.place.line, lines.place, value, problem)


def _rows(lines: _Lines, start: Place) -> Iterator[Entry]:
    rows = csv.reader(lines, strict=True)
    heading: list[str] | None = None
    while True:
        value, problem = None, ""
        try:
            row = next(rows)
            if heading is None:
                heading = [name.strip() for name in row]
                if problem := _heading_problem(heading):
                    yield Entry(lines.place.line, lines.place, problem=problem)
                    return
                lines.go_to(start)
                continue
            if not any(cell.strip() for cell in row):
                continue
            if len(row) == len(heading):
                value = _nested(zip(heading, row, strict=True))
            else:
                problem = f"has {len(row)} cells, but the header line has {len(heading)} columns"
        except StopIteration:
            return
        except _TooLong:
            problem = _TOO_LONG
        except UnicodeDecodeError:
            problem = _NOT_TEXT
        except csv.Error as err:
            problem = f"is not CSV ({err}). Quote cells that contain a comma, a quote or a new line"
        yield Entry(lines.place.line, lines.place, value, problem)


def _heading_problem(heading: list[str]) -> str:
    """Return the problem with the columns, or an empty string."""
    names = set(heading)
    if len(names) < len(heading):
        return "has a column twice. Remove one of them"
    outer = {".".join(parts[:end]) for parts in _parts(heading) for end in range(1, len(parts))}
    if conflict := outer & names:
        return f"has the column {min(conflict)}, and columns inside it. Remove one of them"
    return ""


def _parts(heading: list[str]) -> Iterator[list[str]]:
    return (name.split(".") for name in heading)


def _nested(cells: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the object of a row, whose columns have dotted names, such as `subscriber.email`.

    An empty cell is a missing field. A list is separated by spaces.
    """
    whole: dict[str, Any] = {}
    for name, cell in cells:
        if not (text := cell.strip()):
            continue
        inner = whole
        *path, last = name.split(".")
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = _typed(last, text)
    return whole


def _typed(name: str, text: str) -> object:
    if name in _NUMBERS and text.isascii() and text.isdigit():
        return int(text)
    return text.split() if name in _LISTS else text
