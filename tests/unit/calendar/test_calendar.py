"""Occurrences in every time zone, checked by searching instants instead of by the same sums."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from gazette.domain.identity import shard_of
from gazette.domain.scheduling.calendar import (
    SLOT,
    Days,
    DigestTimes,
    Recurrence,
    begin_of_period,
    is_wanted,
    last_instant_of_slot,
    minute_of,
    next_after_change,
    next_occurrence,
    slot_id,
    slot_of,
    week_number,
)
from gazette.domain.subscribers.frequency import DIGESTS
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.builders import a_subscriber

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
NAMED_FOR_A_REASON = (
    "Africa/Casablanca",
    "America/Nuuk",
    "America/Sao_Paulo",
    "Antarctica/Troll",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "UTC",
)
"""Clock changes of half an hour, two hours, at midnight, backwards in winter, of a whole day."""


def utc(text: str) -> datetime:
    """An instant from `2026-03-29T01:00`."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def shown(instant: datetime, zone: str) -> str:
    """What the reader's clock shows at `instant`."""
    return f"{instant.astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"


def occurrences(wanted: Recurrence, *, after: datetime, count: int) -> list[datetime]:
    """The next `count` occurrences, each strictly after the one before."""
    found = []
    for _ in range(count):
        after = next_occurrence(wanted, after=after)
        found.append(after)
    return found


def instants_showing(local: datetime, zone: ZoneInfo) -> list[datetime]:
    """Every instant at which the clocks of `zone` show `local`: none, one or two.

    Tries each offset that is in force within two days.
    """
    around = [local.replace(tzinfo=UTC) + timedelta(hours=hours) for hours in range(-48, 49)]
    offsets = {instant.astimezone(zone).utcoffset() for instant in around}
    candidates = {local.replace(tzinfo=UTC) - offset for offset in offsets if offset is not None}
    return sorted(
        instant for instant in candidates if instant.astimezone(zone).replace(tzinfo=None) == local
    )


# Clock changes.


def test_skipped_hour_is_due_at_end_of_clock_gap() -> None:
    wanted = Recurrence(2, 30, "Europe/Berlin")
    due = next_occurrence(wanted, after=utc("2026-03-28T12:00"))
    assert due == utc("2026-03-29T01:00")
    assert shown(due, "Europe/Berlin") == "2026-03-29T03:00"


def test_day_after_clock_gap_is_due_at_chosen_hour() -> None:
    wanted = Recurrence(2, 30, "Europe/Berlin")
    due = next_occurrence(wanted, after=utc("2026-03-29T01:00"))
    assert shown(due, "Europe/Berlin") == "2026-03-30T02:30"


def test_last_minute_before_clock_gap_is_unaffected() -> None:
    due = next_occurrence(Recurrence(1, 59, "Europe/Berlin"), after=utc("2026-03-28T12:00"))
    assert due == utc("2026-03-29T00:59")


@pytest.mark.parametrize("minute", [1, 15, 59])
def test_times_in_half_hour_clock_gap_are_due_at_end(minute: int) -> None:
    wanted = Recurrence(2, minute, "Australia/Lord_Howe")
    due = next_occurrence(wanted, after=utc("2026-10-03T03:00"))
    assert shown(due, "Australia/Lord_Howe") == f"2026-10-04T02:{max(minute, 30)}"


def test_nonexistent_midnight_is_due_at_one() -> None:
    wanted = Recurrence(0, 0, "America/Sao_Paulo")
    due = next_occurrence(wanted, after=utc("2018-11-03T12:00"))
    assert shown(due, "America/Sao_Paulo") == "2018-11-04T01:00"


def test_repeated_hour_is_due_only_the_first_time() -> None:
    wanted = Recurrence(2, 30, "Europe/Berlin")
    first, second = occurrences(wanted, after=utc("2026-10-24T12:00"), count=2)
    assert first == utc("2026-10-25T00:30")
    assert second == utc("2026-10-26T01:30")


def test_second_pass_of_repeated_hour_is_due_next_day() -> None:
    wanted = Recurrence(2, 30, "Europe/Berlin")
    assert next_occurrence(wanted, after=utc("2026-10-25T01:00")) == utc("2026-10-26T01:30")


