"""Events in a file: entries of PutEvents or EventBridge envelopes, in any of their usual forms."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gazette.adapters.contract.strict_json import UnreadableError, read_json

from cli.shared.console import NotPossible

_EXAMPLE = "docs/events/event.created.example.json shows one"


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as it was given. `problem` says why there is no `value`."""

    label: str
    value: Any = None
    problem: str = ""


def read_entries(source: str) -> list[Entry]:
    """The entries in a file, `-` for standard input. Raises NotPossible."""
    name = "standard input" if source == "-" else source
    text = _text(source, name)
    if not text.strip():
        raise NotPossible(f"{name} is empty: put an event into it; {_EXAMPLE}.")
    try:
        return _entries(read_json(text), "entry")
    except UnreadableError as err:
        lines = _lines(text)
        if not lines:
            raise NotPossible(f"{name} is {err}. Fix that; {_EXAMPLE}.") from err
        return lines


def _text(source: str, name: str) -> str:
    try:
        given = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        return given.decode("utf-8-sig")
    except FileNotFoundError as err:
        raise NotPossible(f"{name} does not exist: check the path, or use - to pipe.") from err
    except IsADirectoryError as err:
        raise NotPossible(f"{name} is a folder: name a file in it.") from err
    except UnicodeDecodeError as err:
        raise NotPossible(f"{name} is not text in UTF-8: save it as JSON in UTF-8.") from err
    except (OSError, ValueError) as err:
        reason = err.strerror if isinstance(err, OSError) else err
        raise NotPossible(f"{name} cannot be read ({reason}): check path and rights.") from err


def _lines(text: str) -> list[Entry]:
    """The entries of JSON Lines; none where the first line shows that it is something else."""
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
        return [Entry(label, problem="is an empty list: put an event into it")]
    between = " " if numbered else ", entry "
    return [Entry(f"{label}{between}{place}", each) for place, each in enumerate(value, start=1)]
