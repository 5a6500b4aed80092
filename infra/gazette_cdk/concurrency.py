"""The concurrency of each function, derived from the rate and the duration of its work.

`infra` sizes the event source mappings with this module. `gazette doctor` compares the sizes with
those that the SES quota requires. The module does no I/O. Times are in seconds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from gazette.domain.delivery.batching import (
    COLLECTING,
    LONGEST_WAIT_FOR_A_PERMIT,
    MOST_TOGETHER,
    are_sent_together,
    emails_together,
    longest_wait,
)
from gazette.domain.delivery.pace import ASSUMED_RATE
from gazette.domain.delivery.streams import divided

LEAST, MOST = 2, 1000
"""The minimum and maximum values of `MaximumConcurrency` for an SQS queue of a Lambda function.
https://docs.aws.amazon.com/lambda/latest/dg/API_ScalingConfig.html"""

NEARLY_ALL = 0.9
"""The share of the account's concurrency that counts as nearly exhausted."""

MOST_WITHOUT_WINDOW = 10
"""The maximum number of messages in an invocation without a batching window.

https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
"""

MOST_REPORTS = 25
"""The maximum number of delivery events in an invocation of `feedback`.

Lambda collects them for 20 seconds (`feedback_window`).
"""

LESS_MEMORY, MORE_MEMORY = 512, 1024
"""The memory of `generate` in MB at low and at high rates. Lambda allocates processor time in
proportion.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
"""

_ONE_EMAIL, _ONE_MORE = 0.2, 0.015
"""The duration of a `generate` invocation with one message without its processor time, and the
processor time of each message with MORE_MEMORY.

Ten concurrent messages take 0.15 s if AWS responds in 10 ms (`make bench`). SES takes 0.1 s, and
Lambda's processor takes 50 % longer.
"""

_ONE_BY_SMTP = 2.0
"""The duration of an exchange with an SMTP server over TLS."""

_EVENTS_AN_EMAIL = 5
"""The average number of events per email in the demo."""

TEN_EVENTS, TEN_REPORTS = 0.3, 0.4
"""The durations of an `ingest` invocation with ten events and of a `feedback` invocation with ten
delivery events, which has half as much memory."""

_A_PAGE = 0.2
"""The duration of a reader's page request."""

READERS_A_SHARD = 20_000
"""The number of readers that a shard processes in one slot."""

_SLOT = 600

_ROOM = 2
"""The headroom for bursts, as a multiple of the mean load."""

_FIRST = 5
"""The minimum concurrency for events, which arrive in bursts.

Lambda also starts with five concurrent batches.
"""

_SWEEPS = 4
"""The concurrency of the sweep, which handles sixteen partitions in five minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The expected load of a stage."""

    emails_per_second: float
    """The number of emails per second; 0 to use the account's quota."""

    immediate_share: int
    shards: int
    reports: int
    """The number of delivery events per email."""

    requests_per_second: int
    by_smtp: bool = False
    """True if email is sent by SMTP, which limits an invocation to one message."""

    @property
    def rate(self) -> float:
        """The number of emails per second of both streams together."""
        return self.emails_per_second or ASSUMED_RATE


@dataclass(frozen=True, slots=True)
class Size:
    """The concurrency of a function, and the maximum number of messages in one invocation."""

    concurrency: int
    batch: int = MOST_WITHOUT_WINDOW
    window: timedelta = timedelta(0)
    """The time for which Lambda collects messages for an invocation."""


def sizes(load: Load) -> Mapping[str, Size]:
    """Return the concurrency and the batch size of each function that has a queue.

    `immediate` is the second queue of `generate`. The size of `preferences` is the concurrency that
    remains for readers, and is not a limit.
    """
    events = load.rate * _EVENTS_AN_EMAIL * _ROOM
    ingest = max(_FIRST, _workers(events / MOST_WITHOUT_WINDOW, TEN_EVENTS))
    due = load.rate * _SLOT * _ROOM
    reports = load.rate * load.reports * _ROOM
    return {
        "ingest": Size(ingest),
        "followers": Size(ingest),
        "fanout": Size(max(LEAST, min(load.shards, math.ceil(due / READERS_A_SHARD)))),
        **senders(load.rate, immediate_share=load.immediate_share, by_smtp=load.by_smtp),
        "feedback": Size(_workers(reports / MOST_WITHOUT_WINDOW, TEN_REPORTS), MOST_REPORTS),
        "sweep": Size(_SWEEPS),
        "preferences": answering(load.requests_per_second),
    }


def answering(requests_per_second: int) -> Size:
    """Return the size of a function that answers HTTP requests. It is not a limit."""
    return Size(_workers(requests_per_second, _A_PAGE))


def senders(rate: float, *, immediate_share: int, by_smtp: bool = False) -> Mapping[str, Size]:
    """Return the size for each queue of runs.

    `rate` is the number of emails per second of both streams together.
    """
    shares = divided(immediate_share)
    digests = sending(shares.digest.of_rate(rate), by_smtp=by_smtp)
    collecting = COLLECTING if digests.batch > 1 else timedelta(0)
    return {
        "generate": replace(digests, window=collecting),
        "immediate": sending(shares.immediate.of_rate(rate), by_smtp=by_smtp),
        "resend": Size(max(LEAST, math.ceil(digests.concurrency / 5)), digests.batch),
    }


def digest_rate(emails_per_second: float, immediate_share: int) -> float:
    """Return the rate of digests for which a stage is sized, in emails per second.

    `emails_per_second` is 0 if the rate is that of the account.
    """
    return divided(immediate_share).digest.of_rate(emails_per_second or ASSUMED_RATE)


def sending_memory(rate: float) -> int:
    """Return the memory of the functions that send email, in MB.

    `rate` is the rate of digests in emails per second. At a low rate, an invocation waits for its
    permits for longer than it computes, so a faster processor would only wait.
    """
    return MORE_MEMORY if are_sent_together(rate) else LESS_MEMORY


def sending(rate: float, *, by_smtp: bool = False) -> Size:
    """Return the size for one stream that sends `rate` emails per second.

    All messages of an invocation get a permit, even if a second invocation runs at the same time.
    The concurrency suffices for the rate even if each invocation waits until its own permits have
    begun. A lower concurrency could not reach the rate, and a higher concurrency would request
    permits in vain.
    """
    most = 1 if by_smtp else MOST_TOGETHER
    batch = emails_together(rate, most=most)
    processor = batch * _ONE_MORE * MORE_MEMORY / sending_memory(rate)
    duration = _ONE_BY_SMTP if by_smtp else _ONE_EMAIL + processor
    wait = max(longest_wait(rate, batch) / 2, LONGEST_WAIT_FOR_A_PERMIT).total_seconds()
    return Size(_workers(rate / batch, duration + wait), batch)


def _workers(invocations: float, duration: float) -> int:
    """Return the concurrency for `invocations` per second that each take `duration` seconds."""
    return min(MOST, max(LEAST, math.ceil(invocations * duration)))
