"""Lists of profiles and of follows: each item is judged, applied and retried by itself."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from gazette.adapters.contract import decode, read_detail
from gazette.adapters.contract.subscribers import MOST_IN_A_LIST
from gazette.adapters.threads import side_by_side
from gazette.domain.commands import ChangeFollow, ChangeSubscriber, Command, CommandList, MarkSeen
from gazette.domain.errors import ForeignEvent, InvalidEvent, NotYet, Unavailable
from gazette.domain.outcome import Outcome
from gazette.domain.sources import Sources
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import NOW, a_subscriber
from tests.unit.ingest.test_contract import SUBSCRIBER, envelope
from tests.unit.ingest.test_together import deaf_to, failed, single
from tests.world import World, crashes

FOLLOW: dict[str, Any] = {
    "user_id": "ann",
    "entity": {"type": "post", "id": "p1"},
    "changed_at": "2026-11-22T12:00:00Z",
}
LISTS = {
    "subscriber.changed": ("subscribers", SUBSCRIBER),
    "follow.created": ("follows", FOLLOW),
}
WAIT = 10
"""Seconds until a thread gives up on the others."""


def of(detail_type: str, *users: str) -> dict[str, list[dict[str, Any]]]:
    field, detail = LISTS[detail_type]
    return {field: [{**detail, "user_id": user_id} for user_id in users]}


def profiles(*users: str, **given: Any) -> CommandList:
    given = {"changed_at": NOW, **given}
    return CommandList(tuple(ChangeSubscriber(a_subscriber(each, **given)) for each in users))


def follows(*users: str, entity: str = "post#post1") -> CommandList:
    state = FollowState(following=True)
    return CommandList(tuple(ChangeFollow(each, entity, state, NOW) for each in users))


# What is decoded.


@pytest.mark.parametrize("detail_type", LISTS)
def test_list_is_decoded_as_its_items_are(detail_type: str) -> None:
    single_commands = [
        decode(envelope(detail_type, {**LISTS[detail_type][1], "user_id": user_id}))
        for user_id in ("ann", "bo")
    ]
    command = decode(envelope(detail_type, of(detail_type, "ann", "bo")))
    assert command == CommandList(tuple(single_commands))  # type: ignore[arg-type] # of such


@pytest.mark.parametrize("wrong", [{"user_id": ""}, {}, 7, None, [], "text"])
@pytest.mark.parametrize("detail_type", LISTS)
def test_invalid_item_is_reported_and_the_others_are_accepted(
    detail_type: str, wrong: object
) -> None:
    field, _ = LISTS[detail_type]
    detail = of(detail_type, "ann", "bo", "cy")
    command = decode(envelope(detail_type, {field: [detail[field][0], wrong, *detail[field][1:]]}))
    assert isinstance(command, CommandList)
    assert len(command.commands) == 3
    assert f"detail.{field}.1" in command.problems
    assert command.problems.endswith(f". The other 3 {field} of the list were accepted.")


def test_single_valid_item_is_named_in_the_singular() -> None:
    command = decode(envelope("follow.created", {"follows": [FOLLOW, {}]}))
    assert isinstance(command, CommandList)
    assert command.problems.endswith(". The other follow of the list was accepted.")


@pytest.mark.parametrize("detail_type", LISTS)
def test_list_of_a_hundred_is_accepted_and_a_longer_one_is_rejected(detail_type: str) -> None:
    field, _ = LISTS[detail_type]
    users = [f"u{number}" for number in range(MOST_IN_A_LIST + 1)]
    command = decode(envelope(detail_type, of(detail_type, *users[1:])))
    assert isinstance(command, CommandList)
    assert len(command.commands) == MOST_IN_A_LIST == 100
    reading = read_detail(detail_type, of(detail_type, *users))
    assert reading.command is None
    assert reading.problems == (f"detail.{field}: must have at most 100 items, but has 101",)


@pytest.mark.parametrize("detail_type", LISTS)
@pytest.mark.parametrize("listed", [[], {}, None, 7, [{}, {}]])
def test_list_without_a_valid_item_is_rejected(detail_type: str, listed: object) -> None:
    field, _ = LISTS[detail_type]
    with pytest.raises(InvalidEvent, match=rf"detail\.{field}"):
        decode(envelope(detail_type, {field: listed}))


@pytest.mark.parametrize("detail_type", LISTS)
def test_list_with_another_field_is_rejected(detail_type: str) -> None:
    with pytest.raises(InvalidEvent, match="unknown field"):
        decode(envelope(detail_type, of(detail_type, "ann") | {"more": 1}))


@pytest.mark.parametrize("detail_type", LISTS)
def test_attack_list_of_a_disallowed_source_is_rejected_as_a_whole(detail_type: str) -> None:
    with pytest.raises(ForeignEvent):
        decode(
            envelope(detail_type, of(detail_type, "ann"), source="shop.evil"),
            sources=Sources.of({detail_type: ["shop.accounts"]}),
        )


# What is applied.


@pytest.mark.parametrize("make", [profiles, follows])
def test_every_item_is_applied(make: Callable[..., CommandList]) -> None:
    world = World()
    assert world.say(make("a", "b", "c")) == [Outcome.CHANGED] * 3
    rows = world.subscribers.rows or {user for _, user in world.follows.rows}
    assert set(rows) == {"a", "b", "c"}
    assert not world.quarantine.kept


def test_invalid_items_are_quarantined_after_the_valid_ones_are_applied() -> None:
    world = World()
    command = CommandList(profiles("a", "b").commands, problems="the third is wrong")
    done = world.say(command, "the list")
    assert done == [Outcome.CHANGED, Outcome.CHANGED, Outcome.QUARANTINED]
    assert world.quarantine.kept == [("the list", "the third is wrong")]


@pytest.mark.parametrize("make", [profiles, follows])
def test_item_from_the_future_is_quarantined_and_the_others_are_applied(
    make: Callable[..., CommandList],
) -> None:
    world = World()
    world.clock.now = NOW - timedelta(hours=2)
    assert world.say(make("a", "b")) == [Outcome.QUARANTINED]
    current = make("c").commands[0]
    if isinstance(current, ChangeSubscriber):
        current = ChangeSubscriber(a_subscriber("c", changed_at=world.clock()))
    else:
        assert isinstance(current, ChangeFollow)
        current = ChangeFollow("c", current.entity, current.state, world.clock())
    done = world.say(CommandList((make("a").commands[0], current), problems="and more"))
    assert done == [Outcome.CHANGED, Outcome.QUARANTINED]
    assert {*world.subscribers.rows, *(user for _, user in world.follows.rows)} == {"c"}
    _, reason = world.quarantine.kept[-1]
    assert "more than an hour ahead" in reason
    assert reason.endswith("and more")


def test_failing_item_retries_its_message_and_loses_no_other_item() -> None:
    world = World()
    deaf_to(world.subscribers, "put", user_id="b")
    done = world.say_together(profiles("a", "b", "c"), profiles("d"))
    assert failed(done) == {0: Unavailable}
    assert set(world.subscribers.rows) == {"a", "c", "d"}


def test_unexpected_error_is_reported_rather_than_not_yet() -> None:
    world = World()
    deaf_to(world.subscribers, "put", user_id="a", err=NotYet("busy"))
    deaf_to(world.subscribers, "put", user_id="b", err=KeyError("a bug"))
    assert failed(world.say_together(profiles("a", "b"))) == {0: KeyError}


def test_item_is_not_started_near_the_end_of_the_invocation() -> None:
    world = World()
    left = iter([60.0, 60.0, 29.0])

    world.time_left = lambda: timedelta(seconds=next(left, 0.0))
    done = world.say_together(profiles("a", "b"))
    assert failed(done) == {0: NotYet}


def test_redelivery_completes_an_interrupted_list() -> None:
    said = (profiles("a", "b"), follows("a", "c"))

    def act(world: World) -> None:
        world.say_together(*said)

    whole = World()
    act(whole)
    for world, where in crashes(World, act):
        act(world)
        assert world.subscribers.rows.keys() == whole.subscribers.rows.keys(), where
        assert world.follows.rows == whole.follows.rows, where


def test_items_of_one_reader_are_applied_in_the_order_of_the_list() -> None:
    world = World()
    seen: list[str] = []
    real = world.subscribers.put

    def put(subscriber: Subscriber, **named: Any) -> bool:
        seen.append(subscriber.name)
        return real(subscriber, **named)

    vars(world.subscribers)["put"] = put
    later = NOW + timedelta(minutes=1)
    both = (
        ChangeSubscriber(replace(a_subscriber("a"), name="first")),
        ChangeSubscriber(replace(a_subscriber("a", changed_at=later), name="second")),
    )
    world.run_all = side_by_side
    world.say(CommandList(both))
    assert seen == ["first", "second"]


def test_event_after_a_list_waits_for_the_profile_of_its_reader() -> None:
    """So it is stored with the reader's choices, and moved by none."""
    world = World()
    with world.calls() as calls:
        world.say_together(profiles("a", "b"), single("a"))
    assert "events.move" not in calls
    assert world.waiting("a") == {"e1": "daily"}


