"""The rules of a zone change while a digest is armed: each local date has one digest all the same.

What is armed was computed by the old rules. It is dated by the clock of now (decision 14).
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.model import DAILY, Schedule
from gazette.domain.scheduling import calendar
from gazette.domain.scheduling.calendar import (
    Days,
    DigestTimes,
    Recurrence,
    next_occurrence,
    next_on_another_date,
    slot_of,
)
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.subscribers.schedules import set_schedule
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, SettableClock, a_schedule, a_subscriber, an_event
from tests.new_rules import Rules, zone_with
from tests.world import SETTLE_LAG, World

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
ZONE = "Test/Zone"
MONDAY = date(2026, 11, 23)
EVERY_DAY = Days()


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Rules:
    """The rules by which the calendar goes. A test may change them at any time."""
    found = Rules()
    monkeypatch.setattr(calendar, "zone_of", found.zone_of)
    return found


class Reader:
    """One reader with one schedule, under which something always waits unless they are quiet."""

    def __init__(self, rules: Rules, wanted: Recurrence, *, begin: datetime) -> None:
        self.rules = rules
        self.world = World(SettableClock(begin))
        self.world.subscribers.put(a_subscriber(), replacing=None)
        due = next_occurrence(wanted, after=begin)
        schedule = replace(a_schedule(next_due_at=due), recurrence=wanted)
        self.world.schedules.put(schedule, replacing=None)
        self.sent: list[datetime] = []
        self.events = 0

    @property
    def schedule(self) -> Schedule:
        return self.world.schedules.rows["ann", DAILY]

    def store_event(self) -> None:
        """An event comes, and is old enough by the next slot."""
        self.events += 1
        self.world.events.store(an_event(f"e{self.events}"), DAILY)
        self.world.arm()

    def fan_out(self) -> None:
        """Fan-out comes to the slot in which the schedule is due; the run is sent at once."""
        slot = slot_of(self.schedule.next_due_at)
        self.world.clock.now = max(self.world.clock.now, slot) + 2 * SETTLE_LAG
        self.world.fan_out(slot)
        self.world.deliver_queued()
        sent = [run.due_at for run in self.world.runs.rows.values() if run.status is Status.SENT]
        self.sent = sorted(sent)

    def run_until(self, end: datetime, *, is_quiet: Callable[[], bool] = lambda: False) -> None:
        """Meet every occurrence that is due before `end`."""
        while self.schedule.listed and self.schedule.next_due_at < end:
            self.world.clock.now = max(self.world.clock.now, self.schedule.next_due_at - HOUR / 2)
            if not is_quiet():
                self.store_event()
            self.fan_out()
        self.world.clock.now = max(self.world.clock.now, end)

    def shown(self) -> list[str]:
        """What the clock of now shows when each digest was due, such as `Mon 23 08:00`."""
        zone = self.rules.zone_of(self.schedule.recurrence.time_zone)
        return [f"{due.astimezone(zone):%a %d %H:%M}" for due in self.sent]


def at(text: str) -> datetime:
    """An instant in November 2026, in UTC, such as `23T07:00`."""
    return datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=UTC)


def a_reader(
    rules: Rules,
    offset: float,
    hour: int = 8,
    minute: int = 0,
    *,
    days: Days = EVERY_DAY,
    begin: str = "22T00:00",
) -> Reader:
    rules.zones[ZONE] = zone_with(timedelta(hours=offset))
    return Reader(rules, Recurrence(hour, minute, ZONE, days), begin=at(begin))


def change(rules: Rules, offset: float, *, since: str | None = None, before: float = 0) -> None:
    """New rules, of all time or since an instant."""
    new = timedelta(hours=offset)
    rules.zones[ZONE] = (
        zone_with(timedelta(hours=before), (at(since), new)) if since else zone_with(new)
    )


def test_digest_moved_earlier_by_zone_change_counts_for_its_date(rules: Rules) -> None:
    reader = a_reader(rules, +1)
    change(rules, 0)
    reader.run_until(at("25T00:00"))
    assert reader.shown() == ["Sun 22 07:00", "Mon 23 08:00", "Tue 24 08:00"]


def test_digest_moved_later_by_zone_change_counts_for_its_date(rules: Rules) -> None:
    reader = a_reader(rules, +1)
    change(rules, +2)
    reader.run_until(at("25T00:00"))
    assert reader.shown() == ["Sun 22 09:00", "Mon 23 08:00", "Tue 24 08:00"]


@pytest.mark.parametrize("offset", [-11.0, -3.5, 1.0, 13.0, 14.0])
def test_temporarily_unknown_zone_has_one_digest_per_date(rules: Rules, offset: float) -> None:
    reader = a_reader(rules, offset, begin="20T00:00")
    reader.run_until(at("23T00:00"))
    known = rules.zones.pop(ZONE)
    reader.run_until(at("26T00:00"))
    unknown = {due.date() for due in reader.sent}
    assert len(unknown) == len(reader.sent), "by UTC, which counts for as long"
    rules.zones[ZONE] = known
    before = len(reader.sent)
    reader.run_until(at("30T00:00"))
    dates = [due.astimezone(known).date() for due in reader.sent]
    assert dates[before - 1 :] == sorted(set(dates[before - 1 :]))
    assert [text[-5:] for text in reader.shown()[-2:]] == ["08:00", "08:00"]


def test_zone_change_sends_no_second_digest_late_on_same_date(rules: Rules) -> None:
    """Ten past midnight of the 24th was armed; by rules since noon it is 23:10 on the 23rd."""
    reader = a_reader(rules, +1, 0, 10)
    reader.run_until(at("23T12:00"))
    change(rules, 0, since="23T12:00", before=+1)
    reader.run_until(at("26T00:00"))
    assert reader.shown() == ["Mon 23 00:10", "Tue 24 00:10", "Wed 25 00:10"]
    assert [run.reason for run in reader.world.runs.rows.values()][1] is Reason.SUPERSEDED


def test_digest_moved_past_midnight_by_zone_change_is_not_duplicated(
    rules: Rules,
) -> None:
    """It is late for the 23rd, which no clock can bring back, and the 24th has one digest."""
    reader = a_reader(rules, 0, 23, 30)
    reader.run_until(at("23T12:00"))
    change(rules, +1, since="23T12:00")
    reader.run_until(at("26T00:00"))
    assert reader.shown() == ["Sun 22 23:30", "Tue 24 00:30", "Wed 25 23:30"]


MONDAYS = Days(frozenset({1}))
FORTNIGHTLY = Days(frozenset({1}), every=2, phase=calendar.week_number(MONDAY) % 2)
MONTHLY = Days(month_day=23)
WORKDAYS = Days(frozenset({1, 2, 3, 4, 5}))


@pytest.mark.parametrize("days", [MONDAYS, FORTNIGHTLY, MONTHLY, WORKDAYS])
def test_occurrence_moved_before_its_day_waits_for_that_day(rules: Rules, days: Days) -> None:
    """Else there would be one on Sunday, and another an hour later."""
    reader = a_reader(rules, +1, 0, 10, days=days)
    change(rules, 0)
    reader.run_until(at("23T12:00"))
    assert reader.shown() == ["Mon 23 00:10"]


@pytest.mark.parametrize("days", [MONDAYS, FORTNIGHTLY, MONTHLY])
def test_digest_moved_past_its_day_is_sent_late(rules: Rules, days: Days) -> None:
    reader = a_reader(rules, 0, 23, 30, days=days)
    change(rules, +1)
    reader.run_until(at("25T12:00"))
    assert reader.shown() == ["Tue 24 00:30"]
    reader.run_until(datetime(2027, 1, 1, tzinfo=UTC))
    assert all(text.endswith("23:30") for text in reader.shown()[1:])
    assert reader.sent[1] - reader.sent[0] > timedelta(days=6)


def test_friday_digest_is_not_repeated_on_saturday_after_zone_change(
    rules: Rules,
) -> None:
    """Of a schedule on workdays, by rules that hold for the digest before as well."""
    reader = a_reader(rules, 0, 23, 30, days=WORKDAYS, begin="26T00:00")
    reader.run_until(at("27T12:00"))
    change(rules, +1)
    reader.run_until(datetime(2026, 12, 1, tzinfo=UTC))
    assert reader.shown() == ["Fri 27 00:30", "Mon 30 23:30"]


def test_pause_follows_current_zone_rules(rules: Rules) -> None:
    rules.zones[ZONE] = zone_with(HOUR)
    reader = Reader(
        rules, Recurrence(0, 10, ZONE, paused_until=date(2026, 11, 25)), begin=at("22T00:00")
    )
    change(rules, 0)
    reader.run_until(at("26T00:00"))
    assert reader.shown() == ["Wed 25 00:10"]


def test_reader_who_changes_time_zone_gets_one_digest_per_date(rules: Rules) -> None:
    """The zone that they move to is renamed, so not known here, before the digest is due."""
    reader = a_reader(rules, +1)
    reader.run_until(at("22T12:00"))
    rules.zones["Test/Other"] = zone_with(timedelta(hours=-2))
    moved = a_subscriber(changed_at=NOW + DAY, times=DigestTimes(hour=8, minute=0))
    set_schedule(
        replace(moved, time_zone="Test/Other"),
        Frequency.DAILY,
        context=reader.world.context,
        current=reader.schedule,
    )
    assert reader.schedule.next_due_at == at("23T10:00")
    del rules.zones["Test/Other"]
    reader.run_until(at("25T00:00"))
    assert reader.shown() == ["Sun 22 07:00", "Mon 23 10:00", "Tue 24 08:00"]


def test_dateline_change_skips_nonexistent_date(rules: Rules) -> None:
    """As Samoa did: the 24th does not exist, which the rules say only once it is armed."""
    reader = a_reader(rules, -10)
    reader.run_until(at("23T20:00"))
    change(rules, +14, since="24T10:00", before=-10)
    reader.run_until(at("28T00:00"))
    assert reader.shown() == [
        "Sun 22 08:00",
        "Mon 23 08:00",
        "Wed 25 08:00",
        "Thu 26 08:00",
        "Fri 27 08:00",
        "Sat 28 08:00",
    ]


def test_date_repeated_by_dateline_change_has_one_digest(rules: Rules) -> None:
    reader = a_reader(rules, +14)
    reader.run_until(at("22T20:00"))
    change(rules, -10, since="23T10:00", before=+14)
    reader.run_until(at("26T00:00"))
    assert reader.shown() == ["Mon 23 08:00", "Tue 24 08:00", "Wed 25 08:00"]


def test_date_to_which_the_clocks_return_has_no_second_digest(rules: Rules) -> None:
    """By the rules of now, the last digest was on the 2nd, and the armed one is on the 1st."""
    rules.zones[ZONE] = zone_with(8 * HOUR, (at("02T00:00"), -8 * HOUR))
    wanted = Recurrence(5, 0, ZONE, EVERY_DAY)
    due = calendar.due_by_the_clock_of_now(wanted, armed_for=at("02T05:00"), last=at("01T16:45"))
    assert due == at("03T13:00")


def test_date_without_waiting_events_can_still_have_a_digest(rules: Rules) -> None:
    """At seven by the clock of now nothing waits; what comes before eight is in that of eight."""
    reader = a_reader(rules, +1)
    change(rules, 0)
    reader.fan_out()
    assert reader.schedule.is_idle
    reader.world.clock.now = at("22T07:30")
    reader.store_event()
    reader.run_until(at("23T00:00"))
    assert reader.shown() == ["Sun 22 08:00"]


def test_date_has_no_second_digest_after_schedule_becomes_idle(rules: Rules) -> None:
    """Fan-out died between message and advance; its repetition finds that nothing waits."""
    reader = a_reader(rules, +1)
    before = reader.schedule
    reader.run_until(at("22T07:05"))
    reader.world.schedules.rows["ann", DAILY] = before
    reader.world.clock.now += 2 * SETTLE_LAG
    reader.fan_out()
    assert (reader.schedule.is_idle, reader.schedule.last_due_at) == (True, at("22T07:00"))
    change(rules, 0)
    reader.store_event()
    assert reader.schedule.next_due_at == at("23T08:00")


def test_one_email_covers_outage_with_zone_change(rules: Rules) -> None:
    """Both hours of the date have passed: it is one digest, and not one that was missed."""
    reader = a_reader(rules, +1)
    reader.store_event()
    change(rules, 0)
    reader.world.clock.now = at("22T08:30")
    reader.fan_out()
    assert reader.shown() == ["Sun 22 07:00"]
    assert [run.reason for run in reader.world.runs.rows.values()] == [Reason.ACCEPTED]


def test_two_workers_with_different_zone_data_send_one_digest(rules: Rules) -> None:
    """As while a deployment reaches one worker after the other."""
    reader = a_reader(rules, +1, 0, 10)
    reader.run_until(at("23T12:00"))
    reader.store_event()
    stale = reader.schedule
    old, slot = rules.zones[ZONE], slot_of(stale.next_due_at)
    change(rules, 0, since="23T12:00", before=+1)
    reader.world.clock.now = slot + 2 * SETTLE_LAG
    reader.world.fan_out(slot)
    moved = reader.schedule
    assert moved.next_due_at == at("24T00:10")
    rules.zones[ZONE] = old
    reader.world.schedules.rows["ann", DAILY] = stale
    reader.world.fan_out(slot)
    assert reader.world.generate_queue.sent == [], "the sequence was used"


def test_crash_between_used_sequence_and_move_is_recovered(rules: Rules) -> None:
    reader = a_reader(rules, +1, 0, 10)
    reader.run_until(at("23T12:00"))
    before = reader.schedule
    change(rules, 0, since="23T12:00", before=+1)
    reader.store_event()
    reader.fan_out()
    reader.world.schedules.rows["ann", DAILY] = before
    reader.run_until(at("25T00:00"))
    assert reader.shown() == ["Mon 23 00:10", "Tue 24 00:10"]


def test_run_started_by_another_worker_counts_for_its_date(rules: Rules) -> None:
    """A worker with the old rules has started it and died: tomorrow's is the next."""
    reader = a_reader(rules, +1, 0, 10)
    reader.run_until(at("23T12:00"))
    reader.store_event()
    before = reader.schedule
    reader.fan_out()
    reader.world.schedules.rows["ann", DAILY] = before
    change(rules, 0, since="23T12:00", before=+1)
    reader.fan_out()
    assert reader.schedule.last_due_at == before.next_due_at
    assert reader.schedule.sequence == before.sequence + 1


