"""Digests that ask a content source: their runs start, wait, go on without, and show its items."""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.content.asking import ContentPlan
from gazette.domain.content.items import EVENTS, RECOMMENDATIONS, Answer
from gazette.domain.content.ports import Fetch
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import RefusedForNow
from gazette.domain.errors import SourceFailed
from gazette.domain.model import DAILY, RunKey, Schedule, ScheduleState
from gazette.domain.ports.queues import Shard
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.scheduling.chain import PAGE
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.templates.settings import SourcePolicy

from tests.builders import SettableClock, an_event
from tests.unit.content.asking import DOWN, an_answer
from tests.world import World, crashes, interleavings

BOTH = (EVENTS, RECOMMENDATIONS)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MINUTE = timedelta(minutes=1)
PLAN = ContentPlan(sources=BOTH, lead=6, fresh_for=2 * HOUR)


def a_world(*answers: Answer | SourceFailed) -> World:
    """Ann's daily digest asks a source that says this."""
    world = World(SettableClock(), content=PLAN, max_lateness=6 * HOUR)
    world.source.answers.extend(answers)
    world.choose()
    return world


def daily(world: World) -> Schedule:
    return world.schedules.rows["ann", DAILY]


def come_due(world: World) -> Run | None:
    """The digest is due, and its slot is fanned out; returns the last run."""
    due_at = daily(world).next_due_at
    world.clock.now = max(world.clock.now, due_at + MINUTE)
    world.fan_out(slot_of(due_at))
    runs = [run for run in world.runs.rows.values() if run.due_at == due_at]
    return runs[-1] if runs else None


def fetch_ahead(world: World) -> None:
    """What is fetched half an hour before the next digest."""
    due_at = daily(world).next_due_at
    world.clock.now = max(world.clock.now, due_at - HOUR / 2)
    for before in range(PLAN.lead, 0, -1):
        slot = slot_of(due_at) - before * SLOT
        world.look_ahead(Shard(0, slot, slot))
    world.fetch_queued()


def wait(world: World, *, minutes: float) -> list[Run | None]:
    """Let the time pass, while the run comes again whenever it said that it would."""
    until, done = world.clock() + timedelta(minutes=minutes), list[Run | None]()
    while (queued := world.generate_queue.sent) and world.clock() + queued[-1].delay <= until:
        done += world.deliver_queued()
    world.clock.now = max(world.clock.now, until)
    return done


def lines(world: World) -> list[tuple[str, ...]]:
    return [email.lines for email in world.emails("ann")]


# What was fetched ahead


def test_prefetched_items_are_sent_without_delay() -> None:
    world = a_world(an_answer("a", "b"))
    fetch_ahead(world)
    assert come_due(world)
    world.deliver_queued()
    assert lines(world) == [("a: 1", "b: 1")]
    assert len(world.source.asked) == 1
    assert not world.fetch_queue.sent


def test_items_of_each_reader_are_prefetched_once() -> None:
    world = a_world(an_answer("a"))
    due_at = daily(world).next_due_at
    world.clock.now = due_at - 2 * HOUR
    for slot in range(-12, 0):
        for _ in range(3):
            at = slot_of(due_at) + slot * SLOT
            world.look_ahead(Shard(0, at, at))
    assert {each.fetch.due_at for each in world.fetch_queue.sent} == {due_at}
    assert len(world.fetch_queue.sent) == 3, "one slot is hers; its tick came three times"
    world.clock.now = due_at - HOUR
    world.fetch_queued()
    assert len(world.source.asked) == 1


def test_occurrence_without_new_items_queues_no_run() -> None:
    world = a_world()
    fetch_ahead(world)
    before = daily(world)
    run = come_due(world)
    assert run
    assert (run.status, run.reason, run.slot) == (Status.SKIPPED, Reason.NOTHING_WAITED, None)
    after = daily(world)
    assert (after.state, after.next_due_at) == (ScheduleState.ARMED, before.next_due_at + DAY)
    assert (after.sequence, after.last_due_at) == (before.sequence + 1, before.last_due_at)
    assert not world.generate_queue.sent
    assert not world.fetch_queue.sent


def test_schedule_stays_armed_after_a_year_without_items() -> None:
    world = a_world()
    for _ in range(40):
        fetch_ahead(world)
        come_due(world)
    assert lines(world) == []
    world.source.answers.append(an_answer("a"))
    fetch_ahead(world)
    come_due(world)
    world.deliver_queued()
    assert lines(world) == [("a: 1",)]


