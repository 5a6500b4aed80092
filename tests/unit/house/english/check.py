"""Findings of the habits in the files of the project."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.unit.house.english.habits import HABITS, Habit
from tests.unit.house.english.texts import Kind, Text, read

ROOT = Path(__file__).parents[4]

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")
CODE = ("layers", "functions", "infra", "cli", "producer", "proofs", "demo", "benchmarks")
SHIPPED = CODE[:5]

FIRST_RECORD = 112
"""The first decision record that follows the check. Older ones are rewritten as they change."""


@dataclass(frozen=True)
class Finding:
    """A habit at a line of a file."""

    path: str
    line: int
    habit: Habit
    sentence: str

    def __str__(self) -> str:
        sentence = re.sub(r"(`|\")\1+", r"\1…\1", self.sentence)
        return f"{self.path}:{self.line}: {self.habit.name}: {sentence}"


def files(under: Iterable[Path] = (ROOT,)) -> list[Path]:
    """Return the files to check in these folders, and these files."""
    paths = {ROOT / page for page in PAGES}
    paths |= {page for page in (ROOT / "docs").rglob("*.md") if _is_checked(page)}
    paths |= {page for top in CODE for page in (ROOT / top).rglob("*.md")}
    paths |= {module for top in CODE for module in (ROOT / top).rglob("*.py")}
    folders = [path.resolve() for path in under]
    return sorted(
        each for each in paths if any(each == path or path in each.parents for path in folders)
    )


def _is_checked(page: Path) -> bool:
    number = page.name[:4]
    return page.parent.name != "decisions" or (number.isdigit() and int(number) >= FIRST_RECORD)


def findings(paths: Iterable[Path]) -> Iterator[Finding]:
    """Yield the findings in files, in the order of their lines."""
    for path in paths:
        name = str(path.relative_to(ROOT))
        matches = (each for text in read(path, name) for each in in_text(text))
        yield from sorted(matches, key=lambda each: each.line)


def in_text(text: Text) -> Iterator[Finding]:
    """Yield the findings in one text. The names of variables count in shipped code only."""
    if text.kind is Kind.NAME and not text.path.startswith(SHIPPED):
        return
    for habit in HABITS:
        if text.kind in habit.kinds:
            for offset in habit.search(text):
                yield Finding(text.path, text.line(offset), habit, text.sentence(offset)[1])
