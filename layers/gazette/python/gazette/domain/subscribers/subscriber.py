"""A subscriber: profile, status and choices. Frozen; all instants are UTC."""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from gazette.domain.scheduling.calendar import (
    AT_EIGHT,
    Days,
    DigestTimes,
    Pause,
    Recurrence,
    minute_of,
)
from gazette.domain.stored import is_known
from gazette.domain.subscribers.choices import NO_CHOICES, Preferences, ReaderChoices, resolve
from gazette.domain.subscribers.frequency import Frequencies, Frequency
from gazette.domain.subscribers.history import History


class SubscriberStatus(StrEnum):
    """Whether a subscriber may be sent to. A dormant subscriber resumes at the next sign of life.

    In a status that this version does not know, nothing is sent: events wait, and the schedules
    stay as they are.
    """

    ACTIVE = "active"
    DORMANT = "dormant"
    UNSUBSCRIBED = "unsubscribed"
    SUPPRESSED = "suppressed"


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A subscriber: the profile, and what follows from what the service and the reader chose.

    `changed_at` is by the service's clock: the latest profile prevails. `choices` are the
    frequencies by category over time; `times` and `time_zone` are those in force now.
    `recorded_service_choices` is what the service chose of all three, if that differs from these
    fields; `reader_choices` is what the reader chose. `registered_on` and `active_on` are the UTC
    dates of the first profile and of the last sign of life, `paused_last` the latest end of a pause
    of any profile; `resumed_at` is when a dormant period ended.
    `routed_for` names the choices by which the waiting events were routed last, and `revision`
    counts the changes of profile and status. `routes_since` is when choices or follows last changed
    what waits: what was put in its place before is routed again when its run is prepared.
    `erased_at` is set if this user id was erased before.
    `left_at` is when an unsubscribed reader left, None if that is not known: by it, whoever takes a
    leave back says which one.
    `addressed_after` is when the user id last had another address or was erased, None if never: it
    tells readers of the same id apart, and the same address before and after another.
    """

    user_id: str
    email: str
    name: str
    locale: str
    time_zone: str
    changed_at: datetime
    status: SubscriberStatus = SubscriberStatus.ACTIVE
    times: DigestTimes = AT_EIGHT
    choices: History[Frequencies] = ()
    recorded_service_choices: History[Preferences] = ()
    reader_choices: ReaderChoices = NO_CHOICES
    registered_on: date | None = None
    paused_last: date | None = None
    active_on: date | None = None
    resumed_at: datetime | None = None
    routed_for: str = ""
    routes_since: datetime | None = None
    revision: int = 1
    erased_at: datetime | None = None
    addressed_after: datetime | None = None
    left_at: datetime | None = None

    @property
    def chosen(self) -> Frequencies:
        """The frequencies that are in force now."""
        return self.choices[-1][1] if self.choices else ()

    @property
    def service_choices(self) -> History[Preferences]:
        """What the service said of frequencies, times and time zone, over time."""
        return self.recorded_service_choices or tuple(
            (at, Preferences(chosen, self.times, self.time_zone)) for at, chosen in self.choices
        )

    def with_choices(self, service: History[Preferences], reader: ReaderChoices) -> "Subscriber":
        """This subscriber with what `service` and `reader` come to."""
        choices, now = resolve(service, reader)
        changed = replace(
            self,
            choices=choices,
            times=now.times,
            time_zone=now.time_zone,
            recorded_service_choices=(),
            reader_choices=reader,
        )
        if changed.service_choices == service:
            return changed
        return replace(changed, recorded_service_choices=service)

    @property
    def has_left(self) -> bool:
        """Whether nothing may be sent or stored for them, but for critical events."""
        return self.status in {SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED}

    @property
    def receives_email(self) -> bool:
        """Whether a run that was started may still be sent."""
        return self.status in {SubscriberStatus.ACTIVE, SubscriberStatus.DORMANT}

    @property
    def receives_critical(self) -> bool:
        """Whether a critical run may be sent, if it may go to the address (`Suppressions.holds`).

        The status does not tell a bounce from what another reader of the address asked for.
        """
        return is_known(self.status)

    def left(self, at: datetime | None) -> "Subscriber":
        """This subscriber, unsubscribed since `at`, or since they left before."""
        has_before = self.status is SubscriberStatus.UNSUBSCRIBED
        return replace(
            self,
            status=SubscriberStatus.UNSUBSCRIBED,
            left_at=self.left_at if has_before else at,
        )

    def resumed(self, now: datetime) -> "Subscriber":
        """This subscriber, active again since `now`."""
        return replace(self, status=SubscriberStatus.ACTIVE, resumed_at=now)

    def paused_or_dormant_at(self, instant: datetime, *, sunset: timedelta | None) -> bool:
        """Whether the reader had paused or was dormant then: nothing is sent at once.

        The date counts, whether or not anybody has looked and set the status.
        """
        if self.pause and self.pause.holds_at(instant):
            return True
        was_dormant = self.resumed_at is not None and instant < self.resumed_at
        is_dormant = self.status is SubscriberStatus.DORMANT
        return was_dormant or is_dormant or self.is_overdue_at(instant, sunset)

    def is_overdue_at(self, instant: datetime, sunset: timedelta | None) -> bool:
        """Whether the reader was without a sign of life for so long then; never without sunset."""
        return sunset is not None and self.dormant_at(sunset) <= instant

    def as_of(self, now: datetime, *, sunset: timedelta | None) -> "Subscriber":
        """This subscriber as people are told of them: dormant by the date, stored or not."""
        if self.status is SubscriberStatus.ACTIVE and self.is_overdue_at(now, sunset):
            return replace(self, status=SubscriberStatus.DORMANT)
        return self

    def dormant_at(self, sunset: timedelta) -> datetime:
        """When this reader becomes dormant unless they show a sign of life: a UTC midnight.

        A pause counts as activity until its end.
        """
        dates = (self.active_on, self.registered_on, self.paused_last)
        seen = max(filter(None, dates), default=self.changed_at.date())
        return datetime.combine(seen + timedelta(days=1), time(), UTC) + sunset

    def is_unchanged_since(self, read: "Subscriber") -> bool:
        """Whether profile and status are as in `read`. Revisions start again after an erasure."""
        return (self.revision, self.erased_at) == (read.revision, read.erased_at)

    def is_sent_like(self, read: "Subscriber") -> bool:
        """Whether an email that was prepared for `read` may still be sent (rule 11)."""
        return self.is_unchanged_since(read) and self.routes_since == read.routes_since

    def recurrence(self, digest: Frequency) -> Recurrence:
        """When `digest` is due for this subscriber."""
        days = {
            Frequency.WEEKLY: Days(frozenset({self.times.weekly_on})),
            Frequency.CUSTOM: self.times.custom_on,
        }.get(digest, Days())
        minute = self.times.minute
        if minute is None:
            minute = minute_of(self.user_id)
        return Recurrence(self.times.hour, minute, self.time_zone, days, self.times.paused_until)

    @property
    def pause(self) -> Pause | None:
        """The latest pause, even if it has ended."""
        until = self.times.paused_until
        return Pause(until, self.time_zone) if until else None


@dataclass(frozen=True, slots=True)
class Erased:
    """What is left of a subscriber who was deleted: the instant, by the service's clock."""

    user_id: str
    erased_at: datetime


@dataclass(frozen=True, slots=True)
class EarlyChoices:
    """The choices of a reader whose profile has not arrived yet.

    `as_stored`: what the store compares when it replaces a row that it has read; None if it was not
    read.
    """

    user_id: str
    reader_choices: ReaderChoices
    as_stored: tuple[str | None, str | None] | None = field(default=None, compare=False, repr=False)


Reader = Subscriber | Erased | None
"""What Gazette knows of a user id; None if nothing."""


def was_erased(reader: Reader, at: datetime) -> bool:
    """Whether the reader was erased at this instant or later, whether they are back or not."""
    return reader is not None and reader.erased_at is not None and reader.erased_at >= at