# Side by side.


def test_items_of_different_readers_are_applied_concurrently() -> None:
    world = World()
    world.run_all = side_by_side
    everybody = Barrier(10)
    real = world.subscribers.get

    def get(user_id: str) -> Any:
        if user_id not in world.subscribers.rows:
            everybody.wait(WAIT)
        return real(user_id)

    vars(world.subscribers)["get"] = get
    users = [f"u{number}" for number in range(10)]
    assert world.say(profiles(*users)) == [Outcome.CHANGED] * 10


def test_at_most_ten_items_are_applied_at_the_same_time() -> None:
    """One for each connection of a client."""
    eleven = Barrier(11)
    broken: list[int] = []

    def work(number: int) -> None:
        try:
            eleven.wait(0.2)
        except BrokenBarrierError:
            broken.append(number)

    side_by_side(work, range(11))
    assert sorted(broken) == list(range(11))


def test_items_are_begun_in_order() -> None:
    """So the first messages are complete when the time of the invocation ends."""
    begun: list[int] = []
    side_by_side(begun.append, range(100), most=1)
    assert begun == list(range(100))


def test_items_are_processed_if_no_thread_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("gazette.adapters.threads.Thread.start", refuse)
    done: list[int] = []
    side_by_side(done.append, range(5))
    assert done == list(range(5))