def test_trace_p_nonexistent_date_is_skipped() -> None:
    """Samoa went from 29 to 31 December 2011."""
    due = occurrences(Recurrence(8, 0, "Pacific/Apia"), after=utc("2011-12-28T20:00"), count=3)
    assert [shown(instant, "Pacific/Apia") for instant in due] == [
        "2011-12-29T08:00",
        "2011-12-31T08:00",
        "2012-01-01T08:00",
    ]


def test_next_occurrence_is_strictly_later() -> None:
    wanted = Recurrence(8, 0, "Asia/Tokyo")
    due = utc("2026-11-21T23:00")
    assert next_occurrence(wanted, after=due - timedelta(microseconds=1)) == due
    assert next_occurrence(wanted, after=due) == due + DAY


def test_recurrence_uses_local_date_instead_of_utc_date() -> None:
    after = utc("2026-11-22T10:30")  # 00:30 on the 23rd in Kiritimati, 23:30 on the 21st in Niue
    east, west = "Pacific/Kiritimati", "Pacific/Niue"
    assert shown(next_occurrence(Recurrence(1, 0, east), after=after), east) == "2026-11-23T01:00"
    assert shown(next_occurrence(Recurrence(23, 45, west), after=after), west) == "2026-11-21T23:45"


def test_next_occurrence_is_in_utc_for_any_input_zone() -> None:
    wanted = Recurrence(8, 0, "Europe/Berlin")
    after = utc("2026-06-01T05:59")
    due = next_occurrence(wanted, after=after)
    assert due.tzinfo is UTC
    assert next_occurrence(wanted, after=after.astimezone(ZoneInfo("Asia/Tokyo"))) == due


# Every few weeks, and days of the month.


@pytest.mark.parametrize(
    ("days", "due"),
    [
        (Days(frozenset({1}), every=2, phase=0), ["11-23", "12-07", "12-21", "01-04"]),
        (Days(frozenset({1}), every=2, phase=1), ["11-30", "12-14", "12-28", "01-11"]),
        (Days(frozenset({1, 7}), every=3, phase=1), ["11-23", "11-29", "12-14", "12-20"]),
        (Days(month_day=1), ["12-01", "01-01", "02-01", "03-01"]),
        (Days(month_day=31), ["11-30", "12-31", "01-31", "02-28"]),
        (Days(month_day=22), ["11-22", "12-22", "01-22", "02-22"]),
    ],
)
def test_digest_is_due_in_chosen_weeks_or_day_of_month(days: Days, due: list[str]) -> None:
    wanted = Recurrence(8, 0, "Europe/Berlin", days)
    found = occurrences(wanted, after=utc("2026-11-22T06:59"), count=4)
    assert [shown(instant, "Europe/Berlin")[5:10] for instant in found] == due


def test_last_day_of_february_is_29th_in_leap_year() -> None:
    wanted = Recurrence(8, 0, "UTC", Days(month_day=30))
    assert next_occurrence(wanted, after=utc("2028-02-01T00:00")) == utc("2028-02-29T08:00")


def test_biweekly_recurrence_continues_across_53_week_year() -> None:
    """2026 has 53 weeks of ISO 8601: their numbers would skip or double a turn."""
    wanted = Recurrence(8, 0, "UTC", Days(frozenset({1}), every=2))
    found = occurrences(wanted, after=utc("2026-01-01T00:00"), count=60)
    assert {later - earlier for earlier, later in pairwise(found)} == {14 * DAY}


def test_week_starts_on_monday() -> None:
    monday = date(2026, 11, 23)
    numbers = [week_number(monday + number * DAY) for number in range(-1, 8)]
    assert numbers == [numbers[0], *[numbers[0] + 1] * 7, numbers[0] + 2]


# The minute of those who chose only the hour.


def test_unset_minute_gets_a_fixed_ten_minute_slot() -> None:
    readers = [f"user{number}" for number in range(6000)]
    minutes = Counter(minute_of(user_id) for user_id in readers)
    assert set(minutes) == {0, 10, 20, 30, 40, 50}
    assert all(900 < count < 1100 for count in minutes.values())
    assert [minute_of(user_id) for user_id in ("ann", "1899", "u")] == [10, 40, 50]


def test_shards_share_each_slot_evenly() -> None:
    """Else a shard would have all of its readers in one slot."""
    shares = Counter(
        (shard_of(f"user{number}", 16), minute_of(f"user{number}")) for number in range(16_000)
    )
    assert len(shares) == 16 * 6
    assert all(100 < share < 240 for share in shares.values())


