"""A window with very many events: one email with exact counts, and few events in memory."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.arrangement import Arrangement, Ranking, Sections
from gazette.domain.delivery.compose import Digest, compose
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import DAILY, Actor, Entity, Event, Importance, StoredEvent
from gazette.domain.ports.stores import EVENTS_AT_ONCE
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.window.briefs import stored_brief_of
from gazette.domain.window.folded import Folding
from gazette.steps.delivery import prepare, windows
from gazette.steps.delivery.types import WaitingFor
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import KEY, NOW, RETENTION, a_run, a_subscriber, an_event
from tests.world import World

SECOND = timedelta(seconds=1)
MINUTES = st.integers(0, 5).map(lambda minute: NOW + timedelta(minutes=minute))


@st.composite
def an_event_of_few(draw: st.DrawFn, event_id: str) -> Event:
    """Of few people, about few things, whose names change. No name is blank."""
    thing = draw(st.sampled_from("abc"))
    parents = draw(st.sampled_from([(), ("post#a",), (f"post#{thing}", "post#b")]))
    actors = st.builds(
        Actor,
        st.sampled_from("12345"),
        st.sampled_from(["Ann", "Bo"]),
        st.sampled_from(["", f"https://a.example/{event_id}"]),
        st.sampled_from(["", f"https://p.example/{event_id}"]),
    )
    return Event(
        user_id="ann",
        id=event_id,
        category=draw(st.sampled_from(["comment", "like", "mention", "recommendation"])),
        entity=Entity("post", thing, draw(st.sampled_from("TU")), f"https://x.example/{thing}"),
        actor=draw(st.none() | actors),
        occurred_at=draw(MINUTES),
        amended_at=draw(st.none() | MINUTES),
        via=parents,
        parent_title=draw(st.sampled_from(["", "P", "Q"])),
        importance=draw(st.sampled_from(Importance)),
        source=draw(st.sampled_from(["", "", "recommendations"])),
        score=draw(st.sampled_from([None, 1.0])),
    )


@given(
    st.integers(0, 20).flatmap(
        lambda number: st.tuples(*(an_event_of_few(f"e{each}") for each in range(number)))
    ),
    st.builds(
        Arrangement,
        ranking=st.sampled_from(Ranking),
        sections=st.sampled_from(Sections),
        full_blocks=st.integers(0, 3),
    ),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(0, 8),
)
def test_long_window_renders_same_email_as_short_window(
    events: tuple[Event, ...], arrangement: Arrangement, blocks: int, lines: int, whole: int
) -> None:
    """And loads what it shows of them alone."""
    loaded = set[str]()

    def load(event_ids: Collection[str]) -> Mapping[str, Event]:
        loaded.update(event_ids)
        return {event.id: event for event in events if event.id in event_ids}

    folding = Folding(load, whole=whole)
    for event in events:
        folding.add(stored_brief_of(StoredEvent(event, DAILY, NOW, NOW)))

    def composed(made_of: object) -> Digest:
        return compose(
            made_of,  # type: ignore[arg-type]
            max_blocks=blocks,
            max_lines=lines,
            arrangement=arrangement,
            sources=("events", "recommendations"),
        )

    assert composed(folding.folded()) == composed(events)
    if len(events) <= whole:
        assert not loaded


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few events make a long window."""
    monkeypatch.setattr(windows, "MOST_WHOLE", 5)
    monkeypatch.setattr(windows, "MOST_REMOVED", 2 * EVENTS_AT_ONCE)


def a_world(*events: Event, later: timedelta = timedelta(0)) -> World:
    """A run of the daily digest of Ann is due, that much after the events were stored."""
    world = World()
    world.subscribers.put(a_subscriber(), replacing=None)
    for event in events:
        world.events.store(event, DAILY)
    world.clock.now += later
    world.runs.create(replace(a_run(), due_at=world.clock.now))
    world.clock.pass_time(minutes=3)  # so that no event has to be named
    return world


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("entities", [1, 30, 300])
def test_long_window_sends_one_email_that_counts_all_events(entities: int) -> None:
    many = [an_event(f"e{each}", entity_id=f"post{each % entities}") for each in range(300)]
    last = an_event("last", entity_id="best", category="mention")
    world = a_world(*many, last)
    done = world.deliver(KEY)
    assert done
    assert done.run.status is Status.SENT
    (mail,) = [mail for mail, _ in world.mailer.accepted]
    digest = compose([*many, last], max_blocks=20)
    assert "best: 1" in world.emails()[0].lines, "although it came last"
    assert mail.edition.subject == "301 updates"
    groups = [f"{group.latest.entity.id}: {group.count}" for group in digest.groups]
    assert list(world.emails()[0].lines) == groups


