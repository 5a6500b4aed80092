"""The differences between two versions of the templates, file by file. No I/O."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum

from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo

Files = Mapping[str, bytes]
"""The content of built templates, by path."""

_COMPILED = ".mo"


class FileChange(StrEnum):
    """The kind of change to a file."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class FileDifference:
    """The difference between two versions of a file."""

    path: str
    change: FileChange

    # The lines of a unified diff, without line breaks.
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        """The number of lines that only the newer version has."""
        return sum(line.startswith("+") for line in self.lines[2:])

    @property
    def removed(self) -> int:
        """The number of lines that only the older version has."""
        return sum(line.startswith("-") for line in self.lines[2:])


def differences(before: Files, after: Files, *, named: tuple[str, str]) -> list[FileDifference]:
    """Return the files that differ, sorted by path. `named` has the names of the two versions."""
    return [
        FileDifference(
            path, _change(path, before, after), tuple(_lines(path, before, after, named))
        )
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    ]


def _change(path: str, before: Files, after: Files) -> FileChange:
    if path not in before:
        return FileChange.ADDED
    return FileChange.CHANGED if path in after else FileChange.REMOVED


def _lines(path: str, before: Files, after: Files, named: tuple[str, str]) -> Iterator[str]:
    old, new = (_text(path, files[path]) if path in files else None for files in (before, after))
    was, becomes = (
        f"{name}/{path}" if text is not None else "/dev/null"
        for name, text in zip(named, (old, new), strict=True)
    )
    lines = [*unified_diff(old or [], new or [], was, becomes, lineterm="")]
    yield from lines or (f"--- {was}", f"+++ {becomes}", " only the line endings differ")


def _text(path: str, content: bytes) -> list[str]:
    """Return the lines of a file, or the sentences and translations of a compiled catalogue."""
    if path.endswith(_COMPILED):
        return [*_sentences(read_mo(io.BytesIO(content)))]
    return content.decode("utf-8", "replace").splitlines()


def _sentences(catalogue: Catalog) -> Iterator[str]:
    for message in catalogue:
        if message.id:
            yield f"{_joined(message.id)} = {_joined(message.string)}"


def _joined(text: object) -> str:
    """Join the plural forms of a message into one line."""
    forms = text if isinstance(text, (list, tuple)) else (text,)
    return " | ".join(" ".join(str(form).split()) for form in forms)
