"""Messages that are about thousands of things: few calls, and they continue where they stopped.

A call takes 5 ms here. `receives` are what SQS would deliver: a message that has not ended comes
again, with the whole time of a new invocation.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    Command,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    RetractActivity,
)
from gazette.domain.errors import NotYet, UnreadableRow
from gazette.domain.model import Retracted, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Activity, Follow, FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.ingest import activities as taking_in
from gazette.steps.time_budget import LONGEST, PIECE

from tests.builders import NOW, a_follow, a_subscriber, an_activity, an_event
from tests.world import World, crashes, interleavings

A_CALL = timedelta(milliseconds=5)
A_SLOW_CALL = 10 * A_CALL
"""So that a tenth of the things takes as long: the fakes look through all rows for each run."""

INVOCATION = timedelta(seconds=90)
SHARE = timedelta(seconds=25)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
POST, BLOG = "post#post1", "blog#b1"
RECEIVES = 16


@dataclass
class Receives:
    """What each receive of a message called, by port and method, and how long it took."""

    calls: list[Counter[str]] = field(default_factory=list)
    longest: timedelta = timedelta(0)

    @property
    def total(self) -> int:
        return sum(receive.total() for receive in self.calls)


def receive(
    world: World, *commands: Command, a_call: timedelta = A_CALL
) -> tuple[list[object], Counter[str]]:
    """One invocation with these messages, whose calls take time."""
    called: Counter[str] = Counter()

    def around(name: str, call: Callable[[], object]) -> object:
        called[name] += 1
        world.clock.now += a_call
        return call()

    world.time_left = lambda: INVOCATION - called.total() * a_call
    try:
        with world.watched(around):
            return [*world.say_together(*commands)], called
    finally:
        world.time_left = lambda: INVOCATION


def until_done(world: World, command: Command, *, a_call: timedelta = A_CALL) -> Receives:
    """Deliver one message until it is done, a minute after each other."""
    done = Receives()
    for _ in range(RECEIVES):
        (routed,), called = receive(world, command, a_call=a_call)
        done.calls.append(called)
        done.longest = max(done.longest, called.total() * a_call)
        if not isinstance(routed, Exception):
            return done
        assert isinstance(routed, NotYet), routed
        world.clock.now += timedelta(minutes=1)
    raise AssertionError(f"not done after {RECEIVES} receives: {done.calls[-1]}")


def many_activities(number: int, *, parent: str | None = None) -> list[Activity]:
    """What happened on a busy post, or on posts of a blog, within the last hour."""
    return [
        an_activity(
            f"a{each:05d}",
            parent=parent,
            entity_id=f"post{each}" if parent else "post1",
            occurred_at=NOW - HOUR + each * timedelta(milliseconds=100),
        )
        for each in range(number)
    ]


def a_busy_entity(number: int, *, parent: str | None = None) -> World:
    """Ann has a profile; the activities on the post have been brought to whoever followed it."""
    world = World()
    world.choose(at=NOW - 2 * DAY)
    for activity in many_activities(number, parent=parent):
        sides = frozenset(activity.sides)
        key = (activity.entity.key, activity.id)
        world.activities.rows[key] = replace(activity, walked=sides)
    return world


def a_follow_of(entity: str = POST, *, often: Frequency | None = None) -> ChangeFollow:
    return ChangeFollow("ann", entity, FollowState(True, often), NOW - 2 * HOUR)


def has(world: World) -> set[str]:
    """The ids of the events that are stored for Ann."""
    return {
        event_id
        for (user_id, event_id), row in world.events.rows.items()
        if user_id == "ann" and isinstance(row, StoredEvent)
    }


# A late follow.


def test_late_follow_adds_4000_activities_in_single_receive() -> None:
    world = a_busy_entity(4000)
    done = until_done(world, a_follow_of())
    assert len(has(world)) == 4000
    assert len(done.calls) == 1
    assert done.total * 25 <= 4000
    assert set(world.waiting().values()) == {"daily"}
    assert world.schedules.listed == {("ann", "daily")}


def test_late_follow_of_parent_includes_activities_of_children() -> None:
    world = a_busy_entity(2000, parent=BLOG)
    done = until_done(world, a_follow_of(BLOG))
    assert len(has(world)) == 2000
    assert len(done.calls) == 1
    assert done.total * 25 <= 2000


def test_duplicate_late_follow_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_busy_entity(2000)
    until_done(world, a_follow_of())
    before = dict(world.events.rows)
    world.clock.now += HOUR
    again = until_done(world, a_follow_of())
    assert again.total * 25 <= 2000
    assert world.events.rows == before


@pytest.mark.parametrize("late", [timedelta(0), HOUR])
def test_late_follow_of_thread_starts_run_once(late: timedelta) -> None:
    world = a_busy_entity(500)
    world.clock.now += late
    done = until_done(world, a_follow_of(often=Frequency.IMMEDIATE))
    assert done.total < 40
    assert len({message.key for message in world.generate_queue.sent}) == 1
    for _ in range(3):
        world.deliver_queued()
    assert [email.lines for email in world.emails()] == [("post1: 500",)]


def test_slow_late_follow_continues_on_followers_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each activity is a thread here, with a run of its own to be read, stored and queued."""
    monkeypatch.setattr(taking_in, "AT_ONCE", 50)
    world = a_busy_entity(350, parent=BLOG)
    world.follows.put(a_follow("anm~", entity=BLOG), replacing=None)
    world.follows.put(a_follow("ann!", entity=BLOG), replacing=None)
    done = until_done(world, a_follow_of(BLOG, often=Frequency.IMMEDIATE), a_call=A_SLOW_CALL)
    assert len(done.calls) == 1
    left = list(world.followers_queue.sent)
    assert 0 < len(left) < 350
    assert {user_id for user_id, _ in world.events.rows} == {"ann"}
    world.work_off_followers()
    assert {user_id for user_id, _ in world.events.rows} == {"ann"}, "nobody else's"
    assert len(has(world)) == 350
    assert len({message.key for message in world.generate_queue.sent}) == 350
    assert done.longest <= SHARE


