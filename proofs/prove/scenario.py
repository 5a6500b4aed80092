"""A scenario: readers, events, the provider's answers, and concurrent actions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from gazette.domain.delivery.signals import Policy
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.templates.settings import SourcePolicy
from gazette.domain.window.worth import Worth

from proofs.prove.provider import Answer, Evidence
from proofs.prove.strikes import How, Worker

WorldT = TypeVar("WorldT")
"""The world in which the actions of a scenario take place."""

_HALF = timedelta(seconds=2.5)
SLOW = frozenset({"ingest", "followers", "sweep"})
"""Functions with a slow clock: those that write events or check the deadlines of others. Functions
that send have a fast clock.
"""


def skews(slow: frozenset[str] = SLOW) -> Mapping[str, timedelta]:
    """Return clock offsets that are five seconds apart, the allowed maximum."""
    names = ("ingest", "followers", "sweep", "generate", "resend")
    return {name: -_HALF if name in slow else _HALF for name in names}


EVERY_WAY = tuple(how for how in How if how is not How.OVERTAKEN)


def _events() -> tuple[str, ...]:
    return ("e1", "e2")


@dataclass(frozen=True, kw_only=True)
class Scenario(Generic[WorldT]):
    """One scenario. Times are relative to when the first digest is due."""

    name: str
    policy: Policy = Policy.RESEND
    evidence: Evidence = Evidence.SOON
    answers: tuple[Answer, ...] = ()
    """The provider's answers, in order."""

    readers: tuple[str, ...] = ("ann",)
    events: tuple[str, ...] = field(default_factory=_events)
    """The events of each reader that exist before the first digest is due."""

    frequency: Frequency = Frequency.DAILY
    acts: tuple[tuple[timedelta, Callable[[WorldT], None]], ...] = ()
    """The actions, each with its time. An action is repeated until it is acknowledged."""

    meanwhile: Callable[[WorldT, Worker], None] | None = None
    """The action that interrupts a worker's calls."""

    copies: int = 1
    """The number of times SQS delivers each message for generate and resend."""

    days: int = 1
    """The least number of digests that come due."""

    counted_from: timedelta = timedelta(minutes=-1)
    """The time from which calls are counted."""

    hows: tuple[How, ...] = EVERY_WAY
    spread: timedelta = timedelta(0)
    """The longest delivery delay of a run's message."""

    refused_at_once: timedelta | None = None
    """The time until which the provider rejects all immediate email. No digest may be late."""

    lateness: timedelta = timedelta(hours=6)
    """The delay after which a digest is no longer sent."""

    redriven_after: timedelta = timedelta(hours=3)
    """The time that dead letters wait for an operator."""

    sweeps_from: timedelta = timedelta(days=-2)
    """The time until which the sweep is out of order."""

    skews: Mapping[str, timedelta] = field(default_factory=skews)
    """The clock offset of each function from the true time."""

    delays: tuple[timedelta, ...] = ()
    """The delays of successive messages to ingest, repeated in a cycle."""

    sunset: timedelta | None = None
    """The inactivity after which a reader is dormant."""

    worth: Worth | None = None
    """The minimum for daily digests."""

    limit: ImmediateLimit | None = None
    """The limit of immediate emails per reader."""

    quiet_hours: QuietHours | None = None
    """The quiet hours of the stage."""

    outdated: frozenset[str] = frozenset()
    """The workers whose list of withdrawals is as it was a minute ago."""

    settling: int = 8
    """The number of further days within which all work must settle."""

    asks: bool = False
    """True if each reader's digest queries a content source with two fixed items."""

    source_down: int = 0
    """The number of requests that the content source fails first."""

    source_policy: SourcePolicy = SourcePolicy.WITHOUT
    """The digests' behaviour while the content source is unavailable."""
