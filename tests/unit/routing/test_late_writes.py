"""An event that is written behind a closed window is stamped anew."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from gazette.domain.commands import ChangeFollow
from gazette.domain.delivery.run import STILL_WRITTEN, Status, name_of
from gazette.domain.delivery.signals import Evidence, Policy, RefusedForNow, Uncertain
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY, Event, RunKey, StoredEvent
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.routing.reroute import retract_event
from gazette.steps.runs import apply

from gazette_cdk.topology import FOLLOWERS, INGEST, PREFERENCES
from tests.builders import an_activity, an_event
from tests.unit.routing.digests import put, shown
from tests.world import SETTLE_LAG, WRITE_BOUND, World, crashes, events_in

SKEW = timedelta(seconds=5)

Act = Callable[[World], object]


def a_world(frequency: Frequency = Frequency.DAILY) -> World:
    """With an event that waits; the digest comes in ten seconds."""
    world = World()
    world.choose(comment=frequency)
    put(world, 1)
    if frequency is Frequency.DAILY:
        world.clock.now = world.schedules.rows["ann", DAILY].next_due_at - timedelta(seconds=10)
    return world


def standing_still(world: World, meanwhile: Callable[[], object]) -> Callable[[str, Any], Any]:
    """Whoever writes stands still between the stamp and the write, once."""

    events = world.events

    def around(_: str, call: Callable[[], Any]) -> Any:
        events.around = lambda _, call: call()
        meanwhile()
        return call()

    return around


def written_late(world: World, event: Event, meanwhile: Act | None = None) -> None:
    """The digest closes its window between the stamp and the write, after which the worker dies."""

    def die(_: str, call: Callable[[], Any]) -> Any:
        world.events.around = lambda _, call: call()
        (meanwhile or send_digest)(world)
        call()
        raise NotYet("The worker is gone.")

    world.events.around = die
    with pytest.raises(NotYet):
        world.create(event)


def send_digest(world: World) -> None:
    """The digest that is due goes out, a minute after the stamp."""
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.pass_time(minutes=1)
    world.fan_out(slot_of(due))
    world.deliver_queued()


def test_trace_x_late_write_is_in_the_next_window() -> None:
    world = a_world()
    world.events.around = standing_still(world, lambda: send_digest(world))
    put(world, 2)
    assert shown(world) == ["post1: 1"]
    world.send_digest()
    assert shown(world) == ["post1: 1", "post2: 1"]


def test_trace_x_redelivery_restamps_the_event_of_a_dead_worker() -> None:
    world = a_world()
    event = an_event("e2", entity_id="post2", occurred_at=world.clock())
    written_late(world, event)
    world.clock.pass_time(minutes=9)
    world.create(event)
    world.send_digest()
    assert shown(world) == ["post1: 1", "post2: 1"]


@pytest.mark.parametrize("dies", [False, True])
def test_trace_x_late_writes_of_a_follow_are_restamped_together(dies: bool) -> None:
    """The worker stands still, or dies, between the stamps and the write of thirty events."""
    world = a_world()
    began = world.clock()
    for number in range(30):
        activity = an_activity(f"a{number}", entity_id="post2", occurred_at=began)
        world.activities.create(activity)
    followed = ChangeFollow("ann", "post#post2", FollowState(True), began)

    def die(_: str, call: Callable[[], Any]) -> Any:
        world.events.around = lambda _, call: call()
        send_digest(world)
        call()
        raise NotYet("The worker is gone.")

    if dies:
        world.events.around = die
        with pytest.raises(NotYet):
            world.say(followed)
        world.clock.pass_time(minutes=9)
    else:
        world.events.around = standing_still(world, lambda: send_digest(world))
    world.say(followed)
    assert shown(world) == ["post1: 1"]
    world.send_digest()
    assert shown(world) == ["post1: 1", "post2: 30"]


def test_trace_x_amendment_restamps_a_late_event() -> None:
    """Its own look is what counts: the message of what it amends may never come again."""
    world = a_world()
    at = world.clock()
    event = an_event("e2", entity_id="post2", occurred_at=at)
    written_late(world, event)
    world.clock.pass_time(minutes=2)
    world.create(replace(event, excerpt="Better", amended_at=at + timedelta(seconds=90)))
    for number in range(10, 12):
        put(world, number)
        world.send_digest()
    assert {"post1: 1", "post2: 1"} < set(shown(world))


def test_trace_x_redelivered_older_version_restamps_the_stored_event() -> None:
    """The worker of the amendment died between the amendment and the look."""
    world = a_world()
    at = world.clock()
    event = an_event("e2", entity_id="post2", occurred_at=at)
    written_late(world, event)
    stored = world.events.rows["ann", "e2"]
    assert isinstance(stored, StoredEvent)
    assert world.events.amend(
        stored, replace(event, excerpt="Better", amended_at=at + timedelta(seconds=90))
    )
    world.clock.pass_time(minutes=9)
    world.create(event)
    world.send_digest()
    assert shown(world) == ["post1: 1", "post2: 1"]


def may_have_been_sent(world: World) -> None:
    """The digest that is due may have gone out: nobody gets an answer."""
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    send_digest(world)


def pass_hours(world: World, hours: int) -> None:
    for _ in range(6 * hours):
        world.clock.pass_time(minutes=10)
        world.evidence_log.record(world.clock())
        world.deliver_queued()
        world.sweep("ann")


@pytest.mark.parametrize("first_went_out", [True, False])
def test_trace_x_second_attempt_shows_no_additional_events(
    first_went_out: bool,
) -> None:
    """Else nobody could tell by the delivery event of either in which of them the event was."""
    world = a_world()
    event = an_event("e2", entity_id="post2", occurred_at=world.clock())
    written_late(world, event, may_have_been_sent)
    world.mailer.script.append(RefusedForNow(2, "Throttling"))
    for _ in range(12):
        world.clock.pass_time(minutes=10)
        world.evidence_log.record(world.clock())
        world.sweep("ann")
        if world.resend_queue.sent:
            break
    with pytest.raises(NotYet):
        world.resend(RunKey("ann", DAILY, 1))
    (run,) = world.runs.rows.values()
    assert (run.attempt, run.uncertain, run.status) == (2, frozenset({1}), Status.RETRYING)
    if first_went_out:
        apply(run, Evidence(1, "m1"), runs=world.runs)
    pass_hours(world, 3)
    world.create(event)
    for number in range(10, 12):
        world.send_digest()
        put(world, number)
    assert shown(world).count("post2: 1") == 1
    assert shown(world).count("post1: 1") == 1 - first_went_out


@pytest.mark.parametrize("frequency", [Frequency.DAILY, Frequency.IMMEDIATE])
@pytest.mark.parametrize("policy", [Policy.RESEND, Policy.CARRY_OVER])
def test_trace_x_event_omitted_by_an_unknown_run_is_not_counted_as_shown(
    policy: Policy, frequency: Frequency
) -> None:
    """Its message comes again only when the window of that run has ended long after the event."""
    world = a_world(frequency)
    world.policy = policy
    if frequency is Frequency.IMMEDIATE:
        world.clock.pass_time(seconds=10)
    event = an_event("e2", entity_id="post1", actor="Cy", occurred_at=world.clock())

    def unknown(world: World) -> None:
        if frequency is Frequency.DAILY:
            may_have_been_sent(world)
        else:
            world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
            world.clock.pass_time(minutes=1)
            world.deliver_queued()

    def more(number: int) -> None:
        world.create(an_event(f"e{number}", entity_id="post1", occurred_at=world.clock()))
        if frequency is Frequency.DAILY:
            world.send_digest()
        pass_hours(world, 1)

    written_late(world, event, unknown)
    for _ in range(8 * 6):
        world.clock.pass_time(minutes=10)
        world.deliver_queued()
        world.sweep("ann")
    more(3)
    world.create(event)
    more(4)
    assert_each_came_once(world, "e1", "e2", "e3", "e4")


def assert_each_came_once(world: World, *event_ids: str) -> None:
    """By what the runs say that were sent: the email names no event."""
    runs = [run for run in world.runs.rows.values() if run.status is Status.SENT]
    for event_id in event_ids:
        stored = world.events.rows["ann", event_id]
        assert isinstance(stored, StoredEvent)
        assert sum(run.has_shown(event_id, stored.stored_at) for run in runs) == 1, event_id
    assert events_in(shown(world)) == len(event_ids)


@pytest.mark.parametrize("dies", [False, True])
def test_trace_x_event_restamped_in_a_thread_is_still_sent(dies: bool) -> None:
    """All its runs have been sent, and while the worker stands still once more, one more is."""
    world = a_world(Frequency.IMMEDIATE)
    world.clock.pass_time(seconds=20)
    event = an_event("e2", entity_id="post1", occurred_at=world.clock())
    writes = 0

    def send_all(seconds: int) -> None:
        world.clock.pass_time(seconds=seconds)
        queued, world.generate_queue.sent = world.generate_queue.sent, []
        for message in queued:
            world.generate(message.key)

    def around(name: str, call: Callable[[], Any]) -> Any:
        nonlocal writes
        writes += 1
        world.events.around = lambda _, call: call()
        if writes == 1:
            send_all(22)
            done = call()
            if dies:
                world.events.around = around
                raise NotYet("The worker is gone.")
        elif writes == 2 + dies:
            world.create(an_event("e3", entity_id="post1", occurred_at=world.clock()))
            send_all(700)
            done = call()
        else:
            done = call()
        world.events.around = around
        return done

    world.events.around = around
    if dies:
        with pytest.raises(NotYet):
            world.create(event)
        world.clock.pass_time(minutes=9)
    world.create(event)
    world.events.around = lambda _, call: call()
    pass_hours(world, 3)
    assert events_in(shown(world)) == 3


@pytest.mark.parametrize("ended", ["empty", "superseded"])
def test_late_event_after_an_empty_run_gets_another_run(
    ended: str,
) -> None:
    world = a_world(Frequency.IMMEDIATE)

    def find_nothing() -> None:
        if ended == "superseded":
            world.clock.pass_time(seconds=21)
            put_on_post1 = an_event("e3", entity_id="post1", occurred_at=world.clock())
            world.create(put_on_post1)
            retract_event("ann", "e3", context=world.context)
            world.generate_queue.sent.reverse()
        retract_event("ann", "e1", context=world.context)
        world.clock.pass_time(minutes=1)
        world.deliver_queued()

    world.events.around = standing_still(world, find_nothing)
    world.create(an_event("e2", entity_id="post1", occurred_at=world.clock()))
    pass_hours(world, 1)
    assert shown(world) == ["post1: 1"]


def test_trace_x_fan_out_with_a_fast_clock_rechecks_empty_schedules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the clock of whoever writes the digest is not due yet; by that of fan-out it is."""
    world = World()
    world.choose(comment=Frequency.DAILY)
    world.arm()
    due = world.schedules.rows["ann", DAILY].next_due_at
    put_schedule = world.schedules.put

    def late(_: str, call: Callable[[], Any]) -> Any:
        world.events.around = lambda _, call: call()
        world.clock.now = due - timedelta(seconds=4)
        return call()

    def put_once(schedule: Any, *, replacing: Any) -> bool:
        monkeypatch.setattr(world.schedules, "put", put_schedule)
        world.clock.now = due - timedelta(seconds=20)
        world.events.around = late
        put(world, 1)
        world.clock.now = due + timedelta(seconds=1)
        return put_schedule(schedule, replacing=replacing)

    monkeypatch.setattr(world.schedules, "put", put_once)
    world.clock.now = due + timedelta(seconds=0.5)
    world.fan_out(slot_of(due))
    for _ in range(3):
        world.send_digest()
    assert shown(world) == ["post1: 1"]


