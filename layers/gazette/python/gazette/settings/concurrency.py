"""How many invocations of each function run at once: from the rate, and how long work takes.

`infra` sizes the event source mappings by it; `gazette doctor` compares them with what SES's quota
needs. Nothing here does I/O. Times are in seconds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gazette.domain.delivery.pace import LONGEST_WAIT_FOR_A_PERMIT, QUOTA_SHARE
from gazette.domain.delivery.streams import divided

ASSUMED_QUOTA = 14
"""Emails a second of an account outside of the sandbox, where `emails_per_second` is 0. AWS names
no number any more (https://docs.aws.amazon.com/ses/latest/dg/quotas.html); 14 was the first quota
of most accounts."""

LEAST, MOST = 2, 1000
"""https://docs.aws.amazon.com/lambda/latest/dg/API_ScalingConfig.html"""

NEARLY_ALL = 0.9
"""The share of the account's concurrency above which little is left."""

_MOST_MESSAGES = 10
_WAIT = LONGEST_WAIT_FOR_A_PERMIT.total_seconds()

_ONE_EMAIL, _ONE_MORE = 0.22, 0.015
"""An invocation of `generate` with one message, and what each further one adds. Ten side by side
take 0.15 s here where AWS answers in 10 ms (`make bench`); SES takes 0.1 s, and Lambda's processor
half as long again."""

_ONE_BY_SMTP = 2.0
"""An exchange with an SMTP server, with TLS."""

_EVENTS_AN_EMAIL = 5
"""Events of an email, as in the demo's week."""

TEN_EVENTS, TEN_REPORTS = 0.3, 0.3
"""An invocation of ingest with ten events, and one of feedback with ten delivery events."""

_A_PAGE = 0.2
"""A request of a reader."""

READERS_A_SHARD = 20_000
"""How many readers one shard manages in a slot."""

_SLOT = 600

_ROOM = 2
"""What comes unevenly has room for twice the mean."""

_FIRST = 5
"""Where a burst of a service's events comes first: as many as Lambda itself begins with."""

_SWEEPS = 4
"""Sixteen partitions in five minutes, however long one takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a stage has to do. `emails_per_second`: 0: by the account's quota.

    `reports`: delivery events of an email. `by_smtp`: an invocation has one message.
    """

    emails_per_second: float
    immediate_share: int
    shards: int
    reports: int
    requests_per_second: int
    by_smtp: bool = False

    @property
    def rate(self) -> float:
        """Emails a second, of both streams."""
        return self.emails_per_second or QUOTA_SHARE * ASSUMED_QUOTA


@dataclass(frozen=True, slots=True)
class Size:
    """How many invocations run at once, and how many messages one takes at most."""

    concurrency: int
    batch: int = _MOST_MESSAGES


def sizes(load: Load) -> Mapping[str, Size]:
    """Return the size of each function with a queue; `immediate` is the second queue of generate.

    `preferences` too: its size is what is left to readers, and bounds nothing.
    """
    events = load.rate * _EVENTS_AN_EMAIL * _ROOM
    ingest = max(_FIRST, _workers(events / _MOST_MESSAGES, TEN_EVENTS))
    due = load.rate * _SLOT * _ROOM
    reports = load.rate * load.reports * _ROOM
    return {
        "ingest": Size(ingest),
        "followers": Size(ingest),
        "fanout": Size(max(LEAST, min(load.shards, math.ceil(due / READERS_A_SHARD)))),
        **senders(load.rate, immediate_share=load.immediate_share, by_smtp=load.by_smtp),
        "feedback": Size(_workers(reports / _MOST_MESSAGES, TEN_REPORTS)),
        "sweep": Size(_SWEEPS),
        "preferences": Size(_workers(load.requests_per_second, _A_PAGE)),
    }


def senders(rate: float, *, immediate_share: int, by_smtp: bool = False) -> Mapping[str, Size]:
    """Return the size for each queue of runs, of `rate` emails a second of both streams."""
    shares = divided(immediate_share)
    digests = sending(shares.digest.of_rate(rate), by_smtp=by_smtp)
    return {
        "generate": digests,
        "immediate": sending(shares.immediate.of_rate(rate), by_smtp=by_smtp),
        "resend": Size(max(LEAST, math.ceil(digests.concurrency / 5)), digests.batch),
    }


def sending(rate: float, *, by_smtp: bool = False) -> Size:
    """Return the size for one stream of `rate` emails a second.

    An invocation takes as many messages as there are permits in half the longest wait: all of them
    get one, and so do those of another invocation that asks meanwhile. There are as many
    invocations as the rate needs if each of them waits for its longest: fewer could not keep the
    rate, and more would ask in vain.
    """
    batch = 1 if by_smtp else min(_MOST_MESSAGES, max(1, int(rate * _WAIT / 2)))
    took = _ONE_BY_SMTP if by_smtp else _ONE_EMAIL + (batch - 1) * _ONE_MORE
    return Size(_workers(rate / batch, took + _WAIT), batch)


def _workers(invocations: float, took: float) -> int:
    """As many as `invocations` a second need that take so many seconds."""
    return min(MOST, max(LEAST, math.ceil(invocations * took)))
