"""When a digest is due: local hours and days, clock changes, slots. Pure."""

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from gazette.domain.scheduling.recurrence import Days, Recurrence, zone_of

SLOT = timedelta(minutes=10)


def slot_of(instant: datetime) -> datetime:
    """The start, in UTC, of the ten-minute slot that contains `instant`."""
    utc = instant.astimezone(UTC)
    return utc.replace(minute=utc.minute - utc.minute % 10, second=0, microsecond=0)


def last_instant_of_slot(instant: datetime) -> datetime:
    """The last microsecond of the slot that contains `instant`."""
    return slot_of(instant) + SLOT - timedelta(microseconds=1)


def slot_id(slot: datetime) -> str:
    """The name of a slot in keys and logs, such as `2026-11-22T06:10Z`."""
    return f"{slot.astimezone(UTC):%Y-%m-%dT%H:%MZ}"


def next_occurrence(wanted: Recurrence, *, after: datetime) -> datetime:
    """The first instant in UTC, strictly after `after`, at which a digest is due as `wanted`.

    Days and pause are by the reader's own calendar. If a clock change skips the local time, the
    digest is due at the first moment that exists, even if that is the next midnight. If the local
    time occurs twice, it is due the first time. A local date that does not exist is skipped.
    """
    zone = zone_of(wanted.time_zone)
    day = after.astimezone(zone).date() - timedelta(days=1)
    if wanted.paused_until:
        day = max(day, wanted.paused_until)
    while True:
        due = _occurrence_on(day, wanted, zone) if is_wanted(day, wanted.days) else None
        if due is not None and due > after:
            return due
        day += timedelta(days=1)


def next_after_change(
    wanted: Recurrence, *, after: datetime, last: datetime | None, pending: datetime | None
) -> datetime:
    """The next occurrence, in UTC, after the reader has changed hour, days or zone.

    `last`: the occurrence that was sent last. `pending`: the one that was next before the change.
    No local date, by the new clock, has two digests: the date of `last` is skipped. And no date
    loses its digest: if the new hour has passed on the date of `pending`, `pending` stays, unless
    that date is in a pause.
    """
    zone = zone_of(wanted.time_zone)

    def local_date(instant: datetime) -> date:
        return instant.astimezone(zone).date()

    due = next_occurrence(wanted, after=after)
    while last is not None and local_date(due) == local_date(last):
        due = next_occurrence(wanted, after=due)
    if pending is not None and after < pending < due:
        day = local_date(pending)
        had_its_own = last is not None and day == local_date(last)
        is_paused = wanted.paused_until is not None and day < wanted.paused_until
        may_stay = is_wanted(day, wanted.days) and not is_paused
        if day < local_date(due) and may_stay and not had_its_own:
            return pending
    return due


def is_wanted(day: date, days: Days) -> bool:
    """Whether a date is one of `days`."""
    if days.month_day is not None:
        return day.day == min(days.month_day, monthrange(day.year, day.month)[1])
    return day.isoweekday() in days.weekdays and week_number(day) % days.every == days.phase


def week_number(day: date) -> int:
    """Weeks, from Monday to Sunday, since the first Monday of the calendar.

    Unlike the weeks of ISO 8601 they do not start again with a year.
    """
    return (day.toordinal() - 1) // 7


def _occurrence_on(day: date, wanted: Recurrence, zone: ZoneInfo) -> datetime | None:
    """The occurrence on `day` as an instant in UTC; None if that whole date does not exist.

    If the clocks jump over the hour to the next date, the digest of `day` is due at midnight.
    """
    midnight = _first_moment_from(datetime.combine(day, time()), zone)
    if midnight.astimezone(zone).date() != day:
        return None
    return _first_moment_from(datetime.combine(day, time(wanted.hour, wanted.minute)), zone)


def _first_moment_from(naive: datetime, zone: ZoneInfo) -> datetime:
    """The first instant, in UTC, at which the clocks of `zone` show `naive` or jump over it."""
    due = naive.replace(tzinfo=zone).astimezone(UTC)
    if due.astimezone(zone).replace(tzinfo=None) == naive:
        return due
    return _first_moment_after_gap(naive, zone)


def _first_moment_after_gap(naive: datetime, zone: ZoneInfo) -> datetime:
    """The instant at which the clocks of `zone` jump over `naive`.

    Read with the offset that was valid before the gap (fold=0), `naive` is an instant after
    the jump; with the one valid after it (fold=1), an instant before (PEP 495).
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
