"""A service returns a reader on a new consent, while anything else happens or workers die."""

from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.errors import NotYet
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY
from gazette.domain.subscribers.consent import Refusal
from gazette.domain.subscribers.preference_form import mark_of_leave
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.subscribers.return_reader import Returned

from tests.builders import NOW, a_complaint, a_subscriber, an_event
from tests.world import World, crashes, interleavings

ANN = address_hash("ann@example.com")
MINUTE = timedelta(minutes=1)
CONSENTED = NOW + MINUTE
CHANGED, UNCHANGED = Returned(has_changed=True), Returned()


def known() -> World:
    world = World()
    world.choose(at=NOW)
    world.arm()
    return world


def left() -> World:
    """Ann unsubscribed at NOW, and it is two minutes later."""
    world = known()
    world.unsubscribe()
    world.clock.pass_time(minutes=2)
    return world


def ann(world: World) -> Subscriber:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


def consent(world: World) -> Returned:
    return world.return_reader(CONSENTED)


def assert_consistent(world: World, where: str = "") -> None:
    """Status, schedules and suppression agree on whether she is active."""
    if ann(world).status is SubscriberStatus.ACTIVE:
        assert not world.suppressions.rows, where
        assert not world.schedules.withdrawn, where
    else:
        assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}, where
        assert not world.schedules.listed, where


def test_returned_reader_gets_email_again() -> None:
    world = left()
    assert consent(world) == CHANGED
    assert_consistent(world)
    assert ann(world).status is SubscriberStatus.ACTIVE
    assert (ann(world).consented_at, ann(world).returned_at) == (CONSENTED, world.clock())
    assert world.create(an_event()) != []
    assert set(world.schedules.rows) == {("ann", DAILY)}


def test_repetition_changes_nothing() -> None:
    world = left()
    consent(world)
    before = dict(world.subscribers.rows), dict(world.schedules.rows)
    for stated in (CONSENTED, CONSENTED + MINUTE, CONSENTED - 2 * MINUTE):
        assert world.return_reader(stated) == UNCHANGED
    assert (world.subscribers.rows, world.schedules.rows) == before


def test_date_of_the_consent_counts_as_activity() -> None:
    world = left()
    world.clock.pass_time(days=9)
    consent(world)
    assert world.subscribers.active == {"ann": CONSENTED.date()}


def test_consent_before_the_latest_unsubscription_is_refused() -> None:
    world = left()
    world.unsubscribe()
    before = dict(world.subscribers.rows)
    assert consent(world) == Returned(Refusal.NEWER_UNSUBSCRIPTION)
    assert world.subscribers.rows == before
    assert_consistent(world)
    assert ann(world).left_at == NOW, "the first one is kept"
    world.clock.pass_time(minutes=1)
    assert world.return_reader(world.clock()) == CHANGED


def test_unsubscription_of_the_address_alone_is_compared_too() -> None:
    """By a link to a reader who no longer exists, and by an import."""
    world = left()
    world.unsubscribe("former", "ann@example.com")
    assert consent(world) == Returned(Refusal.NEWER_UNSUBSCRIPTION)
    assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}
    world.clock.pass_time(minutes=1)
    assert world.return_reader(world.clock()) == CHANGED
    assert_consistent(world)


@pytest.mark.parametrize("cause", sorted(set(Cause) - {Cause.UNSUBSCRIBED}))
@pytest.mark.parametrize("has_left", [True, False])
def test_attack_consent_lifts_no_other_suppression(cause: Cause, has_left: bool) -> None:
    world = left() if has_left else known()
    world.suppressions.add(ANN, cause)
    if not has_left:
        world.subscribers.set_status("ann", SubscriberStatus.SUPPRESSED)
    world.clock.pass_time(days=1)
    before = dict(world.subscribers.rows)
    assert world.return_reader(world.clock()) == Returned(Refusal(cause.value))
    assert world.suppressions.rows == {ANN: cause}
    assert world.subscribers.rows == before


def test_attack_consent_to_another_address_is_refused() -> None:
    world = left()
    for email in ("bo@example.com", "ann@example.org", "ann@example.com\n.org"):
        result = world.return_reader(CONSENTED, email=email)
        assert result == Returned(Refusal.OTHER_ADDRESS)
    assert_consistent(world)


