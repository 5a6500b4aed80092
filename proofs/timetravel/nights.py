"""Immediate emails around quiet hours, near each change of the clocks of every zone.

The real steps run on fakes in virtual time. The oracle of the calendar knows when the hours of each
date begin and end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from random import Random

from gazette.domain.commands import ChangeSubscriber, ChoosePreferences
from gazette.domain.scheduling.quiet import JITTER, QuietHours
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import SettableClock, a_subscriber, an_event
from tests.days import SWEEP_EVERY, Days
from tests.world import HOLD, World, events_in
from tests.zones import Periods, days_near_a_change, expected, periods_of, zones_that_differ

_HOURS = ("22:00-07:00", "02:30-03:10", "00:00-06:00", "23:30-00:15", "01:00-02:30", "07:00-06:00")
_EACH_DAY = 4
"""The number of events on a day."""

_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)
_COLLECTS = timedelta(hours=1) + 2 * _MINUTE
"""The longest time for which an email collects events outside quiet hours."""

_LATE = JITTER + SWEEP_EVERY + HOLD + 2 * _MINUTE
"""The longest time from the end of quiet hours until an email is sent."""


@dataclass
class Nights:
    """The counts of spans of days, events and emails, including wrong ones.

    `at_night` are emails in quiet hours, `late` are events that were sent long after the hours, and
    `lost` and `twice` are events in no email or in several. `moved` are readers whose zone changed.
    """

    spans: int = 0
    events: int = 0
    emails: int = 0
    moved: int = 0
    at_night: int = 0
    late: int = 0
    lost: int = 0
    twice: int = 0

    @property
    def is_clean(self) -> bool:
        """True if every event was in one email, outside quiet hours and soon after them."""
        return not (self.at_night or self.late or self.lost or self.twice)

    def __str__(self) -> str:
        return "nights: " + " ".join(f"{name}={value}" for name, value in vars(self).items())


def nights(zones: int | None = None) -> Nights:
    """Simulate some zones, or all that differ."""
    found = Nights()
    names = list(zones_that_differ().values())
    for number, (periods, zone) in enumerate(islice(zones_that_differ().items(), zones)):
        for first, last in days_near_a_change(periods):
            random = Random(f"{zone} {first}")
            moves_to = random.choice(names) if random.random() < 0.4 else ""
            text = _HOURS[(number + first.toordinal()) % len(_HOURS)]
            _span(found, zone, moves_to, text, (first, last), random)
    return found


def _span(
    found: Nights, zone: str, moves_to: str, text: str, dates: tuple[date, date], random: Random
) -> None:
    begin = datetime.combine(dates[0], time(), UTC)
    length = dates[1] - dates[0] + _DAY
    world = World(clock=SettableClock(begin), quiet_hours=QuietHours.of(text))
    subscriber = a_subscriber(changed_at=begin - _DAY, comment=Frequency.IMMEDIATE)
    world.say(ChangeSubscriber(subscriber))
    world.say(ChoosePreferences("ann", Choice(time_zone=zone), begin - _DAY))
    days, moved_at = Days(world), begin + random.random() * length
    stored: list[datetime] = []
    moments = sorted(begin + random.random() * length for _ in range(_EACH_DAY * length.days))
    acts = sorted([*((at, False) for at in moments), *([(moved_at, True)] if moves_to else [])])
    for at, is_move in acts:
        days.until(at)
        if is_move:
            world.say(ChoosePreferences("ann", Choice(time_zone=moves_to), at))
            continue
        number = len(stored)
        entity = f"post{random.randrange(3)}"
        world.create(an_event(f"e{number}", entity_id=entity, occurred_at=at))
        stored.append(at)
    days.until(begin + length + 3 * _DAY)
    found.spans += 1
    found.moved += bool(moves_to)
    found.events += len(stored)
    found.emails += len(world.emails())
    shown = sum(events_in(email.lines) for email in world.emails())
    found.lost += max(0, len(stored) - shown)
    found.twice += max(0, shown - len(stored))
    hours = QuietHours.of(text)
    assert hours
    before = list(_intervals(hours, periods_of(zone), begin, length))
    after = list(_intervals(hours, periods_of(moves_to), begin, length)) if moves_to else before
    for at in days.sent_at:
        quiet = after if at >= moved_at else before
        found.at_night += any(since <= at < until for since, until in quiet)
    if not moves_to:
        found.late += _late(days.sent_at, stored, before)


def _late(
    sent_at: list[datetime], stored: list[datetime], quiet: list[tuple[datetime, datetime]]
) -> int:
    """Return the number of events after which no email was sent in time.

    An email about another entity may hide a late one, so this is a lower bound.
    """
    late = 0
    for at in stored:
        latest = at + _COLLECTS
        for since, until in quiet:
            if since <= latest + _LATE and at < until:
                latest = max(latest, until)
        late += not any(at <= each <= latest + _LATE for each in sent_at)
    return late


def _intervals(
    hours: QuietHours, periods: Periods, begin: datetime, length: timedelta
) -> Iterator[tuple[datetime, datetime]]:
    for number in range(-2, length.days + 5):
        day = begin.date() + number * _DAY
        ends_on = day + _DAY if hours.end < hours.begin else day
        since, until = expected(periods, day, hours.begin), expected(periods, ends_on, hours.end)
        if since and until:
            yield since, until
