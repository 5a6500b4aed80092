"""The data that explains why a reader got or did not get an email, and the port that reads
events."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol
from zoneinfo import ZoneInfo

from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Schedule, StoredEvent
from gazette.domain.muting.mutes import Mutes
from gazette.domain.scheduling.kinds import is_critical
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, Suppression


class EventHistory(Protocol):
    """A port that reads all stored events of a reader, sent or not. Methods may raise
    `Unavailable`."""

    def of_user(self, user_id: str) -> Iterator[StoredEvent | UnreadableRow]:
        """Yield every stored event of a reader, grouped by schedule, oldest first within each
        schedule.

        Includes expired events until their rows are deleted.
        """


class Due(StrEnum):
    """The state of a schedule's next occurrence."""

    PLANNED = "planned"
    """The occurrence is in the due index and in the future."""

    OVERDUE = "overdue"
    """The occurrence should have started already."""

    IDLE = "idle"
    """No event is waiting. The next event adds the schedule to the due index."""

    UNLISTED = "unlisted"
    """The schedule is missing from the due index although an event is waiting or the reader is
    active.

    This can happen after a crash, until the interrupted message is delivered again.
    """

    OFF = "off"
    """The reader gets no emails."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """The next occurrences of a schedule. `next` is empty if the reader gets no email."""

    schedule: Schedule
    due: Due
    next: tuple[datetime, ...]
    on_date: datetime | None
    """The due time on the requested date, according to the current recurrence of the schedule."""

    with_notice: tuple[datetime, ...] = ()
    """The occurrences in `next` whose digests have the notice that they end soon."""

    quiet: tuple[datetime, datetime] | None = None
    """The period around `on_date` in which no events were waiting, as far as the stored runs and
    events show."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The frequency of a category.

    `chosen` is the reader's choice, if any; `default` is the installation's default, if any.
    """

    category: str
    frequency: Frequency
    chosen: Frequency | None
    default: Frequency | None


@dataclass(frozen=True, slots=True)
class Override:
    """A follow with its own frequency, and the time at which the reader chose the frequency."""

    entity: str
    frequency: Frequency
    since: datetime


@dataclass(frozen=True, slots=True)
class DeadRun:
    """The message of a run in a dead-letter queue."""

    queue: str
    since: datetime
    """The time at which the message arrived in its first queue."""


@dataclass(frozen=True, slots=True)
class ExplainedRun:
    """A run, with the number of stored events of each category in its window."""

    run: Run
    covers: tuple[tuple[str, int], ...]
    about: str
    """The entity key of an immediate run, if one of its events is still stored."""

    dead: DeadRun | None = None
    """The oldest message of the run in a dead-letter queue, as far as the queues were read."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events of one category and schedule that are waiting or given up. No sent run included
    them."""

    schedule: str
    about: str
    category: str
    count: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The data that explains a user's emails at `now`, without the user's address and name."""

    user_id: str
    now: datetime
    on: date | None
    zone: ZoneInfo
    """The reader's time zone, in which the date `on` is interpreted.

    UTC if `time_zone` is empty or unknown.
    """

    time_zone: str = ""
    status: SubscriberStatus | None = None
    """The subscriber's status; None if the user id is unknown or was erased (`erased_at`)."""

    suppression: Suppression | None = None
    """The suppression of the reader's address."""

    erased_at: datetime | None = None
    changed_at: datetime | None = None
    chosen_at: datetime | None = None
    registered_on: date | None = None
    active_on: date | None = None
    paused_until: date | None = None
    quiet_hours: QuietHours | None = None
    """The quiet hours in force, in the reader's time zone; None if there are none."""

    dormant_at: datetime | None = None
    """The time at which an active reader becomes dormant without further activity; None if the
    stage has no `sunset_days`."""

    is_allowed: bool = True
    """False if the stage does not send to the reader's address (`allowed_recipients`)."""

    outlooks: tuple[Outlook, ...] = ()
    choices: tuple[Choice, ...] = ()
    follows: int = 0
    overrides: tuple[Override, ...] = ()
    runs: tuple[ExplainedRun, ...] = ()
    """The runs due on the requested date, newest first.

    Without a date, all open runs and the last runs of each schedule.
    """

    mutes: Mutes = ()
    """The entities that the reader has muted."""

    waiting: tuple[Waiting, ...] = ()
    late: tuple[Waiting, ...] = ()
    """The waiting events that are sent with the daily digest because they occurred more than a day
    before they could be sent immediately. `waiting` contains them too."""

    over_limit: tuple[Waiting, ...] = ()
    """The events that wait for the daily digest because the reader had reached the limit of
    immediate emails."""

    muted: tuple[Waiting, ...] = ()
    """Stored events about muted entities. The next run of their schedule removes them."""

    given_up: tuple[Waiting, ...] = ()
    """Events that are not sent again, because emails with an unknown outcome included them.

    An event is given up when the maximum number of such emails has included it. One such email is
    enough if the event then expired or could not be shown.
    """

    unreadable: tuple[str, ...] = ()
    """The error texts of rows that cannot be read."""

    expired: tuple[Waiting, ...] = ()
    """Stored events that expired before an email included them."""

    lapsed: tuple[Waiting, ...] = ()
    """Stored events whose `expires_at` passed before an email included them."""

    seen: tuple[Waiting, ...] = ()
    """Stored events that were left out because the reader had seen their entities."""

    withdrawn: tuple[Waiting, ...] = ()
    """Stored events that were left out because of a withdrawal, and waiting events that the next
    run of their schedule leaves out for this reason."""

    merged: tuple[Waiting, ...] = ()
    """Stored events that emails do not show, because they show another event of the same happening
    (rule 30). Emails with them may have been sent."""

    held_categories: tuple[str, ...] = ()
    """The categories on hold for which events are waiting."""

    critical: tuple[str, ...] = ()
    """The critical categories, which are sent regardless of the reader's choice."""

    def is_off(self, schedule: str) -> bool:
        """Return True if the reader gets no email of this schedule at present."""
        is_active = self.status is SubscriberStatus.ACTIVE
        return not is_active and not (is_critical(schedule) and self.gets_critical)

    @property
    def gets_critical(self) -> bool:
        """Return True if critical emails may be sent to the reader's address, regardless of
        choices."""
        lifted = {None, Cause.UNSUBSCRIBED}
        return bool(self.critical) and (self.suppression and self.suppression.cause) in lifted