def test_attack_consent_lifts_no_unsubscription_of_another_reader() -> None:
    world = left()
    world.say(ChangeSubscriber(a_subscriber("bo")))
    for user_id in ("bo", "bo"):
        result = world.return_reader(CONSENTED, user_id, "ann@example.com")
        assert result == Returned(Refusal.SHARED_ADDRESS)
    assert world.suppressions.by == {ANN: {"ann"}}
    assert ann(world).status is SubscriberStatus.UNSUBSCRIBED


def test_attack_repeated_request_of_a_clock_that_is_ahead_lifts_no_later_unsubscription() -> None:
    world = left()
    stated = world.clock() + timedelta(hours=1)
    assert world.return_reader(stated) == CHANGED
    world.clock.pass_time(minutes=1)
    world.unsubscribe()
    world.clock.pass_time(minutes=1)
    assert world.return_reader(stated) == Returned(Refusal.NEWER_UNSUBSCRIPTION)
    assert_consistent(world)


def test_attack_repeated_request_lifts_nothing_if_the_first_changed_nothing() -> None:
    world = known()
    stated = world.clock() + timedelta(hours=1)
    for _ in range(2):
        assert world.return_reader(stated) == UNCHANGED
    assert ann(world).revision == known_revision() + 1, "a repetition stores nothing"
    world.clock.pass_time(minutes=1)
    world.unsubscribe()
    world.clock.pass_time(minutes=1)
    assert world.return_reader(stated) == Returned(Refusal.NEWER_UNSUBSCRIPTION)
    assert_consistent(world)


def known_revision() -> int:
    return ann(known()).revision


def test_attack_repeated_request_lifts_nothing_after_a_crash_of_the_first() -> None:
    """Only a crash before the first write leaves nothing by which a repetition is recognised."""
    stated = NOW + timedelta(minutes=30)
    returned = 0
    for world, crash in crashes(left, lambda world: world.return_reader(stated)):
        first = ann(world).returned_at
        world.clock.pass_time(minutes=1)
        world.unsubscribe()
        world.clock.pass_time(minutes=1)
        result = world.return_reader(stated)
        if first:
            assert result == Returned(Refusal.NEWER_UNSUBSCRIPTION), crash
            assert_consistent(world, str(crash))
        returned += first is None
    assert returned == 5, "three reads, of which two come back, and the write that did not"


def test_unknown_and_erased_readers_are_refused() -> None:
    world = left()
    result = world.return_reader(CONSENTED, "nobody", "ann@example.com")
    assert result == Returned(Refusal.UNKNOWN_READER)
    world.erase()
    assert consent(world) == Returned(Refusal.ERASED)
    assert not world.schedules.rows


def test_new_owner_of_an_id_is_returned_only_by_a_consent_after_the_erasure() -> None:
    world = left()
    world.erase()
    world.clock.pass_time(minutes=1)
    world.choose()
    assert ann(world).status is SubscriberStatus.SUPPRESSED
    assert consent(world) == Returned(Refusal.ERASED)
    assert world.return_reader(world.clock()) == CHANGED
    assert_consistent(world)


def test_interrupted_return_is_complete_after_a_repetition() -> None:
    for world, where in crashes(left, consent):
        assert consent(world).refusal is None, where
        assert ann(world).status is SubscriberStatus.ACTIVE, where
        assert_consistent(world, where)


def test_unsubscription_during_a_return_takes_effect() -> None:
    """Before any call, and by a reader who had unsubscribed or had not."""
    for make in (left, known):
        for act, other in ((consent, World.unsubscribe), (World.unsubscribe, consent)):
            for world, where in interleavings(make, act, other):
                assert ann(world).status is SubscriberStatus.UNSUBSCRIBED, where
                assert_consistent(world, where)


def test_start_again_on_the_page_does_not_undo_an_unsubscription_during_it() -> None:
    def start(world: World) -> bool:
        mark = mark_of_leave(ann(left()))
        return world.resubscribe(is_meant=lambda reader: mark_of_leave(reader) == mark)

    for world, where in interleavings(left, start, World.unsubscribe):
        assert ann(world).status is SubscriberStatus.UNSUBSCRIBED, where
        assert_consistent(world, where)
        assert not world.schedules.listed, where


def test_undo_does_not_undo_an_unsubscription_during_it() -> None:
    """An undo is offered for the first of repeated unsubscriptions, and undoes those before it."""

    def undo(world: World) -> bool:
        return world.resubscribe(is_meant=lambda reader: reader.left_at == NOW)

    worlds = interleavings(left, undo, World.unsubscribe)
    assert ann(next(worlds)[0]).status is SubscriberStatus.ACTIVE
    for world, where in worlds:
        assert ann(world).status is SubscriberStatus.UNSUBSCRIBED, where
        assert_consistent(world, where)


