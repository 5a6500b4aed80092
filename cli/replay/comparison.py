"""What a replay has found: sent emails before and after a change."""

import heapq
from collections import Counter
from dataclasses import dataclass, field

from gazette.domain.delivery.run import Run
from gazette.domain.identity import run_id
from gazette.domain.replay import BREAKS, Change, Missing, Rendition, weight
from gazette.domain.templates.versions import Version
from gazette.steps.support.replay import Side

WHOLE = 20
"""The most changed emails, which are kept with all that they say; of the others a summary is."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an event of an email cannot be shown; None as `event`: nothing of it can."""

    event: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """An email on one side, without its content. `blocks`: their titles, as they are shown."""

    subject: str
    preheader: str
    html_bytes: int
    text_bytes: int
    blocks: tuple[str, ...]
    left_out: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """A run, and what has changed. `version`: that of the templates before the change.

    `same_categories`: before the change it has the categories, by rank, that it had when it was
    sent. The row of the run tells no more of that email.
    """

    run: Run
    version: Version
    variation: int
    changes: frozenset[Change]
    same_categories: bool
    before: Seen
    after: Seen

    @property
    def breaks(self) -> bool:
        """Whether its reader would lose something."""
        return not self.changes.isdisjoint(BREAKS)

    @property
    def place(self) -> tuple[int, str]:
        """What lists are sorted by: the most changed first."""
        return -weight(self.changes), run_id(self.run.key)


@dataclass(frozen=True, slots=True)
class Whole:
    """One of the most changed emails, with its content on both sides."""

    compared: Compared
    was: Rendition
    now: Rendition


@dataclass(slots=True)
class Comparison:
    """All of them. `missing`: how many runs cannot be rendered again.

    `whole`: of those that change the first by place, `WHOLE` of them at most. `versions`: those of
    the templates before the change, each with its settings.
    """

    emails: list[Compared] = field(default_factory=list)
    missing: Counter[Missing] = field(default_factory=Counter)
    whole: list[Whole] = field(default_factory=list)
    versions: dict[Version, Side] = field(default_factory=dict)

    def add(self, compared: Compared, was: Rendition, now: Rendition) -> None:
        """Keeps the email, and its content while it is among the most changed."""
        self.emails.append(compared)
        if compared.changes:
            found = [*self.whole, Whole(compared, was, now)]
            self.whole = heapq.nsmallest(WHOLE, found, key=lambda each: each.compared.place)

    @property
    def changed(self) -> list[Compared]:
        """Those that change, the most changed first."""
        return sorted((each for each in self.emails if each.changes), key=lambda each: each.place)
