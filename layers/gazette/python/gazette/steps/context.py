"""Shared dependencies of the steps: tables, queues and settings for schedules and routing.

Each context extends the previous one, so that a function can require the smallest sufficient
context.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.queues import RunQueue
from gazette.domain.ports.stores import (
    Events,
    Follows,
    ImmediateUsage,
    Subscribers,
    Suppressions,
)
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.scheduling.limits import RoutingLimits
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.frequency import Frequencies
from gazette.domain.templates.settings import VersionSettings

if TYPE_CHECKING:
    from gazette.domain.content.asking import ContentSources


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleContext:
    """The dependencies for updating a subscriber's schedules from the profile."""

    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    clock: Clock
    defaults: Frequencies
    """The installation's frequencies by category."""

    quiet_hours: QuietHours | None = None
    """The quiet hours of readers without their own choice. None if there are none."""

    sunset: timedelta | None
    """The period of inactivity after which a subscriber becomes dormant. None means never."""

    content: "ContentSources | None" = None
    """The content sources that digests query. None if digests contain only events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingContext(ScheduleContext):
    """The dependencies for routing events to schedules and immediate runs."""

    follows: Follows
    events: Events
    generate_queue: RunQueue
    settings_for: Callable[[str], VersionSettings]
    """A function that returns the settings of a user's template version."""

    limits: RoutingLimits
    critical: Collection[str] = ()
    """The categories that are sent regardless of the reader's choice."""

    suppressions: Suppressions | None = None
    """The suppressions, which are read only for critical events of unsubscribed readers.

    None if the function stores no new events.
    """

    immediate_limit: ImmediateLimit | None = None
    """The limit of immediate emails per reader (rule 28). None if there is no limit."""

    immediate_usage: ImmediateUsage | None = None
    """The usage of the limit. None if there is no limit."""
