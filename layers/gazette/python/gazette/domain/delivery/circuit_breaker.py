"""The circuit breaker of a stream, which stops all emails of the stream while it is open.

It opens when the provider refuses the whole stream. After a while it is half open, and one email is
sent, the probe. If the provider accepts the probe, the breaker closes; otherwise it stays open for
longer. The module does no I/O.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

FIRST_STEP = timedelta(minutes=1)
"""The time from the first refusal to the first probe."""

LONGEST_STEP = timedelta(minutes=30)
"""The longest step. Each refused probe doubles the step up to this."""

CLOCK_SKEW = timedelta(seconds=10)
"""The largest difference between the clocks of two workers that counts as normal."""

_NEVER = datetime(9999, 1, 1, tzinfo=UTC)
_LONGEST_WHY = 200
"""Characters. A write of the row costs one unit for each KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBreaker:
    """An open breaker (None if closed). No email is sent before `until`; then one probe is."""

    why: str
    """The reason that the provider or the operator gave."""

    since: datetime
    """The time at which it opened."""

    until: datetime
    step: timedelta
    """The time between two probes."""

    by_hand: bool = False
    """An operator opened it. It sends no probes, and stays open until an operator closes it."""

    is_probed: bool = False
    """A probe was sent, and `until` was postponed. Its outcome is not known yet."""

    def holds(self, now: datetime) -> bool:
        """Return True if no worker may send.

        No step is longer than LONGEST_STEP. A later `until` is ignored, because the clock that
        stored it was ahead.
        """
        return now < self.until and (self.by_hand or self.until - now <= LONGEST_STEP + CLOCK_SKEW)

    def probed(self, now: datetime) -> "OpenBreaker":
        """Return the breaker with a probe under way.

        If the probe is lost, another follows a step later.
        """
        return replace(self, until=now + self.step, is_probed=True)


def tripped(
    breaker: OpenBreaker | None, why: str, now: datetime, *, at_least: timedelta = timedelta(0)
) -> OpenBreaker:
    """Return the breaker after the provider refused the whole stream.

    The first refusal opens it, and each refused probe doubles its step. A refusal while it is open
    without a probe under way changes nothing, because that worker had its permit before.
    `at_least`: the pause that the provider requested; capped at LONGEST_STEP.
    """
    pause = min(at_least, LONGEST_STEP)
    if breaker is None:
        until = now + max(FIRST_STEP, pause)
        return OpenBreaker(why=why[:_LONGEST_WHY], since=now, until=until, step=FIRST_STEP)
    if breaker.by_hand or (breaker.holds(now) and not breaker.is_probed):
        return breaker
    step = min(2 * breaker.step, LONGEST_STEP)
    return replace(
        breaker,
        why=why[:_LONGEST_WHY],
        until=max(breaker.until if breaker.holds(now) else now, now + max(step, pause)),
        step=step,
        is_probed=False,
    )


def opened_by_hand(why: str, now: datetime) -> OpenBreaker:
    """Return the breaker after an operator stopped the stream, regardless of its state."""
    return OpenBreaker(
        why=why[:_LONGEST_WHY], since=now, until=_NEVER, step=FIRST_STEP, by_hand=True
    )
