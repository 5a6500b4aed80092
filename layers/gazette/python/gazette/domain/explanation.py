"""The values of an explanation why a reader got an email, or none; and the port for the events.

None of them contains an address, a name or the content of an event.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol
from zoneinfo import ZoneInfo

from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Schedule, StoredEvent
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, Suppression


class EventHistory(Protocol):
    """All stored events of a reader, sent or not. May raise `Unavailable`."""

    def of_user(self, user_id: str) -> Iterator[StoredEvent | UnreadableRow]:
        """Yield every stored event, by schedule, the oldest first.

        Includes expired events until their rows are deleted.
        """


class Due(StrEnum):
    """Whether the next occurrence of a schedule is planned, overdue, or not scheduled.

    `IDLE`: nothing waits; it comes if an event does. `OFF`: its reader gets no email. `UNLISTED`:
    the schedule is missing from the due index although an event waits or the reader is active, as
    after a crash until the interrupted message is delivered again.
    """

    PLANNED = "planned"
    OVERDUE = "overdue"
    IDLE = "idle"
    UNLISTED = "unlisted"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Outlook:
    """A schedule and its next occurrences; none if it is off.

    `on_date`: when the present recurrence is due on the requested date. `quiet`: from when to when
    nothing waited around `on_date`, as far as runs and events are still stored.
    """

    schedule: Schedule
    due: Due
    next: tuple[datetime, ...]
    on_date: datetime | None
    quiet: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The frequency of a category: `chosen` by the reader, else the installation's `default`."""

    category: str
    frequency: Frequency
    chosen: Frequency | None
    default: Frequency | None


@dataclass(frozen=True, slots=True)
class Override:
    """A follow with a frequency of its own, and since when."""

    entity: str
    frequency: Frequency
    since: datetime


@dataclass(frozen=True, slots=True)
class ExplainedRun:
    """A run, and how many stored events of each category its window covers.

    `about`: the entity key of an immediate run, if an event of it is still stored.
    """

    run: Run
    covers: tuple[tuple[str, int], ...]
    about: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events of one category and schedule that no sent run covers: waiting, or given up."""

    schedule: str
    about: str
    category: str
    count: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is known of a user id at `now`, without their address and name.

    `status`: None if the user id is unknown or was erased (`erased_at`). `suppression`: of their
    address. `zone`: the reader's time zone, in which `on` is a date; UTC if `time_zone` is empty or
    unknown here. `runs`: those due on the date; without a date, the last ones of all schedules and
    all open ones; newest first. `given_up`: events that were in as many emails of unknown outcome
    as is allowed, or in one before they were over or could not be shown. `expired`: events that no
    email showed in time, as far as they are still stored.
    `lapsed`: those that no email showed before their service no longer wanted it.
    `held_categories`: the held ones among the categories of waiting events. `critical`: the
    categories that come whatever the reader chose. `unreadable`: what is
    wrong with rows that cannot be read.
    """

    user_id: str
    now: datetime
    on: date | None
    zone: ZoneInfo
    time_zone: str = ""
    status: SubscriberStatus | None = None
    suppression: Suppression | None = None
    erased_at: datetime | None = None
    changed_at: datetime | None = None
    chosen_at: datetime | None = None
    registered_on: date | None = None
    active_on: date | None = None
    paused_until: date | None = None
    outlooks: tuple[Outlook, ...] = ()
    choices: tuple[Choice, ...] = ()
    follows: int = 0
    overrides: tuple[Override, ...] = ()
    runs: tuple[ExplainedRun, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    given_up: tuple[Waiting, ...] = ()
    unreadable: tuple[str, ...] = ()
    expired: tuple[Waiting, ...] = ()
    lapsed: tuple[Waiting, ...] = ()
    held_categories: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()

    @property
    def gets_critical(self) -> bool:
        """Whether critical email may go to their address, whatever they chose."""
        lifted = {None, Cause.UNSUBSCRIBED}
        return bool(self.critical) and (self.suppression and self.suppression.cause) in lifted
