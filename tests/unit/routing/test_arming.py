"""Whoever stores or moves an event arms its schedule, whatever fan-out does meanwhile (rule 23)."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.model import DAILY, RunKey, Schedule, ScheduleState
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import a_subscriber, an_event
from tests.world import World, crashes, interleavings

DUE = datetime.fromisoformat("2026-11-23T07:00Z")
"""Eight in Berlin."""

DAY = timedelta(days=1)

Act = Callable[[World], object]


def ripe() -> World:
    """Ann's daily schedule is due now, and nothing waits under it any more."""
    world = World()
    world.choose()
    world.arm()
    world.clock.now = DUE
    return world


def ripe_and_elsewhere() -> World:
    """The same, but an event waits under Ann's weekly schedule, which is due later."""
    world = World()
    world.choose()
    world.arm()
    world.choose(comment=Frequency.WEEKLY, at=world.clock() + timedelta(seconds=1))
    create(world)
    assert world.waiting() == {"e1": Frequency.WEEKLY}
    world.clock.now = DUE
    return world


def idle() -> World:
    """Nothing waited, and fan-out has taken the schedule out."""
    return after_fan_out(ripe())


def idle_and_elsewhere() -> World:
    """The same, and an event waits under the weekly schedule."""
    return after_fan_out(ripe_and_elsewhere())


def after_fan_out(world: World) -> World:
    fan_out(world)
    assert daily(world).is_idle
    world.clock.pass_time(minutes=12)
    return world


def fan_out(world: World) -> None:
    world.fan_out(slot_of(DUE))


def create(world: World) -> None:
    world.create(an_event())


def move(world: World) -> None:
    """Ann wants daily what she wanted every week."""
    world.choose(comment=Frequency.DAILY, at=DUE)


def daily(world: World) -> Schedule:
    """Ann's daily schedule."""
    return world.schedules.rows["ann", DAILY]


def assert_sent_once(world: World, where: str) -> None:
    world.send_everything()
    assert [email.lines for email in world.emails()] == [("post1: 1",)], where


@pytest.mark.parametrize(("make", "act"), [(ripe, create), (ripe_and_elsewhere, move)])
def test_trace_ad_event_arms_a_schedule_that_is_going_idle(
    make: Callable[[], World], act: Act
) -> None:
    """Fan-out takes it out before whichever call of whoever stores or moves the event."""
    wheres = []
    for world, where in interleavings(make, act, fan_out):
        wheres.append(where)
        assert_sent_once(world, where)
    assert len(wheres) > 3


@pytest.mark.parametrize(("make", "act"), [(ripe, create), (ripe_and_elsewhere, move)])
def test_trace_ad_event_stored_while_its_schedule_goes_idle_is_sent(
    make: Callable[[], World], act: Act
) -> None:
    """The event comes before whichever call of fan-out."""
    for world, where in interleavings(make, fan_out, act):
        assert_sent_once(world, where)


def test_trace_ad_event_arms_a_leaving_schedule_for_the_same_occurrence() -> None:
    world = ripe()
    world.schedules.rows["ann", DAILY] = daily(world).leaving()
    leaving = daily(world)
    create(world)
    assert daily(world) == leaving.armed(DUE)


@pytest.mark.parametrize(
    ("make", "act"), [(idle, create), (idle_and_elsewhere, move)], ids=["stored", "moved"]
)
def test_trace_ag_redelivered_message_arms_the_schedule_after_a_worker_crash(
    make: Callable[[], World], act: Act
) -> None:
    """The event is there by then, under the schedule that it is wanted in."""
    for world, where in crashes(make, act):
        act(world)
        assert daily(world).state is ScheduleState.ARMED, where
        assert_sent_once(world, where)


