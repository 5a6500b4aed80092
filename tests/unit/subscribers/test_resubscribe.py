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


def test_a_resubscribed_reader_is_scheduled_again() -> None:
    world = left()
    for _ in range(2):
        assert world.resubscribe()
        assert status(world) is SubscriberStatus.ACTIVE
        assert_consistent(world, "")
    assert set(world.schedules.rows) == {("ann", DAILY), ("ann", "weekly")}
    assert world.create(an_event()) != [], "and hears of what happens"


def test_starting_again_is_a_sign_of_life() -> None:
    world = left()
    world.resubscribe()
    assert world.subscribers.active == {"ann": NOW.date()}


@pytest.mark.parametrize("reason", sorted(set(Cause) - {Cause.UNSUBSCRIBED}))
def test_an_address_that_is_suppressed_for_another_reason_stays_so(reason: Cause) -> None:
    world = known()
    world.suppressions.add(ANN, reason)
    world.subscribers.set_status("ann", SubscriberStatus.SUPPRESSED)
    before = dict(world.subscribers.rows)
    assert not world.resubscribe()
    assert world.suppressions.rows == {ANN: reason}
    assert world.subscribers.rows == before


def test_attack_who_shares_an_address_cannot_take_back_that_the_other_left() -> None:
    """Bo gives Ann's address: what she asked for there holds for him as well."""
    world = left()
    world.say(ChangeSubscriber(a_subscriber("bo")))
    for _ in range(2):
        assert not world.resubscribe("bo")
        assert_consistent(world, "")
    assert world.resubscribe()
    assert not world.suppressions.rows


def test_who_may_not_start_again_has_left_all_the_same() -> None:
    """Ann and Bo share an address and have both left: each start is refused, and takes nothing."""
    world = left()
    world.say(ChangeSubscriber(a_subscriber("bo")))
    world.unsubscribe("bo", "ann@example.com")
    assert not world.resubscribe("bo", "ann@example.com")
    assert world.suppressions.by == {ANN: {"ann", "bo"}}
    assert not world.resubscribe(), "Bo has not taken it back"
    assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}


def test_who_starts_again_while_an_overtaken_erasure_comes_is_not_suppressed_by_it() -> None:
    def erase(world: World) -> None:
        world.erase(at=NOW - timedelta(days=1))

    for act, other in ((erase, World.resubscribe), (World.resubscribe, erase)):
        for world, where in interleavings(left, act, other):
            assert_consistent(world, where)
            assert world.resubscribe(), where


def test_attack_who_had_the_id_before_cannot_start_for_who_has_it_now() -> None:
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


def test_who_was_erased_and_came_back_to_a_suppressed_address_may_start_again() -> None:
    """The profile of the return is suppressed for what the reader had done themself."""
    world = left()
    world.erase()
    world.clock.pass_time(minutes=1)
    world.choose()
    assert status(world) is SubscriberStatus.SUPPRESSED
    assert world.resubscribe()
    assert_consistent(world, "")


def test_an_unknown_reader_cannot_resubscribe(clock: SettableClock) -> None:
    world = World(clock)
    assert not world.resubscribe()
    world.erase()
    assert not world.resubscribe()
    assert not world.schedules.rows


def test_what_broke_off_anywhere_is_whole_after_its_repetition() -> None:
    for world, where in crashes(left, World.resubscribe):
        assert world.resubscribe(), where
        assert_consistent(world, where)


def test_after_a_crash_whoever_is_active_is_due() -> None:
    """Nobody may press the button again: then she is gone, or she is due."""
    for world, where in crashes(left, World.resubscribe):
        if status(world) is SubscriberStatus.ACTIVE:
            assert not world.schedules.withdrawn, where


def test_who_leaves_and_starts_again_at_once_is_wholly_here_or_wholly_gone() -> None:
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


def test_a_profile_that_changes_meanwhile_counts_too() -> None:
    def change(world: World) -> None:
        world.clock.pass_time(minutes=1)
        world.choose(comment=Frequency.CUSTOM)

    for world, where in interleavings(left, World.resubscribe, change):
        assert status(world) is SubscriberStatus.ACTIVE, where
        assert ("ann", "custom") in world.schedules.rows, where
        assert_consistent(world, where)


def test_a_complaint_that_comes_while_somebody_starts_again_keeps_them_out() -> None:
    """Of a digest that they had before they left."""

    def complain(world: World) -> None:
        world.feedback(a_complaint())

    for act, other in ((World.resubscribe, complain), (complain, World.resubscribe)):
        for world, where in interleavings(left, act, other):
            assert world.suppressions.rows == {ANN: Cause.COMPLAINED}, where
            assert status(world) is not SubscriberStatus.ACTIVE, where
            assert not world.schedules.listed, where
            assert not world.resubscribe(), where


def test_an_erasure_meanwhile_leaves_nothing() -> None:
    for act, other in ((World.resubscribe, World.erase), (World.erase, World.resubscribe)):
        for world, where in interleavings(left, act, other):
            assert not world.schedules.rows, where


def test_a_profile_that_keeps_changing_is_told() -> None:
    world = left()
    world.subscribers.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        world.resubscribe()
