"""The messages of one invocation: events are routed together, and each message fails by itself."""

from collections import Counter
from collections.abc import Callable, Collection
from datetime import timedelta
from itertools import chain, repeat
from typing import Any

import pytest
from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    Command,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    RetractActivity,
    RetractEvent,
    SingleCommand,
)
from gazette.domain.errors import InvalidEvent, NotYet, Unavailable, UnreadableRow
from gazette.domain.model import DAILY, Event, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Erased
from gazette.steps.ingest.order import Commands, Events, in_order
from gazette.steps.routing.route import Routed

from tests.builders import NOW, a_subscriber, an_activity, an_event
from tests.world import World, crashes

READERS = tuple("abcdefghij")
CURSED = "d"
FOLLOWS = FollowState(following=True)
STORED, DUPLICATE = [Outcome.STORED], [Outcome.DUPLICATE]


@pytest.fixture
def world() -> World:
    """Ten readers with a daily digest, which is idle."""
    world = World()
    for user_id in READERS:
        world.choose(user_id)
    world.clock.pass_time(minutes=1)
    return world


def single(user_id: str, event_id: str = "e1", **given: Any) -> CreateEvents:
    return CreateEvents((an_event(event_id, user_id=user_id, **given),))


TEN = [single(user_id) for user_id in READERS]


def armed(world: World) -> set[str]:
    return {schedule.user_id for schedule in world.schedules.rows.values() if schedule.listed}


def failed(done: list[Routed]) -> dict[int, type[Exception]]:
    return {n: type(each) for n, each in enumerate(done) if isinstance(each, Exception)}


def test_reads_of_ten_messages_are_batched(world: World) -> None:
    world.arm()
    with world.calls() as calls:
        assert world.say_together(*TEN) == [STORED] * 10
    assert Counter(calls) == {
        "subscribers.get_many": 2,
        "schedules.get_many": 1,
        "events.store": 10,
    }
    assert calls[-2:] == ["schedules.get_many", "subscribers.get_many"], "after the writes"


def test_events_are_routed_in_batches_of_a_hundred(world: World) -> None:
    lists = [
        CreateEvents(tuple(an_event(f"{n}-{i}", user_id=READERS[n]) for i in range(40)))
        for n in range(5)
    ]
    with world.calls() as calls:
        assert world.say_together(single("a"), *lists) == [STORED, *[STORED * 40] * 5]
    assert Counter(calls)["subscribers.get_many"] == 2 * 3
    assert Counter(calls)["schedules.get_many"] == 3
    assert armed(world) == set(READERS[:5])


def test_same_event_in_two_messages_is_stored_once(world: World) -> None:
    done = world.say_together(single("a"), single("b"), single("a"), single("b", "e2"))
    assert done == [STORED, STORED, DUPLICATE, STORED]


def test_amendment_in_later_message_replaces_earlier_version(world: World) -> None:
    later = single("a", amended_at=NOW, excerpt="better")
    assert world.say_together(single("a"), later, single("a")) == [
        STORED,
        [Outcome.AMENDED],
        DUPLICATE,
    ]
    stored = world.events.rows["a", "e1"]
    assert isinstance(stored, StoredEvent)
    assert stored.event.excerpt == "better"


def test_invalid_message_is_quarantined_and_batch_continues(world: World) -> None:
    partly = CreateEvents((an_event("e1", user_id="b"),), problems="the second is wrong")
    done = world.say_together(single("a"), InvalidEvent("wrong"), partly, single("c"))
    assert done == [STORED, [Outcome.QUARANTINED], [*STORED, Outcome.QUARANTINED], STORED]
    assert world.quarantine.kept == [("1", "wrong"), ("2", "the second is wrong")]


def test_list_is_quarantined_after_valid_events_are_routed(
    world: World,
) -> None:
    deaf_to(world.events, "store")
    partly = CreateEvents((an_event("e1", user_id=CURSED),), problems="the second is wrong")
    assert failed(world.say_together(single("a"), partly)) == {1: Unavailable}
    assert not world.quarantine.kept