def test_trace_ah_two_workers_and_a_move_send_an_event_once() -> None:
    """One takes the schedule out, one starts the run that it had seen a reason for before, and
    between both the event moves: it asks for the run after the one that was not to be."""
    world = ripe()
    world.clock.pass_time(seconds=1)

    def ingest_is_slow() -> None:
        world.events.store(an_event(), DAILY)

    def mover(create_run: Callable[[], object]) -> tuple[World, list[object]]:
        made: list[object] = []

        def around(name: str, call: Callable[[], object]) -> object:
            if name == "events.move" and not made:
                made.append(create_run())
                world.clock.pass_time(minutes=2)
                world.generate(RunKey("ann", DAILY, 1))
            return call()

        return world.seen_through(around), made

    def second(take_out: Callable[[], object]) -> tuple[World, list[object]]:
        taken: list[object] = []

        def around(name: str, call: Callable[[], object]) -> object:
            if name != "runs.create" or taken:
                return call()
            taken.append(take_out())
            assert daily(world).is_idle
            worker, made = mover(call)
            worker.choose(comment=Frequency.WEEKLY, at=DUE)
            return made[0]

        return world.seen_through(around), taken

    taken: list[object] = []

    def around(name: str, call: Callable[[], object]) -> object:
        nonlocal taken
        if name != "schedules.put" or daily(world).state is not ScheduleState.LEAVING or taken:
            return call()
        ingest_is_slow()
        worker, taken = second(call)
        fan_out(worker)
        return taken[0]

    fan_out(world.seen_through(around))
    assert taken == [True], "the first worker took the schedule out"
    assert world.waiting() == {"e1": Frequency.WEEKLY}
    assert_sent_once(world, "in the weekly digest")


def test_trace_ah_date_without_waiting_events_may_still_have_a_digest() -> None:
    """The hour is changed to a later one of the same day, and then an event comes."""
    world = idle()
    assert daily(world).last_due_at is None
    change(world)
    create(world)
    assert daily(world).next_due_at == DUE + timedelta(hours=12)


def test_trace_ah_sequence_of_an_idle_occurrence_is_not_reused() -> None:
    """Fan-out died before it took the schedule out; then an event arms it for the same date."""
    world = ripe()
    for crashed, where in crashes(ripe, fan_out):
        create(crashed)
        assert_sent_once(crashed, where)
    fan_out(world)
    used = world.runs.rows[RunKey("ann", DAILY, 1)]
    assert (used.status, used.reason) == (Status.SKIPPED, Reason.NOTHING_WAITED)
    assert daily(world).sequence == 2


def test_new_reader_without_waiting_events_is_not_visited() -> None:
    world = World()
    world.choose()
    world.clock.now = DUE
    with world.calls() as calls:
        fan_out(world)
    assert not world.runs.rows
    assert not {call for call in calls if call.startswith(("schedules.put", "events."))}


def test_event_arriving_during_registration_is_sent() -> None:
    """Its schedule is born idle, before or after an event has armed it, or made it."""

    def register(world: World) -> None:
        world.choose()

    for act, other in ((register, create), (create, register)):
        for world, where in interleavings(World, act, other):
            assert_sent_once(world, where)


def test_idle_schedule_is_armed_for_the_next_occurrence() -> None:
    world = idle()
    world.clock.pass_time(days=9)
    create(world)
    assert (daily(world).state, daily(world).next_due_at) == (ScheduleState.ARMED, DUE + 10 * DAY)


def test_trace_ai_event_arms_the_withdrawn_schedule_of_an_active_reader() -> None:
    """Whoever withdrew it had read that she is dormant, and was slow; she is back meanwhile."""
    world = idle()
    world.schedules.rows["ann", DAILY] = daily(world).withdrawn()
    create(world)
    assert daily(world).state is ScheduleState.ARMED
    assert_sent_once(world, "after it was withdrawn")


def test_trace_ai_schedule_armed_while_its_reader_unsubscribes_is_withdrawn() -> None:
    for act, other in ((create, World.unsubscribe), (World.unsubscribe, create)):
        for world, where in interleavings(idle, act, other):
            assert not daily(world).listed, where


def test_armed_schedule_has_the_timestamp_of_its_profile() -> None:
    """The hour is changed and changed back, and an event comes; whoever changed it first is slow,
    and finds that it is late."""
    for world, where in interleavings(idle, change, change_back_and_create):
        assert (daily(world).recurrence.hour, daily(world).next_due_at) == (8, DUE + DAY), where


def change(world: World) -> None:
    world.say(ChangeSubscriber(at_hour(20, DUE + timedelta(minutes=10))))


def change_back_and_create(world: World) -> None:
    world.say(ChangeSubscriber(at_hour(8, DUE + timedelta(minutes=11))))
    create(world)


def at_hour(hour: int, changed_at: datetime) -> Subscriber:
    """Ann's profile, with a digest at that hour in Berlin."""
    return a_subscriber(changed_at=changed_at, times=DigestTimes(hour=hour, minute=0))