def test_item_is_not_repeated_in_next_digest() -> None:
    world = a_world(*[an_answer("a", "b")] * 5)
    for _ in range(5):
        fetch_ahead(world)
        come_due(world)
        world.deliver_queued()
    assert lines(world) == [("a: 1", "b: 1")]


def test_stale_items_are_refetched_at_due_time() -> None:
    world = a_world(an_answer("a"), an_answer("b"))
    due_at = daily(world).next_due_at
    world.clock.now = due_at - 3 * HOUR
    world.fetch(_fetch_of(world))
    run = come_due(world)
    assert run
    assert run.asked_at == world.clock()
    world.fetch_queued()
    wait(world, minutes=2)
    assert lines(world) == [("b: 1",)], "what is not offered any more is not shown"


def _fetch_of(world: World) -> Fetch:
    return Fetch("ann", DAILY, daily(world).next_due_at)


def test_event_is_sent_without_delay_if_items_are_fetched() -> None:
    world = a_world()
    fetch_ahead(world)
    world.create(an_event())
    come_due(world)
    world.deliver_queued()
    assert lines(world) == [("post1: 1",)]


# What was not fetched when it is due


def test_run_waits_for_its_items_if_prefetching_is_off() -> None:
    world = a_world(an_answer("a"))
    run = come_due(world)
    assert run
    assert (run.status, run.sources, run.asked_at) == (Status.PENDING, BOTH, world.clock())
    assert [each.fetch.due_at for each in world.fetch_queue.sent] == [run.due_at]
    world.deliver_queued()
    assert lines(world) == []
    world.fetch_queued()
    wait(world, minutes=2)
    assert lines(world) == [("a: 1",)]
    assert world.runs.rows[run.key].without == ()


def test_run_waits_until_fetched_items_are_readable() -> None:
    """A window ends a settle lag before now: what was stored since would be in the next digest."""
    world = a_world(an_answer("a"))
    world.create(an_event())
    come_due(world)
    world.fetch_queued()
    fetched_at = daily(world).fetched_at
    assert fetched_at == world.clock()
    world.deliver_queued()
    assert lines(world) == [], "the event alone does not go ahead"
    wait(world, minutes=2)
    assert lines(world) == [("post1: 1", "a: 1")]


def test_run_requests_each_source_once() -> None:
    world = a_world()
    world.create(an_event())
    run = come_due(world)
    assert run
    world.runs.rows[run.key] = replace(run, asked_at=None)
    world.fetch_queue.sent.clear()
    looks = wait(world, minutes=9)
    assert len(looks) > 2
    assert len(world.fetch_queue.sent) == 1


def test_waiting_run_polls_at_increasing_intervals() -> None:
    world = a_world(*[DOWN] * 99)
    world.source_policy = SourcePolicy.WAIT
    world.create(an_event())
    come_due(world)
    looks = wait(world, minutes=6 * 60)
    assert len(looks) < 40, "a look each minute would be 360"


@pytest.mark.parametrize("policy", list(SourcePolicy))
def test_run_is_sent_without_items_after_waiting_for_source(
    policy: SourcePolicy,
) -> None:
    world = a_world(*[DOWN] * 999)
    world.source_policy = policy
    world.create(an_event())
    run = come_due(world)
    assert run
    tolerance = 9 if policy is SourcePolicy.WITHOUT else 5 * 60
    wait(world, minutes=tolerance)
    assert lines(world) == []
    wait(world, minutes=60)
    assert lines(world) == [("post1: 1",)]
    sent = world.runs.rows[run.key]
    assert (sent.status, sent.without) == (Status.SENT, (RECOMMENDATIONS,))


@pytest.mark.parametrize("policy", list(SourcePolicy))
def test_run_stops_waiting_when_tolerance_ends(policy: SourcePolicy) -> None:
    """And not when it would have looked again."""
    world = a_world(*[DOWN] * 999)
    world.source_policy = policy
    world.create(an_event())
    run = come_due(world)
    assert run
    assert run.asked_at
    wait(world, minutes=6 * 60)
    latest = run.due_at + 5.5 * HOUR  # six hours, less the last twelfth
    patient = policy is SourcePolicy.WAIT
    ends = latest if patient else run.asked_at + world.patience
    assert world.runs.rows[run.key].sent_at == ends


def test_stale_items_are_shown_while_source_is_down() -> None:
    """It waits for what is fresh, and goes with what there is; the run says that it was not."""
    world = a_world(an_answer("a"), *[DOWN] * 99)
    due_at = daily(world).next_due_at
    world.clock.now = due_at - 3 * HOUR
    world.fetch(_fetch_of(world))
    run = come_due(world)
    assert run
    wait(world, minutes=12)
    assert lines(world) == [("a: 1",)]
    assert world.runs.rows[run.key].without == (RECOMMENDATIONS,)


