"""The due times of digests in the reader's time zone, in slots of ten minutes. Pure."""

import hashlib
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

SLOT = timedelta(minutes=10)

EVERY_DAY = frozenset(range(1, 8))
"""All days of the week, as ISO 8601 numbers. Monday is 1 and Sunday is 7."""

LONGEST_PAUSE = timedelta(weeks=12)
"""The maximum length of a pause.

Events wait until the pause ends, and are not kept much longer.
"""

_MOVED_BY = timedelta(days=1)
"""The maximum amount by which new time zone rules can move an occurrence. Zones are at most 14
hours from UTC."""


@dataclass(frozen=True, slots=True)
class Days:
    """The dates in the subscriber's time zone on which a digest is due."""

    weekdays: frozenset[int] = EVERY_DAY
    """The weekdays by ISO 8601 number."""

    every: int = 1
    """The interval in weeks: 1 for every week, 2 for every other week."""

    phase: int = 0
    """The remainder that selects the weeks with digests: week_number modulo `every`."""

    month_day: int | None = None
    """The day of the month, from 1 to 31. In a shorter month, its last day is used instead.

    If set, the other fields are ignored.
    """


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The due times of a digest, in the subscriber's time zone. No digest is due before
    `paused_until`."""

    hour: int
    minute: int
    time_zone: str
    days: Days = Days()
    paused_until: date | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause in email until the date `until` in `time_zone`."""

    until: date
    time_zone: str

    def holds_at(self, instant: datetime) -> bool:
        """Return True if `instant` is within the pause."""
        return instant.astimezone(zone_of(self.time_zone)).date() < self.until


WORKDAYS = Days(frozenset({1, 2, 3, 4, 5}))


@dataclass(frozen=True, slots=True)
class DigestTimes:
    """The hour at which digests are due, and the days of weekly and custom digests."""

    hour: int = 8
    minute: int | None = None
    """The minute of the hour; None for the reader's default minute (minute_of)."""

    weekly_on: int = 1
    custom_on: Days = WORKDAYS
    paused_until: date | None = None
    """The first date on which the reader wants email again.

    None or a date in the past means that email is not paused.
    """


AT_EIGHT = DigestTimes()
"""The default times, for readers who have not chosen any."""


def slot_of(instant: datetime) -> datetime:
    """Return the start, in UTC, of the ten-minute slot that contains `instant`."""
    utc = instant.astimezone(UTC)
    return utc.replace(minute=utc.minute - utc.minute % 10, second=0, microsecond=0)


def last_instant_of_slot(instant: datetime) -> datetime:
    """Return the last microsecond of the ten-minute slot that contains `instant`."""
    return slot_of(instant) + SLOT - timedelta(microseconds=1)


def slot_id(slot: datetime) -> str:
    """Return the name of a slot in keys and logs, such as `2026-11-22T06:10Z`."""
    return f"{slot.astimezone(UTC):%Y-%m-%dT%H:%MZ}"


def minute_of(user_id: str) -> int:
    """Return the minute at which digests are due if the reader chose only the hour.

    The minute is 0, 10, 20, 30, 40 or 50. It never changes for a reader and is spread evenly over
    readers, so that the six slots of an hour are equally full. The hash is independent of the hash
    of the shards, so that the slots are equally full within each shard too.
    """
    return hashlib.sha256(user_id.encode()).digest()[0] % 6 * 10


def stagger(spread: timedelta, *, random: float) -> timedelta:
    """Return a random delay for a digest that is due. SQS requires whole seconds.

    `spread` is the maximum delay. `random` is a number from 0 to 1, drawn separately for each
    digest so that the load on other services is even over a slot.
    """
    return timedelta(seconds=int(spread.total_seconds() * random))


def next_occurrence(recurrence: Recurrence, *, after: datetime) -> datetime:
    """Return the first time strictly after `after` at which a digest is due, in UTC.

    Days and pauses are in the reader's time zone. If a clock change skips the local time, the
    digest is due at the first moment that exists, even if that is the next midnight. If the local
    time occurs twice, the digest is due the first time. A local date that does not exist is
    skipped.
    """
    zone = zone_of(recurrence.time_zone)
    day = after.astimezone(zone).date() - timedelta(days=1)
    if recurrence.paused_until:
        day = max(day, recurrence.paused_until)
    while True:
        due = _occurrence_on(day, recurrence, zone) if is_wanted(day, recurrence.days) else None
        if due is not None and due > after:
            return due
        day += timedelta(days=1)


def begin_of_period(days: Days, due_on: date) -> date | None:
    """Return the date of the digest before the one on `due_on`, if digests are weekly or monthly.

    Return None for all other digests.
    """
    if days.month_day is not None:
        before = due_on.replace(day=1) - timedelta(days=1)
        return before.replace(day=min(days.month_day, before.day))
    return due_on - timedelta(days=7) if len(days.weekdays) == days.every == 1 else None


def is_one_of_last_two(recurrence: Recurrence, due_at: datetime, *, before: datetime) -> bool:
    """Return True if at most one occurrence is after `due_at` and before `before`."""
    if due_at >= before:
        return False
    following = next_occurrence(recurrence, after=due_at)
    return following >= before or next_occurrence(recurrence, after=following) >= before