def test_quarantine_failure_retries_only_affected_message(world: World) -> None:
    def refuse(body: str, reason: str) -> None:
        raise Unavailable("SQS")

    vars(world.quarantine)["keep"] = refuse
    partly = CreateEvents((an_event("e1", user_id="b"),), problems="the second is wrong")
    done = world.say_together(single("a"), InvalidEvent("wrong"), partly, single("c"))
    assert failed(done) == {1: Unavailable, 2: Unavailable}
    assert {user_id for user_id, _ in world.events.rows} == {"a", "b", "c"}


def names(asked: object) -> set[str]:
    """Every reader in the arguments of a call."""
    match asked:
        case str():
            return {asked}
        case Event():
            return {asked.user_id}
        case Collection():
            return {name for each in asked for name in names(each)}
        case _:
            return {str(getattr(asked, "user_id", ""))}


def deaf_to(
    port: Any,
    method: str,
    *,
    user_id: str = CURSED,
    err: Exception | None = None,
    after: int = 0,
) -> None:
    """The call raises, from the one `after` so many on, where it concerns a reader."""
    real: Callable[..., object] = getattr(port, method)
    calls: list[object] = []

    def call(*args: object, **named: object) -> object:
        if user_id in names(args):
            calls.append(args)
            if len(calls) > after:
                raise err or Unavailable(f"{method} did not answer.")
        return real(*args, **named)

    setattr(port, method, call)


@pytest.mark.parametrize(
    "err", [Unavailable("gone"), NotYet("busy"), KeyError("a bug"), UnreadableRow("t", (), "odd")]
)
@pytest.mark.parametrize(
    ("port", "method", "after"),
    [
        ("subscribers", "get_many", 0),
        ("subscribers", "get_many", 1),
        ("events", "store", 0),
        ("schedules", "get_many", 0),
        ("schedules", "put", 0),
        ("subscribers", "get", 0),
    ],
    ids=["first read", "second read", "write", "schedule", "arming", "armed"],
)
def test_failure_for_single_reader_retries_only_affected_message(
    world: World, port: str, method: str, after: int, err: Exception
) -> None:
    """The others are stored, armed and looked at again, and come no second time."""
    deaf_to(getattr(world, port), method, err=err, after=after)
    done = world.say_together(*TEN)
    assert failed(done) == {READERS.index(CURSED): type(err)}
    assert {user_id for user_id, _ in world.events.rows} >= set(READERS) - {CURSED}
    assert armed(world) >= set(READERS) - {CURSED}


def test_failure_for_single_reader_repeats_no_other_writes(world: World) -> None:
    deaf_to(world.schedules, "put")
    with world.calls() as calls:
        world.say_together(*TEN)
    assert Counter(calls)["events.store"] == 10


@pytest.mark.parametrize("table", ["subscribers", "schedules"])
def test_unreadable_row_retries_only_affected_list(world: World, table: str) -> None:
    """Neither another list, nor what is for other readers of the same one."""
    key = CURSED if table == "subscribers" else (CURSED, DAILY)
    getattr(world, table).unreadable.add(key)
    listed = CreateEvents(tuple(an_event("e1", user_id=user_id) for user_id in READERS))
    assert failed(world.say_together(single("a", "e0"), listed)) == {1: UnreadableRow}
    others = set(READERS) - {CURSED}
    assert {user_id for user_id, event_id in world.events.rows if event_id == "e1"} >= others
    assert armed(world) == others


def test_each_message_tries_single_event_during_outage(world: World) -> None:
    """A list does not wait for a hundred time-outs, nor does the invocation."""
    tried: list[Event] = []

    def refuse(event: Event, *_: object, **__: object) -> None:
        tried.append(event)
        raise Unavailable("DynamoDB")

    vars(world.events)["store"] = refuse
    lists = [CreateEvents(tuple(an_event(f"e{n}", user_id=one) for n in range(9))) for one in "abc"]
    assert failed(world.say_together(*lists)) == dict.fromkeys(range(3), Unavailable)
    assert [(event.user_id, event.id) for event in tried] == [(one, "e0") for one in "abc"]


