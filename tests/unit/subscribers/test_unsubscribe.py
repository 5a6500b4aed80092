"""Unsubscribe: nothing is claimed once it was acknowledged."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Erased, Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause

from tests.builders import KEY, NOW, SettableClock, a_bounce, a_run, a_subscriber, an_event
from tests.world import World, crashes, interleavings

DAY = timedelta(days=1)


def a_reader() -> World:
    """Ann, who has three schedules, and of whose daily digest one run was sent and one is open."""
    world = World()
    world.choose(at=NOW - DAY, like=Frequency.WEEKLY, mention=Frequency.CUSTOM)
    world.arm()
    world.runs.create(replace(a_run(1), status=Status.SENT))
    world.runs.create(a_run(2))
    return world


@pytest.fixture
def world() -> World:
    return a_reader()


def status(world: World) -> SubscriberStatus:
    """Whether Ann may be sent to."""
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader.status


def test_unsubscribed_reader_is_no_longer_due(world: World) -> None:
    for _ in range(2):
        assert world.unsubscribe()
    assert status(world) is SubscriberStatus.UNSUBSCRIBED
    assert world.schedules.withdrawn == {("ann", name) for name in (DAILY, "weekly", "custom")}


def test_unsubscribe_is_recorded_for_the_email_used(world: World) -> None:
    world.record_unsubscribed(KEY)
    (row,) = world.engagements.rows.values()
    assert (row.key, row.first) == (KEY, {EngagementEvent.UNSUBSCRIBED: NOW})


def test_failure_to_record_the_unsubscribe_is_ignored(world: World) -> None:
    world.record_unsubscribed(RunKey("ann", DAILY, 99))

    def refuse(name: str, _: Callable[[], object]) -> object:
        raise Unavailable(f"{name} did not answer.")

    with world.watched(refuse):
        world.record_unsubscribed(KEY)
    assert not world.engagements.rows


def test_address_stays_suppressed_independently_of_the_profile(world: World) -> None:
    world.unsubscribe()
    assert world.suppressions.rows == {address_hash("ann@example.com"): Cause.UNSUBSCRIBED}
    world.choose("ann2", at=NOW)
    assert world.suppressions.holds(address_hash(" Ann@EXAMPLE.com "))


@pytest.mark.parametrize("past", [10, 1000])
def test_unsubscribe_cost_does_not_depend_on_history(past: int) -> None:
    """No run is read, changed or counted: each finds out by its worker's last look."""
    world = a_reader()
    for number in range(past):
        thread = f"now{number:020d}"
        world.runs.create(replace(a_run(), key=RunKey("ann", thread, 1), status=Status.SENT))
    before = dict(world.runs.rows)
    with world.calls() as calls:
        world.unsubscribe()
    assert len(calls) == 11
    assert not [name for name in calls if name.startswith("runs.")]
    assert world.runs.rows == before


def test_interrupted_unsubscribe_is_complete_after_a_repetition() -> None:
    for world, where in crashes(a_reader, World.unsubscribe):
        assert world.unsubscribe(), where
        assert not world.schedules.listed, where
        assert world.suppressions.rows, where


def ready() -> World:
    """Ann's open digest has something to show."""
    world = a_reader()
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    return world


def test_trace_o_email_is_not_sent_after_an_acknowledged_unsubscribe() -> None:
    """The worker read the status before it changed, and looks once more after its claim."""
    later, attempts = [], set()
    for world, where in interleavings(
        ready, lambda world: world.deliver(a_run(2).key), World.unsubscribe
    ):
        run = world.runs.rows[a_run(2).key]
        attempts.add(run.attempt)
        if world.emails():
            later.append(where.partition(",")[0])
        else:
            assert run.reason in {Reason.UNSUBSCRIBED, Reason.SUPPRESSED}, where
    assert later == ["before mailer.send", "before runs.swap"]
    assert attempts == {0, 1}


def test_trace_o_worker_between_claim_and_last_look_sees_every_stop() -> None:
    """Of two workers, the one that has claimed stands still while the reader does as they like."""

    def return_at_once(world: World) -> None:
        world.unsubscribe()
        world.resubscribe()

    for act, sent in (
        (World.unsubscribe, 0),
        (World.erase, 0),
        (return_at_once, 1),
        (lambda world: world.feedback(a_bounce()), 0),
        (lambda world: world.choose(comment=Frequency.NEVER), 0),
        (lambda world: world.choose(comment=Frequency.WEEKLY), 0),
        (lambda world: world.choose("ann2"), 1),
    ):
        world = ready()
        is_claimed: list[bool] = []

        def stand_still(
            name: str,
            call: Callable[[], object],
            world: World = world,
            act: Callable[[World], object] = act,
            is_claimed: list[bool] = is_claimed,
        ) -> object:
            answer = call()
            if name == "runs.swap" and not is_claimed:
                is_claimed.append(world.runs.rows[a_run(2).key].status is Status.SENDING)
                act(world)
                world.deliver(a_run(2).key)
            return answer

        with world.watched(stand_still):
            world.deliver(a_run(2).key)
        assert is_claimed == [True]
        assert len(world.emails("ann")) == sent


