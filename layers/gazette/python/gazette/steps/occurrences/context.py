"""The dependencies of fan-out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Batches, Runs, Schedules
from gazette.domain.ports.queues import RunQueue
from gazette.domain.ports.stores import EventReader, Subscribers
from gazette.domain.scheduling.limits import FanoutLimits

if TYPE_CHECKING:
    from gazette.steps.occurrences.asking import AskingContext


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
    sunset: timedelta | None
    """The period of inactivity after which a reader becomes dormant. None means never."""

    content: "AskingContext | None" = None
    """The content sources. None if the stage queries no content source."""
