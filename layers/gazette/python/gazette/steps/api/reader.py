"""Answer what is in force for a reader, and what waits. Makes no writes."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Protocol

from gazette.domain.api.answers import ReaderState, WaitingEvents
from gazette.domain.api.choices import effective_choices
from gazette.domain.delivery.run import settled_until
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import latest_run
from gazette.domain.model import StoredEvent
from gazette.domain.muting.muted import is_muted
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import CurrentWithdrawals
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Follows, Subscribers
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.frequency import ASKED_CATEGORIES, Frequencies
from gazette.domain.subscribers.overview import Overview
from gazette.domain.withdrawing.withdrawn import Withdrawn
from gazette.steps.preferences.page import read_overview

MOST_COUNTED = 1_000
"""The maximum number of waiting events that one answer counts."""


class WaitingEventsReader(Protocol):
    """A port that reads the events of a schedule, which `Events` contains."""

    def stored_under(
        self, user_id: str, schedule: str, *, after: datetime
    ) -> Iterator[StoredEvent | UnreadableRow]:
        """Yield the events that were stored under a schedule after an instant, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderContext:
    """The dependencies for reading the state of a reader."""

    subscribers: Subscribers
    follows: Follows
    schedules: Schedules
    runs: Runs
    events: WaitingEventsReader
    withdrawals: CurrentWithdrawals
    clock: Clock
    defaults: Frequencies
    quiet_hours: QuietHours | None
    """The quiet hours of readers without their own choice."""

    critical: Collection[str]
    sunset: timedelta | None
    content: bool | None
    """True if the stage queries content sources; None otherwise."""

    categories: Collection[str]
    """The categories with templates."""


def read_reader(
    user_id: str, *, follows_after: str = "", context: ReaderContext
) -> ReaderState | None:
    """Return the present state of a reader, or None if the user id is unknown or was erased.

    `follows_after` is the entity after which the follows begin. Costs the calls of the preference
    page, and two Queries for each digest for which events wait.
    """
    overview = read_overview(user_id, context=context, follows_after=follows_after)
    if overview is None:
        return None
    categories = {*context.categories} - (ASKED_CATEGORIES - {*overview.queried_categories})
    waiting, has_more = _waiting(overview, context)
    return ReaderState(overview, effective_choices(overview, categories), waiting, has_more)


def _waiting(overview: Overview, context: ReaderContext) -> tuple[tuple[WaitingEvents, ...], bool]:
    """Count the events that wait for a digest, up to MOST_COUNTED."""
    stored: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    events = _events_that_wait(overview, context)
    for event in islice(events, MOST_COUNTED):
        stored[event.schedule, event.event.category].append(event.stored_at)
    counts = (
        WaitingEvents(schedule, category, len(times), min(times))
        for (schedule, category), times in sorted(stored.items())
    )
    return tuple(counts), next(events, None) is not None


def _events_that_wait(overview: Overview, context: ReaderContext) -> Iterator[StoredEvent]:
    """Yield the events that the next digests send. Rows that cannot be read are skipped.

    An idle schedule has no waiting events, so it costs no call.
    """
    user_id, withdrawn = overview.subscriber.user_id, Withdrawn(context.withdrawals(), overview.now)
    for schedule in overview.schedules:
        if schedule.is_idle or kind_of(schedule.name) is not ScheduleKind.DIGEST:
            continue
        chain = context.runs.chain(latest_run(user_id, schedule.name))
        after = settled_until(chain)
        for event in context.events.stored_under(user_id, schedule.name, after=after):
            if isinstance(event, UnreadableRow) or event.is_over(overview.now):
                continue
            if withdrawn.at(event.event):
                continue
            if not is_muted(event.event, overview.subscriber.mutes, context.critical):
                yield event
