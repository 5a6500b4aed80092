"""The pages of the runbook as commands, each as printed, with the page and the line it is on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "runbook"
PAGES = sorted(FOLDER.glob("*.md"))

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)$")
_SPAN = re.compile(r"`((?:gazette|aws)\s[^`]+)`")
_PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]+\b")
_ASSIGNMENT = re.compile(r"[a-z_]+=")
_COMMENT = re.compile(r"\s+# .*")
_EXPANDED = re.compile(r"[$*~]|\bfor\b")
_ON_AWS_ONLY = "On AWS only: "
_ON_AWS_FORM = re.compile(r"On AWS only: .+\]\(https://docs\.aws\.amazon\.com/\S+\)", re.DOTALL)

STANDS_FOR = {
    "ADDRESS": "ann@example.com",
    "CATEGORY": "like",
    "DATE": "2026-11-22",
    "SLOT": "2026-11-22T06:10Z",
    "USER": "ann",
}
"""What a placeholder in running text is here. A block has none: it runs as it is printed."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the page, which begins on this line.

    `text`: as it is printed. `given`: the variables that its block has set before it.
    `why_not`: why only AWS can run it; empty where the engine does.
    """

    page: Path
    line: int
    text: str
    why_not: str = ""
    given: str = ""

    @property
    def bare(self) -> str:
        """The command without its comment, on one line."""
        return " ".join(_COMMENT.sub("", self.text).replace("\\\n", " ").split())

    @property
    def is_expanded(self) -> bool:
        """Whether the shell makes something of its text: there shells differ."""
        return bool(_EXPANDED.search(self.bare))

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}: {self.bare}"


class WrongPage(Exception):
    """A page whose commands cannot be told. The text names page and line."""


def commands(page: Path) -> Iterator[Command]:
    """All commands of a page, in order. Raises WrongPage.

    Those of its blocks in `sh`, line by line; and those in running text that begin with `gazette`
    or `aws`. A block stays out where the paragraph before it begins with "On AWS only:", as do the
    commands of that paragraph.
    """
    paragraph: list[str] = []
    before = ""
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if fence := _FENCE.match(line):
            block = _block(page, lines, fence["indent"])
            before = _told(paragraph) or before
            yield from _inline(page, number - len(paragraph), paragraph)
            paragraph = []
            if fence["language"] == "sh":
                yield from _of_block(page, block, _why_not(before, f"{page.name}:{number}"))
            before = ""
        elif line.strip():
            paragraph.append(line)
        else:
            before = _told(paragraph) or before
            yield from _inline(page, number - len(paragraph), paragraph)
            paragraph = []
    yield from _inline(page, number - len(paragraph) + 1, paragraph)


def _block(page: Path, lines: Iterator[tuple[int, str]], indent: str) -> list[tuple[int, str]]:
    """The numbered lines up to the end of the block, without its indent."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line == f"{indent}```":
            return block
        block.append((number, line.removeprefix(indent)))
    raise WrongPage(f"{page.name} ends within a block.")


def _of_block(page: Path, block: list[tuple[int, str]], why_not: str) -> Iterator[Command]:
    """Its lines; one that ends with a backslash goes on in the next."""
    begun: list[str] = []
    given = ""
    for number, line in block:
        begun.append(line)
        if line.endswith("\\"):
            continue
        text = "\n".join(begun)
        if _ASSIGNMENT.match(text):
            given += f"{text}\n"
        elif text.strip() and not text.lstrip().startswith("#"):
            yield Command(page, number - len(begun) + 1, text, why_not, given)
        begun = []


def _inline(page: Path, first: int, paragraph: list[str]) -> Iterator[Command]:
    """The commands in running text, where placeholders stand for something."""
    text = "\n".join(paragraph)
    why_not = _why_not(_told(paragraph), f"{page.name}:{first}")
    for found in _SPAN.finditer(text):
        line = first + text[: found.start()].count("\n")
        command = " ".join(found[1].split())
        unknown = set(_PLACEHOLDER.findall(command)) - set(STANDS_FOR)
        if unknown:
            raise WrongPage(f"{page.name}:{line}: nobody knows what {min(unknown)} is here.")
        yield Command(page, line, _PLACEHOLDER.sub(_meaning, command), why_not)


def _meaning(placeholder: re.Match[str]) -> str:
    return STANDS_FOR[placeholder[0]]


def _told(paragraph: list[str]) -> str:
    return " ".join(each.strip() for each in paragraph)


def _why_not(told: str, where: str) -> str:
    """Why only AWS can run what follows; empty where nothing is said. Raises WrongPage."""
    if not told.startswith(_ON_AWS_ONLY):
        return ""
    if not _ON_AWS_FORM.match(told):
        raise WrongPage(f'{where}: "On AWS only:" needs its reason and a page of AWS.')
    return told.removeprefix(_ON_AWS_ONLY)