def test_constantly_changing_reader_retries_only_affected_message(world: World) -> None:
    real = world.events.store

    def choose_again(event: Event, *rest: Any, **named: Any) -> Any:
        if event.user_id == CURSED:
            world.clock.pass_time(seconds=1)
            often = (Frequency.WEEKLY, Frequency.DAILY)[world.clock().second % 2]
            world.choose(CURSED, comment=often)
        return real(event, *rest, **named)

    vars(world.events)["store"] = choose_again
    assert failed(world.say_together(*TEN)) == {READERS.index(CURSED): NotYet}


def test_changes_during_batch_routing_are_detected(world: World) -> None:
    real = world.events.store

    def mute_first(event: Event, *rest: Any, **named: Any) -> Any:
        if event.user_id == "j":
            world.choose("a", comment=Frequency.NEVER)
        return real(event, *rest, **named)

    vars(world.events)["store"] = mute_first
    done = world.say_together(*TEN)
    assert done[0] == [Outcome.MUTED]
    assert ("a", "e1") not in world.events.rows


def test_event_moved_during_routing_is_rerouted_individually(world: World) -> None:
    real = world.events.store

    def choose_first(event: Event, *rest: Any, **named: Any) -> Any:
        if event.user_id == "j":
            world.choose("a", comment=Frequency.WEEKLY)
        return real(event, *rest, **named)

    vars(world.events)["store"] = choose_first
    with world.calls() as calls:
        assert world.say_together(*TEN) == [STORED] * 10
    assert world.waiting("a") == {"e1": Frequency.WEEKLY}
    assert Counter(calls)["events.store"] == 10 + 1


def test_no_command_is_started_when_time_runs_out(world: World) -> None:
    left = iter([60.0] * 3 + [20.0] * 99)
    world.time_left = lambda: timedelta(seconds=next(left))
    profile = ChangeSubscriber(a_subscriber("new"))
    assert failed(world.say_together(profile, MarkActive("a", NOW))) == {1: NotYet}
    assert world.subscribers.get("new")


def test_started_messages_complete_when_time_runs_out(world: World) -> None:
    left = iter([60.0] * (10 + 4) + [20.0] * 99)  # read ten, and begin four
    world.time_left = lambda: timedelta(seconds=next(left))
    assert failed(world.say_together(*TEN)) == dict.fromkeys(range(4, 10), NotYet)
    assert {user_id for user_id, _ in world.events.rows} == armed(world) == set("abcd")


def test_started_list_is_completed(world: World) -> None:
    left = chain([60.0] * 2, repeat(20.0))
    world.time_left = lambda: timedelta(seconds=next(left))
    listed = CreateEvents(tuple(an_event(f"e{n}", user_id="a") for n in range(250)))
    assert failed(world.say_together(listed)) == {}


def test_redelivery_completes_interrupted_batch() -> None:
    """At each call, also between two events of different messages."""
    said = (single("a"), single("b"), single("a", "e2"), *TEN[2:4])

    def make() -> World:
        world = World()
        for user_id in "abcd":
            world.choose(user_id)
        return world

    def act(world: World) -> None:
        done.append(world.say_together(*said))

    done: list[list[Routed]] = []
    whole = make()
    whole.say_together(*said)
    for world, where in crashes(make, act):
        world.say_together(*(said[number] for number in failed(done[-1])))
        assert world.events.rows.keys() == whole.events.rows.keys(), where
        assert armed(world) == set("abcd"), where
        assert len(failed(done[-1])) <= 1, where


A, B = single("a"), single("b")
OF_A: list[SingleCommand] = [
    ChangeSubscriber(a_subscriber("a")),
    ChoosePreferences("a", Choice(), NOW),
    MarkActive("a", NOW),
    EraseSubscriber("a", NOW),
    RetractEvent("a", "e1"),
    ChangeFollow("a", "post#post1", FOLLOWS, NOW),
]
OF_B = MarkActive("b", NOW)
OF_ANYBODY: list[SingleCommand] = [
    CreateActivity(an_activity()),
    RetractActivity("post#post1", "a1"),
]