def test_late_unfollow_withdraws_2000_events_in_few_calls() -> None:
    world = a_busy_entity(2000)
    until_done(world, a_follow_of())
    ended = ChangeFollow("ann", POST, FollowState(False), NOW - 2 * HOUR + timedelta(seconds=1))
    done = until_done(world, ended)
    assert has(world) == set()
    assert done.total * 25 <= 2000


def test_late_follow_applies_concurrent_retractions_and_amendments() -> None:
    """Both happened while the follow that came first was under way."""
    world = a_busy_entity(300)
    until_done(world, a_follow_of())
    for each in many_activities(300)[:100]:
        world.activities.retract(POST, each.id)
    for each in many_activities(300)[100:150]:
        amended = replace(each, excerpt="second", amended_at=NOW)
        world.activities.replace(each, amended)
    until_done(world, a_follow_of())
    rows = [world.events.get("ann", each.id) for each in many_activities(300)]
    assert all(isinstance(row, Retracted) for row in rows[:100])
    says = [row.event.excerpt for row in rows[100:] if isinstance(row, StoredEvent)]
    assert says == ["second"] * 50 + [""] * 150


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty activities at once, ten in a transaction, and few is one."""
    from gazette.steps.routing import catch_up, together

    monkeypatch.setattr(taking_in, "AT_ONCE", 40)
    for module in (catch_up, together):
        monkeypatch.setattr(module, "MOST_IN_A_TRANSACTION", 10)
        monkeypatch.setattr(module, "FEW", 1)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("often", [None, Frequency.IMMEDIATE])
def test_interrupted_late_follow_adds_each_event_once(often: Frequency | None) -> None:
    for world, where in crashes(
        lambda: a_busy_entity(45), lambda world: world.say(a_follow_of(often=often))
    ):
        world.clock.now += timedelta(minutes=1)
        world.say(a_follow_of(often=often))
        world.send_everything()
        assert [email.lines for email in world.emails()] == [("post1: 45",)], where


@pytest.mark.usefixtures("small_pages")
def test_changes_during_late_follow_take_effect() -> None:
    def change(world: World) -> None:
        first, second = many_activities(45)[3:5]
        world.say(RetractActivity(POST, first.id))
        world.say(CreateActivity(replace(second, excerpt="second", amended_at=NOW)))
        world.follow("cy", POST, at=NOW - DAY)

    for world, where in interleavings(
        lambda: a_busy_entity(45), lambda world: world.say(a_follow_of()), change
    ):
        world.work_off_followers()
        first, second = (world.events.get("ann", each.id) for each in many_activities(45)[3:5])
        assert not isinstance(first, StoredEvent), where
        assert isinstance(second, StoredEvent), where
        assert second.event.excerpt == "second", where


@pytest.mark.parametrize("meanwhile", [False, True])
def test_late_follow_skips_unreadable_row_and_is_retried(
    meanwhile: bool,
) -> None:
    world = a_busy_entity(40)
    unreadable = many_activities(40)[7].id
    _, row = world.events.store(many_activities(40)[7].event_for("ann"), "daily")
    assert isinstance(row, StoredEvent)
    world.events.unreadable.add(("ann", unreadable))

    def choose() -> None:
        with suppress(UnreadableRow):
            if meanwhile:
                world.choose(at=NOW - HOUR, like=Frequency.WEEKLY)

    with pytest.raises(UnreadableRow), world.meanwhile("events.get_many", choose):
        world.say(a_follow_of())
    assert len(has(world)) == 40
    world.events.unreadable.clear()
    world.say(a_follow_of())
    assert len(has(world)) == 40


@pytest.mark.usefixtures("small_pages")
def test_choice_during_late_follow_moves_all_events() -> None:
    def choose(world: World) -> None:
        world.choose(at=NOW - HOUR, comment=Frequency.WEEKLY)

    for world, where in interleavings(
        lambda: a_busy_entity(45), lambda world: world.say(a_follow_of()), choose
    ):
        assert Counter(world.waiting().values()) == {"weekly": 45}, where


def test_late_follow_leaves_time_for_other_messages_in_batch() -> None:
    world = a_busy_entity(900, parent=BLOG)
    others = [CreateEvents((an_event(f"e{number}"),)) for number in range(9)]
    late = a_follow_of(BLOG, often=Frequency.IMMEDIATE)
    routed, _ = receive(world, late, *others, a_call=A_SLOW_CALL)
    assert routed == [[Outcome.CHANGED], *[[Outcome.STORED]] * 9]


# A choice that moves what waits.


def with_waiting(number: int) -> World:
    """So many comments wait for Ann's daily digest."""
    world = World()
    world.choose(at=NOW - 2 * DAY)
    for start in range(0, number, 500):
        events = [an_event(f"e{each}") for each in range(start, min(start + 500, number))]
        world.create(*events)
    return world


