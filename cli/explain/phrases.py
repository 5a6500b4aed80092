"""Schedules, instants and recurring hours as support reads them out on the phone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from gazette.domain.delivery.run import Run
from gazette.domain.scheduling.calendar import EVERY_DAY, WORKDAYS, Days, Recurrence
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, is_critical, kind_of
from gazette.domain.subscribers.frequency import EVERYTHING

from cli.shared.descriptions import DAYS, listed

_SURE = 28
"""The last day that every month has."""


def name_of(schedule: str, about: str = "") -> str:
    """A schedule, or what goes out at once `about` an entity."""
    if schedule == Unsent.WAITING:
        return "the profile"
    if schedule == Unsent.EXCLUDED:
        return "excluded"
    if schedule == Unsent.EXPIRED:
        return "no email"
    if kind_of(schedule) is ScheduleKind.IMMEDIATE:
        some = "a critical email" if is_critical(schedule) else "an immediate email"
        return f"the {some.partition(' ')[2]} about {about}" if about else some
    return f"the {schedule} digest"


def named(category: str) -> str:
    """A category, or what stands for all that have no choice of their own."""
    return "everything else" if category == EVERYTHING else category


def sentence(text: str) -> str:
    """`text` with a capital, whatever follows it."""
    return text[:1].upper() + text[1:]


def counted(events: int) -> str:
    """Such as `1 event`."""
    return "1 event" if events == 1 else f"{events} events"


def local(at: datetime, zone: ZoneInfo) -> str:
    """An instant on the reader's own clock, such as `Sat 2026-11-21 08:10`."""
    there = at.astimezone(zone)
    return f"{DAYS[there.weekday()][:3]} {there:%Y-%m-%d %H:%M}"


def clock_time(at: datetime, zone: ZoneInfo) -> str:
    """The hour alone, such as `08:10`."""
    return f"{at.astimezone(zone):%H:%M}"


def bare_utc(at: datetime) -> str:
    """An instant in a column that says UTC, such as `2026-11-21 07:10`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def utc(at: datetime) -> str:
    """An instant as the logs have it, such as `2026-11-21 07:10 UTC`."""
    return f"{bare_utc(at)} UTC"


def times(run: Run) -> str:
    """When a run was created, claimed and sent, and how long after it was due; empty if unknown."""
    named = (("created", run.created_at), ("claimed", run.claimed_at), ("sent", run.sent_at))
    told = ", ".join(f"{what} {seconds(at)}" for what, at in named if at)
    delay = f" ({after(run.sent_at - run.due_at)})" if run.sent_at else ""
    return f"{told} UTC{delay}" if told else ""


def seconds(at: datetime) -> str:
    """An instant of UTC to the second, such as `2026-11-21 07:10:03`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def after(delay: timedelta) -> str:
    """How long after it was due, such as `3 minutes 5 seconds after it was due`."""
    total = max(0, round(delay.total_seconds()))
    units = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
    parts = []
    for unit, size in units:
        number, total = divmod(total, size)
        if number:
            parts.append(f"{number} {unit}{'s' * (number > 1)}")
    return f"{' '.join(parts[:2]) or '0 seconds'} after it was due"


def recurring(wanted: Recurrence) -> str:
    """Such as `Tuesdays and Fridays of every 2nd week at 08:10`."""
    return f"{_days(wanted.days)} at {wanted.hour:02}:{wanted.minute:02}"


def _days(days: Days) -> str:
    if days.month_day is not None:
        shorter = ", or the last of a shorter one," if days.month_day > _SURE else ""
        return f"on day {days.month_day} of the month{shorter}"
    if days.weekdays == EVERY_DAY:
        named = "every day"
    elif days.weekdays == WORKDAYS.weekdays:
        named = "Mondays to Fridays"
    else:
        named = listed([f"{DAYS[day - 1]}s" for day in sorted(days.weekdays)])
    return named if days.every == 1 else f"{named} of every {_ordinal(days.every)} week"


def _ordinal(number: int) -> str:
    teens = 10 < number % 100 < 20
    ending = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def made_with(run: Run) -> str:
    """`version 7`, of the templates; nothing if no email was made, or with what was deployed."""
    if not run.attempt:
        return ""
    made = f"version {run.templates}" if run.templates else ""
    if not run.templates_gone:
        return made
    return f"{made or 'deployed'}: version {run.templates_gone}, made with first, is gone"