def test_trace_x_redelivery_does_not_repeat_a_sent_event() -> None:
    """Also where it was stored right before the window ended, and the message comes much later."""
    world = a_world()
    event = an_event("e2", entity_id="post2", occurred_at=world.clock())
    world.create(event)
    send_digest(world)
    assert shown(world) == ["post1: 1", "post2: 1"]
    for _ in range(3):
        world.create(event)
        world.send_digest()
    assert shown(world) == ["post1: 1", "post2: 1"]
    for _ in range(20):
        put(world, 1)
        world.clock.pass_time(days=1)
    assert shown(world) == ["post1: 1", "post2: 1"]


def test_trace_x_redelivery_does_not_repeat_an_event_from_an_earlier_email() -> None:
    """The evidence of the first came when the second was sent; then the message comes again."""
    world = a_world()
    event = an_event("e2", entity_id="post2", occurred_at=world.clock())
    world.create(event)
    send_digest(world)
    [first] = world.runs.rows.values()
    assert first.window
    world.clock.pass_time(minutes=1)
    window = replace(first.window, until=world.clock())
    left_out = (name_of("e1"), name_of("e2"))
    second = replace(first, key=RunKey("ann", DAILY, 2), window=window, left_out=left_out)
    world.runs.create(second)
    world.clock.pass_time(minutes=1)
    world.create(event)
    put(world, 3)
    for _ in range(2):
        world.send_digest()
    assert shown(world) == ["post1: 1", "post2: 1", "post3: 1"]