@pytest.mark.parametrize(("chosen", "minute"), [(None, 10), (0, 0), (45, 45)])
def test_chosen_minute_is_kept(chosen: int | None, minute: int) -> None:
    subscriber = a_subscriber(times=DigestTimes(hour=7, minute=chosen))
    for digest in DIGESTS:
        recurrence = subscriber.recurrence(digest)
        assert (recurrence.hour, recurrence.minute) == (7, minute)


# Days of the week. 22 November 2026 is a Sunday, the seventh.


@pytest.mark.parametrize(
    ("days", "due"),
    [
        ({7}, ["2026-11-22T08:00", "2026-11-29T08:00", "2026-12-06T08:00"]),
        ({1}, ["2026-11-23T08:00", "2026-11-30T08:00", "2026-12-07T08:00"]),
        ({1, 2, 3, 4, 5}, ["2026-11-23T08:00", "2026-11-24T08:00", "2026-11-25T08:00"]),
        ({6, 7}, ["2026-11-22T08:00", "2026-11-28T08:00", "2026-11-29T08:00"]),
    ],
)
def test_digest_is_due_only_on_chosen_days(days: set[int], due: list[str]) -> None:
    wanted = Recurrence(8, 0, "Europe/Berlin", Days(frozenset(days)))
    found = occurrences(wanted, after=utc("2026-11-22T06:59"), count=3)
    assert [shown(instant, "Europe/Berlin") for instant in found] == due


@pytest.mark.parametrize(
    ("zone", "due"),
    [("Pacific/Kiritimati", "2026-11-22T11:00"), ("Pacific/Niue", "2026-11-23T12:00")],
)
def test_weekday_uses_local_date_of_reader(zone: str, due: str) -> None:
    wanted = Recurrence(1, 0, zone, Days(frozenset({1})))
    assert next_occurrence(wanted, after=utc("2026-11-22T10:30")) == utc(due)


def test_weekday_on_nonexistent_date_is_skipped() -> None:
    """Samoa had no Friday, 30 December 2011."""
    wanted = Recurrence(8, 0, "Pacific/Apia", Days(frozenset({5})))
    due = occurrences(wanted, after=utc("2011-12-22T20:00"), count=2)
    assert [shown(instant, "Pacific/Apia")[:10] for instant in due] == ["2011-12-23", "2012-01-06"]


zones = st.one_of(
    st.sampled_from(NAMED_FOR_A_REASON),
    st.sampled_from(sorted(name for name in available_timezones() if "/" in name)),
)
wanted_hours = st.builds(Recurrence, st.integers(0, 23), st.integers(0, 59), zones)
some_weekdays = st.frozensets(st.integers(1, 7), min_size=1)
wanted_days = st.one_of(
    st.builds(Days, some_weekdays),
    st.builds(Days, some_weekdays, st.just(3), st.integers(0, 2)),
    st.builds(Days, month_day=st.integers(1, 31)),
)
moments = st.timedeltas(0 * DAY, 62 * 365 * DAY).map(
    lambda since: datetime(1975, 1, 1, tzinfo=UTC) + since
)


@st.composite
def near_a_clock_change(draw: st.DrawFn) -> tuple[Recurrence, datetime]:
    """A wanted hour close to one at which the clocks of its zone change, and a moment near it."""
    zone = draw(zones)
    year = draw(st.integers(1975, 2036))
    days = [datetime(year, 1, 1, tzinfo=UTC) + day * DAY for day in range(366)]
    offsets = [day.astimezone(ZoneInfo(zone)).utcoffset() for day in days]
    changes = [
        day
        for (day, before), (_, after) in pairwise(zip(days, offsets, strict=True))
        if before != after
    ]
    near = draw(st.sampled_from(changes)) if changes else days[0]
    wanted = Recurrence(draw(st.integers(0, 23)), draw(st.integers(0, 59)), zone)
    return wanted, near + timedelta(minutes=draw(st.integers(-2880, 2880)))


