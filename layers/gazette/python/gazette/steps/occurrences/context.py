"""What fan-out reads and writes."""

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
    """`spread`: longest random delay of a message.

    `check_after`: when the sweep looks at a run. `max_lateness`: an occurrence that was due longer
    ago is skipped, and its events go with the next one, if that is due within about a week.
    `sunset`: a reader is dormant after so long without a sign of life; None: never.
    """

    max_lateness: timedelta
    spread: timedelta
    check_after: timedelta
    sunset: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FanoutContext:
    """The tables and the queue by which due schedules become runs.

    `random` returns a number from 0 to 1. `content`: None if the stage asks no content source.
    """

    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    events: EventReader
    batches: Batches
    generate_queue: RunQueue
    clock: Clock
    random: Callable[[], float]
    limits: FanoutLimits
    content: "AskingContext | None" = None