def test_run_without_items_or_events_is_skipped_with_reason() -> None:
    world = a_world(*[DOWN] * 99)
    run = come_due(world)
    assert run
    wait(world, minutes=12)
    ended = world.runs.rows[run.key]
    assert (ended.status, ended.reason) == (Status.SKIPPED, Reason.NO_CONTENT)
    assert daily(world).listed


def test_run_records_that_source_had_no_new_items() -> None:
    world = a_world()
    run = come_due(world)
    assert run
    world.fetch_queued()
    wait(world, minutes=2)
    assert world.runs.rows[run.key].reason is Reason.NOTHING_NEW


def test_late_items_are_in_next_digest_with_current_content() -> None:
    world = a_world(an_answer("a", "late"), an_answer("late", "new"))
    world.create(an_event())
    come_due(world)
    wait(world, minutes=12)
    world.fetch_queued()
    fetch_ahead(world)
    come_due(world)
    world.deliver_queued()
    assert lines(world) == [("post1: 1",), ("late: 1", "new: 1")]


def test_late_digest_still_waits_for_its_source() -> None:
    world = a_world(an_answer("a"))
    world.create(an_event())
    world.clock.now = daily(world).next_due_at + 3 * HOUR
    come_due(world)
    world.deliver_queued()
    world.fetch_queued()
    wait(world, minutes=2)
    assert lines(world) == [("post1: 1", "a: 1")]


def test_overdue_digest_without_events_is_skipped() -> None:
    world = a_world()
    due_at = daily(world).next_due_at
    world.clock.now = due_at + 7 * HOUR
    run = come_due(world)
    assert run
    assert run.reason is Reason.NOTHING_WAITED
    assert daily(world).next_due_at == due_at + DAY


def test_run_with_fixed_window_does_not_wait_for_items() -> None:
    """They are behind its window: its events would wait for what it cannot show."""
    world = a_world(an_answer("late"))
    world.create(an_event())
    run = come_due(world)
    assert run
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    wait(world, minutes=11)
    refused = world.runs.rows[run.key]
    assert (refused.status, refused.without) == (Status.RETRYING, (RECOMMENDATIONS,))
    assert refused.retry_at
    world.clock.now = max(world.clock.now, refused.retry_at)
    world.fetch_queued()
    assert daily(world).fetched_at == world.clock()
    world.deliver_queued()
    assert lines(world) == [("post1: 1",)]
    assert world.runs.rows[run.key].without == (RECOMMENDATIONS,)


# What a stage or a reader stops


def test_schedule_becomes_idle_after_stage_removes_source() -> None:
    world = a_world()
    world.content = None
    come_due(world)
    assert daily(world).state is ScheduleState.IDLE
    assert not world.fetch_queue.sent


def test_content_of_muted_category_is_not_fetched() -> None:
    world = a_world()
    world.clock.pass_time(minutes=1)
    world.choose(recommendation=Frequency.NEVER)
    fetch_ahead(world)
    assert not world.source.asked
    come_due(world)
    assert daily(world).state is ScheduleState.IDLE


@pytest.mark.parametrize("frequency", [Frequency.NEVER, Frequency.WEEKLY])
def test_waiting_digest_is_sent_after_reader_opts_out_of_items(
    frequency: Frequency,
) -> None:
    """Nobody fetches for it any more, so it would wait for as long as it may."""
    world = a_world(*[DOWN] * 99)
    world.source_policy = SourcePolicy.WAIT
    world.create(an_event())
    run = come_due(world)
    assert run
    world.fetch_queued()
    wait(world, minutes=5)
    assert lines(world) == []
    world.choose(recommendation=frequency)
    wait(world, minutes=4)
    assert lines(world) == [("post1: 1",)]
    assert world.runs.rows[run.key].without == ()


def test_digest_with_deleted_schedule_does_not_wait_for_items() -> None:
    """As after an erasure."""
    world = a_world()
    world.create(an_event())
    run = come_due(world)
    assert run
    del world.schedules.rows["ann", DAILY]
    world.deliver_queued()
    assert lines(world) == [("post1: 1",)]
    assert world.runs.rows[run.key].without == ()


def test_digest_without_sources_makes_no_extra_calls() -> None:
    asking = a_world()
    without = World(SettableClock(), max_lateness=6 * HOUR)
    called = []
    for world in (asking, without):
        world.clock.pass_time(minutes=1)
        world.choose(recommendation=Frequency.NEVER)
        world.clock.pass_time(minutes=10)  # no run looks at what was stored before the choice
        world.create(an_event())
        with world.calls() as calls:
            come_due(world)
            world.deliver_queued()
        called.append(calls)
        assert len(lines(world)) == 1
    assert called[0] == called[1]


