"""A scenario: readers, events, the provider's answers, and what others do meanwhile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from gazette.domain.delivery.signals import Policy
from gazette.domain.scheduling.asking import SourcePolicy
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.provider import Answer, Evidence
from proofs.prove.strikes import How, Worker

if TYPE_CHECKING:
    from proofs.prove.life import Life

Act = Callable[["Life"], None]
"""What somebody does; it goes on until that was acknowledged."""

Overtake = Callable[["Life", Worker], None]
"""What somebody does in the middle of what a worker does."""

_HALF = timedelta(seconds=2.5)
SLOW = frozenset({"ingest", "followers", "sweep"})
"""Who writes events, or judges by the deadlines of others; those who send are the opposite."""


def skews(slow: frozenset[str] = SLOW) -> Mapping[str, timedelta]:
    """Clocks that are five seconds apart, which is what is allowed."""
    names = ("ingest", "followers", "sweep", "generate", "resend")
    return {name: -_HALF if name in slow else _HALF for name in names}


EVERY_WAY = tuple(how for how in How if how is not How.OVERTAKEN)


def _events() -> tuple[str, ...]:
    return ("e1", "e2")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """`events` of each reader are there before the first digest is due.

    `acts` happen so long after that; `meanwhile` happens in the middle of what a worker does.
    From `counted_from` on, measured likewise, calls are counted. `answers` are the provider's,
    in order; until `refused_at_once`, measured likewise, it refuses all that goes out at once, and
    no digest may be late for it. `copies`: how often SQS delivers each message for generate and
    resend. `days`: at least so many digests come due. `lateness`: how late one still goes out;
    `spread`: after how long, at most, the message of a run is delivered. `redriven_after`: how
    long dead letters wait for somebody; `sweeps_from`: until then, the sweep is out of order.
    `skews`: how far the clock of each function is from the true time. `delays`: how long messages
    take to ingest, one after the other, round. `sunset`: after how long a reader is dormant.
    `settling`: so many days more, and everything must have settled. `asks`: the digest of each
    reader asks a content source, which answers the same two items whenever it is asked, but fails
    `source_down` times before; `source_policy`: what the digests do meanwhile.
    """

    name: str
    policy: Policy = Policy.RESEND
    evidence: Evidence = Evidence.SOON
    answers: tuple[Answer, ...] = ()
    readers: tuple[str, ...] = ("ann",)
    events: tuple[str, ...] = field(default_factory=_events)
    frequency: Frequency = Frequency.DAILY
    acts: tuple[tuple[timedelta, Act], ...] = ()
    meanwhile: Overtake | None = None
    copies: int = 1
    days: int = 1
    counted_from: timedelta = timedelta(minutes=-1)
    hows: tuple[How, ...] = EVERY_WAY
    spread: timedelta = timedelta(0)
    refused_at_once: timedelta | None = None
    lateness: timedelta = timedelta(hours=6)
    redriven_after: timedelta = timedelta(hours=3)
    sweeps_from: timedelta = timedelta(days=-2)
    skews: Mapping[str, timedelta] = field(default_factory=skews)
    delays: tuple[timedelta, ...] = ()
    sunset: timedelta | None = None
    settling: int = 8
    asks: bool = False
    source_down: int = 0
    source_policy: SourcePolicy = SourcePolicy.WITHOUT
