"""The lines of the keys in a JSON file, for the texts of faults."""

import json
import re
from collections.abc import Mapping, Sequence

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')

Key = str | int
"""The name of a field, or the position of an item in an array."""

Lines = Mapping[tuple[Key, ...], int]
"""The line of each key, by the path of the key."""


def lines_in(text: str) -> Lines:
    """Return the line of each key in valid JSON. A duplicate key has the line of the first one."""
    lines: dict[tuple[Key, ...], int] = {}
    path: list[Key | None] = []
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{":
                path.append(None)
            case "[":
                path.append(0)
            case "}" | "]":
                path.pop()
            case ",":
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
            case string if path and path[-1] is None:
                path[-1] = json.loads(string)
                key = tuple(each for each in path if each is not None)
                lines.setdefault(key, text.count("\n", 0, token.start()) + 1)
    return lines


def line_at(lines: Lines, path: Sequence[Key]) -> int:
    """Return the line of a key, or of the nearest enclosing key. Return 1 if there is none."""
    for end in range(len(path), 0, -1):
        if line := lines.get(tuple(path[:end])):
            return line
    return 1