@given(st.one_of(st.tuples(wanted_hours, moments), near_a_clock_change()))
@settings(max_examples=200, deadline=None)
def test_occurrence_is_first_valid_instant_and_none_is_skipped(
    case: tuple[Recurrence, datetime],
) -> None:
    wanted, after = case
    zone = ZoneInfo(wanted.time_zone)
    at = time(wanted.hour, wanted.minute)
    due = next_occurrence(wanted, after=after)
    local = due.astimezone(zone).replace(tzinfo=None)
    assert due > after
    showing = instants_showing(datetime.combine(local.date(), at), zone)
    if showing:
        assert due == showing[0]
    else:
        before = (due - SECOND).astimezone(zone).replace(tzinfo=None)
        assert before < datetime.combine(local.date(), at) < local
    day = after.astimezone(zone).date()
    while day < local.date():
        earlier = instants_showing(datetime.combine(day, at), zone)
        assert not earlier or earlier[0] <= after
        day += DAY


@given(st.one_of(st.tuples(wanted_hours, moments), near_a_clock_change()))
@settings(max_examples=75, deadline=None)
def test_local_dates_of_occurrences_increase(case: tuple[Recurrence, datetime]) -> None:
    """One that a clock change moved over midnight is still of the date that it was wanted on."""
    wanted, after = case
    zone = ZoneInfo(wanted.time_zone)
    shown = [due.astimezone(zone) for due in occurrences(wanted, after=after, count=5)]
    dates: list[date] = [
        local.date() - DAY * (local.time() < time(wanted.hour, wanted.minute)) for local in shown
    ]
    assert all(earlier < later for earlier, later in pairwise(dates))


@given(st.one_of(st.tuples(wanted_hours, moments), near_a_clock_change()), wanted_days)
@settings(max_examples=150, deadline=None)
def test_occurrences_cover_every_chosen_day(case: tuple[Recurrence, datetime], days: Days) -> None:
    """They are those of every day, without those of the other days."""
    every_day, after = case
    zone = ZoneInfo(every_day.time_zone)
    daily = occurrences(every_day, after=after, count=63)
    on_wanted_days = [due for due in daily if is_wanted(_date_wanted(due, every_day, zone), days)]
    found = occurrences(replace(every_day, days=days), after=after, count=len(on_wanted_days))
    assert found == on_wanted_days


def _date_wanted(due: datetime, wanted: Recurrence, zone: ZoneInfo) -> date:
    """The date that an occurrence is of, also where a clock change moved it over midnight."""
    local = due.astimezone(zone)
    moved_over = local.time() < time(wanted.hour, wanted.minute)
    return local.date() - DAY * moved_over


@given(
    st.one_of(st.tuples(wanted_hours, moments), near_a_clock_change()),
    st.just(Days()) | wanted_days,
    st.integers(-3, 84),
)
@settings(max_examples=150, deadline=None)
def test_pause_skips_only_dates_before_pause_end(
    case: tuple[Recurrence, datetime], days: Days, length: int
) -> None:
    """The first after it is the one of the same recurrence without a pause, and so are the next."""
    every_day, after = case
    unpaused = replace(every_day, days=days)
    zone = ZoneInfo(unpaused.time_zone)
    until = after.astimezone(zone).date() + length * DAY
    before = after
    while _date_wanted(due := next_occurrence(unpaused, after=before), unpaused, zone) < until:
        before = due
    paused = replace(unpaused, paused_until=until)
    assert occurrences(paused, after=after, count=3) == occurrences(unpaused, after=before, count=3)


def test_pause_includes_occurrence_moved_past_midnight_by_clock_change() -> None:
    """What is wanted at 23:30 on 28 March, in Nuuk, is due at midnight."""
    wanted = Recurrence(23, 30, "America/Nuuk", paused_until=date(2026, 3, 29))
    due = next_occurrence(wanted, after=utc("2026-03-28T01:00"))
    assert shown(due, "America/Nuuk") == "2026-03-29T23:30"


def test_clock_gap_up_to_midnight_skips_no_day() -> None:
    """In Nuuk the clocks jump from 23:00 on 28 March to midnight."""
    wanted = Recurrence(23, 30, "America/Nuuk")
    first = next_occurrence(wanted, after=datetime(2026, 3, 28, 1, 30, tzinfo=UTC))
    second = next_occurrence(wanted, after=first)
    zone = ZoneInfo(wanted.time_zone)
    assert [due.astimezone(zone).strftime("%d %H:%M") for due in (first, second)] == [
        "29 00:00",
        "29 23:30",
    ]


# Readers who change the hour, or travel. It is 22 November; in Berlin, UTC and an hour.


