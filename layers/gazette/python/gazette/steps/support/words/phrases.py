"""Phrases for schedules, instants and recurring hours."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from gazette.domain.delivery.run import Run
from gazette.domain.scheduling.calendar import EVERY_DAY, WORKDAYS, Days, Recurrence
from gazette.domain.scheduling.instants import in_units
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, is_critical, kind_of
from gazette.domain.subscribers.frequency import EVERYTHING

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_SURE = 28
"""The highest day number that every month has."""


def name_of(schedule: str, about: str = "") -> str:
    """Return the name of a schedule's email. `about` is the entity of an immediate email."""
    if schedule == Unsent.WAITING:
        return "the profile"
    if schedule == Unsent.EXCLUDED:
        return "excluded"
    if schedule == Unsent.EXPIRED:
        return "no email"
    if kind_of(schedule) is ScheduleKind.IMMEDIATE:
        email = "a critical email" if is_critical(schedule) else "an immediate email"
        return f"the {email.partition(' ')[2]} about {about}" if about else email
    return f"the {schedule} digest"


def named(category: str) -> str:
    """Return the name of a category, or "everything else" for the reader's default choice."""
    return "everything else" if category == EVERYTHING else category


def sentence(text: str) -> str:
    """Convert the first letter to upper case. Other letters do not change."""
    return text[:1].upper() + text[1:]


def counted(events: int) -> str:
    """Return a number of events with its noun, such as `1 event`."""
    return "1 event" if events == 1 else f"{events} events"


def local(at: datetime, zone: ZoneInfo) -> str:
    """Format an instant in the reader's time zone, such as `Sat 2026-11-21 08:10`."""
    local_time = at.astimezone(zone)
    return f"{DAYS[local_time.weekday()][:3]} {local_time:%Y-%m-%d %H:%M}"


def clock_time(at: datetime, zone: ZoneInfo) -> str:
    """Format the time in the reader's time zone, such as `08:10`."""
    return f"{at.astimezone(zone):%H:%M}"


def bare_utc(at: datetime) -> str:
    """Format an instant in UTC without the name of the time zone, such as `2026-11-21 07:10`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def utc(at: datetime) -> str:
    """Format an instant in UTC, such as `2026-11-21 07:10 UTC`."""
    return f"{bare_utc(at)} UTC"


def times(run: Run) -> str:
    """Describe when a run was created, claimed and sent, and its delay. Return "" if no time is
    known.
    """
    acts = (("created", run.created_at), ("claimed", run.claimed_at), ("sent", run.sent_at))
    text = ", ".join(f"{act} {seconds(at)}" for act, at in acts if at)
    delay = f" ({after(run.sent_at - run.due_at)})" if run.sent_at else ""
    return f"{text} UTC{delay}" if text else ""


def seconds(at: datetime) -> str:
    """Format an instant in UTC to the second, such as `2026-11-21 07:10:03`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def after(delay: timedelta) -> str:
    """Describe a delay, such as `3 minutes 5 seconds after it was due`."""
    parts = islice(in_units(max(0, round(delay.total_seconds()))), 2)
    return f"{' '.join(parts) or '0 seconds'} after it was due"


def listed(names: list[str]) -> str:
    """Join names into a phrase. If there are many names, include the first three and the number of
    remaining names.
    """
    if len(names) > 7:  # all weekdays are named
        return f"{', '.join(names[:3])} and {len(names) - 3} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def recurring(recurrence: Recurrence) -> str:
    """Describe a recurrence, such as `Tuesdays and Fridays of every 2nd week at 08:10`."""
    return f"{_days(recurrence.days)} at {recurrence.hour:02}:{recurrence.minute:02}"


def _days(days: Days) -> str:
    if days.month_day is not None:
        shorter = ", or the last day of a shorter month," if days.month_day > _SURE else ""
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
    """Return the templates version with which a sent email was rendered, such as `version 7`.

    Return "" for the deployed templates, and if no email was rendered.
    """
    if not run.attempt:
        return ""
    version = f"version {run.templates}" if run.templates else ""
    if not run.templates_gone:
        return version
    return f"{version or 'deployed'}; the original version {run.templates_gone} no longer exists"
