"""The values that explain why a reader got an email, or none; and the port for the events."""

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
    """All stored events of a reader, sent or not. Methods may raise `Unavailable`."""

    def of_user(self, user_id: str) -> Iterator[StoredEvent | UnreadableRow]:
        """Yield every stored event, by schedule, the oldest first.

        Includes expired events until their rows are deleted.
        """


class Due(StrEnum):
    """The state of a schedule's next occurrence."""

    PLANNED = "planned"
    """The occurrence is in the due index and lies ahead."""

    OVERDUE = "overdue"
    """The occurrence should have started."""

    IDLE = "idle"
    """No event is waiting. The next event schedules the occurrence."""

    UNLISTED = "unlisted"
    """The schedule is missing from the due index although an event is waiting or the reader is
    active, for example after a crash until the interrupted message is delivered again.
    """

    OFF = "off"
    """The reader gets no email."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """A schedule and its next occurrences; no occurrences if it is off."""

    schedule: Schedule
    due: Due
    next: tuple[datetime, ...]
    on_date: datetime | None
    """The time on the requested date at which the current recurrence is due."""

    quiet: tuple[datetime, datetime] | None = None
    """The period around `on_date` without waiting events, as far as runs and events are still
    stored.
    """


@dataclass(frozen=True, slots=True)
class Choice:
    """The frequency of a category: `chosen` by the reader, else the installation's `default`."""

    category: str
    frequency: Frequency
    chosen: Frequency | None
    default: Frequency | None


@dataclass(frozen=True, slots=True)
class Override:
    """A follow with its own frequency, and the time of that choice."""

    entity: str
    frequency: Frequency
    since: datetime


@dataclass(frozen=True, slots=True)
class ExplainedRun:
    """A run and the number of stored events of each category in its window."""

    run: Run
    covers: tuple[tuple[str, int], ...]
    about: str
    """The entity key of an immediate run, if one of its events is still stored."""


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
    """The data about a user id at `now`, without the address and name."""

    user_id: str
    now: datetime
    on: date | None
    zone: ZoneInfo
    """The reader's time zone, in which `on` is a date.

    UTC if `time_zone` is empty or unknown here.
    """

    time_zone: str = ""
    status: SubscriberStatus | None = None
    """None if the user id is unknown or was erased (`erased_at`)."""

    suppression: Suppression | None = None
    """The suppression of the reader's address."""

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
    """The runs due on the date, newest first.

    Without a date, the last runs of all schedules and all open runs.
    """

    waiting: tuple[Waiting, ...] = ()
    given_up: tuple[Waiting, ...] = ()
    """Events that were in the maximum number of emails with unknown outcome, or in one before they
    expired or could not be shown.
    """

    unreadable: tuple[str, ...] = ()
    """The errors in rows that cannot be read."""

    expired: tuple[Waiting, ...] = ()
    """Events that no email showed in time, as far as they are still stored."""

    lapsed: tuple[Waiting, ...] = ()
    """Events that no email showed before their service's `expires_at`."""

    held_categories: tuple[str, ...] = ()
    """The held categories among those of waiting events."""

    critical: tuple[str, ...] = ()
    """The categories that are sent regardless of the reader's choice."""

    @property
    def gets_critical(self) -> bool:
        """Return True if critical email may go to the reader's address, regardless of choices."""
        lifted = {None, Cause.UNSUBSCRIBED}
        return bool(self.critical) and (self.suppression and self.suppression.cause) in lifted
