"""The readers of an experiment, each counted once. Pure.

Readers, not emails, are assigned to variations, and the emails of one reader are not independent.
So readers are compared, not emails (docs/decisions/0029).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gazette.domain.feedback.delivery_events import Engagement
from gazette.domain.feedback.statistics import ACTS, Measure, measures_of


@dataclass(frozen=True, slots=True)
class Arm:
    """The readers of one variation: their number, and how many did each act at least once."""

    variation: int
    readers: int
    did: Mapping[Measure, int]


@dataclass(slots=True)
class Readers:
    """The readers of an experiment's emails, as far as emails were added.

    `began`: when a reader's first email was sent, and its variation. `did`: the readers who did
    each act. `moved`: the readers who got more than one variation. Some 300 bytes per reader.
    """

    began: dict[str, tuple[datetime, int]] = field(default_factory=dict)
    did: dict[Measure, set[str]] = field(default_factory=lambda: {act: set() for act in ACTS})
    moved: set[str] = field(default_factory=set)

    def add(self, email: Engagement) -> None:
        """Add an email of the experiment; in any order."""
        reader = email.key.user_id
        self._begin(reader, min(email.first.values()), email.variant.variation)
        for measure in measures_of(email):
            if measure in self.did:
                self.did[measure].add(reader)

    def merge(self, others: "Readers") -> None:
        """Add what was added to `others`."""
        for reader, (at, variation) in others.began.items():
            self._begin(reader, at, variation)
        for act, who in others.did.items():
            self.did[act] |= who
        self.moved |= others.moved

    def arms(self) -> list[Arm]:
        """One arm per variation. A reader counts in the variation of their first email."""
        of: dict[int, set[str]] = {}
        for reader, (_, variation) in self.began.items():
            of.setdefault(variation, set()).add(reader)
        return [
            Arm(variation, len(who), {act: len(who & did) for act, did in self.did.items()})
            for variation, who in sorted(of.items())
        ]

    def _begin(self, reader: str, at: datetime, variation: int) -> None:
        known = self.began.setdefault(reader, (at, variation))
        if known[1] != variation:
            self.moved.add(reader)
        self.began[reader] = min(known, (at, variation))
