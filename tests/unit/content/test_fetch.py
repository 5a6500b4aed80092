"""A fetch stores what the source has for one digest, once, and never without a permit."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import RetractEvent
from gazette.domain.content.items import Answer
from gazette.domain.content.ports import Fetch
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.errors import NotYet, SourceFailed, Unavailable
from gazette.domain.model import DAILY
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.templates.settings import SourcePolicy
from gazette.steps.content.fetch import FetchOutcome

from tests.fake_stores import FakeRateLimiter
from tests.unit.content.asking import CATEGORY, DOWN, Asking, an_answer, an_item, asking


def test_fetched_items_wait_for_their_digest() -> None:
    found = asking()
    found.answers(an_answer("a", "b"))
    done = found.fetch()
    assert (done.outcome, done.items, done.requests) == (FetchOutcome.STORED, 2, 1)
    assert found.waiting() == ["a", "b"]
    assert found.schedule.fetched_for == found.schedule.next_due_at
    assert found.schedule.fetched_at == found.world.clock()
    assert found.remembers("a", "b", "c") == [True, True, False]


def test_source_request_contains_reader_and_due_time() -> None:
    found = asking()
    found.fetch()
    (asked,) = found.source.asked
    assert (asked.user_id, asked.schedule, asked.limit) == ("ann", DAILY, 3)
    assert (asked.since, asked.until) == (None, found.schedule.next_due_at)
    assert (asked.locale, asked.time_zone) == ("en", "Europe/Berlin")


def test_fetch_without_new_items_is_recorded() -> None:
    found = asking()
    assert found.fetch().outcome is FetchOutcome.NOTHING_NEW
    assert found.schedule.fetched_for == found.schedule.next_due_at
    assert found.world.events.rows == {}


def test_stored_items_are_limited_to_digest_maximum() -> None:
    found = asking()
    found.answers(an_answer("a", "b", "c", "d"))
    found.fetch()
    assert found.waiting() == ["a", "b", "c"]


def test_duplicate_message_makes_no_request() -> None:
    found = asking()
    found.answers(an_answer("a"))
    found.fetch()
    assert found.fetch().outcome is FetchOutcome.ALREADY_FETCHED
    assert len(found.source.asked) == 1


def test_items_fetched_too_early_are_refetched() -> None:
    found = asking()
    found.answers(an_answer("a"), an_answer("b"))
    found.fetch()
    schedule = found.schedule
    early = replace(schedule, fetched_at=schedule.next_due_at - timedelta(hours=25))
    found.world.schedules.rows["ann", DAILY] = early
    assert found.fetch().outcome is FetchOutcome.STORED


def test_item_in_a_digest_is_not_repeated() -> None:
    found = asking()
    found.answers(an_answer("a", "b"), an_answer("b", "c", "a"))
    found.fetch()
    assert found.send() == [("a: 1", "b: 1")]
    found.fetch()
    assert found.send() == [("c: 1",)]


def test_forgotten_item_of_earlier_digest_is_not_fetched_again() -> None:
    """As after a long time, or when the reader wants items in another digest."""
    found = asking()
    found.answers(an_answer("a", "b", "c"), an_answer("a", "b", "c", "d", "e", "f", "g"))
    found.fetch()
    assert found.send() == [("a: 1", "b: 1", "c: 1")]
    found.world.schedules.rows["ann", DAILY] = replace(found.schedule, shown=b"")
    done = found.fetch()
    assert (done.outcome, done.items, done.requests) == (FetchOutcome.STORED, 3, 1)
    assert found.remembers("a", "b", "c", "d", "e", "f", "g") == [True] * 6 + [False]
    assert found.send() == [("d: 1", "e: 1", "f: 1")]


def test_withdrawn_item_does_not_count_toward_maximum() -> None:
    found = asking()
    found.world.say(RetractEvent("ann", "recommendations:a"))
    found.answers(an_answer("a", "b", "c", "d"))
    assert found.fetch().items == 3
    assert found.send() == [("b: 1", "c: 1", "d: 1")]


def test_item_expiring_before_digest_does_not_count_toward_maximum() -> None:
    """Items may be fetched a day ahead, and no email shows one that is over."""
    found = asking()
    due_at = found.schedule.next_due_at
    over = replace(an_item("over"), expires_at=due_at)
    lasts = replace(an_item("lasts"), expires_at=due_at + timedelta(hours=1))
    found.answers(Answer((over, lasts, an_item("a"), an_item("b"), an_item("c"))))
    found.fetch()
    assert found.waiting() == ["a", "b", "lasts"]
    assert found.remembers("over") == [False]


def test_waiting_item_is_kept_while_offered_by_source() -> None:
    """The next occurrence is another fetch; no digest has shown the item."""
    found = asking()
    found.answers(an_answer("a", "b"), an_answer("b", "c"))
    found.fetch()
    found.next_occurrence()
    found.fetch()
    assert found.waiting() == ["b", "c"]
    assert found.remembers("a", "b", "c") == [False, True, True]


def test_withdrawn_item_can_be_offered_again() -> None:
    found = asking()
    found.answers(an_answer("a"), an_answer("b"), an_answer("a"))
    for _ in range(3):
        found.fetch()
        found.next_occurrence()
    assert found.waiting() == ["a"]


def test_changed_waiting_item_is_amended() -> None:
    found = asking()
    found.answers(an_answer("a"))
    found.fetch()
    found.next_occurrence()
    found.source.answers.append(type(an_answer())((an_item("a", title="A new title"),)))
    found.fetch()
    assert found.send() == [("a: 1",)]
    (stored,) = found.world.events.rows.values()
    assert stored.event.entity.title == "A new title"  # type: ignore[union-attr]


def test_unchanged_waiting_item_is_not_rewritten() -> None:
    found = asking()
    found.answers(an_answer("a"), an_answer("a"))
    found.fetch()
    found.next_occurrence()
    with found.world.calls() as calls:
        assert found.fetch().outcome is FetchOutcome.NOTHING_NEW
    assert [call for call in calls if call in {"events.store", "events.amend"}] == []


def test_item_published_while_category_was_muted_is_sent() -> None:
    found = Asking()
    now = found.world.clock()
    found.world.choose(recommendation=Frequency.NEVER, at=now - timedelta(days=10))
    found.world.choose(recommendation=Frequency.DAILY, at=now - timedelta(days=5))
    found.answers(an_answer("a"))
    found.fetch()
    assert found.waiting() == ["a"]


def test_muting_the_category_withdraws_waiting_items() -> None:
    found = asking()
    found.answers(an_answer("a"))
    found.fetch()
    found.world.clock.pass_time(seconds=1)
    found.world.choose(recommendation=Frequency.NEVER)
    assert found.send() == []


def test_items_are_not_fetched_for_unsubscribed_reader() -> None:
    found = asking()
    due_at = found.schedule.next_due_at
    found.world.unsubscribe()
    assert found.fetch(due_at).outcome is FetchOutcome.NOT_ASKED
    assert found.source.asked == []


def test_fetch_is_dropped_if_reader_unsubscribes_meanwhile() -> None:
    found = asking()
    due_at = found.schedule.next_due_at
    world = found.world
    with world.meanwhile("subscribers.get", world.unsubscribe, before=True):
        assert found.fetch(due_at).outcome is FetchOutcome.NOT_ASKED
    assert found.source.asked == []


def test_items_are_not_fetched_for_erased_reader() -> None:
    found = asking()
    due_at = found.schedule.next_due_at
    found.world.clock.pass_time(minutes=1)
    found.world.erase()
    assert found.fetch(due_at).outcome is FetchOutcome.NOT_ASKED
    assert found.source.asked == []


def test_items_are_not_fetched_for_moved_occurrence() -> None:
    found = asking()
    elsewhere = found.schedule.next_due_at + timedelta(minutes=10)
    assert found.fetch(elsewhere).outcome is FetchOutcome.NOT_ASKED


def test_items_are_not_fetched_after_digest_stopped_waiting() -> None:
    found = asking()
    due_at = found.schedule.next_due_at
    found.world.clock.now = due_at + timedelta(minutes=31)
    assert found.fetch(due_at).outcome is FetchOutcome.TOO_LATE
    assert found.source.asked == []


def test_overdue_fetch_without_permit_is_not_requeued() -> None:
    """Else those of an overload would make it longer: each permit would find some of them first."""
    found = asking()
    due_at = found.schedule.next_due_at
    found.world.clock.now = due_at + timedelta(minutes=31)
    found.permits = FakeRateLimiter(PacePlan(rate=1 / 60))
    found.permits.reserve(found.world.clock(), found.world.clock())
    with found.world.calls() as calls:
        assert found.fetch(due_at).outcome is FetchOutcome.TOO_LATE
    assert calls == []
    assert found.queue.sent == []


def test_items_are_fetched_as_long_as_wait_policy_allows() -> None:
    """Else it would wait for hours for a fetch that was dropped."""
    found = asking()
    due_at = found.schedule.next_due_at
    found.policy = SourcePolicy.WAIT
    found.world.clock.now = due_at + timedelta(hours=5, minutes=59)
    assert found.fetch(due_at).outcome is FetchOutcome.NOTHING_NEW
    found.world.clock.pass_time(minutes=2)
    assert found.fetch(due_at).outcome is FetchOutcome.TOO_LATE


def test_items_are_fetched_as_long_as_late_digest_waits() -> None:
    """Fan-out was silent for hours: the digest waits since its sources were asked."""
    found = asking()
    due_at = found.schedule.next_due_at
    found.next_occurrence()
    asked_at = found.world.clock.now = due_at + timedelta(hours=5)
    wanted = Fetch("ann", DAILY, due_at, asked_at=asked_at)
    found.world.clock.pass_time(minutes=29)
    assert found.work(wanted).outcome is FetchOutcome.NOTHING_NEW
    found.world.clock.pass_time(minutes=2)
    assert found.work(wanted).outcome is FetchOutcome.TOO_LATE


def test_fetch_without_permit_is_requeued() -> None:
    found = asking()
    found.permits.open_by_hand("why", found.world.clock())
    assert found.fetch().outcome is FetchOutcome.BREAKER_OPEN
    (queued,) = found.queue.sent
    assert timedelta(seconds=60) <= queued.delay <= timedelta(seconds=180)
    assert found.source.asked == []


def test_fetch_reads_no_rows_while_no_permit_is_expected() -> None:
    found = asking()
    due_at = found.schedule.next_due_at
    found.permits = FakeRateLimiter(PacePlan(rate=1))
    found.permits.reserve(found.world.clock(), found.world.clock())
    with found.world.calls() as calls:
        assert found.fetch(due_at).outcome is FetchOutcome.NO_PERMIT
    assert calls == []
    assert len(found.queue.sent) == 1


def test_each_request_takes_its_own_permit() -> None:
    found = asking()
    found.answers(DOWN, an_answer("a"))
    done = found.fetch()
    assert (done.outcome, done.requests) == (FetchOutcome.STORED, 2)
    assert found.permits.row.pace.taken == 2


def test_stalled_workers_do_not_exceed_request_rate() -> None:
    """Ten have a permit each, of ten seconds; then the tables answer all of them at once."""
    found = asking()
    due_at = found.schedule.next_due_at
    found.permits = FakeRateLimiter(PacePlan(rate=1))
    permits = found.permits.row

    def stall() -> None:
        found.world.clock.pass_time(seconds=10)

    with found.world.meanwhile("subscribers.get", stall):
        found.fetch(due_at)
    assert len(found.source.asked) == 1
    assert permits.pace.taken == 2, "the permit of ten seconds ago is void"
    begun = found.world.clock()
    assert permits.pace.next_at == begun + timedelta(seconds=1), "the next one a second later"


def test_stalled_fetch_is_requeued_if_no_permit_is_left() -> None:
    found = asking()

    def stall() -> None:
        found.world.clock.pass_time(seconds=10)
        found.permits.open_by_hand("why", found.world.clock())

    with found.world.meanwhile("subscribers.get", stall):
        assert found.fetch().outcome is FetchOutcome.BREAKER_OPEN
    assert found.source.asked == []
    assert len(found.queue.sent) == 1


def test_breaker_probe_is_sent_even_if_late() -> None:
    found = asking()
    found.permits.trip("down", found.world.clock())
    found.world.clock.pass_time(minutes=1)
    with found.world.meanwhile("subscribers.get", lambda: found.world.clock.pass_time(seconds=10)):
        assert found.fetch().outcome is FetchOutcome.NOTHING_NEW
    assert found.permits.row.pace.breaker is None


def test_failed_fetch_is_retried_with_increasing_delay() -> None:
    found = asking()
    delays = []
    for tries in range(8):
        found.answers(DOWN, DOWN)
        found.health.now = type(found.health.now)()
        assert found.fetch(tries=tries).outcome is FetchOutcome.FAILED
        found.world.clock.pass_time(seconds=10)
        delays.append(found.queue.sent[-1].delay)
        assert found.queue.sent[-1].fetch.tries == tries + 1
    assert delays == sorted(delays)
    assert delays[0] == timedelta(seconds=30)
    assert delays[-1] == timedelta(minutes=10)


def test_fetch_takes_no_permit_if_too_little_time_remains() -> None:
    found = asking()
    found.time_left = timedelta(seconds=20)
    with pytest.raises(NotYet):
        found.fetch()
    assert found.permits.row.pace.taken == 0


def test_fetch_retried_after_crash_stores_items_once() -> None:
    found = asking()
    found.answers(an_answer("a", "b"), an_answer("a", "b"))

    def die(name: str, call: object) -> object:
        if name == "schedules.put":
            raise Unavailable("dead")
        return call()  # type: ignore[operator]

    with found.world.watched(die), pytest.raises(Unavailable):
        found.fetch()
    found.world.clock.pass_time(minutes=1)
    assert found.fetch().outcome is FetchOutcome.NOTHING_NEW
    assert found.send() == [("a: 1", "b: 1")]


def test_fetch_keeps_concurrent_changes_of_fan_out() -> None:
    found = asking()
    found.answers(an_answer("a"))
    due_at = found.schedule.next_due_at

    def advance() -> None:
        found.world.schedules.put(
            found.schedule.advanced(due_at + timedelta(days=1)), replacing=found.schedule
        )

    with found.world.meanwhile("events.store", advance):
        found.fetch()
    assert found.schedule.last_due_at == due_at
    assert found.schedule.fetched_for == due_at
    assert found.remembers("a") == [True]


def test_items_are_shown_under_their_category() -> None:
    found = asking()
    found.answers(an_answer("a"))
    found.fetch()
    (stored,) = found.world.events.rows.values()
    event = stored.event  # type: ignore[union-attr]
    assert (event.category, event.source, event.actor) == (CATEGORY, "recommendations", None)


def test_successful_fetch_does_not_report_open_breaker() -> None:
    found = asking()
    found.answers(DOWN, an_answer("a"))
    assert not found.fetch().opened


def test_rejected_fetch_reports_open_breaker_and_reason() -> None:
    found = asking()
    found.answers(SourceFailed("It answered with status 429.", refuses=True))
    done = found.fetch()
    assert (done.outcome, done.opened, done.requests) == (FetchOutcome.FAILED, True, 1)
    assert done.why == "It answered with status 429."