def named(of: SingleCommand) -> str:
    return type(of).__name__


def steps(*commands: Command) -> list[list[int]]:
    """The numbers of the messages in each step, in the order in which they joined it."""
    return [
        list(step.lists)
        if isinstance(step, Events)
        else [part.message for parts in step.by_reader.values() for part in parts]
        for step in in_order(dict(enumerate(commands)))
    ]


@pytest.mark.parametrize("other", OF_A, ids=named)
def test_event_never_overtakes_command_for_same_reader(other: SingleCommand) -> None:
    assert steps(A, other, A) == [[0], [1], [2]]
    assert steps(other, A, A, other) == [[0], [1, 2], [3]]
    both = CreateEvents((*B.events, *A.events))
    assert steps(A, other, B, both, B) == [[0, 2], [1], [3, 4]]


@pytest.mark.parametrize("other", OF_A, ids=named)
def test_events_of_other_readers_may_overtake_a_command(other: SingleCommand) -> None:
    assert steps(B, other, B, A, B, A) == [[0, 2], [1], [3, 4, 5]]


@pytest.mark.parametrize("other", OF_ANYBODY, ids=named)
def test_event_never_overtakes_an_activity(other: SingleCommand) -> None:
    assert steps(A, B, other, A, B) == [[0, 1], [2], [3, 4]]


@pytest.mark.parametrize("other", OF_ANYBODY, ids=named)
def test_command_never_overtakes_an_activity(other: SingleCommand) -> None:
    assert steps(other, OF_A[0], other) == [[0], [1], [2]]


@pytest.mark.parametrize("other", OF_A, ids=named)
def test_commands_for_one_reader_keep_their_order(other: SingleCommand) -> None:
    (step,) = in_order(dict(enumerate((other, OF_B, OF_A[0], OF_B, other))))
    assert isinstance(step, Commands)
    by_reader = {
        reader: [part.message for part in parts] for reader, parts in step.by_reader.items()
    }
    assert by_reader == {"a": [0, 2, 4], "b": [1, 3]}


@pytest.mark.parametrize("other", OF_A, ids=named)
def test_command_never_overtakes_an_event_of_its_reader(other: SingleCommand) -> None:
    both = CreateEvents((*A.events, *B.events))
    assert steps(OF_B, both, other, OF_B) == [[0], [1], [2, 3]]


def test_events_are_routed_before_commands_of_other_readers() -> None:
    """So that a live event waits for no list of an import."""
    assert steps(OF_A[0], OF_A[1], B, B) == [[2, 3], [0, 1]]


def test_profile_between_two_events_applies_to_second_event() -> None:
    """As one after the other: the first waited for it and is moved, the second is not."""
    world = World()
    profile = ChangeSubscriber(a_subscriber("a", changed_at=NOW - timedelta(hours=2)))
    with world.calls() as calls:
        done = world.say_together(A, profile, single("a", "e2"))
    assert done == [STORED, [Outcome.CHANGED], STORED]
    assert Counter(calls)["events.move"] == 1
    assert world.waiting("a") == {"e1": DAILY, "e2": DAILY}


def test_erasure_between_two_events_removes_both(world: World) -> None:
    done = world.say_together(A, B, EraseSubscriber("a", world.clock()), single("a", "e2"), B)
    assert done == [STORED, STORED, [Outcome.ERASED], [Outcome.ERASED], DUPLICATE]
    assert {user_id for user_id, _ in world.events.rows} == {"b"}
    assert isinstance(world.subscribers.get("a"), Erased)


def test_failed_command_between_events_fails_alone(world: World) -> None:
    deaf_to(world.subscribers, "put", user_id="a")
    profile = ChangeSubscriber(a_subscriber("a", changed_at=world.clock()))
    done = world.say_together(A, profile, single("a", "e2"), B)
    assert failed(done) == {1: Unavailable}
    assert world.events.rows.keys() == {("a", "e1"), ("a", "e2"), ("b", "e1")}
