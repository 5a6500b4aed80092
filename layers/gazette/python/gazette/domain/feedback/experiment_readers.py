"""The readers of an experiment or of a rollout, each counted once. Pure.

Readers, not emails, are assigned to variations and to versions of the templates, and the emails of
one reader are not independent. So readers are compared, not emails (docs/decisions/0029).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gazette.domain.feedback.delivery_events import Engagement
from gazette.domain.feedback.statistics import ACTS, Measure, measures_of


class Compared(StrEnum):
    """What readers have that is compared."""

    VARIATION = "variation"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class Arm:
    """The readers of one variation or version: their number, and how many did each act at least
    once. `number`: of the variation or version, as `of` says.
    """

    number: int
    readers: int
    did: Mapping[Measure, int]
    of: Compared = Compared.VARIATION


@dataclass(slots=True)
class Readers:
    """The readers of the emails of an experiment or a rollout, as far as emails were added.

    `began`: when a reader's first email was sent, and its arm, a variation or a version. `did`: the
    readers who did each act. `moved`: the readers who got more than one arm. Some 300 bytes per
    reader.
    """

    began: dict[str, tuple[datetime, int]] = field(default_factory=dict)
    did: dict[Measure, set[str]] = field(default_factory=lambda: {act: set() for act in ACTS})
    moved: set[str] = field(default_factory=set)

    def add(self, email: Engagement, arm: int) -> None:
        """Add an email of an arm; in any order."""
        reader = email.key.user_id
        self._begin(reader, min(email.first.values()), arm)
        for measure in measures_of(email):
            if measure in self.did:
                self.did[measure].add(reader)

    def merge(self, others: "Readers") -> None:
        """Add what was added to `others`."""
        for reader, (at, arm) in others.began.items():
            self._begin(reader, at, arm)
        for act, who in others.did.items():
            self.did[act] |= who
        self.moved |= others.moved

    def arms(self, compared: Compared = Compared.VARIATION) -> list[Arm]:
        """The arms, by number. A reader counts in the arm of their first email."""
        of: dict[int, set[str]] = {}
        for reader, (_, arm) in self.began.items():
            of.setdefault(arm, set()).add(reader)
        return [
            Arm(arm, len(who), {act: len(who & did) for act, did in self.did.items()}, compared)
            for arm, who in sorted(of.items())
        ]

    def _begin(self, reader: str, at: datetime, arm: int) -> None:
        known = self.began.setdefault(reader, (at, arm))
        if known[1] != arm:
            self.moved.add(reader)
        self.began[reader] = min(known, (at, arm))