def chosen(often: Frequency) -> ChoosePreferences:
    return ChoosePreferences("ann", Choice(frequencies=(("comment", often),)), NOW)


@pytest.mark.parametrize(
    ("often", "left"),
    [(Frequency.WEEKLY, {"weekly": 2000}), (Frequency.NEVER, {})],
)
def test_choice_moves_2000_waiting_events_in_single_receive(
    often: Frequency, left: dict[str, int]
) -> None:
    world = with_waiting(2000)
    done = until_done(world, chosen(often))
    assert Counter(world.waiting().values()) == left
    assert len(done.calls) == 1
    assert done.total * 25 <= 2000


def test_new_profile_moves_2000_waiting_events_in_single_receive() -> None:
    world = World()
    for start in range(0, 2000, 500):
        world.create(*(an_event(f"e{each}") for each in range(start, start + 500)))
    done = until_done(world, ChangeSubscriber(a_subscriber(changed_at=NOW)))
    assert Counter(world.waiting().values()) == {"daily": 2000}
    assert len(done.calls) == 1
    assert done.total * 25 <= 2000


def test_pause_extends_2000_waiting_events_in_single_receive() -> None:
    world = with_waiting(2000)
    before = {key: row.lasts_until for key, row in world.events.rows.items()}  # type: ignore[union-attr]
    until = NOW.date() + timedelta(days=80)
    done = until_done(world, ChoosePreferences("ann", Choice(paused_until=until), NOW))
    assert all(
        isinstance(row, StoredEvent) and row.lasts_until > before[key]
        for key, row in world.events.rows.items()
    )
    assert len(done.calls) == 1
    assert done.total * 25 <= 2000


def test_choice_creating_many_threads_continues_in_next_receive() -> None:
    world = World()
    world.choose(at=NOW - 2 * DAY)
    world.create(*(an_event(f"e{each}", entity_id=f"p{each}") for each in range(100)))
    done = until_done(world, chosen(Frequency.IMMEDIATE), a_call=A_SLOW_CALL)
    assert "daily" not in world.waiting().values()
    assert done.longest <= SHARE
    assert len({message.key for message in world.generate_queue.sent}) == 100


def test_moving_events_together_invalidates_runs_that_read_them() -> None:
    """As one event that moves alone: their run is told, and they are in one email each."""
    for world, where in interleavings(
        lambda: with_waiting(30),
        lambda world: world.send_digest(),
        lambda world: world.say(chosen(Frequency.WEEKLY)),
    ):
        world.send_everything()
        sent = Counter(email.lines for email in world.emails())
        assert sum(sent.values()) == 1, where
        assert set(sent) == {("post1: 30",)}, where