def test_email_goes_to_an_address_changed_after_its_preparation() -> None:
    world = ready()
    moved = a_subscriber(changed_at=world.clock(), email="new@example.com", like=Frequency.WEEKLY)
    looks = []

    def move(name: str, call: Callable[[], object]) -> object:
        looks.append(name)
        if looks.count("subscribers.get") == 2 and name == "subscribers.get":
            world.say(ChangeSubscriber(moved))
        return call()

    with world.watched(move):
        world.deliver(a_run(2).key)
    assert [mail.to for mail, _ in world.mailer.accepted] == ["new@example.com"]


def test_address_of_an_unknown_reader_is_suppressed(
    clock: SettableClock,
) -> None:
    """Whoever has its mailbox asked for no more email, and a service may put it again."""
    world = World(clock)
    world.erase()
    assert not world.unsubscribe()
    assert set(world.suppressions.rows) == {address_hash("ann@example.com")}
    assert isinstance(world.subscribers.get("ann"), Erased)


def test_attack_link_for_a_former_address_cannot_unsubscribe_the_new_address(world: World) -> None:
    """Nor can one that is changed at the very moment."""
    new = a_subscriber(changed_at=NOW, email="new@example.com")

    def change() -> None:
        world.say(ChangeSubscriber(new))

    with world.meanwhile("subscribers.get", change):
        assert not world.unsubscribe()
    assert not world.unsubscribe()
    assert status(world) is SubscriberStatus.ACTIVE
    assert set(world.suppressions.rows) == {address_hash("ann@example.com")}
    assert not world.schedules.withdrawn


def test_attack_former_owner_of_an_id_cannot_unsubscribe_the_new_owner(world: World) -> None:
    """Not even if the id changes hands between the look at the reader and the write."""

    def change_hands() -> None:
        world.erase()
        world.clock.now += timedelta(minutes=1)
        other = a_subscriber(changed_at=world.clock(), email="other@example.com")
        world.say(ChangeSubscriber(other))

    with world.meanwhile("subscribers.get", change_hands):
        assert not world.unsubscribe()
    assert status(world) is SubscriberStatus.ACTIVE


def test_unsubscribe_holds_if_the_id_is_reused_or_moves() -> None:
    """What somebody does at the new address does not take back what was asked for at the old."""

    def change_hands(world: World) -> None:
        world.erase()
        move(world)

    def move(world: World) -> None:
        world.clock.now += timedelta(minutes=1)
        other = a_subscriber(changed_at=world.clock(), email="other@example.com")
        world.say(ChangeSubscriber(other))
        world.resubscribe("ann", "other@example.com")

    for other in (change_hands, move):
        for world, where in interleavings(a_reader, World.unsubscribe, other):
            assert world.suppressions.holds(address_hash("ann@example.com")), where


def test_reader_returning_to_an_address_during_unsubscribe_is_suppressed() -> None:
    """The profile of the return is suppressed: nobody has taken back what was asked for."""

    def come_back(world: World) -> None:
        world.erase()
        world.clock.now += timedelta(minutes=1)
        world.choose(at=world.clock())

    for world, where in interleavings(a_reader, World.unsubscribe, come_back):
        assert world.suppressions.holds(address_hash("ann@example.com")), where


def test_attack_unsubscribe_by_a_former_owner_of_the_address_can_be_undone(
    world: World,
) -> None:
    """An old link ends email to its address, in nobody's name: whoever reads there starts again."""
    assert not world.unsubscribe("mallory", "ann@example.com")
    world.subscribers.set_status("ann", SubscriberStatus.SUPPRESSED)
    assert world.resubscribe()
    assert status(world) is SubscriberStatus.ACTIVE


def test_unsubscribe_of_a_concurrently_erased_reader_succeeds_without_writes(world: World) -> None:
    with world.meanwhile("suppressions.unsubscribe", world.erase):
        assert not world.unsubscribe()
    assert not world.schedules.rows
