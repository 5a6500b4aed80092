"""The result of a replay: the sent emails before and after a change."""

import heapq
from collections import Counter
from dataclasses import dataclass, field

from gazette.domain.delivery.run import Run
from gazette.domain.identity import run_id
from gazette.domain.templates.versions import Version

from gazette_support.domain.replay import BREAKS, Change, Missing, Rendition, weight
from gazette_support.steps.replay import Side

WHOLE = 20
"""The number of emails whose content is kept. For other emails, only a summary is kept."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason why an event or an email cannot be shown."""

    # The id of the event, or None for the whole email.
    event: str | None

    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """The summary of an email on one side of the change."""

    subject: str
    preheader: str
    html_bytes: int
    text_bytes: int

    # The titles of the blocks shown.
    blocks: tuple[str, ...]

    # The number of blocks not shown.
    left_out: int

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """The email of a run, before and after the change."""

    run: Run

    # The version of the templates before the change.
    version: Version

    variation: int
    changes: frozenset[Change]

    # True if the email before the change still has the ranked categories of the sent email, which
    # are all that the run's row stores of its content.
    same_categories: bool

    before: Seen
    after: Seen

    @property
    def breaks(self) -> bool:
        """True if the reader would lose content because of the change."""
        return not self.changes.isdisjoint(BREAKS)

    @property
    def place(self) -> tuple[int, str]:
        """The sort key of lists. The most changed emails are first."""
        return -weight(self.changes), run_id(self.run.key)


@dataclass(frozen=True, slots=True)
class Whole:
    """An email with its content on both sides of the change."""

    compared: Compared
    was: Rendition
    now: Rendition


@dataclass(slots=True)
class Comparison:
    """The result of a replay for all emails."""

    emails: list[Compared] = field(default_factory=list)

    # The number of runs that could not be rendered again, by reason.
    missing: Counter[Missing] = field(default_factory=Counter)

    # The most changed emails with their content, at most `WHOLE`.
    whole: list[Whole] = field(default_factory=list)

    # The versions of the templates before the change, with their settings.
    versions: dict[Version, Side] = field(default_factory=dict)

    def add(self, compared: Compared, was: Rendition, now: Rendition) -> None:
        """Add an email. The full content is kept only for the most changed emails."""
        self.emails.append(compared)
        if compared.changes:
            candidates = [*self.whole, Whole(compared, was, now)]
            self.whole = heapq.nsmallest(WHOLE, candidates, key=lambda each: each.compared.place)

    @property
    def changed(self) -> list[Compared]:
        """The changed emails, sorted with the most changed first."""
        return sorted((each for each in self.emails if each.changes), key=lambda each: each.place)
