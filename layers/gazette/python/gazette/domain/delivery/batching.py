"""The number of emails that an invocation sends, and its wait for their permits. Pure.

An invocation reserves the permits of all its emails with one write. It ends when the last permit
has been used, so it costs Lambda time while it waits. Several emails per invocation share the
invocation, its log, its requests to SQS, and the write. At a low rate, the wait costs more than
that (docs/decisions/0158-ten-emails-an-invocation-at-any-rate.md).
"""

from datetime import timedelta

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


def longest_wait(rate: float, *, most: int = MOST_TOGETHER) -> timedelta:
    """Return the longest time that a worker waits for the permits of its emails.

    The time is enough for the permits of two invocations, because a queue of Lambda has at least
    two (https://docs.aws.amazon.com/lambda/latest/dg/API_ScalingConfig.html).
    """
    number = emails_together(rate, most=most)
    if number == 1:
        return LONGEST_WAIT_FOR_A_PERMIT
    return max(LONGEST_WAIT_FOR_A_PERMIT, timedelta(seconds=2 * number / rate))
