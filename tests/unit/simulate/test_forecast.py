"""What a forecast says follows from the numbers: nothing is lost, and limits are where they are."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.scheduling.quiet import QuietHours

from gazette_cli.simulate.ceilings import ceilings
from gazette_cli.simulate.engine.service import ServicePlan
from gazette_cli.simulate.forecast import Forecast, simulate
from gazette_cli.simulate.population import due_of_burst
from tests.unit.simulate.questions import installation, question

HOUR = 3600


def test_every_due_digest_is_sent_or_skipped_once() -> None:
    found = simulate(question(5_000, quota=14, of=installation(1)))
    tally = found.tally
    assert sum(found.due.values()) == tally.sent["digest"] + tally.skipped.total()
    assert tally.sent["digest"] == sum(tally.by_due.values())
    assert found.tally.in_time < tally.sent["digest"]


def test_forecast_is_reproducible_for_a_seed() -> None:
    first, again, other = (simulate(question(3_000, seed=seed)) for seed in (1, 1, 2))
    assert first.tally == again.tally
    assert first.tally != other.tally


def test_readers_without_events_add_no_cost() -> None:
    found = simulate(question(5_000, events=0))
    assert found.tally.sent.total() == 0
    assert sum(found.writes.values()) == found.writes["the clock"]


def test_seen_events_are_in_no_email_and_cost_their_removal() -> None:
    without, found, all_seen = (
        simulate(question(1_500, immediate=0.5, seen=seen)) for seen in (0, 0.5, 1)
    )
    assert 0 < found.tally.sent["digest"] < without.tally.sent["digest"]
    assert found.tally.sent["immediate"] == pytest.approx(
        without.tally.sent["immediate"] / 2, rel=0.1
    )
    assert all_seen.tally.sent.total() == 0
    assert without.writes["seen events"] == 0
    assert found.writes["seen events"] == int(3 * found.events / 2)


def test_alternating_idle_days_cost_arming_and_going_idle() -> None:
    """By docs/tables.md: twelve units of the schedule in two days."""
    found = simulate(question(2_000, events=0.7, days=4))
    digests = sum(found.due.values())
    assert found.writes["arming"] == 2 * found.first
    assert found.writes["going idle"] == 4 * found.quiet
    assert found.first == pytest.approx(found.quiet, rel=0.15)
    assert 0 < found.first < digests


@pytest.mark.parametrize(("part", "all_in_time"), [(0.7, True), (1.3, False)])
def test_digests_become_late_at_the_reported_ceiling(part: float, all_in_time: bool) -> None:
    """Below ten emails a second, a fifth of the permits is unused (`domain.delivery.batching`)."""
    stage = installation(3, spread=timedelta(0))
    stage = replace(stage, plan=PacePlan(rate=1))
    found = simulate(question(500, of=stage, events=20))
    first = ceilings(found)[0]
    assert first.name == "rate of digests"
    readers = round(500 * first.multiple * part)
    scaled = simulate(question(readers, of=stage, events=20))
    late = 1 - scaled.tally.in_time / sum(scaled.due.values())
    assert (late < 0.06) is all_in_time


def test_send_above_the_ses_rate_is_refused_and_retried() -> None:
    found = simulate(question(4_000, quota=3, of=installation(10)))
    assert found.tally.refused > 0
    assert sum(found.due.values()) == found.tally.sent["digest"] + found.tally.skipped.total()


def test_daily_digests_beyond_the_ses_quota_are_skipped() -> None:
    found = simulate(question(4_000, daily=1_000))
    assert found.tally.sent["digest"] <= 1_000
    assert found.tally.skipped["daily_cap"] > 0
    assert {one.name for one in ceilings(found) if one.multiple < 1} == {"SES daily quota"}


def test_digests_below_the_minimum_wait_for_more_events() -> None:
    """Each reader gets an event every other day, with half the minimum score."""
    off = simulate(question(2_000, events=0.5, days=8))
    on = simulate(question(2_000, events=0.5, days=8, of=installation(worth=(6, 3))))
    assert off.skips == 0
    assert on.skips > 0
    assert on.tally.sent["digest"] < 0.7 * off.tally.sent["digest"]
    assert on.tally.sent["digest"] == sum(on.due.values()) - on.tally.skipped.total()


def test_digest_waits_for_as_many_days_as_the_minimum_says() -> None:
    """Events are so rare that each digest has one, and is skipped once or three times."""
    for days in (1, 3):
        found = simulate(question(10_000, events=0.02, days=14, of=installation(worth=(6, days))))
        ended = sum(found.due.values())
        assert found.skips / ended == pytest.approx(days, rel=0.35)


def test_minimum_below_the_score_of_an_event_changes_nothing() -> None:
    off, on = (
        simulate(question(1_000, events=1, days=3, of=installation(worth=worth)))
        for worth in (None, (3, 3))
    )
    assert (on.skips, on.tally.sent) == (0, off.tally.sent)


def test_immediate_email_does_not_wait_behind_digests() -> None:
    found = simulate(question(5_000, of=installation(1), immediate=0.02, on_the_hour=1))
    assert found.tally.late["digest"].percentile(0.9) > HOUR
    assert found.tally.late["immediate"].percentile(0.99) < 90


def test_forecast_memory_does_not_grow_with_the_number_of_readers() -> None:
    """All of them wait at once, and are blocks: one for each tenth of a second of a delay."""
    found = simulate(question(18_000, of=installation(50), on_the_hour=1, events=20))
    assert max(found.depths.by_minute["generate"]) > 10_000
    assert found.blocks < 5_000


def test_content_service_is_queried_once_per_read_digest() -> None:
    plan = ServicePlan(each=50, least=2, most=10)
    found = simulate(question(5_000, of=installation(50), service=plan))
    assert found.service
    asked = found.service.total
    assert asked == found.tally.sent["digest"] + found.tally.requeued["digest"] - found.tally.unread


def test_content_service_with_enough_capacity_does_not_reduce_the_ceiling() -> None:
    plan = ServicePlan(each=50, least=2, most=2)
    with_it, without = (
        simulate(question(5_000, of=installation(50), service=each)) for each in (plan, None)
    )
    assert with_it.tally.in_time == pytest.approx(without.tally.in_time, rel=0.01)
    assert with_it.service
    assert with_it.service.failed == 0


def test_content_service_load_equals_the_due_digests() -> None:
    """One email a second goes out, and asks as often; more come due."""
    plan = ServicePlan(each=1, least=2, most=2)
    found = simulate(question(6_500, of=installation(1), service=plan))
    limits = {one.name: one for one in ceilings(found)}
    rate = limits["rate of digests"]
    assert limits["the service"].load == rate.load > 2 * rate.limit


def test_content_service_is_queried_in_bursts_without_a_stagger() -> None:
    plan = ServicePlan(each=50, least=2, most=10)
    bursts, even = (
        simulate(
            question(6_000, quota=500, of=installation(200, spread=spread), service=plan)
        ).service
        for spread in (timedelta(0), timedelta(minutes=10))
    )
    assert bursts
    assert even
    assert bursts.peak > 3 * even.peak


@pytest.mark.parametrize(
    ("events", "minutes"), [(1, [0]), (2, [0, 30]), (10, [0, 10, 70]), (200, [0, 10, 70])]
)
def test_burst_of_events_has_few_emails(events: int, minutes: list[int]) -> None:
    collapse = timedelta(seconds=20)
    due = due_of_burst(events, collapse)
    assert due == [timedelta(minutes=minute) + collapse for minute in minutes]


def test_bursts_cost_fewer_emails_and_no_more_events() -> None:
    found = simulate(question(200, immediate=1, events=40, burst=20))
    emails = found.tally.sent["immediate"]
    assert emails == found.first_at_once == found.at_once * 3 / 20
    assert found.long_at_once * 3 == emails
    assert found.emails_per_immediate_event == 3 / 20
    one_by_one = simulate(question(200, immediate=1, events=40))
    assert one_by_one.emails_per_immediate_event == 1
    assert found.writes["events at once"] + found.writes["events"] < 2.4 * found.events
    limits = {one.name: one.load for one in ceilings(found)}
    single = {one.name: one.load for one in ceilings(one_by_one)}
    name = "rate of immediate emails"
    assert limits[name] == pytest.approx(single[name] * 3 / 20)


QUIET = installation(quiet_hours=QuietHours.of("22:00-07:00"))
"""In Berlin in winter, the quiet hours end at 06:00 UTC."""


def by_slot(found: Forecast) -> Counter[int]:
    """Return the number of immediate emails that were sent in each slot of the day."""
    slots = Counter[int]()
    for minute, number in found.tally.by_minute["immediate"].items():
        slots[minute // 10] += number
    return slots


def test_immediate_emails_wait_until_ten_minutes_after_quiet_hours() -> None:
    found = simulate(question(2_000, of=QUIET, immediate=1, events=2))
    without = simulate(question(2_000, immediate=1, events=2))
    slots, usual = by_slot(found), by_slot(without)
    assert sum(slots[slot] for slot in range(1, 36)) == 0
    assert sum(slots[slot] for slot in range(21 * 6 + 1, 24 * 6)) == 0
    first_slots = slots[36] + slots[37]
    assert first_slots == pytest.approx(usual.total() * 9 / 24, rel=0.1)
    assert slots.total() == pytest.approx(usual.total(), rel=0.05)
    assert found.quiet_waits == pytest.approx(found.first_at_once * 9 / 24, rel=0.05)
    assert found.writes["quiet hours"] == 6 * found.quiet_waits
    assert without.writes["quiet hours"] == 0


def test_emails_after_quiet_hours_are_limited_by_the_rate_of_immediate_emails() -> None:
    few, many = (
        simulate(question(readers, of=QUIET, immediate=1, events=2)) for readers in (1_000, 10_000)
    )
    assert few.tally.late["immediate"].percentile(0.99) < 2 * 60
    assert many.tally.late["immediate"].percentile(0.99) > 30 * 60


def test_end_of_quiet_hours_is_the_busiest_time_of_immediate_emails() -> None:
    found, without = (
        simulate(question(5_000, of=of, immediate=1, events=2)) for of in (QUIET, installation())
    )
    loads = [{one.name: one.load for one in ceilings(each)} for each in (found, without)]
    load, usual = (each["rate of immediate emails"] for each in loads)
    assert load == pytest.approx(usual + 9 * HOUR * usual / 600, rel=0.05)


def test_quiet_hours_end_in_the_time_zone_of_each_reader() -> None:
    zones = {"Europe/Berlin": 3.0, "Asia/Tokyo": 1.0}
    found = simulate(question(5_000, of=QUIET, immediate=1, events=2, zones=zones))
    berlin, tokyo = found.after_quiet[6 * HOUR], found.after_quiet[22 * HOUR]
    assert found.after_quiet.keys() == {6 * HOUR, 22 * HOUR}
    assert berlin == pytest.approx(3 * tokyo, rel=0.1)


def test_limited_immediate_email_costs_a_write_unit_more() -> None:
    limited, without = (
        simulate(question(2_000, of=installation(limited=limited), immediate=1))
        for limited in (True, False)
    )
    more = limited.writes["events at once"] - without.writes["events at once"]
    assert more == limited.first_at_once == without.first_at_once