# Whatever changes, and when.

OFFSETS = st.integers(-12 * 4, 14 * 4).map(lambda quarters: quarters * timedelta(minutes=15))
DAYS = st.one_of(
    st.just(Days()),
    st.sets(st.integers(1, 7), min_size=1).map(lambda days: Days(frozenset(days))),
    st.integers(1, 28).map(lambda day: Days(month_day=day)),
)
SPANS = st.timedeltas(timedelta(minutes=10), 5 * DAY)


@st.composite
def rule_changes(draw: st.DrawFn) -> list[tuple[timedelta, ZoneInfo | None]]:
    """After which time the rules are which; None: the zone is not known."""
    changes: list[tuple[timedelta, ZoneInfo | None]] = []
    offset, now = draw(OFFSETS), at("01T00:00")
    for passes in draw(st.lists(SPANS, min_size=1, max_size=6)):
        now += passes
        kind = draw(st.sampled_from(["of all time", "since", "unknown"]))
        new = draw(OFFSETS)
        if kind == "unknown":
            changes.append((passes, None))
            continue
        begin = now + draw(st.timedeltas(-DAY, DAY))
        changes.append(
            (passes, zone_with(new) if kind == "of all time" else zone_with(offset, (begin, new)))
        )
        offset = new
    return changes


