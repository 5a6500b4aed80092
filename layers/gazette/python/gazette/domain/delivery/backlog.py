"""The delays of runs that did not get a permit. SQS delays messages by whole seconds."""

from datetime import timedelta

from gazette.domain.delivery.batching import LONGEST_WAIT_FOR_A_PERMIT
from gazette.domain.ports.queues import LONGEST_DELAY

_LEAST_FASTER = 2.0
_UNUSED = 0.05
"""The maximum share of permits that stay unused at ten or more permits per second.

Messages return at a multiple of the permit rate. They return at random times, and a permit that no
run takes delays all later runs. The multiple is higher at low rates. At ten or more permits per
second, at most a twentieth of the permits is unused; at lower rates, at most a fifth.
"""

_SECOND = timedelta(seconds=1)


def delay_among(waiting: int, *, rate: float, random: float) -> timedelta:
    """Return a random delay for one of the `waiting` runs, which share `rate` permits per second.

    Delays are spread over the time that all waiting runs need. If that is longer than the maximum
    delay of a message, runs return as late as possible, because early runs would get no permit.
    `random` is a number from 0 to 1.
    """
    ahead = rate * LONGEST_WAIT_FOR_A_PERMIT.total_seconds()
    faster = max(_LEAST_FASTER, 0.5 / (_UNUSED + ahead))
    lasts = timedelta(seconds=waiting / (rate * faster))
    soonest = timedelta(0) if lasts <= LONGEST_DELAY else LONGEST_DELAY / 2
    latest = min(lasts, LONGEST_DELAY)
    return max(soonest + (latest - soonest) * random, _SECOND)


def delay_until_permit(free_in: timedelta) -> timedelta:
    """Return the delay for an urgent run, so that the run returns just before the next permit.

    `free_in` is the time until the next permit. The delay is rounded down, because a run that
    returns too early only waits again, but a run that returns late leaves a permit unused.
    """
    return max(free_in, timedelta(0)) // _SECOND * _SECOND
