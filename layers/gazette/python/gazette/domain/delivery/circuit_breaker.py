"""The brake of a stream: none of its emails are sent while the provider refuses all of them.

One of them at a time tries whether it can go again, after longer and longer. Nothing here does I/O.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

FIRST_STEP = timedelta(minutes=1)
"""From the first refusal to the first email that tries again."""

LONGEST_STEP = timedelta(minutes=30)
"""A step is doubled by each refusal of one that tries, up to this."""

_NEVER = datetime(9999, 1, 1, tzinfo=UTC)
_LONGEST_WHY = 200
"""Characters: a write of the row costs one unit for each KB that it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brake:
    """It is on: nothing is sent before `until`, and then one email, which tries.

    `why`: what the provider or a person said; `since`: when it was pulled. `step`: from one email
    that tries to the next. `by_hand`: nobody tries, it stays on until it is released by hand.
    `is_tried`: one was let through, and `until` moved on for it; that it was refused has not been
    said.
    """

    why: str
    since: datetime
    until: datetime
    step: timedelta
    by_hand: bool = False
    is_tried: bool = False

    def holds(self, now: datetime) -> bool:
        """Whether nobody may send."""
        return now < self.until

    def tried(self, now: datetime) -> "Brake":
        """As it is while one tries: all others stay out for another step, should it be lost."""
        return replace(self, until=now + self.step, is_tried=True)


def pulled(brake: Brake | None, why: str, now: datetime) -> Brake:
    """After a refusal of the whole stream. One that says nothing new changes nothing.

    Nothing new is what comes while it holds and nobody tries: from workers that had their turn
    before it was pulled. The first one of all pulls it, and any other doubles the step.
    """
    if brake is None:
        return Brake(why=why[:_LONGEST_WHY], since=now, until=now + FIRST_STEP, step=FIRST_STEP)
    if brake.by_hand or (brake.holds(now) and not brake.is_tried):
        return brake
    step = min(2 * brake.step, LONGEST_STEP)
    return replace(
        brake, why=why[:_LONGEST_WHY], until=max(brake.until, now + step), step=step, is_tried=False
    )


def pulled_by_hand(why: str, now: datetime) -> Brake:
    """A person stops the stream, whatever the brake was, until a person lets go."""
    return Brake(why=why[:_LONGEST_WHY], since=now, until=_NEVER, step=FIRST_STEP, by_hand=True)
