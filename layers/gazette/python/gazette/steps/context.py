"""The shared dependencies of steps: tables, queues and settings for schedules and routing.

Each context extends the one before it, so a function takes the smallest one that it needs.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.queues import RunQueue
from gazette.domain.ports.stores import Events, Follows, Subscribers, Suppressions
from gazette.domain.subscribers.frequency import Frequencies
from gazette.domain.templates.settings import VersionSettings

if TYPE_CHECKING:
    from gazette.domain.scheduling.asking import ContentSources


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleContext:
    """The dependencies that update a subscriber's schedules from the profile."""

    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    clock: Clock
    defaults: Frequencies
    """The installation's frequencies by category."""

    sunset: timedelta | None
    """The period of inactivity after which a subscriber is dormant. None: never."""

    content: "ContentSources | None" = None
    """The content sources that digests query. None: the installation has events only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingContext(ScheduleContext):
    """The dependencies that route events to schedules and immediate runs."""

    follows: Follows
    events: Events
    generate_queue: RunQueue
    collapse: timedelta
    """The time for which an immediate run collects further events on its entity, unless the
    reader's template version overrides it (`settings_for`)."""

    settings_for: Callable[[str], VersionSettings]
    """A function that returns the version settings for a user id."""

    hold: timedelta
    """The time after collecting until all events can be read: the settle lag and the clock skew."""

    write_bound: timedelta
    """A write of an event that takes longer may miss its window: the settle lag less the clock
    skew."""

    check_after: timedelta
    """The time between the due time of a run and the sweep's first check."""

    critical: Collection[str] = ()
    """The categories that are sent regardless of the reader's choice."""

    suppressions: Suppressions | None = None
    """Read for a critical event to a reader who unsubscribed.

    None if the function stores no new events.
    """
