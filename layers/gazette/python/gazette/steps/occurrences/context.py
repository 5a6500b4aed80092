"""The dependencies of fan-out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Batches, Runs, Schedules
from gazette.domain.ports.queues import RunQueue
from gazette.domain.ports.stores import EventReader, Subscribers

if TYPE_CHECKING:
    from gazette.steps.occurrences.asking import AskingContext


@dataclass(frozen=True, slots=True)
class FanoutLimits:
    """The limits of fan-out."""

    max_lateness: timedelta
    """The lateness above which an occurrence is skipped.

    The events go into the next digest if it is due within about a week.
    """

    spread: timedelta
    """The maximum random delay of a run's message."""

    check_after: timedelta
    """The time between the due time of a run and the sweep's first check."""

    sunset: timedelta | None
    """The period of inactivity after which a reader becomes dormant. None means never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FanoutContext:
    """The tables and the queue for turning due schedules into runs."""

    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    events: EventReader
    batches: Batches
    generate_queue: RunQueue
    clock: Clock
    random: Callable[[], float]
    """A function that returns a random number from 0 to 1."""

    limits: FanoutLimits
    content: "AskingContext | None" = None
    """The content sources. None if the stage queries no content source."""