@pytest.mark.parametrize(
    ("hour", "last", "pending", "now", "due"),
    [
        (20, "22T08:00", "23T08:00", "22T12:00", "23T20:00"),
        (20, "21T08:00", "22T08:00", "22T06:00", "22T20:00"),
        (8, "21T20:00", "22T20:00", "22T12:00", "22T20:00"),
        (8, "22T20:00", "23T20:00", "22T21:00", "23T08:00"),
        (8, "21T20:00", "22T20:00", "22T06:00", "22T08:00"),
        (9, "22T08:00", "23T08:00", "22T08:30", "23T09:00"),
        (7, "22T08:00", "23T08:00", "22T08:30", "23T07:00"),
    ],
)
def test_hour_change_sends_one_digest_that_day(
    hour: int, last: str, pending: str, now: str, due: str
) -> None:
    def berlin(text: str) -> datetime:
        return datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=ZoneInfo("Europe/Berlin"))

    found = next_after_change(
        Recurrence(hour, 0, "Europe/Berlin"),
        after=berlin(now),
        last=berlin(last),
        pending=berlin(pending),
    )
    assert found == berlin(due)


def test_removing_the_next_weekday_moves_the_digest() -> None:
    found = next_after_change(
        Recurrence(8, 0, "UTC", Days(frozenset({5}))),
        after=utc("2026-11-22T12:00"),
        last=None,
        pending=utc("2026-11-23T08:00"),
    )
    assert found == utc("2026-11-27T08:00")


@pytest.mark.parametrize(
    ("until", "last", "pending", "now", "due"),
    [
        (24, "21T20:00", "22T20:00", "22T12:00", "24T08:00"),
        (23, "21T20:00", "22T20:00", "22T12:00", "23T08:00"),
        (22, "21T20:00", "22T20:00", "22T12:00", "22T20:00"),
        (21, "21T20:00", "22T20:00", "22T12:00", "22T20:00"),
        (26, "21T08:00", "24T08:00", "22T12:00", "26T08:00"),
        (None, "21T08:00", "26T08:00", "22T06:00", "22T08:00"),
        (None, "22T07:00", "26T08:00", "22T07:30", "23T08:00"),
        (None, "21T08:00", "26T08:00", "22T12:00", "23T08:00"),
    ],
)
def test_pause_delays_digest_and_lifting_pause_restores_next_hour(
    until: int | None, last: str, pending: str, now: str, due: str
) -> None:
    def utc_on(text: str) -> datetime:
        return utc(f"2026-11-{text}")

    paused_until = date(2026, 11, until) if until else None
    found = next_after_change(
        Recurrence(8, 0, "UTC", paused_until=paused_until),
        after=utc_on(now),
        last=utc_on(last),
        pending=utc_on(pending),
    )
    assert found == utc_on(due)


def sent(
    changes: list[tuple[timedelta, Recurrence]], wanted: Recurrence, begin: datetime
) -> list[tuple[datetime, Recurrence]]:
    """What goes out, with what was wanted then, up to three days after all."""
    last: datetime | None = None
    due = next_occurrence(wanted, after=begin)
    found = []
    at = begin
    for passes, changed in [*changes, (3 * DAY, None)]:
        at += passes
        while due <= at:
            found.append((due, wanted))
            last, due = due, next_occurrence(wanted, after=due)
        if changed:
            wanted = changed
            due = next_after_change(wanted, after=at, last=last, pending=due)
    return found


spans = st.timedeltas(timedelta(minutes=1), 3 * DAY)


@given(
    zones,
    moments,
    st.integers(0, 23),
    st.lists(st.tuples(spans, st.integers(0, 23), st.integers(0, 59)), max_size=8),
)
@settings(max_examples=150, deadline=None)
def test_hour_changes_never_duplicate_or_skip_a_day(
    zone: str, begin: datetime, hour: int, changes: list[tuple[timedelta, int, int]]
) -> None:
    """Dates that the zone never had, and clock changes over midnight, excluded."""
    assume(not any(instants_hard_to_date(zone, begin)))
    wanted = [(passes, Recurrence(hour, minute, zone)) for passes, hour, minute in changes]
    clock = ZoneInfo(zone)
    dates = [
        due.astimezone(clock).date() for due, _ in sent(wanted, Recurrence(hour, 0, zone), begin)
    ]
    assert [later - earlier for earlier, later in pairwise(dates)] == [DAY] * (len(dates) - 1)