def next_after_change(
    recurrence: Recurrence, *, after: datetime, last: datetime | None, pending: datetime | None
) -> datetime:
    """Return the next occurrence, in UTC, after the reader changed the hour, days or time zone.

    `last` is the occurrence that was sent last. `pending` is the next occurrence before the change.
    No local date gets two digests, so the date of `last` is skipped. No date loses its digest. If
    the new hour has passed on the date of `pending`, `pending` is kept, unless that date is in a
    pause.
    """
    due = next_on_another_date(recurrence, after=after, last=last)
    if pending is not None and after < pending < due:
        zone = zone_of(recurrence.time_zone)
        day = pending.astimezone(zone).date()
        had_its_own = last is not None and day == last.astimezone(zone).date()
        if day < due.astimezone(zone).date() and _is_on(day, recurrence) and not had_its_own:
            return pending
    return due


def next_on_another_date(
    recurrence: Recurrence, *, after: datetime, last: datetime | None
) -> datetime:
    """Return the first occurrence after `after` that is not on the local date of `last`.

    `last` is the occurrence that was started last, perhaps with a different hour or time zone; None
    if there is none. Dates are in the current time zone.
    """
    due = next_occurrence(recurrence, after=after)
    if last is not None:
        zone = zone_of(recurrence.time_zone)
        had = _date_of(last, recurrence, zone)
        while _date_of(due, recurrence, zone) == had:
            due = next_occurrence(recurrence, after=due)
    return due


def due_by_the_clock_of_now(
    recurrence: Recurrence, *, armed_for: datetime, last: datetime | None
) -> datetime:
    """Return the due time of an armed occurrence according to the current rules of its time zone.

    The result is `armed_for`, or the next occurrence if a digest (`last`) was already sent on that
    local date, or on a later one from which the clocks have returned. If no digest is due on that
    date, new zone rules have moved the occurrence to the next or the previous date. On the next
    date, the digest is sent late instead of a whole interval later. On the previous date, the
    digest waits for its original date.
    """
    zone = zone_of(recurrence.time_zone)
    day = _date_of(armed_for, recurrence, zone)
    had = _date_of(last, recurrence, zone) if last else None
    if _is_on(day, recurrence) and (had is None or day > had):
        return armed_for
    due = next_on_another_date(recurrence, after=armed_for, last=last)
    if had is not None and day <= had:
        return due
    before = next_occurrence(recurrence, after=armed_for - _MOVED_BY)
    if before < armed_for and armed_for - before < due - armed_for:
        has_been = had is not None and _date_of(before, recurrence, zone) <= had
        return due if has_been else armed_for
    return due if due - armed_for < _MOVED_BY else armed_for


def is_wanted(day: date, days: Days) -> bool:
    """Return True if a digest is due on this date according to `days`."""
    if days.month_day is not None:
        return day.day == min(days.month_day, monthrange(day.year, day.month)[1])
    return day.isoweekday() in days.weekdays and week_number(day) % days.every == days.phase


def week_number(day: date) -> int:
    """Return the number of weeks from Monday to Sunday since the first Monday of the calendar.

    Unlike ISO 8601 week numbers, these numbers do not restart each year.
    """
    return (day.toordinal() - 1) // 7


def zone_of(name: str) -> ZoneInfo:
    """Return the time zone with this name; UTC if this installation does not have the zone.

    The contract rejects unknown names, so the name was stored by an installation with newer zone
    data. Until this data is installed again, the reader's digest is sent at the wrong hour instead
    of not at all.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _is_on(day: date, recurrence: Recurrence) -> bool:
    """Return True if a digest is due on a date and email is not paused on that date."""
    is_paused = recurrence.paused_until is not None and day < recurrence.paused_until
    return is_wanted(day, recurrence.days) and not is_paused


def _date_of(occurrence: datetime, recurrence: Recurrence, zone: ZoneInfo) -> date:
    """Return the local date of an occurrence.

    If the clocks jump over the hour to midnight, return the date before, because next_occurrence
    makes the digest of that date due at midnight.
    """
    local = occurrence.astimezone(zone)
    if local.time() < time(recurrence.hour, recurrence.minute):
        day_before = local.date() - timedelta(days=1)
        if _occurrence_on(day_before, recurrence, zone) == occurrence:
            return day_before
    return local.date()


def _occurrence_on(day: date, recurrence: Recurrence, zone: ZoneInfo) -> datetime | None:
    """Return the occurrence on `day` in UTC; None if the date does not exist in the time zone.

    If the clocks jump over the hour to the next date, the digest of `day` is due at midnight.
    """
    midnight = first_moment_from(datetime.combine(day, time()), zone)
    if midnight.astimezone(zone).date() != day:
        return None
    return first_moment_from(datetime.combine(day, time(recurrence.hour, recurrence.minute)), zone)


def first_moment_from(naive: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant, in UTC, at which clocks in `zone` show the local time `naive` or
    skip it."""
    due = naive.replace(tzinfo=zone).astimezone(UTC)
    if due.astimezone(zone).replace(tzinfo=None) == naive:
        return due
    return _first_moment_after_gap(naive, zone)


def _first_moment_after_gap(naive: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant at which clocks in `zone` skip the local time `naive`.

    Read with the offset that was valid before the gap (fold=0), `naive` is an instant after the
    jump. Read with the offset that is valid after the gap (fold=1), `naive` is an instant before
    the jump (PEP 495).
    """
    after = naive.replace(tzinfo=zone, fold=0).astimezone(UTC)
    before = naive.replace(tzinfo=zone, fold=1).astimezone(UTC)
    offset_after = after.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset_after:
            after = middle
        else:
            before = middle
    return after
