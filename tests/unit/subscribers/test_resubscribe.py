"""A reader who unsubscribed starts again: by their own hand, and only from that."""

from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.errors import NotYet
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.subscribers.unsubscribe import settle_suppression

from tests.builders import NOW, SettableClock, a_complaint, a_subscriber, an_event
from tests.world import World, crashes, interleavings

ANN = address_hash("ann@example.com")


def known() -> World:
    """Ann hears of likes weekly, and both her digests are in the due index."""
    world = World()
    world.choose(at=NOW, like=Frequency.WEEKLY)
    world.arm()
    return world


def left() -> World:
    """And she unsubscribed."""
    world = known()
    world.unsubscribe()
    return world


def status(world: World) -> SubscriberStatus:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader.status


def assert_consistent(world: World, where: str) -> None:
    """Status, schedules and suppression agree on whether she is active."""
    if status(world) is SubscriberStatus.ACTIVE:
        assert not world.suppressions.rows, where
        assert not world.schedules.withdrawn, where
    else:
        assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}, where
        assert not world.schedules.listed, where


def test_resubscribed_reader_is_scheduled_again() -> None:
    world = left()
    for _ in range(2):
        assert world.resubscribe()
        assert status(world) is SubscriberStatus.ACTIVE
        assert_consistent(world, "")
    assert set(world.schedules.rows) == {("ann", DAILY), ("ann", "weekly")}
    assert world.create(an_event()) != [], "and hears of what happens"


def test_resubscribing_counts_as_activity() -> None:
    world = left()
    world.resubscribe()
    assert world.subscribers.active == {"ann": NOW.date()}


@pytest.mark.parametrize("reason", sorted(set(Cause) - {Cause.UNSUBSCRIBED}))
def test_resubscribing_does_not_lift_a_suppression_for_another_reason(reason: Cause) -> None:
    world = known()
    world.suppressions.add(ANN, reason)
    world.subscribers.set_status("ann", SubscriberStatus.SUPPRESSED)
    before = dict(world.subscribers.rows)
    assert not world.resubscribe()
    assert world.suppressions.rows == {ANN: reason}
    assert world.subscribers.rows == before


def test_attack_reader_sharing_an_address_cannot_lift_anothers_opt_out() -> None:
    """Bo gives Ann's address: what she asked for there holds for him as well."""
    world = left()
    world.say(ChangeSubscriber(a_subscriber("bo")))
    for _ in range(2):
        assert not world.resubscribe("bo")
        assert_consistent(world, "")
    assert world.resubscribe()
    assert not world.suppressions.rows


def test_rejected_resubscribe_keeps_the_readers_own_opt_out() -> None:
    """Ann and Bo share an address and have both left: each start is refused, and takes nothing."""
    world = left()
    world.say(ChangeSubscriber(a_subscriber("bo")))
    world.unsubscribe("bo", "ann@example.com")
    assert not world.resubscribe("bo", "ann@example.com")
    assert world.suppressions.by == {ANN: {"ann", "bo"}}
    assert not world.resubscribe(), "Bo has not taken it back"
    assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}


def test_resubscribed_reader_is_not_suppressed_by_an_outdated_erasure() -> None:
    def erase(world: World) -> None:
        world.erase(at=NOW - timedelta(days=1))

    for act, other in ((erase, World.resubscribe), (World.resubscribe, erase)):
        for world, where in interleavings(left, act, other):
            assert_consistent(world, where)
            assert world.resubscribe(), where


def unsubscribe_by_former(world: World) -> None:
    """An old link of a former id ends email to the address, in the name of no reader."""
    world.clock.pass_time(minutes=1)
    world.unsubscribe("former", "ann@example.com")


def test_outdated_erasure_keeps_an_unsubscription_of_the_address() -> None:
    world = known()
    unsubscribe_by_former(world)
    world.erase(at=NOW - timedelta(days=1))
    assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}


def return_and_unsubscribe_by_former(world: World) -> None:
    world.clock.pass_time(minutes=1)
    world.resubscribe()
    unsubscribe_by_former(world)


def test_outdated_erasure_keeps_an_unsubscription_of_the_address_during_it() -> None:
    def erase(world: World) -> None:
        world.erase(at=NOW - timedelta(days=1))

    for make in (left, known):
        for world, where in interleavings(make, erase, return_and_unsubscribe_by_former):
            assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}, where


def test_unsubscribe_keeps_an_unsubscription_of_the_address_during_it() -> None:
    for make in (left, known):
        for world, where in interleavings(
            make, World.unsubscribe, return_and_unsubscribe_by_former
        ):
            assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}, where


