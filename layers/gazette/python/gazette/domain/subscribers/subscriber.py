"""A subscriber: profile, status and choices. Frozen; all instants are UTC."""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from gazette.domain.muting.mutes import Mutes
from gazette.domain.scheduling.calendar import (
    AT_EIGHT,
    Days,
    DigestTimes,
    Pause,
    Recurrence,
    is_one_of_last_two,
    minute_of,
    zone_of,
)
from gazette.domain.scheduling.quiet import STAGE_QUIET_HOURS, QuietHours
from gazette.domain.stored import is_known
from gazette.domain.subscribers.choices import NO_CHOICES, Preferences, ReaderChoices, resolve
from gazette.domain.subscribers.frequency import Frequencies, Frequency
from gazette.domain.subscribers.history import History

_NEXT = timedelta(microseconds=1)
"""The precision of stored times."""


def just_after(at: datetime) -> datetime:
    """Return the earliest later time that can be stored."""
    return at + _NEXT


class SubscriberStatus(StrEnum):
    """The status of a subscriber. A dormant subscriber becomes active again at the next activity.

    A subscriber with a status that this version does not know gets no email. Events wait, and the
    schedules are unchanged.
    """

    ACTIVE = "active"
    DORMANT = "dormant"
    UNSUBSCRIBED = "unsubscribed"
    SUPPRESSED = "suppressed"


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A subscriber, with the profile and the combined choices of the service and the reader."""

    user_id: str
    email: str
    name: str
    locale: str
    time_zone: str
    """The time zone in force."""

    changed_at: datetime
    """The time of the profile, by the service's clock. The latest profile prevails."""

    status: SubscriberStatus = SubscriberStatus.ACTIVE
    times: DigestTimes = AT_EIGHT
    """The digest times in force."""

    quiet_hours: str = STAGE_QUIET_HOURS
    """The value in force: hours such as `22:00-07:00`, `none`, or `default` (scheduling/quiet.py).
    """

    choices: History[Frequencies] = ()
    """The history of the frequencies by category."""

    recorded_service_choices: History[Preferences] = ()
    """The recorded choices of the service, if they differ from the fields of this subscriber."""

    reader_choices: ReaderChoices = NO_CHOICES
    """The reader's choices."""

    mutes: Mutes = ()
    """The things that the reader has muted, and the mutes that have ended."""

    registered_on: date | None = None
    """The UTC date on which the first profile was stored."""

    paused_last: date | None = None
    """The latest end date of all pauses in the service's profiles."""

    active_on: date | None = None
    """The UTC date of the reader's last activity."""

    seen_until: date | None = None
    """The UTC date until which marks of entities that the reader has seen may be stored; None if
    there are none."""

    resumed_at: datetime | None = None
    """The time at which the last dormant period ended."""

    routed_for: str = ""
    """A fingerprint of the choices with which waiting events were last routed."""

    routes_since: datetime | None = None
    """The time of the last change of choices or follows that affects waiting events.

    Events stored before this time are rerouted when their run is prepared.
    """

    revision: int = 1
    """A counter of the changes of profile and status."""

    erased_at: datetime | None = None
    """The time of the last erasure of this user id; None if it was never erased."""

    addressed_after: datetime | None = None
    """The last time at which the user id had a different address or was erased; None if neither
    happened.

    This time distinguishes readers with the same id, and periods with the same address.
    """

    left_at: datetime | None = None
    """The time at which the reader unsubscribed; None if unknown.

    This time identifies the unsubscription to undo.
    """

    left_again_at: datetime | None = None
    """The time of the latest repetition of the unsubscription; None if it was not repeated."""

    consented_at: datetime | None = None
    """The time of the consent on which a service returned the reader, by the service's clock."""

    returned_at: datetime | None = None
    """The time at which a service last returned the reader; None if no service ever did.

    The consent counts from the earlier of this time and `consented_at`.
    """

    @property
    def chosen(self) -> Frequencies:
        """The frequencies that are in force now."""
        return self.choices[-1][1] if self.choices else ()

    @property
    def service_choices(self) -> History[Preferences]:
        """The history of the service's choices of frequencies, digest times and time zone."""
        return self.recorded_service_choices or tuple(
            (at, Preferences(chosen, self.times, self.time_zone, self.quiet_hours))
            for at, chosen in self.choices
        )

    def with_choices(self, service: History[Preferences], reader: ReaderChoices) -> "Subscriber":
        """Return this subscriber with the combined choices of the service and the reader."""
        choices, now = resolve(service, reader)
        changed = replace(
            self,
            choices=choices,
            times=now.times,
            time_zone=now.time_zone,
            quiet_hours=now.quiet_hours,
            recorded_service_choices=(),
            reader_choices=reader,
        )
        if changed.service_choices == service:
            return changed
        return replace(changed, recorded_service_choices=service)

    def with_mutes(self, mutes: Mutes, now: datetime) -> "Subscriber":
        """Return this subscriber with other mutes, or unchanged if the mutes are the same.

        Waiting events are routed again by the runs that are prepared from `now` on.
        """
        if mutes == self.mutes:
            return self
        since = max(now, self.routes_since or now)
        return replace(self, mutes=mutes, routes_since=since, revision=self.revision + 1)

    def quiet_hours_in_force(self, default: QuietHours | None) -> QuietHours | None:
        """Return the quiet hours of this subscriber, or None if there are none.

        `default` are the quiet hours of the stage.
        """
        return default if self.quiet_hours == STAGE_QUIET_HOURS else QuietHours.of(self.quiet_hours)

    @property
    def has_left(self) -> bool:
        """Return True if only critical events may be stored or sent for the subscriber."""
        return self.status in {SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED}

    @property
    def receives_email(self) -> bool:
        """Return True if a started run for the subscriber may still be sent."""
        return self.status in {SubscriberStatus.ACTIVE, SubscriberStatus.DORMANT}

    @property
    def receives_critical(self) -> bool:
        """Return True if a critical run may be sent, provided that the address is not suppressed.

        Check the address with `Suppressions.holds`. The status does not distinguish a bounce from
        the unsubscription of another reader of the address.
        """
        return is_known(self.status)

    @property
    def last_left_at(self) -> datetime | None:
        """The time of the latest unsubscription; None if unknown."""
        return max(filter(None, (self.left_at, self.left_again_at)), default=None)

    def left(self, at: datetime | None) -> "Subscriber":
        """Return this subscriber as unsubscribed since `at`, or since an earlier unsubscription.

        Each repetition has a later time than the one before, even if the clocks differ, so that a
        process that returns the reader notices the repetition.
        """
        if self.status is not SubscriberStatus.UNSUBSCRIBED:
            return replace(
                self, status=SubscriberStatus.UNSUBSCRIBED, left_at=at, left_again_at=None
            )
        last = self.last_left_at
        return replace(self, left_again_at=max(at, last + _NEXT) if at and last else at or last)

    def back(self) -> "Subscriber":
        """Return this subscriber as resubscribed."""
        return replace(
            self,
            status=SubscriberStatus.ACTIVE,
            left_at=None,
            left_again_at=None,
            revision=self.revision + 1,
        )

    def resumed(self, now: datetime) -> "Subscriber":
        """Return this subscriber as active since `now`."""
        return replace(self, status=SubscriberStatus.ACTIVE, resumed_at=now)

    def paused_or_dormant_at(self, instant: datetime, *, sunset: timedelta | None) -> bool:
        """Return True if the reader was paused or dormant at `instant`. No email is then immediate.

        The date decides, even if the stored status was not updated yet.
        """
        if self.pause and self.pause.holds_at(instant):
            return True
        was_dormant = self.resumed_at is not None and instant < self.resumed_at
        is_dormant = self.status is SubscriberStatus.DORMANT
        return was_dormant or is_dormant or self.is_overdue_at(instant, sunset)

    def is_overdue_at(self, instant: datetime, sunset: timedelta | None) -> bool:
        """Return True if the reader had been inactive for too long at `instant`.

        Always False if the stage has no `sunset_days`.
        """
        return sunset is not None and self.dormant_at(sunset) <= instant

    def as_of(self, now: datetime, *, sunset: timedelta | None) -> "Subscriber":
        """Return this subscriber for display, with the current status.

        A subscriber who is dormant by date is shown as dormant, even if this status is not stored
        yet.
        """
        if self.status is SubscriberStatus.ACTIVE and self.is_overdue_at(now, sunset):
            return replace(self, status=SubscriberStatus.DORMANT)
        return self

    def dormant_at(self, sunset: timedelta) -> datetime:
        """Return the UTC midnight at which this reader becomes dormant if there is no further
        activity.

        A pause counts as activity until its end.
        """
        dates = (self.active_on, self.registered_on, self.paused_last)
        seen = max(filter(None, dates), default=self.changed_at.date())
        return datetime.combine(seen + timedelta(days=1), time(), UTC) + sunset

    def digests_end_on(
        self, digest: Frequency, due_at: datetime, sunset: timedelta | None
    ) -> date | None:
        """Return the local date on which this reader becomes dormant, if the digest that is due at
        `due_at` is one of the last two before. Such a digest has the notice. Else return None.
        """
        if sunset is None:
            return None
        ends_at = self.dormant_at(sunset)
        if not is_one_of_last_two(self.recurrence(digest), due_at, before=ends_at):
            return None
        return ends_at.astimezone(zone_of(self.time_zone)).date()

    def is_unchanged_since(self, read: "Subscriber") -> bool:
        """Return True if profile and status have not changed since `read`.

        Revisions restart after an erasure.
        """
        return (self.revision, self.erased_at) == (read.revision, read.erased_at)

    def is_sent_like(self, read: "Subscriber") -> bool:
        """Return True if an email that was prepared for an earlier state (`read`) may still be sent
        (rule 11)."""
        return self.is_unchanged_since(read) and self.routes_since == read.routes_since

    def may_have_seen(self, now: datetime) -> bool:
        """Return True if a mark of an entity that the reader has seen may be stored."""
        return self.seen_until is not None and now.date() <= self.seen_until

    def recurrence(self, digest: Frequency) -> Recurrence:
        """Return the recurrence of `digest` for this subscriber."""
        at, until = self.digest_time, self.times.paused_until
        return Recurrence(at.hour, at.minute, self.time_zone, self.days(digest), until)

    def days(self, digest: Frequency) -> Days:
        """Return the days of `digest` for this subscriber."""
        if digest is Frequency.WEEKLY:
            return Days(frozenset({self.times.weekly_on}))
        return self.times.custom_on if digest is Frequency.CUSTOM else Days()

    @property
    def digest_time(self) -> time:
        """The local time of day at which digests are due."""
        minute = self.times.minute
        return time(self.times.hour, minute_of(self.user_id) if minute is None else minute)

    @property
    def pause(self) -> Pause | None:
        """The subscriber's latest pause, even if it has ended."""
        until = self.times.paused_until
        return Pause(until, self.time_zone) if until else None


@dataclass(frozen=True, slots=True)
class Erased:
    """The marker that is stored after a subscriber was erased."""

    user_id: str
    erased_at: datetime
    """The time of the erasure, by the service's clock."""


@dataclass(frozen=True, slots=True)
class EarlyChoices:
    """The choices of a reader whose profile has not arrived yet."""

    user_id: str
    reader_choices: ReaderChoices
    mutes: Mutes = ()
    as_stored: tuple[str | None, str | None] | None = field(default=None, compare=False, repr=False)
    """The stored value as it was read, for the condition of the next write; None if it was not
    read."""

    quiet_hours_as_stored: str | None = field(default=None, compare=False, repr=False)
    """The stored quiet hours as they were read; None if there were none."""

    mutes_as_stored: str | None = field(default=None, compare=False, repr=False)
    """The stored mutes as they were read; None if there were none."""


Reader = Subscriber | Erased | None
"""The profile or the erasure marker of a user id; None if the id is unknown."""


def was_erased(reader: Reader, at: datetime) -> bool:
    """Return True if the reader was erased at `at` or later, even if the reader has returned."""
    return reader is not None and reader.erased_at is not None and reader.erased_at >= at