@given(
    zones,
    moments,
    st.lists(
        st.tuples(spans, st.integers(0, 23), st.none() | st.integers(-2, 9)), min_size=1, max_size=8
    ),
)
@settings(max_examples=150, deadline=None)
def test_every_unpaused_date_has_a_digest_after_any_change(
    zone: str, begin: datetime, changes: list[tuple[timedelta, int, int | None]]
) -> None:
    """One that is lifted too late in a day has taken that day."""
    assume(not any(instants_hard_to_date(zone, begin)))
    clock = ZoneInfo(zone)
    wanted, paused, at = [], set[date](), begin
    for passes, hour, days in changes:
        at += passes
        day = at.astimezone(clock).date()
        until = None if days is None else day + days * DAY
        wanted.append((passes, Recurrence(hour, 0, zone, paused_until=until)))
        paused |= {day + number * DAY for number in range(days or 0)}
    found = [
        (due.astimezone(clock).date(), then)
        for due, then in sent(wanted, Recurrence(8, 0, zone), begin)
    ]
    assert all(then.paused_until is None or then.paused_until <= day for day, then in found)
    dates = [day for day, _ in found]
    assert all(earlier < later for earlier, later in pairwise(dates))
    first, ended = dates[0] if dates else day, day
    all_dates = {first + number * DAY for number in range((ended - first).days)}
    assert all_dates - set(dates) <= paused


def instants_hard_to_date(zone: str, begin: datetime) -> Iterator[bool]:
    """Whether a midnight is skipped within the forty days after `begin`."""
    clock = ZoneInfo(zone)
    for number in range(40):
        midnight = datetime.combine((begin + number * DAY).date(), time(), clock)
        yield midnight.astimezone(UTC).astimezone(clock) != midnight


@given(moments, zones, st.lists(st.tuples(spans, st.integers(0, 23), zones), max_size=8))
@settings(max_examples=150, deadline=None)
def test_time_zone_changes_never_send_two_digests_per_day(
    begin: datetime, zone: str, moves: list[tuple[timedelta, int, str]]
) -> None:
    wanted = [(passes, Recurrence(hour, 0, zone)) for passes, hour, zone in moves]
    found = sent(wanted, Recurrence(8, 0, zone), begin)
    for (earlier, _), (later, then) in pairwise(found):
        clock = ZoneInfo(then.time_zone)
        assert earlier.astimezone(clock).date() < later.astimezone(clock).date()
        assert later - earlier < 3 * DAY


# Slots.


def test_slot_name_is_start_time_in_utc() -> None:
    berlin = datetime(2026, 11, 22, 7, 19, 59, tzinfo=ZoneInfo("Europe/Berlin"))
    assert slot_id(slot_of(berlin)) == "2026-11-22T06:10Z"


@given(moments)
@settings(max_examples=100, deadline=None)
def test_every_instant_is_in_exactly_one_slot(instant: datetime) -> None:
    start, last = slot_of(instant), last_instant_of_slot(instant)
    assert start <= instant <= last
    assert slot_of(start) == slot_of(last) == start
    assert slot_of(last + timedelta(microseconds=1)) == start + SLOT
    assert start.minute % 10 == start.second == start.microsecond == 0


@given(moments, zones)
@settings(max_examples=100, deadline=None)
def test_slot_of_instant_is_independent_of_time_zone(instant: datetime, zone: str) -> None:
    """Zones that are off by a quarter of an hour included."""
    assert slot_of(instant.astimezone(ZoneInfo(zone))) == slot_of(instant)


@pytest.mark.parametrize(
    ("days", "due_on", "begin"),
    [
        (Days(frozenset({4})), date(2026, 11, 26), date(2026, 11, 19)),
        (Days(frozenset({4})), date(2027, 1, 2), date(2026, 12, 26)),
        (Days(frozenset({4}), every=2), date(2026, 11, 26), None),
        (Days(frozenset({1, 4})), date(2026, 11, 26), None),
        (Days(), date(2026, 11, 26), None),
        (Days(month_day=26), date(2026, 11, 26), date(2026, 10, 26)),
        (Days(month_day=31), date(2027, 2, 28), date(2027, 1, 31)),
        (Days(month_day=30), date(2027, 3, 30), date(2027, 2, 28)),
        (Days(month_day=1), date(2027, 1, 1), date(2026, 12, 1)),
    ],
)
def test_period_of_weekly_and_monthly_digests(days: Days, due_on: date, begin: date | None) -> None:
    assert begin_of_period(days, due_on) == begin