def test_resubscribe_keeps_an_unsubscription_of_the_address_that_follows_its_lift() -> None:
    """An earlier one is lifted, as if it had arrived before the reader pressed the button."""
    kept = 0
    is_lifted = False

    def other(world: World) -> None:
        nonlocal is_lifted
        is_lifted = not world.suppressions.rows
        unsubscribe_by_former(world)

    for world, where in interleavings(left, World.resubscribe, other):
        if is_lifted:
            assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}, where
            kept += 1
        else:
            assert_consistent(world, where)
    assert kept > 3


def test_settling_lifts_what_it_wrote_itself() -> None:
    """Ann returns between the read of her status and the write of the suppression."""
    world = left()
    with world.meanwhile("suppressions.unsubscribe", world.resubscribe, before=True):
        settle_suppression(
            "ann",
            ANN,
            subscribers=world.subscribers,
            suppressions=world.suppressions,
            before=NOW - timedelta(days=1),
        )
    assert status(world) is SubscriberStatus.ACTIVE
    assert_consistent(world, "")


def test_reader_who_becomes_dormant_during_a_return_is_not_stopped() -> None:
    def sleep(world: World) -> None:
        if status(world) is SubscriberStatus.ACTIVE:
            world.subscribers.set_status("ann", SubscriberStatus.DORMANT)

    statuses = set()
    for world, _ in interleavings(left, World.resubscribe, sleep):
        statuses.add(status(world))
        assert not world.suppressions.rows
    assert statuses == {SubscriberStatus.ACTIVE, SubscriberStatus.DORMANT}


def test_attack_former_owner_of_an_id_cannot_resubscribe_the_new_owner() -> None:
    """Nor for the next address of the same reader, at whatever moment the id moves."""

    def another(world: World) -> None:
        world.erase()
        world.clock.pass_time(minutes=1)
        email = "other@example.com"
        world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), email=email)))
        world.unsubscribe("ann", email)

    for world, where in interleavings(left, World.resubscribe, another):
        assert status(world) is SubscriberStatus.UNSUBSCRIBED, where
        assert world.suppressions.holds(address_hash("other@example.com")), where


def test_erased_reader_can_resubscribe_at_the_suppressed_address() -> None:
    """The profile of the return is suppressed for what the reader had done themself."""
    world = left()
    world.erase()
    world.clock.pass_time(minutes=1)
    world.choose()
    assert status(world) is SubscriberStatus.SUPPRESSED
    assert world.resubscribe()
    assert_consistent(world, "")


def test_unknown_reader_cannot_resubscribe(clock: SettableClock) -> None:
    world = World(clock)
    assert not world.resubscribe()
    world.erase()
    assert not world.resubscribe()
    assert not world.schedules.rows


def test_interrupted_resubscribe_is_complete_after_a_repetition() -> None:
    for world, where in crashes(left, World.resubscribe):
        assert world.resubscribe(), where
        assert_consistent(world, where)


def test_active_reader_is_scheduled_after_a_crash() -> None:
    """Nobody may press the button again: then she is gone, or she is due."""
    for world, where in crashes(left, World.resubscribe):
        if status(world) is SubscriberStatus.ACTIVE:
            assert not world.schedules.withdrawn, where


def test_concurrent_unsubscribe_and_resubscribe_leave_a_consistent_state() -> None:
    ends = set()
    for act, other in (
        (World.resubscribe, World.unsubscribe),
        (World.unsubscribe, World.resubscribe),
    ):
        for make in (left, known):
            for world, where in interleavings(make, act, other):
                assert_consistent(world, where)
                ends.add(status(world))
    assert ends == {SubscriberStatus.ACTIVE, SubscriberStatus.UNSUBSCRIBED}


def test_profile_change_during_resubscribe_is_applied() -> None:
    def change(world: World) -> None:
        world.clock.pass_time(minutes=1)
        world.choose(comment=Frequency.CUSTOM)

    for world, where in interleavings(left, World.resubscribe, change):
        assert status(world) is SubscriberStatus.ACTIVE, where
        assert ("ann", "custom") in world.schedules.rows, where
        assert_consistent(world, where)


def test_complaint_during_resubscribe_keeps_the_reader_suppressed() -> None:
    """Of a digest that they had before they left."""

    def complain(world: World) -> None:
        world.feedback(a_complaint())

    for act, other in ((World.resubscribe, complain), (complain, World.resubscribe)):
        for world, where in interleavings(left, act, other):
            assert world.suppressions.rows == {ANN: Cause.COMPLAINED}, where
            assert status(world) is not SubscriberStatus.ACTIVE, where
            assert not world.schedules.listed, where
            assert not world.resubscribe(), where


def test_erasure_during_resubscribe_leaves_no_data() -> None:
    for act, other in ((World.resubscribe, World.erase), (World.erase, World.resubscribe)):
        for world, where in interleavings(left, act, other):
            assert not world.schedules.rows, where


def test_resubscribe_fails_if_the_profile_keeps_changing() -> None:
    world = left()
    world.subscribers.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        world.resubscribe()