# A run of no occurrence: that of a redrive


def _failed(*answers: Answer, sources: tuple[str, ...]) -> tuple[World, Run]:
    """A digest with an event that the provider has refused to the end, with these sources."""
    world = World(
        SettableClock(),
        content=ContentPlan(sources=sources, lead=6, fresh_for=2 * HOUR),
        max_lateness=6 * HOUR,
    )
    world.source.answers.extend(answers)
    world.source_policy = SourcePolicy.WAIT
    world.choose()
    world.create(an_event())
    fetch_ahead(world)
    run = come_due(world)
    assert run
    world.mailer.script.extend(RefusedForNow(each, "Throttling") for each in range(1, 7))
    for _ in range(7):
        world.deliver_queued()
    return world, world.runs.rows[run.key]


@pytest.mark.parametrize(
    ("sources", "shown"),
    [
        ((EVENTS, RECOMMENDATIONS), ("post1: 1", "a: 1")),
        ((RECOMMENDATIONS, EVENTS), ("a: 1", "post1: 1")),
    ],
)
def test_redriven_digest_keeps_source_order_and_does_not_wait(
    sources: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    """What was fetched for the digest that failed is there; nobody fetches for another instant."""
    world, failed = _failed(an_answer("a"), sources=sources)
    asked = len(world.source.asked)
    started = world.redrive(failed).run
    assert started
    world.deliver_queued()
    assert lines(world) == [shown]
    assert world.runs.rows[started.key].without == ()
    assert not world.fetch_queue.sent
    assert len(world.source.asked) == asked


def test_empty_redriven_digest_reports_no_new_items() -> None:
    world, failed = _failed(an_answer("a"), sources=BOTH)
    started = world.redrive(failed).run
    assert started
    world.events.rows.clear()
    world.deliver_queued()
    ended = world.runs.rows[started.key]
    assert (ended.status, ended.reason) == (Status.SKIPPED, Reason.NOTHING_NEW)


# Whoever dies, and whoever is at work at once


def _is_as_it_should_be(world: World, where: str) -> None:
    """Once all workers have come back: one email, with the event and the item, and the next due."""
    for _ in range(3):
        if daily(world).next_due_at <= world.clock():
            come_due(world)
        world.fetch_queued()
        wait(world, minutes=3)
    found = lines(world)
    assert found == [("post1: 1", "a: 1")], (where, found)
    assert daily(world).listed, where
    assert daily(world).next_due_at > world.clock(), where


def _due() -> World:
    world = a_world(*[an_answer("a")] * 9)
    world.create(an_event())
    return world


def test_digest_is_sent_once_after_failed_fan_out_call() -> None:
    count = 0
    for world, where in crashes(_due, come_due):
        _is_as_it_should_be(world, where)
        count += 1
    assert count > 10


def test_digest_is_sent_once_after_failed_fetch_call() -> None:
    def fetch(world: World) -> None:
        come_due(world)
        (wanted, *_) = world.fetch_queue.sent
        world.fetch(wanted.fetch)
        world.fetch_queue.sent.remove(wanted)

    count = 0
    for world, where in crashes(_due, fetch):
        _is_as_it_should_be(world, where)
        count += 1
    assert count > 20


def test_waiting_digest_is_sent_once_after_failed_call() -> None:
    def deliver(world: World) -> None:
        run = come_due(world)
        assert run
        world.runs.rows[run.key] = replace(run, asked_at=None)
        world.generate(RunKey("ann", DAILY, 1))

    count = 0
    for world, where in crashes(_due, deliver):
        _is_as_it_should_be(world, where)
        count += 1
    assert count > 10


def test_event_arriving_during_skipped_occurrence_joins_next_digest() -> None:
    def made() -> World:
        world = a_world()
        fetch_ahead(world)
        return world

    for world, where in interleavings(made, come_due, lambda world: world.create(an_event())):
        world.deliver_queued()
        for _ in range(2):
            fetch_ahead(world)
            come_due(world)
            wait(world, minutes=2)
        assert lines(world) == [("post1: 1",)], where
        assert daily(world).listed, where


def test_two_fan_out_workers_skip_occurrence_once() -> None:
    def made() -> World:
        world = a_world()
        fetch_ahead(world)
        return world

    def fan_out(world: World) -> None:
        world.clock.now = first + MINUTE
        world.fan_out(slot_of(first))

    first = daily(made()).next_due_at
    for world, where in interleavings(made, fan_out, fan_out):
        assert daily(world).next_due_at == first + DAY, where
        world.create(an_event())
        fetch_ahead(world)
        come_due(world)
        world.deliver_queued()
        assert lines(world) == [("post1: 1",)], where


def test_skipped_occurrence_is_not_started_again_after_crash() -> None:
    """Its worker died before the schedule advanced: the digest would wait for them once more."""
    world = a_world(*[DOWN] * 99)
    before = daily(world)
    run = come_due(world)
    assert run
    wait(world, minutes=12)
    assert world.runs.rows[run.key].reason is Reason.NO_CONTENT
    world.schedules.rows["ann", DAILY] = before
    world.fan_out(slot_of(run.due_at))
    assert list(world.runs.rows) == [run.key]
    assert daily(world).next_due_at == run.due_at + DAY


@pytest.mark.parametrize("dies", [False, True])
def test_occurrence_started_by_another_worker_is_not_skipped(dies: bool) -> None:
    """An event came between the looks of the two; the other may die before it queues the run."""
    world = a_world()
    fetch_ahead(world)
    due_at = daily(world).next_due_at
    world.clock.now = due_at + MINUTE

    def other() -> None:
        world.create(an_event())
        if dies:
            key = RunKey("ann", DAILY, daily(world).sequence)
            now = world.clock()
            world.runs.create(Run(key, due_at, check_at=now, created_at=now, sources=BOTH))
        else:
            world.fan_out(slot_of(due_at))

    with world.meanwhile("runs.create", other, before=True):
        world.fan_out(slot_of(due_at))
    world.clock.pass_time(minutes=1)
    world.deliver_queued()
    assert lines(world) == [("post1: 1",)]
    assert (daily(world).next_due_at, daily(world).last_due_at) == (due_at + DAY, due_at)


def test_concurrent_fetches_lose_no_items() -> None:
    """What one stores and the other takes back was in no digest: it is shown once it is offered."""

    def made() -> World:
        world = a_world(an_answer("a"), an_answer("b"))
        world.create(an_event())
        come_due(world)
        return world

    def fetch(world: World) -> None:
        (wanted, *_) = world.fetch_queue.sent
        world.fetch(wanted.fetch)

    count = 0
    for world, where in interleavings(made, fetch, fetch):
        world.fetch_queue.sent.clear()
        wait(world, minutes=3)
        world.source.answers.clear()
        world.source.answers.append(an_answer("a", "b"))
        fetch_ahead(world)
        come_due(world)
        wait(world, minutes=3)
        found = [line for email in lines(world) for line in email]
        assert sorted(found) == ["a: 1", "b: 1", "post1: 1"], (where, lines(world))
        count += 1
    assert count > 10


def test_uncontended_fetch_reads_waiting_events_once() -> None:
    world = _due()
    come_due(world)
    (wanted, *_) = world.fetch_queue.sent
    with world.calls() as calls:
        world.fetch(wanted.fetch)
    assert calls.count("events.stored_under") == 1


# What nothing is ever sent of


@pytest.mark.parametrize("days", [200, 1000])
def test_digest_without_new_items_reads_three_pages_of_runs(
    days: int,
) -> None:
    """Once runs have heads: those before are of a version that stored none."""
    world = a_world()
    schedule = daily(world)
    for sequence in range(1, days + 1):
        at = schedule.next_due_at - (days + 1 - sequence) * DAY
        ended = Run(RunKey("ann", DAILY, sequence), at, at, status=Status.SKIPPED)
        world.runs.rows[ended.key] = replace(ended, reason=Reason.NOTHING_NEW)
    world.schedules.rows["ann", DAILY] = replace(schedule, sequence=days + 1)
    pages = [nothing_comes(world) for _ in range(18)]
    assert pages[0] > days // PAGE
    assert max(pages[1:]) <= 3
    assert daily(world).sequence > days + 17
    assert any(run.head for run in world.runs.rows.values())
    world.create(an_event())
    come_due(world)
    wait(world, minutes=30)
    assert lines(world) == [("post1: 1",)]


def nothing_comes(world: World) -> int:
    """A day; returns how many pages of runs were read."""
    pages = 0

    def around(name: str, call: Callable[[], object]) -> object:
        nonlocal pages
        answer = call()
        if name == "runs.chain":
            assert isinstance(answer, list)
            pages += max(1, math.ceil(len(answer) / PAGE))
        return answer

    with world.watched(around):
        fetch_ahead(world)
        come_due(world)
    return pages
