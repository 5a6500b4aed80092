"""What there is to say of a reader to whoever asks why: the values, and the port for the events.

No address, no name and no content of an event is in any of them.
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
from gazette.domain.subscribers.suppression import Suppression


class EventHistory(Protocol):
    """All of a reader's events, wherever they wait or went. May raise `Unavailable`."""

    def of_user(self, user_id: str) -> Iterator[StoredEvent | UnreadableRow]:
        """Every event that is stored, by schedule, and oldest first under each.

        Those that have expired with them, until their rows are deleted.
        """


class Due(StrEnum):
    """Where a schedule stands: what is due next is to come, is late, or does not come.

    Because nothing goes out to its reader, or because it is not in the due index although it
    should be: what a crash leaves until the message that it broke off comes again.
    """

    PLANNED = "planned"
    OVERDUE = "overdue"
    UNLISTED = "unlisted"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Outlook:
    """A schedule, and its next occurrences from `next_due_at` on; none where it is off.

    `on_date` is when it would be due on the date that was asked for, as it is wanted now.
    """

    schedule: Schedule
    due: Due
    next: tuple[datetime, ...]
    on_date: datetime | None


@dataclass(frozen=True, slots=True)
class Choice:
    """How often a category is wanted: `chosen` by the reader, else the installation's `default`."""

    category: str
    frequency: Frequency
    chosen: Frequency | None
    default: Frequency | None


@dataclass(frozen=True, slots=True)
class Override:
    """A follow that says something else than its category, since when."""

    entity: str
    frequency: Frequency
    since: datetime


@dataclass(frozen=True, slots=True)
class Story:
    """A run, and how many events of each category are stored that its window covers.

    `about` is the key of the entity where it went out at once, and that is still known.
    """

    run: Run
    covers: tuple[tuple[str, int], ...]
    about: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events of one category under one schedule that no sent run covers: to come, or given up."""

    schedule: str
    about: str
    category: str
    count: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is known of a user id at `now`, without their address and name.

    `status` None: not known, or erased, which `erased_at` tells. `suppression` is that of their
    address. `zone` is the reader's own, in which `on` is a date; UTC where `time_zone` is empty or
    not known here. `runs` are those due on the date, else the last ones of all schedules and
    whatever has not ended; newest first. `given_up`: what was in as many emails as it may be of
    which nobody knows whether they arrived. `expired`: what no email showed in time, as far as that
    is still known. `held_categories`: the categories on hold, of those
    that wait. `unreadable`: what is wrong with rows that cannot be read.
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
    runs: tuple[Story, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    given_up: tuple[Waiting, ...] = ()
    unreadable: tuple[str, ...] = ()
    expired: tuple[Waiting, ...] = ()
    held_categories: tuple[str, ...] = ()