def test_side_by_side_and_in_turn_have_the_same_result() -> None:
    said: list[Command] = [
        profiles(*(f"u{number}" for number in range(30))),
        follows(*(f"u{number}" for number in range(30)), "x"),
        single("u1"),
        profiles("u1", changed_at=NOW + timedelta(minutes=1)),
    ]
    worlds = World(), World()
    worlds[1].run_all = side_by_side
    first, second = (world.say_together(*said) for world in worlds)
    assert first == second
    for table in ("subscribers", "follows", "events", "schedules"):
        assert getattr(worlds[0], table).rows == getattr(worlds[1], table).rows


def test_thread_that_ends_without_an_outcome_retries_its_message() -> None:
    world = World()

    def run_first(apply: Callable[[Any], object], all_parts: Any) -> None:
        apply(all_parts[0])

    world.run_all = run_first
    assert failed(world.say_together(profiles("a"), profiles("b"))) == {1: RuntimeError}


def test_largest_list_fits_an_entry_of_64_kb() -> None:
    detail = of("subscriber.changed", *(f"reader-{number}" for number in range(100)))
    assert len(json.dumps(detail)) < 64_000


def test_visits_of_a_list_are_each_stored() -> None:
    world = World()
    visits = tuple(MarkSeen(user_id, "post#p1", NOW) for user_id in ("ann", "bo"))
    assert world.say(CommandList(visits)) == [Outcome.SEEN, Outcome.SEEN]
    assert set(world.events.marks) == {("ann", "post#p1"), ("bo", "post#p1")}