def date_of(due: datetime, wanted: Recurrence, zone: ZoneInfo) -> date:
    """The date that a digest is of: the one before where the clocks have jumped over its hour.

    The hour is then on neither date, and the clock has just jumped.
    """
    local = due.astimezone(zone)
    just_before = (due - timedelta(seconds=1)).astimezone(zone)
    has_jumped = local.replace(tzinfo=None) - just_before.replace(tzinfo=None) > DAY / 24 / 60
    hour = datetime.combine(local.date() - DAY, time(wanted.hour, wanted.minute))
    is_jumped_over = just_before.replace(tzinfo=None) < hour < local.replace(tzinfo=None)
    return local.date() - DAY * (has_jumped and is_jumped_over)


@given(
    OFFSETS,
    rule_changes(),
    DAYS,
    st.integers(0, 23),
    st.sampled_from([0, 10, 30, 50]),
    st.lists(st.booleans(), min_size=1, max_size=20),
)
@settings(max_examples=150, deadline=None)
def test_changed_zone_rules_neither_duplicate_nor_lose_a_digest(
    first: timedelta,
    changes: list[tuple[timedelta, ZoneInfo | None]],
    days: Days,
    hour: int,
    minute: int,
    quiet: list[bool],
) -> None:
    """By the clock of then. From the first digest by the last rules on, each comes at its hour."""
    rules = Rules({ZONE: zone_with(first)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calendar, "zone_of", rules.zone_of)
        wanted = Recurrence(hour, minute, ZONE, days)
        reader = Reader(rules, wanted, begin=at("01T00:00"))
        dated: list[tuple[datetime, ZoneInfo]] = []
        fan_out, turns = reader.fan_out, iter(quiet)

        def watched() -> None:
            before = len(reader.sent)
            fan_out()
            dated.extend((due, rules.zone_of(ZONE)) for due in reader.sent[before:])

        reader.fan_out = watched  # type: ignore[method-assign]
        for passes, zone in changes:
            end = reader.world.clock.now + passes
            reader.run_until(end, is_quiet=lambda: next(turns, False))
            if not reader.schedule.listed:
                reader.store_event()
            rules.zones.pop(ZONE, None)
            if zone:
                rules.zones[ZONE] = zone
        stable, armed = reader.world.clock.now, reader.schedule.next_due_at
        if not reader.schedule.listed:
            reader.store_event()
        reader.run_until(stable + (70 if days.month_day else 22) * DAY)  # three digests or more
        for (earlier, _), (later, clock) in pairwise(dated):
            assert date_of(earlier, wanted, clock) < date_of(later, wanted, clock)
        before = [due for due in reader.sent if due <= stable]
        after = [due for due in reader.sent if due > stable]
        own = next_occurrence(wanted, after=max([stable, *(due + DAY for due in before)]))
        assert after[0] <= max(own, armed) + DAY, (
            "what the old rules have armed comes at most a day late"
        )
        for earlier, later in pairwise(after):
            assert later == next_on_another_date(wanted, after=earlier, last=earlier)
