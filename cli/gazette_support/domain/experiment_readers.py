"""The readers in an experiment or a rollout, each counted once. Pure.

Readers, not emails, are assigned to variations and template versions, and the emails of one reader
are not independent. The comparison therefore counts readers, not emails (docs/decisions/0029).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gazette.domain.feedback.delivery_events import Engagement

from gazette_support.domain.statistics import ACTS, Measure, measures_of


class Compared(StrEnum):
    """The attribute by which readers are compared: the variation or the template version."""

    VARIATION = "variation"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class Arm:
    """The readers of one variation or template version."""

    number: int
    """The number of the variation or of the template version, depending on `of`."""

    readers: int
    """The number of readers."""

    did: Mapping[Measure, int]
    """The number of readers who performed each action at least once."""

    of: Compared = Compared.VARIATION


@dataclass(slots=True)
class Readers:
    """The readers who got emails in an experiment or a rollout.

    Uses about 300 bytes per reader.
    """

    began: dict[str, tuple[datetime, int]] = field(default_factory=dict)
    """The time and the arm (variation or template version) of each reader's first email."""

    did: dict[Measure, set[str]] = field(default_factory=lambda: {act: set() for act in ACTS})
    """The ids of the readers who performed each action."""

    moved: set[str] = field(default_factory=set)
    """The readers who got emails of more than one arm."""

    def add(self, email: Engagement, arm: int) -> None:
        """Add an email of a variation or template version. Emails may be added in any order."""
        reader = email.key.user_id
        self._begin(reader, min(email.first.values()), arm)
        for measure in measures_of(email):
            if measure in self.did:
                self.did[measure].add(reader)

    def merge(self, others: "Readers") -> None:
        """Add all emails that `others` contains."""
        for reader, (at, arm) in others.began.items():
            self._begin(reader, at, arm)
        for act, who in others.did.items():
            self.did[act] |= who
        self.moved |= others.moved

    def arms(self, compared: Compared = Compared.VARIATION) -> list[Arm]:
        """Return the arms, ordered by number. A reader counts in the arm of their first email."""
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
