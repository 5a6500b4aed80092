"""The forecast of small weeks is what the real steps do on fakes: slot by slot, email by email."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.scheduling.calendar import SLOT, DigestTimes, slot_id, slot_of
from hypothesis import given, settings
from hypothesis import strategies as st

from gazette_cli.simulate.exact import Reader, Stored, Week, read_week, written
from gazette_cli.simulate.forecast import Forecast, simulate
from tests.builders import SettableClock, a_subscriber, an_event
from tests.unit.simulate.questions import installation, question
from tests.world import World

BEGIN = datetime(2026, 10, 24, 0, 5, tzinfo=UTC)
"""The clocks of Europe go back the day after."""

DAYS = 3
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
_TICKS = [slot_of(BEGIN) + SLOT * number for number in range(1, DAYS * 144 + 1)]


@st.composite
def weeks(draw: st.DrawFn) -> Week:
    """Up to five readers, and some events of each, in the middle of a slot."""
    readers = [
        Reader(
            name=f"reader{number}",
            zone=draw(st.sampled_from(ZONES)),
            hour=draw(st.integers(0, 23)),
            minute=draw(st.sampled_from(range(0, 60, 10))),
        )
        for number in range(draw(st.integers(1, 5)))
    ]
    events = [
        Stored(reader=reader.name, at=BEGIN + SLOT * slot)
        for reader in readers
        for slot in draw(st.sets(st.integers(0, DAYS * 144 - 1), max_size=6))
    ]
    return Week(readers=readers, events=sorted(events, key=lambda one: one.at), ticks=_TICKS)


def forecast(week: Week) -> Forecast:
    """On a stage that sends at once."""
    stage = replace(installation(100), spread=timedelta(0))
    return simulate(question(len(week.readers), of=stage), week=week)


def lived(week: Week) -> World:
    """The same week by the real steps, on fakes."""
    world = World(clock=SettableClock(BEGIN - timedelta(minutes=1)))
    for reader in week.readers:
        times = DigestTimes(hour=reader.hour, minute=reader.minute)
        address = f"{reader.name}@example.com"
        profile = a_subscriber(reader.name, times=times, email=address, changed_at=world.clock())
        world.say(ChangeSubscriber(replace(profile, time_zone=reader.zone)))
    left = list(week.events)
    for tick in week.ticks:
        while left and left[0].at < tick:
            event = left.pop(0)
            world.clock.now = event.at
            number = len(week.events) - len(left)
            world.create(an_event(f"e{number}", user_id=event.reader, occurred_at=event.at))
        world.clock.now = tick + timedelta(seconds=30)
        world.fan_out(tick)
        world.deliver_queued()
    return world


def by_slot(world: World) -> Counter[str]:
    return Counter(
        slot_id(slot_of(run.due_at))
        for run in world.runs.rows.values()
        if run.status is Status.SENT
    )


def forecast_by_slot(found: Forecast) -> Counter[str]:
    return Counter(
        {
            slot_id(slot_of(found.begin + timedelta(seconds=due))): number
            for due, number in found.tally.by_due.items()
        }
    )


def quiet(world: World) -> int:
    """Occurrences at which nothing waited: their schedules went idle."""
    return sum(run.reason is Reason.NOTHING_WAITED for run in world.runs.rows.values())


@settings(max_examples=60, deadline=None)
@given(weeks())
def test_simulated_emails_per_slot_match_the_real_steps(week: Week) -> None:
    world, found = lived(week), forecast(week)
    assert forecast_by_slot(found) == by_slot(world)
    assert found.quiet == quiet(world)


def test_week_file_is_read_as_written(tmp_path: Path) -> None:
    week = Week(
        readers=[Reader(name="ann", zone="Europe/Berlin", hour=8, minute=0)],
        events=[Stored(reader="ann", at=BEGIN)],
        ticks=_TICKS[:2],
        follows=3,
    )
    (tmp_path / "week.json").write_text(written(week))
    assert read_week(tmp_path / "week.json") == week