def test_unsubscription_of_the_address_during_a_return_takes_effect() -> None:
    def by_former(world: World) -> None:
        world.unsubscribe("former", "ann@example.com")

    for world, where in interleavings(left, consent, by_former):
        assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}, where
        assert consent(world).refusal is Refusal.NEWER_UNSUBSCRIPTION, where


def test_complaint_during_a_return_keeps_the_reader_unsubscribed() -> None:
    results: list[Returned] = []

    def act(world: World) -> None:
        results.append(consent(world))

    def complain(world: World) -> None:
        world.feedback(a_complaint())

    for world, where in interleavings(left, act, complain):
        expected = results[-1] == Returned(Refusal.COMPLAINED)
        assert (ann(world).status is SubscriberStatus.UNSUBSCRIBED) is expected, where
    for first, other in ((consent, complain), (complain, consent)):
        for world, where in interleavings(left, first, other):
            assert world.suppressions.rows == {ANN: Cause.COMPLAINED}, where
            assert ann(world).status is not SubscriberStatus.ACTIVE, where
            assert not world.schedules.listed, where
            assert consent(world) == Returned(Refusal.COMPLAINED), where


def shared() -> World:
    """Ann unsubscribed. Bo, who has the same address, did not."""
    world = known()
    world.say(ChangeSubscriber(a_subscriber("bo", email="ann@example.com")))
    world.unsubscribe()
    world.clock.pass_time(minutes=2)
    return world


def test_refused_consent_leaves_the_reader_unsubscribed() -> None:
    """Otherwise, a change of address would resume email although the consent was refused."""
    results: list[Returned] = []

    def act(world: World) -> None:
        results.append(consent(world))

    def leave(world: World) -> None:
        world.unsubscribe("bo", "ann@example.com")

    refused = Returned(Refusal.SHARED_ADDRESS)
    for world, where in interleavings(shared, act, leave):
        assert consent(world) == refused, where
        if results[-1] == refused:
            assert ann(world).status is SubscriberStatus.UNSUBSCRIBED, where
            assert ann(world).left_at == NOW, where
            assert not world.schedules.listed, where
            assert world.suppressions.by == {ANN: {"ann", "bo"}}, where
    assert results.count(refused) > results.count(CHANGED) > 0


def test_refused_return_of_an_active_reader_suppresses_the_reader() -> None:
    """Only the address was unsubscribed, so there is no unsubscription to restore."""

    def leave(world: World) -> None:
        world.unsubscribe("bo", "ann@example.com")

    def make() -> World:
        world = known()
        world.say(ChangeSubscriber(a_subscriber("bo", email="ann@example.com")))
        world.unsubscribe("former", "ann@example.com")
        world.clock.pass_time(minutes=2)
        return world

    statuses = set()
    for world, where in interleavings(make, consent, leave):
        statuses.add(ann(world).status)
        assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}, where
    assert SubscriberStatus.UNSUBSCRIBED not in statuses


def test_erasure_during_a_return_leaves_no_data() -> None:
    for act, other in ((consent, World.erase), (World.erase, consent)):
        for world, where in interleavings(left, act, other):
            assert not world.schedules.rows, where
            assert consent(world) == Returned(Refusal.ERASED), where


def test_concurrent_consents_return_the_reader_once() -> None:
    for world, where in interleavings(left, consent, consent):
        assert ann(world).status is SubscriberStatus.ACTIVE, where
        assert_consistent(world, where)


def test_return_fails_if_the_profile_keeps_changing() -> None:
    world = left()
    world.subscribers.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        consent(world)


def test_profile_keeps_the_latest_unsubscription_and_the_consent() -> None:
    world = left()
    consent(world)
    world.unsubscribe()
    world.clock.pass_time(minutes=1)
    world.unsubscribe()
    before = ann(world)
    world.choose(at=world.clock())
    now = ann(world)
    assert now.revision > before.revision
    assert now.last_left_at == before.last_left_at == world.clock()
    assert (now.consented_at, now.returned_at) == (before.consented_at, before.returned_at)
    assert now.consented_at == CONSENTED


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (CHANGED, "returned"),
        (UNCHANGED, "unchanged"),
        *((Returned(refusal), refusal.value) for refusal in Refusal),
    ],
)
def test_every_result_has_a_name(result: Returned, outcome: str) -> None:
    assert result.outcome == outcome
