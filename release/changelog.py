"""The sections of CHANGELOG.md, one for each version."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

NOT_YET = "not yet released"
"""The text in the place of the date, while a version is developed."""

HEADINGS = ("Added", "Changed", "Fixed", "You must", "Rows")
"""The headings of a section, in their order."""

REQUIRED = ("You must", "Rows")
"""The headings of every section. An upgrade depends on them, so a section states if there is
nothing to do."""

_SECTION = re.compile(r"^## (?P<version>\d+\.\d+\.\d+), (?P<date>.+)$", re.MULTILINE)
_HEADING = re.compile(r"^### (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """The changes of a version."""

    version: str

    # None while the version is developed.
    released_on: date | None

    # The text below each heading.
    parts: Mapping[str, str]

    @property
    def text(self) -> str:
        """The whole text below the headings."""
        return "\n".join(self.parts.values())

    @property
    def errors(self) -> list[str]:
        """The errors in the form of the section, one sentence each."""
        names = list(self.parts)
        unknown = [name for name in names if name not in HEADINGS]
        missing = [name for name in REQUIRED if name not in names]
        empty = [name for name, text in self.parts.items() if not text.strip()]
        errors = [f"has the unknown heading {name!r}" for name in unknown]
        errors += [f"has no heading {name!r}" for name in missing]
        errors += [f"has no text below {name!r}" for name in empty]
        if not unknown and names != sorted(names, key=HEADINGS.index):
            errors.append(f"does not have its headings in the order {', '.join(HEADINGS)}")
        return [f"The section {self.version} of CHANGELOG.md {each}." for each in errors]


def sections(changelog: str) -> list[Section]:
    """Return the sections in their order, newest first. Raises ValueError for a malformed date."""
    heads = list(_SECTION.finditer(changelog))
    ends = [*(head.start() for head in heads[1:]), len(changelog)]
    return [
        Section(
            head["version"],
            None if head["date"] == NOT_YET else date.fromisoformat(head["date"]),
            _parts(changelog[head.end() : end]),
        )
        for head, end in zip(heads, ends, strict=True)
    ]


def _parts(text: str) -> Mapping[str, str]:
    _, *pieces = _HEADING.split(text)
    return dict(zip(pieces[::2], pieces[1::2], strict=True))