@pytest.mark.usefixtures("few")
def test_long_window_is_read_once_plus_call_for_shown_events() -> None:
    many = [an_event(f"e{each}", entity_id=f"post{each}") for each in range(300)]
    world = a_world(*many)
    with world.calls() as made:
        world.deliver(KEY)
    assert made.count("events.skim") == 1
    assert made.count("events.load") == 1


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("act", ["retracted", "moved"])
def test_event_removed_while_reading_long_window_is_not_shown(act: str) -> None:
    many = [an_event(f"e{each}", entity_id=f"post{each}") for each in range(10)]
    world = a_world(*many)

    def leave() -> None:
        stored = world.events.rows["ann", "e3"]
        assert isinstance(stored, StoredEvent)
        if act == "retracted":
            world.events.retract("ann", "e3", early=False)
        else:
            world.events.rows["ann", "e3"] = replace(stored, schedule="weekly")

    with world.meanwhile("events.load", leave, before=True):
        done = world.deliver(KEY)
    assert done
    assert done.run.status is Status.SENT
    assert "post3: 1" not in world.emails()[0].lines
    assert len(world.emails()[0].lines) == 9


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("waits", [False, True])
def test_many_expired_events_are_each_removed_and_counted_once(*, waits: bool) -> None:
    """A message removes some of them, and the next one goes on at once."""
    old = [an_event(f"e{each}") for each in range(5 * EVENTS_AT_ONCE)]
    world = a_world(*old, later=RETENTION)
    if waits:
        world.events.store(an_event("new"), DAILY)
        world.clock.pass_time(minutes=1)
    expired, waited_for, calls = [], [], []
    while True:
        with world.calls() as made:
            done = world.deliver(KEY)
        assert done
        expired.append(done.unsent.expired)
        calls.append(made.count("deferred_events.expire"))
        waited_for.append(done.waiting_for)
        if done.again_at is None:
            break
        assert done.again_at == world.clock.now
        assert done.run == world.runs.rows[KEY]
    assert expired == [98, 98, 49]
    assert calls == [2, 2, 1]
    assert waited_for == [WaitingFor.REMOVAL, WaitingFor.REMOVAL, None]
    reason = Reason.ACCEPTED if waits else Reason.EXPIRED
    assert world.runs.rows[KEY].reason is reason
    assert len(world.mailer.accepted) == waits


@pytest.mark.usefixtures("few")
def test_expired_reason_takes_precedence_over_many_lapsed_events() -> None:
    soon = NOW + timedelta(hours=1)
    lapsed = [replace(an_event(f"e{each}"), expires_at=soon) for each in range(120)]
    world = a_world(an_event("early"), *lapsed, later=RETENTION)
    counted = 0
    while (done := world.deliver(KEY)) and done.again_at:
        counted += done.unsent.lapsed
    assert done
    assert (counted + done.unsent.lapsed, done.unsent.expired) == (120, 1)
    assert done.run.reason is Reason.EXPIRED


@pytest.mark.usefixtures("few")
def test_remaining_expired_events_are_removed_if_an_event_is_extended() -> None:
    old = [an_event(f"e{each}") for each in range(10)]
    world = a_world(*old, later=RETENTION)

    def extend() -> None:
        stored = world.events.rows["ann", "e4"]
        assert isinstance(stored, StoredEvent)
        world.events.extend(stored, world.clock.now + timedelta(days=1))

    with world.meanwhile("deferred_events.expire", extend, before=True):
        done = world.deliver(KEY)
    assert done
    assert done.unsent.expired == 9
    assert world.waiting()["e4"] == DAILY
    assert list(world.waiting().values()).count(Unsent.EXPIRED) == 9


@pytest.mark.usefixtures("few")
def test_reason_of_a_removal_is_that_of_the_events_that_were_removed() -> None:
    lapsed = replace(an_event("lapsed"), expires_at=NOW + timedelta(hours=1))
    world = a_world(an_event("early"), lapsed, later=RETENTION)

    def extend() -> None:
        stored = world.events.rows["ann", "early"]
        assert isinstance(stored, StoredEvent)
        world.events.extend(stored, world.clock.now + timedelta(days=1))

    with world.meanwhile("deferred_events.expire", extend, before=True):
        done = world.deliver(KEY)
    assert done
    assert (done.unsent.lapsed, done.unsent.expired) == (1, 0)
    assert world.runs.rows[KEY].removed is Reason.LAPSED


@pytest.mark.usefixtures("few")
def test_too_many_held_events_leave_all_events_to_next_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prepare, "MOST_DEFERRED", 10)
    held = [an_event(f"like{each}", category="like") for each in range(11)]
    world = a_world(an_event("comment"), *held)
    world.category_holds.add(category_hold("like", "complaints", world.clock()))
    done = world.deliver(KEY)
    assert done
    assert done.run.reason is Reason.CATEGORY_HELD
    assert set(world.waiting().values()) == {DAILY}
    world.runs.create(a_run(2))
    world.category_holds.release("like")
    assert (last := world.generate(replace(KEY, sequence=2)))
    assert last.status is Status.SENT
