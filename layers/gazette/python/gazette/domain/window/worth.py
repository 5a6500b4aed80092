"""The minimum score of a daily digest, below which the digest waits for more events. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.compose import score
from gazette.domain.window.folded import Folded, lines_of

MOST_DAYS = 14
"""The longest time for which a stage may let an event wait, in days.

An event can be sent for at least SHORTEST_LIFE, 35 days. The remaining three weeks are for other
delays, such as a category hold or a daily cap.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """A stage's minimum for daily digests."""

    score: float
    """The sum of the scores of a digest's lines from which the digest is sent."""

    longest_wait: timedelta
    """The age of the oldest event from which a digest is sent whatever its score."""

    weights: Mapping[str, float]
    """The stage's weights by category. No experiment and no template version changes them."""


def reaches(folded: Folded, worth: Worth, *, until: datetime) -> bool:
    """Return True if the lines of a window have the minimum score together.

    Lines that the email omits count too. `until` is the end of the window.
    """
    total = 0.0
    for thing in folded.things.values():
        for line in lines_of(thing):
            total += score(line, worth.weights, until)
            if total >= worth.score:
                return True
    return False
