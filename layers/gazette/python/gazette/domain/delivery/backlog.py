"""When a run comes again for which no permit was near. SQS delays by whole seconds."""

from datetime import timedelta

from gazette.domain.delivery.pace import LONGEST_WAIT_FOR_A_PERMIT
from gazette.domain.ports.queues import LONGEST_DELAY

_LEAST_FASTER = 2.0
_UNUSED = 0.05
"""Runs come back so much faster than permits, and faster still where permits are so far apart that
nobody waits for the next: they come at random, and a permit for which none is there delays all
later ones. A twentieth is unused at most at ten permits a second and more, and a fifth below."""

_SECOND = timedelta(seconds=1)


def among(waiting: int, *, rate: float, random: float) -> timedelta:
    """Return the delay of one of `waiting` runs, for which permits come at `rate` a second.

    It is spread over the time that all of them need. If that is longer than a message can be
    delayed, they come as late as possible, because whoever comes early comes in vain. `random`: a
    number from 0 to 1.
    """
    ahead = rate * LONGEST_WAIT_FOR_A_PERMIT.total_seconds()
    faster = max(_LEAST_FASTER, 0.5 / (_UNUSED + ahead))
    lasts = timedelta(seconds=waiting / (rate * faster))
    soonest = timedelta(0) if lasts <= LONGEST_DELAY else LONGEST_DELAY / 2
    latest = min(lasts, LONGEST_DELAY)
    return max(soonest + (latest - soonest) * random, _SECOND)


def until(free_in: timedelta) -> timedelta:
    """Return the delay of a run that is urgent: until the next permit, in `free_in`, is near.

    Rounded down: a run that comes too early asks again, one that comes late leaves a permit unused.
    """
    return max(free_in, timedelta(0)) // _SECOND * _SECOND
