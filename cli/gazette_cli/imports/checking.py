"""The check of a whole file, before anything is published."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gazette.domain.sources import Sources

from gazette_cli.imports.duplicates import Duplicates
from gazette_cli.imports.entries import read_entries
from gazette_cli.imports.items import DETAIL_TYPES, Item, Kind, item_of, problems_in


@dataclass(slots=True)
class Counts:
    """The number of valid items of a file by kind, and their size in bytes."""

    items: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))
    sizes: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))


def hash_of_file(path: Path) -> str:
    """Return the SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(
    path: Path,
    *,
    changed_at: str,
    now: datetime,
    report: Callable[[str], None],
) -> Counts:
    """Count the items of a file, and report each problem with its line. Raises OSError."""
    counts = Counts()
    before = 0
    with Duplicates() as duplicates:
        for entry in read_entries(path):
            size, before = entry.after.offset - before, entry.after.offset
            item = item_of(entry, changed_at=changed_at)
            if not isinstance(item, Item):
                report(f"line {entry.line}: {item}")
                continue
            for problem in problems_in(item, now=now):
                report(f"line {entry.line}: {problem}")
            duplicates.add(item.key, entry.line)
            counts.items[item.kind] += 1
            counts.sizes[item.kind] += size
        for line, first in duplicates.found():
            report(f"line {line}: repeats line {first}. Remove one of them")
    return counts


def refusals(sources: Sources, source: str, counts: Counts) -> Iterator[str]:
    """Yield the reasons why the stage would reject events of this source."""
    for kind, detail_type in DETAIL_TYPES.items():
        if counts.items[kind] and (refusal := sources.refusal(detail_type, source)):
            yield refusal
