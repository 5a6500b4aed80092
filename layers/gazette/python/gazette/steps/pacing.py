"""When a run may be sent, so that all workers together keep to the rate."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.errors import NotYet
from gazette.domain.identity import is_immediate
from gazette.domain.pace import NoTurn
from gazette.domain.ports import Clock, Pacer
from gazette.domain.run import Reason, Run
from gazette.domain.signals import Skip

_LONGEST_WAIT = timedelta(seconds=5)
"""For one message: the ten of an invocation share its time, and a function that waits is paid."""

_BETWEEN = (timedelta(seconds=60), timedelta(seconds=900))
"""How long a run is put off: not to ask again at once, and no longer than SQS hides a message."""

_BETWEEN_AT_ONCE = (timedelta(seconds=10), timedelta(seconds=60))
"""The same for an immediate run, which asks the more often, so that digests do not hold it up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """`sleep` lets time pass; `random` returns a number from 0 to 1."""

    pacer: Pacer
    clock: Clock
    sleep: Callable[[timedelta], None]
    random: Callable[[], float]


def wait_for_turn(pacing: Pacing, *, spare: timedelta) -> NoTurn | None:
    """Take a turn and wait for it, no longer than `spare`; else say why there is none.

    Raises NotYet where there is none only because `spare` is so short.
    """
    now = pacing.clock()
    turn = pacing.pacer.reserve(now, now + min(_LONGEST_WAIT, spare))
    if turn is NoTurn.BUSY and spare < _LONGEST_WAIT:
        raise NotYet("Too little time is left of this invocation to wait for a turn to send.")
    if isinstance(turn, NoTurn):
        return turn
    if turn > now:
        pacing.sleep(turn - now)
    return None


def without_turn(run: Run, why: NoTurn, *, pacing: Pacing) -> Skip | timedelta:
    """What becomes of a run that has no turn: skipped, or put off for so long.

    A digest is not sent a day late: its events go with the next one.
    """
    at_once = is_immediate(run.key.schedule)
    if why is NoTurn.DAILY_CAP and not at_once:
        return Skip(Reason.DAILY_CAP)
    soonest, latest = _BETWEEN_AT_ONCE if at_once else _BETWEEN
    delay = soonest + (latest - soonest) * pacing.random()
    if why is NoTurn.DAILY_CAP:
        delay = _BETWEEN[1]
    return delay