def test_late_immediate_event_is_sent_by_another_run() -> None:
    world = a_world(Frequency.IMMEDIATE)
    world.deliver_queued()
    world.clock.pass_time(hours=2)

    def others() -> None:
        world.create(an_event("e3", entity_id="post1", occurred_at=world.clock()))
        world.clock.pass_time(minutes=1)
        world.deliver_queued()

    world.events.around = standing_still(world, others)
    world.create(an_event("e2", entity_id="post1", occurred_at=world.clock()))
    world.clock.pass_time(minutes=1)
    world.send_everything()
    assert shown(world) == ["post1: 1"] * 3


def test_fan_out_rechecks_an_empty_schedule() -> None:
    """The event was not there when fan-out looked, and lies before what is known to be quiet."""
    world = World()
    world.choose(comment=Frequency.DAILY)
    world.clock.now = world.schedules.rows["ann", DAILY].next_due_at - timedelta(seconds=10)
    world.events.around = standing_still(world, lambda: send_digest(world))
    put(world, 1)
    world.send_digest()
    assert shown(world) == ["post1: 1"]


def test_worker_that_read_before_a_late_write_reads_again() -> None:
    """It would close its window over what it has not seen."""
    world = a_world()
    event = an_event("e2", entity_id="post2", occurred_at=world.clock())

    def around(_: str, call: Callable[[], Any]) -> Any:
        """The event is written after the window was read, and looked at before it is claimed."""
        world.events.around = lambda _, call: call()
        world.clock.pass_time(minutes=1)
        world.fan_out(slot_of(world.schedules.rows["ann", DAILY].next_due_at))
        done: list[Any] = []

        def write() -> None:
            done.append(call())
            world.create(event)

        with world.meanwhile("events.skim", write):
            world.deliver_queued()
        return done[0]

    world.events.around = around
    world.create(event)
    assert shown(world) == ["post1: 1", "post2: 1"]
    assert len(world.emails()) == 1


