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

from infra.topology import FOLLOWERS, INGEST, PREFERENCES
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


def test_trace_x_a_write_that_comes_late_lies_in_the_next_window() -> None:
    world = a_world()
    world.events.around = standing_still(world, lambda: send_digest(world))
    put(world, 2)
    assert shown(world) == ["post1: 1"]
    world.send_digest()
    assert shown(world) == ["post1: 1", "post2: 1"]


def test_trace_x_where_its_worker_died_the_message_that_comes_again_stamps_it_anew() -> None:
    world = a_world()
    event = an_event("e2", entity_id="post2", occurred_at=world.clock())
    written_late(world, event)
    world.clock.pass_time(minutes=9)
    world.create(event)
    world.send_digest()
    assert shown(world) == ["post1: 1", "post2: 1"]


@pytest.mark.parametrize("dies", [False, True])
def test_trace_x_what_a_late_follow_brings_together_is_stamped_anew_together(dies: bool) -> None:
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


def test_trace_x_an_amendment_stamps_it_anew_as_well() -> None:
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


def test_trace_x_what_comes_again_older_than_what_is_stored_stamps_that_anew() -> None:
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
def test_trace_x_a_second_attempt_shows_nothing_that_the_first_had_not(
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
def test_trace_x_what_the_run_that_carries_an_unknown_outcome_leaves_out_it_has_not_shown(
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
def test_trace_x_what_is_stamped_anew_in_a_thread_lies_behind_no_window_again(dies: bool) -> None:
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
            send_all(41)
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
    pass_hours(world, 1)
    assert events_in(shown(world)) == 3


@pytest.mark.parametrize("ended", ["empty", "superseded"])
def test_an_event_of_the_second_of_a_run_that_found_nothing_has_a_run_of_its_own(
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


def test_trace_x_fan_out_whose_clock_is_ahead_looks_again_where_it_found_nothing(
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


def test_trace_x_what_was_in_the_email_does_not_come_again_with_its_message() -> None:
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


def test_trace_x_what_was_in_an_email_does_not_come_again_where_a_later_one_left_it_out() -> None:
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


def test_an_immediate_event_that_is_written_late_goes_out_by_a_run_of_its_own() -> None:
    world = a_world(Frequency.IMMEDIATE)
    world.deliver_queued()

    def others() -> None:
        world.create(an_event("e3", entity_id="post1", occurred_at=world.clock()))
        world.clock.pass_time(minutes=1)
        world.deliver_queued()

    world.events.around = standing_still(world, others)
    world.create(an_event("e2", entity_id="post1", occurred_at=world.clock()))
    world.clock.pass_time(minutes=1)
    world.deliver_queued()
    assert shown(world) == ["post1: 1"] * 3


def test_fan_out_looks_again_at_a_schedule_that_it_found_empty() -> None:
    """The event was not there when fan-out looked, and lies before what is known to be quiet."""
    world = World()
    world.choose(comment=Frequency.DAILY)
    world.clock.now = world.schedules.rows["ann", DAILY].next_due_at - timedelta(seconds=10)
    world.events.around = standing_still(world, lambda: send_digest(world))
    put(world, 1)
    world.send_digest()
    assert shown(world) == ["post1: 1"]


def test_a_worker_that_has_read_before_the_write_reads_again() -> None:
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


def test_whatever_breaks_off_it_comes_once() -> None:
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


def test_in_time_nothing_more_is_read() -> None:
    world = a_world()
    with world.calls() as called:
        put(world, 2)
    assert "runs.chain" not in called
    world.clock.now += WRITE_BOUND
    for number in (2, 3):
        with world.calls() as called:
            put(world, number)
        assert "runs.chain" not in called


def test_what_is_named_in_a_run_covers_every_function_that_writes_events() -> None:
    """Whatever is stored earlier was there when the window was read."""
    longest = max(step.timeout for step in (INGEST, FOLLOWERS, PREFERENCES))
    assert timedelta(seconds=longest) + 2 * SKEW < STILL_WRITTEN + SETTLE_LAG - SKEW


def test_the_run_names_what_was_stored_last() -> None:
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


def test_somebody_may_act_between_two_pages_of_a_window() -> None:
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
