"""The circuit breaker of a stream, which stops all emails of the stream while it is open.

The breaker opens when the provider refuses the whole stream. Later the breaker becomes half open,
and one email is sent as a probe. If the provider accepts the probe, the breaker closes. If not, the
breaker stays open longer. The module does no I/O.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

FIRST_STEP = timedelta(minutes=1)
"""The time from the first refusal to the first probe."""

LONGEST_STEP = timedelta(minutes=30)
"""The maximum time between two probes. Each refused probe doubles the time up to this limit."""

CLOCK_SKEW = timedelta(seconds=10)
"""The largest difference between the clocks of two workers that counts as normal."""

_NEVER = datetime(9999, 1, 1, tzinfo=UTC)
_LONGEST_WHY = 200
"""The maximum length of a reason, in characters. Each KB of a row costs one write unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBreaker:
    """The state of an open breaker. No email is sent before `until`; then one probe is sent."""

    why: str
    """The reason given by the provider or the operator."""

    since: datetime
    """The time at which the breaker opened."""

    until: datetime
    step: timedelta
    """The time between two probes."""

    by_hand: bool = False
    """True if an operator opened the breaker. No probes are then sent until an operator closes the
    breaker."""

    is_probed: bool = False
    """True if a probe was sent and its outcome is still unknown. `until` was then postponed."""

    def holds(self, now: datetime) -> bool:
        """Return True if the breaker prevents all workers from sending.

        A worker whose clock was ahead may have stored an `until` more than LONGEST_STEP from now.
        Such a time is ignored.
        """
        return now < self.until and (self.by_hand or self.until - now <= LONGEST_STEP + CLOCK_SKEW)

    def probed(self, now: datetime) -> "OpenBreaker":
        """Return the breaker after a probe was sent.

        If the probe is lost, another one follows after `step`.
        """
        return replace(self, until=now + self.step, is_probed=True)


def tripped(
    breaker: OpenBreaker | None, why: str, now: datetime, *, at_least: timedelta = timedelta(0)
) -> OpenBreaker:
    """Return the breaker after the provider refused the whole stream.

    The first refusal opens the breaker, and each refused probe doubles its step. Any other refusal
    while the breaker is open changes nothing, because the worker got its permit before the breaker
    opened. `at_least` is the pause that the provider requested, capped at LONGEST_STEP.
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
    """Return the breaker after an operator stopped the stream, regardless of the breaker's
    state."""
    return OpenBreaker(
        why=why[:_LONGEST_WHY], since=now, until=_NEVER, step=FIRST_STEP, by_hand=True
    )