def test_late_event_is_sent_once_after_any_crash() -> None:
    event = an_event("e2", entity_id="post2", occurred_at=a_world().clock())

    def make() -> World:
        world = a_world()
        world.events.around = standing_still(world, lambda: send_digest(world))
        return world

    for world, where in crashes(make, lambda world: world.create(event)):
        world.clock.pass_time(minutes=9)
        world.create(event)
        world.send_digest()
        assert shown(world) == ["post1: 1", "post2: 1"], where


def test_event_written_on_time_causes_no_extra_reads() -> None:
    world = a_world()
    with world.calls() as called:
        put(world, 2)
    assert "runs.chain" not in called
    world.clock.now += WRITE_BOUND
    for number in (2, 3):
        with world.calls() as called:
            put(world, number)
        assert "runs.chain" not in called


def test_recorded_names_cover_the_longest_function_timeout() -> None:
    """Whatever is stored earlier was there when the window was read."""
    longest = max(step.timeout for step in (INGEST, FOLLOWERS, PREFERENCES))
    assert timedelta(seconds=longest) + 2 * SKEW < STILL_WRITTEN + SETTLE_LAG - SKEW


def test_run_records_the_most_recently_stored_events() -> None:
    world = a_world()
    put(world, 2)
    send_digest(world)
    (run,) = [run for run in world.runs.rows.values() if run.key.schedule == DAILY]
    assert run.window
    stamps = {
        stored.event.id: stored.stored_at
        for stored in world.events.rows.values()
        if isinstance(stored, StoredEvent)
    }
    assert len(run.newest) == 1
    assert run.has_shown("e2", stamps["e2"])
    assert run.has_shown("e1", stamps["e1"])
    assert not run.has_shown("e3", stamps["e2"])


def test_event_retracted_between_window_pages_is_not_sent() -> None:
    """A megabyte each: what is retracted meanwhile is in no email, and nothing else is lost."""
    world = World()
    world.choose(comment=Frequency.DAILY)
    for number in range(12):
        event = an_event(f"e{number}", entity_id=f"post{number}", excerpt="x" * 100_000)
        world.create(event)
        world.clock.pass_time(seconds=1)
    pages = 0

    def around(name: str, call: Callable[[], Any]) -> Any:
        nonlocal pages
        if name == "events.page":
            pages += 1
            if pages == 1:
                retract_event("ann", "e0", context=world.context)
        return call()

    world.events.around = around
    world.send_digest()
    assert pages > 0
    assert shown(world) == sorted(f"post{number}: 1" for number in range(1, 12))
