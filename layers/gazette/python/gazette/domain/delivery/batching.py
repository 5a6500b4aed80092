"""The number of emails that an invocation sends, its wait for their permits, and the delays of runs
that get no permit. Pure.

An invocation reserves the permits of all its emails with one write. It ends when the last permit
has been used, so it costs Lambda time while it waits. Several emails per invocation share the
invocation, its log, its requests to SQS, and the write. At a low rate, the wait costs more than
that (docs/decisions/0158-ten-emails-an-invocation-at-any-rate.md).
"""

from datetime import timedelta

from gazette.domain.ports.queues import LONGEST_DELAY

MOST_TOGETHER = 10
"""The maximum number of emails per invocation, and of messages that one SQS request receives.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
"""

SLOWEST_TOGETHER = 2.0
"""The lowest rate of a stream, in emails per second, at which an invocation sends several emails.

At a lower rate, the wait for ten permits costs more than ten invocations (`make pacing`).
"""

LONGEST_WAIT_FOR_A_PERMIT = timedelta(milliseconds=100)
"""The longest time that a worker waits to send one email.

A waiting worker costs Lambda time and does no other work.
"""

SENT_TOGETHER = timedelta(milliseconds=25)
"""The maximum time between the permits of emails that are sent together, with joint reads."""

_LONGEST_WAIT = timedelta(seconds=2 * MOST_TOGETHER / SLOWEST_TOGETHER)
"""The longest wait of an invocation that sends several emails, although the account's rate is lower
than the rate for which the stage is sized, as in the SES sandbox."""

COLLECTING = timedelta(seconds=20)
"""The time for which Lambda collects digests for one invocation.

In a quiet stage, Lambda takes up to this long with any batching window.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
"""


def emails_together(rate: float, *, most: int = MOST_TOGETHER) -> int:
    """Return the maximum number of emails per invocation of a stream.

    `rate` is the stream's rate in emails per second, and `most` the limit of the mail provider.
    """
    return most if rate >= SLOWEST_TOGETHER else 1


def are_sent_together(rate: float) -> bool:
    """Return True if the permits of a stream are so near that its emails are sent together."""
    return rate * SENT_TOGETHER.total_seconds() >= 1


def longest_wait(rate: float, batch: int) -> timedelta:
    """Return the longest time that a worker waits for the permits of its emails.

    `batch` is the maximum number of emails per invocation. The time is enough for the permits of
    two invocations, because a queue of Lambda has at least two
    (https://docs.aws.amazon.com/lambda/latest/dg/API_ScalingConfig.html).
    """
    if batch == 1:
        return LONGEST_WAIT_FOR_A_PERMIT
    permits = min(_LONGEST_WAIT, timedelta(seconds=2 * batch / rate))
    return max(LONGEST_WAIT_FOR_A_PERMIT, permits)


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
