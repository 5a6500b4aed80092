"""Read events from a file of PutEvents entries or EventBridge envelopes."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gazette.adapters.contract.strict_json import UnreadableError, read_json

from gazette_cli.shared.console import NotPossible

_EXAMPLE = "For an example, see docs/events/event.created.example.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an events file."""

    # The position of the entry in the file, such as `entry 2` or `line 7`.
    label: str

    # The decoded JSON.
    value: Any = None

    # The reason why there is no `value`.
    problem: str = ""


def read_entries(source: str) -> list[Entry]:
    """Read the entries of a file, or of standard input if the path is `-`. Raises NotPossible."""
    name = "standard input" if source == "-" else source
    text = _text(source, name)
    if not text.strip():
        raise NotPossible(f"{name} is empty. Add an event. {_EXAMPLE}.")
    try:
        return _entries(read_json(text), "entry")
    except UnreadableError as err:
        lines = _lines(text)
        if not lines:
            raise NotPossible(f"{name} is {err}. Correct the file. {_EXAMPLE}.") from err
        return lines


def _text(source: str, name: str) -> str:
    try:
        content = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        return content.decode("utf-8-sig")
    except FileNotFoundError as err:
        raise NotPossible(
            f"{name} does not exist. Check the path, or specify - for standard input."
        ) from err
    except IsADirectoryError as err:
        raise NotPossible(f"{name} is a folder. Specify a file.") from err
    except UnicodeDecodeError as err:
        raise NotPossible(f"{name} is not encoded in UTF-8. Save it as JSON in UTF-8.") from err
    except (OSError, ValueError) as err:
        reason = err.strerror if isinstance(err, OSError) else err
        raise NotPossible(f"{name} is unreadable ({reason}). Check its permissions.") from err


def _lines(text: str) -> list[Entry]:
    """Read entries from text in the JSON Lines format. Return no entries if the first line is not
    JSON.
    """
    entries: list[Entry] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entries += _entries(read_json(line), f"line {number}", numbered=False)
        except UnreadableError as err:
            if not entries:
                return []
            entries.append(Entry(f"line {number}", problem=f"is {err}"))
    return entries


def _entries(value: Any, label: str, *, numbered: bool = True) -> list[Entry]:
    if not isinstance(value, list):
        return [Entry(f"{label} 1" if numbered else label, value)]
    if not value:
        return [Entry(label, problem="is an empty list: add an event")]
    between = " " if numbered else ", entry "
    return [Entry(f"{label}{between}{place}", each) for place, each in enumerate(value, start=1)]