def test_events_move_individually_if_transaction_fails() -> None:
    world = with_waiting(30)

    def fail(*_: object, **__: object) -> None:
        return None

    world.events.move_together = fail  # type: ignore[method-assign]
    world.say(chosen(Frequency.WEEKLY))
    assert list(world.waiting().values()) == ["weekly"] * 30


@pytest.mark.parametrize("often", [Frequency.WEEKLY, Frequency.NEVER, Frequency.IMMEDIATE])
def test_interrupted_choice_moves_each_event_once(often: Frequency) -> None:
    for world, where in crashes(lambda: with_waiting(30), lambda world: world.say(chosen(often))):
        world.clock.now += timedelta(minutes=1)
        world.say(chosen(often))
        world.send_everything()
        lines = [email.lines for email in world.emails()]
        assert lines == ([] if often is Frequency.NEVER else [("post1: 30",)]), where


# An erasure.


def a_reader_with(events: int, follows: int) -> World:
    world = with_waiting(events)
    for number in range(follows):
        entity = f"post#{number}"
        follow = Follow(entity, "ann", ((NOW - DAY, FollowState(True)),))
        world.follows.put(follow, replacing=None)
    return world


def test_erasure_of_4000_events_and_follows_takes_single_receive() -> None:
    world = a_reader_with(4000, 4000)
    done = until_done(world, EraseSubscriber("ann", NOW + timedelta(seconds=1)))
    assert not world.events.rows
    assert not world.follows.rows
    assert len(done.calls) == 1
    assert done.total * 25 <= 8000


def test_erasure_continues_in_next_receive_if_time_runs_out() -> None:
    world = a_reader_with(60, 4000)
    until = NOW + timedelta(seconds=1)
    took = 0

    def left() -> timedelta:
        nonlocal took
        took += 1
        return LONGEST if took < 10 else PIECE - timedelta(seconds=1)

    receives = 0
    while world.follows.rows or world.events.rows:
        world.time_left, took = left, 0
        before = len(world.follows.rows) + len(world.events.rows)
        (routed,) = world.say_together(EraseSubscriber("ann", until))
        assert len(world.follows.rows) + len(world.events.rows) < before
        receives += 1
    assert receives > 1
    assert not isinstance(routed, Exception)


def test_erasure_keeps_later_data_of_returned_reader() -> None:
    world = a_reader_with(30, 150)
    world.clock.now = NOW + HOUR
    later = NOW + timedelta(minutes=30)
    world.choose(at=later)
    world.follow("ann", "post#7", at=later, following=False)
    world.create(an_event("later", occurred_at=later))
    until_done(world, EraseSubscriber("ann", NOW + timedelta(minutes=1)))
    assert [key for key, _ in world.follows.rows] == ["post#7"]
    assert world.follows.rows["post#7", "ann"].changes == ((later, FollowState(False)),)
    assert has(world) == {"later"}


# A list of events.


def a_list(number: int, *, prefix: str = "e") -> CreateEvents:
    """As many as fit an entry, each on an entity of its own."""
    ids = [f"{prefix}{each}" for each in range(number)]
    return CreateEvents(tuple(an_event(event_id, entity_id=event_id) for event_id in ids))


@pytest.mark.parametrize("often", [Frequency.DAILY, Frequency.IMMEDIATE])
def test_longest_list_finishes_within_time_limit(often: Frequency) -> None:
    world = World()
    world.choose(at=NOW - DAY, comment=often)
    (routed,), called = receive(world, a_list(1800))
    assert routed == [Outcome.STORED] * 1800
    queued = world.generate_queue.calls
    assert (called.total() + queued) * A_CALL < LONGEST


def test_duplicate_of_longest_list_finishes_within_time_limit() -> None:
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE)
    receive(world, a_list(1800))
    world.clock.now += timedelta(minutes=1)
    (routed,), called = receive(world, a_list(1800))
    assert routed == [Outcome.DUPLICATE] * 1800
    assert called.total() * A_CALL < INVOCATION - LONGEST


def test_list_processing_stops_before_invocation_ends() -> None:
    """Otherwise, all ten messages of the batch would come again."""
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.DAILY)
    (routed,), called = receive(world, a_list(1800), a_call=A_SLOW_CALL)
    assert called.total() * A_SLOW_CALL < INVOCATION - timedelta(seconds=2)
    assert isinstance(routed, Exception)
