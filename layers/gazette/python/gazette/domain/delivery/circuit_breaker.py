"""The circuit breaker of a stream: open, it stops all emails of the stream.

It opens when the provider refuses the whole stream. After a while it is half open: one email, the
probe, may go. If that is accepted the breaker closes, else it stays open for longer.
Nothing here does I/O.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

FIRST_STEP = timedelta(minutes=1)
"""From the first refusal to the first probe."""

LONGEST_STEP = timedelta(minutes=30)
"""The refusal of a probe doubles the step, up to this."""

CLOCK_SKEW = timedelta(seconds=10)
"""How far apart the clocks of workers may be before one of them counts as odd."""

_NEVER = datetime(9999, 1, 1, tzinfo=UTC)
_LONGEST_WHY = 200
"""Characters. A write of the row costs one unit for each KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBreaker:
    """An open breaker; a closed one is None. Nothing is sent before `until`, then one probe.

    `why`: what the provider or a person said. `since`: when it opened. `step`: the time between two
    probes. `by_hand`: it was opened by a person, has no probes, and stays open until a person
    closes it. `is_probed`: a probe is on its way, and `until` was moved on for it; its outcome is
    not known yet.
    """

    why: str
    since: datetime
    until: datetime
    step: timedelta
    by_hand: bool = False
    is_probed: bool = False

    def holds(self, now: datetime) -> bool:
        """Whether no worker may send.

        No step is longer than LONGEST_STEP: a later `until` comes from a clock that was ahead, and
        is not believed.
        """
        return now < self.until and (self.by_hand or self.until - now <= LONGEST_STEP + CLOCK_SKEW)

    def probed(self, now: datetime) -> "OpenBreaker":
        """The breaker while a probe is on its way: if that is lost, another goes after a step."""
        return replace(self, until=now + self.step, is_probed=True)


def tripped(
    breaker: OpenBreaker | None, why: str, now: datetime, *, at_least: timedelta = timedelta(0)
) -> OpenBreaker:
    """The breaker after the provider refused the whole stream.

    The first refusal opens it, and each refused probe doubles its step. A refusal that comes while
    it is open and has no probe on its way changes nothing: the worker had its permit before.
    `at_least`: how long it asked us to wait; no longer than LONGEST_STEP.
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
    """The breaker after a person stopped the stream, whatever its state was."""
    return OpenBreaker(
        why=why[:_LONGEST_WHY], since=now, until=_NEVER, step=FIRST_STEP, by_hand=True
    )
