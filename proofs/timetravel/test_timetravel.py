"""A short seed of `make timetravel`, and tests that it can fail."""

from dataclasses import replace
from datetime import datetime, timedelta
from unittest.mock import patch

from gazette.domain.delivery.run import Run
from gazette.domain.model import Schedule
from gazette.domain.scheduling.calendar import next_occurrence
from gazette.domain.scheduling.holding import waiting_in_quiet_hours
from gazette.steps.occurrences.context import FanoutContext
from gazette.steps.occurrences.start import Quiet, go_idle

from proofs.timetravel.nights import nights
from proofs.timetravel.travel import travel, travel_with_new_rules


def test_what_waits_is_met_at_its_hour_and_nobody_else_visited_whatever_becomes_of_the_ticks() -> (
    None
):
    tally = travel(subscribers=40, days=25)
    assert tally.is_clean, str(tally)
    assert tally.occurrences > 200


def test_a_visit_for_nothing_is_found() -> None:
    """The earlier code armed a schedule without events for its next occurrence."""

    def go_on(schedule: Schedule, *, context: FanoutContext) -> Schedule:
        after = schedule.advanced(next_occurrence(schedule.recurrence, after=schedule.next_due_at))
        assert context.schedules.put(after, replacing=schedule)
        return after

    with patch("gazette.steps.fanout.fanout.go_idle", go_on):
        tally = travel(subscribers=12, days=10)
    assert not tally.is_clean
    assert tally.quiet_visits > 10


def test_no_date_has_two_digests_while_the_zones_are_unknown_and_known_again() -> None:
    tally = travel_with_new_rules(subscribers=16, days=9)
    assert tally.is_clean, str(tally)
    assert tally.occurrences > 20


def test_a_date_with_two_digests_is_found() -> None:
    """The earlier code armed the next occurrence, even on the same date."""

    def go_on(schedule: Schedule) -> datetime:
        return next_occurrence(schedule.recurrence, after=schedule.next_due_at)

    def as_armed(*_: object, armed_for: datetime, last: datetime | None) -> datetime:
        return armed_for

    with (
        patch("gazette.steps.fanout.fanout.following", go_on),
        patch("gazette.steps.fanout.fanout.due_by_the_clock_of_now", as_armed),
    ):
        assert travel_with_new_rules(subscribers=16, days=9).same_date > 0


def test_an_event_behind_an_idle_schedule_is_found() -> None:
    with patch("proofs.timetravel.travel.arm", lambda *_, **__: None):
        assert travel(subscribers=40, days=6).missing > 10


def test_a_schedule_that_asks_a_source_and_goes_idle_is_found() -> None:
    def leave(quiet: Quiet, *, context: FanoutContext) -> Schedule | None:
        return go_idle(quiet.occurrence.schedule, context=context)

    with patch("gazette.steps.fanout.fanout.stay_armed", leave):
        assert travel(subscribers=40, days=6).missing > 3


def test_a_source_is_asked_about_once_for_an_occurrence() -> None:
    tally = travel(subscribers=60, days=10)
    assert tally.is_clean, str(tally)
    assert tally.asked > 50
    assert tally.fetches < 1.3 * tally.asked, "unanswered requests are sent again"


def test_no_immediate_email_is_sent_in_quiet_hours_near_a_change_of_the_clocks() -> None:
    found = nights(zones=1)
    assert found.is_clean, str(found)
    assert found.events > 20


def test_an_email_in_quiet_hours_is_found() -> None:
    with (
        patch("gazette.steps.delivery.prepare.quiet_until", lambda *_, **__: None),
        patch("gazette.steps.delivery.deliver.quiet_until", lambda *_, **__: None),
    ):
        assert nights(zones=1).at_night > 0


def test_an_email_that_is_not_sent_soon_after_quiet_hours_is_found() -> None:
    """A sweep that does not look ahead queues an email when a lost message would be queued."""

    def late(run: Run, until: datetime, *, hold: timedelta) -> Run:
        waiting = waiting_in_quiet_hours(run, until, hold=hold)
        return replace(waiting, check_at=until + timedelta(hours=1))

    with patch("gazette.steps.delivery.prepare.waiting_in_quiet_hours", late):
        assert not nights(zones=1).is_clean
