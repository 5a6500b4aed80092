"""Routing: the stored state decides, whatever the order of messages and wherever a worker dies."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status, name_of
from gazette.domain.delivery.signals import RefusedForGood
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY, RunKey, StoredEvent, Window
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.kinds import Unsent, immediate_schedule
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.steps.routing.immediate import start_immediates
from gazette.steps.routing.move import move
from gazette.steps.routing.reroute import reroute
from gazette.steps.routing.target import Target

from tests.builders import (
    KEY,
    NOW,
    SettableClock,
    a_claimed_run,
    a_follow,
    a_run,
    a_subscriber,
    an_event,
)
from tests.world import World, crashes, interleavings

NEVER, IMMEDIATE = Frequency.NEVER, Frequency.IMMEDIATE
HEARD = [frequency for frequency in Frequency if frequency is not NEVER]
NOW_POST1 = immediate_schedule("post#post1")
LATER = NOW + timedelta(minutes=5)
A_MINUTE = timedelta(minutes=1)


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def under(frequency: Frequency) -> str:
    """The schedule of the events on post1."""
    return NOW_POST1 if frequency is IMMEDIATE else frequency.value


def emailed(world: World) -> list[str]:
    """Every line of every email, once all that is queued or due has gone out."""
    world.send_everything()
    return [line for email in world.emails() for line in email.lines]


def chosen_before(frequency: Frequency) -> Callable[[], World]:
    """Makes worlds in which Ann chose it a day ago."""

    def make() -> World:
        world = World()
        world.choose(at=NOW - timedelta(days=1), comment=frequency)
        return world

    return make


# What becomes of an event.


@pytest.mark.parametrize("frequency", HEARD)
def test_event_is_stored_under_the_schedule_chosen_by_its_reader(
    world: World, frequency: Frequency
) -> None:
    world.choose(comment=frequency)
    assert world.create(an_event()) == [Outcome.STORED]
    assert world.waiting() == {"e1": under(frequency)}
    assert emailed(world) == ["post1: 1"]
    assert world.emails()[0].schedule == under(frequency)


def test_default_frequency_applies_without_a_choice() -> None:
    world = World(defaults=frequencies({"comment": Frequency.WEEKLY}))
    world.choose()
    world.create(an_event(), an_event("e2", category="like"))
    assert world.waiting() == {"e1": "weekly", "e2": "daily"}


def test_republished_event_is_a_duplicate(world: World) -> None:
    world.choose()
    world.create(an_event())
    first = world.events.rows.copy()
    assert world.create(an_event()) == [Outcome.DUPLICATE]
    assert world.create(an_event(actor="Cy")) == [Outcome.DUPLICATE]
    assert world.events.rows == first


def test_event_repeated_in_a_list_is_stored_once(world: World) -> None:
    world.choose()
    assert world.create(an_event(), an_event()) == [Outcome.STORED, Outcome.DUPLICATE]
    assert emailed(world) == ["post1: 1"]


def test_same_id_for_two_readers_is_two_events(world: World) -> None:
    world.choose()
    world.choose("cy")
    assert world.create(an_event(), an_event(user_id="cy")) == [Outcome.STORED] * 2
    world.send_everything()
    assert {email.user_id for email in world.emails()} == {"ann", "cy"}


def test_each_event_of_a_list_has_a_separate_outcome(world: World) -> None:
    world.choose(like=NEVER)
    world.create(an_event("known"))
    assert world.create(
        an_event("new"),
        an_event("muted", category="like"),
        an_event("known"),
        an_event("strange", user_id="stranger"),
        an_event("unfollowed", via=("post#post1",)),
    ) == [
        Outcome.STORED,
        Outcome.MUTED,
        Outcome.DUPLICATE,
        Outcome.STORED,
        Outcome.NOT_FOLLOWED,
    ]


def test_activity_on_an_unfollowed_entity_stores_no_event(world: World) -> None:
    world.choose()
    assert world.create(an_event(via=("post#post1",))) == [Outcome.NOT_FOLLOWED]
    assert not world.events.rows


@pytest.mark.parametrize("status", [SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED])
def test_no_event_is_stored_for_an_inactive_reader(world: World, status: SubscriberStatus) -> None:
    world.choose()
    world.subscribers.set_status("ann", status)
    assert world.create(an_event()) == [Outcome.UNSUBSCRIBED]
    assert not world.events.rows


def test_no_event_is_stored_for_an_erased_reader(world: World) -> None:
    world.choose()
    world.erase()
    assert world.create(an_event()) == [Outcome.ERASED]
    assert not world.events.rows


def test_returning_reader_gets_only_later_events(world: World) -> None:
    world.erase(at=NOW)
    world.choose(at=NOW + A_MINUTE)
    assert world.create(an_event(occurred_at=NOW)) == [Outcome.ERASED]
    assert world.create(an_event(occurred_at=NOW + A_MINUTE / 2)) == [Outcome.STORED]


def test_events_are_read_in_batches_of_a_hundred(world: World) -> None:
    world.choose()
    with world.calls() as calls:
        outcomes = world.create(*(an_event(f"e{number}") for number in range(250)))
    assert outcomes == [Outcome.STORED] * 250
    assert calls.count("subscribers.get_many") == 6
    assert emailed(world) == ["post1: 250"]


# Never.


def test_muted_events_are_not_stored_or_restored_by_unmuting(world: World) -> None:
    world.choose(comment=NEVER)
    assert world.create(an_event()) == [Outcome.MUTED]
    assert not world.events.rows
    world.clock.pass_time(hours=1)
    world.choose(comment=Frequency.DAILY)
    assert emailed(world) == []


@pytest.mark.parametrize("frequency", HEARD)
def test_late_duplicate_of_a_muted_event_stays_muted(world: World, frequency: Frequency) -> None:
    world.choose(comment=NEVER)
    world.create(an_event())
    world.clock.pass_time(hours=1)
    world.choose(comment=frequency)
    world.clock.pass_time(days=2)
    assert world.create(an_event()) == [Outcome.MUTED]
    assert emailed(world) == []


def test_events_after_unmuting_are_stored_again(world: World) -> None:
    world.choose(comment=NEVER)
    world.clock.pass_time(hours=1)
    world.choose(comment=Frequency.DAILY)
    assert world.create(an_event(occurred_at=world.clock())) == [Outcome.STORED]
    assert emailed(world) == ["post1: 1"]


@pytest.mark.parametrize("frequency", HEARD)
def test_muting_a_category_withdraws_waiting_events(world: World, frequency: Frequency) -> None:
    world.choose(comment=frequency)
    world.create(an_event(), an_event("e2", category="like", entity_id="post2"))
    world.clock.pass_time(seconds=5)
    world.choose(comment=NEVER)
    assert emailed(world) == ["post2: 1"]
    assert world.waiting() == {"e2": "daily"}


# An event before its reader.


@pytest.mark.parametrize("frequency", HEARD)
def test_event_before_the_profile_waits_and_is_placed_later(
    world: World, frequency: Frequency
) -> None:
    assert world.create(an_event()) == [Outcome.STORED]
    assert world.waiting() == {"e1": Unsent.WAITING}
    world.clock.pass_time(minutes=5)
    assert world.choose(comment=frequency) is Outcome.CHANGED
    assert world.waiting() == {"e1": under(frequency)}
    assert emailed(world) == ["post1: 1"]


def test_event_before_a_profile_that_mutes_the_category_is_dropped(world: World) -> None:
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    world.choose(comment=NEVER)
    assert not world.events.rows


def test_events_of_unknown_readers_are_never_sent(world: World) -> None:
    world.create(an_event())
    world.send_everything()
    assert not world.runs.rows
    assert not world.mailer.calls


def test_event_that_expired_before_the_profile_is_not_scheduled(world: World) -> None:
    world.create(an_event())
    world.clock.pass_time(days=91)
    world.choose(at=NOW)
    assert emailed(world) == []


def test_id_of_an_expired_event_can_be_reused(world: World) -> None:
    world.choose()
    world.create(an_event())
    world.clock.pass_time(days=91)
    assert world.create(an_event(occurred_at=world.clock())) == [Outcome.STORED]


# A change of preferences.


@pytest.mark.parametrize("to", HEARD)
@pytest.mark.parametrize("frequency", HEARD)
def test_preference_change_moves_waiting_events_which_are_sent_once(
    world: World, frequency: Frequency, to: Frequency
) -> None:
    world.choose(comment=frequency)
    world.create(an_event())
    world.clock.pass_time(seconds=5)
    world.choose(comment=to)
    assert emailed(world) == ["post1: 1"]
    assert world.waiting() == {"e1": under(to)}
    assert world.emails()[0].schedule == under(to)
    world.send_everything()
    assert len(world.emails()) == 1


@pytest.mark.parametrize("to", [Frequency.WEEKLY, IMMEDIATE, NEVER])
@pytest.mark.parametrize("status", [Status.PENDING, Status.RETRYING])
def test_preference_change_raises_the_epoch_of_open_runs(
    world: World, to: Frequency, status: Status
) -> None:
    world.choose()
    world.create(an_event())
    world.runs.create(replace(a_run(), status=status))
    world.clock.pass_time(minutes=5)
    world.choose(comment=to)
    assert world.runs.rows[KEY].epoch == 1


def test_preference_change_of_another_category_has_no_effect(world: World) -> None:
    world.choose()
    world.create(an_event())
    world.runs.create(a_run())
    before = world.events.rows.copy()
    world.clock.pass_time(minutes=5)
    world.choose(like=NEVER)
    assert world.events.rows == before
    assert world.runs.rows[KEY] == a_run()


COVERING = Window(BEGINNING, NOW)
SENT = a_claimed_run(
    status=Status.SENT, reason=Reason.ACCEPTED, window=COVERING, newest=(name_of("e1"),)
)


@pytest.mark.parametrize(
    "run",
    [
        SENT,
        replace(SENT, status=Status.SENDING, reason=Reason.CLAIMED),
        replace(SENT, status=Status.UNKNOWN, uncertain=frozenset({1})),
        replace(SENT, status=Status.RETRYING, uncertain=frozenset({1}), attempt=2),
        replace(SENT, status=Status.FAILED, uncertain=frozenset({1})),
        replace(SENT, status=Status.CANCELLED, uncertain=frozenset({1})),
    ],
    ids=["sent", "sending", "unknown", "retrying", "failed", "cancelled"],
)
@pytest.mark.parametrize("to", [Frequency.WEEKLY, IMMEDIATE, NEVER])
def test_events_that_may_have_been_sent_stay_with_their_run(
    world: World, run: Run, to: Frequency
) -> None:
    world.choose()
    world.create(an_event())
    world.runs.rows[KEY] = run
    world.clock.pass_time(minutes=5)
    world.choose(comment=to)
    assert world.waiting() == {"e1": DAILY}
    assert world.runs.rows[KEY] == run
    world.create(an_event())
    assert world.waiting() == {"e1": DAILY}


@pytest.mark.parametrize(
    "run",
    [
        replace(SENT, status=Status.RETRYING, reason=Reason.REFUSED_FOR_NOW),
        replace(SENT, status=Status.FAILED, reason=Reason.REFUSED_FOR_GOOD),
        replace(SENT, status=Status.CANCELLED, reason=Reason.SUPERSEDED, window=None),
        replace(SENT, window=Window(BEGINNING, NOW - A_MINUTE)),
    ],
    ids=["refused", "refused for good", "never claimed", "sent before"],
)
def test_unsent_events_move(world: World, run: Run) -> None:
    world.choose()
    world.create(an_event())
    world.runs.rows[KEY] = run
    world.clock.pass_time(minutes=5)
    world.choose(comment=Frequency.WEEKLY)
    assert world.waiting() == {"e1": "weekly"}


def test_trace_m_producer_retry_after_a_preference_change_is_a_duplicate(world: World) -> None:
    """The key has no schedule: a retry finds the event wherever it went."""
    world.choose()
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    world.choose(comment=Frequency.WEEKLY)
    assert world.create(an_event()) == [Outcome.DUPLICATE]
    assert len(world.events.rows) == 1
    assert emailed(world) == ["post1: 1"]


def test_trace_n_moved_event_is_never_behind_a_closed_window(world: World) -> None:
    """It takes a new storage time, beyond every window that the target has sent."""
    world.choose(comment=Frequency.WEEKLY)
    world.create(an_event())
    world.create(an_event("other", category="like", entity_id="post2"))
    world.send_digest()
    world.clock.pass_time(minutes=5)
    world.choose()
    world.send_digest()
    assert [email.lines for email in world.emails()] == [("post2: 1",), ("post1: 1",)]


def test_trace_n_event_does_not_move_out_of_an_unknown_run(world: World) -> None:
    world.choose()
    world.create(an_event())
    world.runs.rows[KEY] = replace(SENT, status=Status.UNKNOWN, uncertain=frozenset({1}))
    world.clock.pass_time(minutes=5)
    world.choose(comment=IMMEDIATE)
    assert not world.generate_queue.sent
    assert world.waiting() == {"e1": DAILY}


@pytest.mark.parametrize("to", [*HEARD, NEVER])
def test_trace_n_event_is_not_stored_under_a_stale_preference(to: Frequency) -> None:
    """The profile is read again after the write: it changes before each call in turn."""
    for world, where in interleavings(
        chosen_before(Frequency.CUSTOM),
        lambda world: world.create(an_event()),
        lambda world: world.choose(comment=to),
    ):
        assert emailed(world) == ([] if to is NEVER else ["post1: 1"]), where
        assert world.waiting() == ({} if to is NEVER else {"e1": under(to)}), where


@pytest.mark.parametrize(
    "stop", [World.unsubscribe, World.erase], ids=["unsubscribes", "is erased"]
)
@pytest.mark.parametrize("frequency", HEARD)
def test_event_is_not_kept_if_the_reader_unsubscribes_during_the_write(
    frequency: Frequency, stop: Callable[[World], object]
) -> None:
    for world, where in interleavings(
        chosen_before(frequency), lambda world: world.create(an_event()), stop
    ):
        if stop is World.erase:
            assert not world.events.rows, where
        assert emailed(world) == [], where


def test_unfollow_during_the_write_of_an_event_takes_effect() -> None:
    def make() -> World:
        world = chosen_before(Frequency.DAILY)()
        world.follow(at=NOW - timedelta(days=1))
        return world

    for world, where in interleavings(
        make,
        lambda world: world.create(an_event(via=("post#post1",))),
        lambda world: world.follow(at=NOW, following=False),
    ):
        assert world.waiting() == {}, where


@pytest.mark.parametrize("to", [*HEARD, NEVER])
@pytest.mark.parametrize("frequency", [Frequency.DAILY, Frequency.WEEKLY])
def test_digest_during_a_preference_change_includes_the_event_at_most_once(
    frequency: Frequency, to: Frequency
) -> None:
    def make() -> World:
        world = chosen_before(frequency)()
        world.create(an_event())
        return world

    for world, where in interleavings(
        make,
        lambda world: world.choose(at=LATER, comment=to),
        lambda world: world.send_digest(frequency.value),
    ):
        sent = emailed(world)
        assert sent == ["post1: 1"] or (to is NEVER and not sent), where


@pytest.mark.parametrize("to", [*HEARD, NEVER])
@pytest.mark.parametrize("frequency", HEARD)
def test_preference_change_during_a_delivery_sends_the_event_at_most_once(
    frequency: Frequency, to: Frequency
) -> None:
    def make() -> World:
        world = chosen_before(frequency)()
        world.create(an_event())
        if frequency is not IMMEDIATE:
            schedule = world.schedules.rows["ann", frequency.value]
            world.runs.create(Run(RunKey("ann", schedule.name, 1), NOW, NOW))
            world.schedules.put(
                schedule.advanced(schedule.next_due_at + timedelta(days=7)), replacing=schedule
            )
        world.clock.pass_time(minutes=2)
        return world

    for world, where in interleavings(
        make,
        lambda world: world.deliver(next(iter(world.runs.rows))),
        lambda world: world.choose(comment=to),
    ):
        sent = emailed(world)
        assert sent == ["post1: 1"] or (to is NEVER and not sent), where


def test_run_created_before_a_move_restarts_the_move(world: World) -> None:
    world.choose()
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    with world.meanwhile("events.move", lambda: world.runs.create(a_run()), before=True):
        world.choose(comment=Frequency.WEEKLY)
    assert world.waiting() == {"e1": "weekly"}
    assert world.runs.rows[KEY].epoch == 1


def test_immediate_run_created_before_a_move_restarts_the_move(
    world: World,
) -> None:
    """A worker stored the event and has not started its run: another is about to."""
    world.choose(comment=Frequency.IMMEDIATE)
    schedule = immediate_schedule("post#post1")
    _, stored = world.events.store(an_event(), schedule)
    assert isinstance(stored, StoredEvent)
    world.clock.pass_time(minutes=1)

    def start() -> None:
        start_immediates([stored], context=world.context)

    with world.meanwhile("events.move", start, before=True):
        move(stored, Target(DAILY), context=world.context)
    assert world.waiting() == {"e1": DAILY}
    assert [run.epoch for run in world.runs.rows.values()] == [1]


def test_event_moved_from_an_immediate_schedule_is_not_sent_twice(
    world: World,
) -> None:
    """The run of A has failed; that of B was never started, because its worker died."""
    world.choose(comment=Frequency.IMMEDIATE, mention=Frequency.IMMEDIATE)
    schedule = immediate_schedule("post#post1")
    failed = an_event("A", occurred_at=world.clock())
    world.create(failed)
    world.mailer.script.append(RefusedForGood(1, "rejected"))
    world.deliver_queued()
    world.clock.pass_time(minutes=5)
    event = an_event("B", category="mention", occurred_at=world.clock())
    _, stored = world.events.store(event, schedule)
    assert isinstance(stored, StoredEvent)
    world.clock.pass_time(minutes=2)
    read: list[Run] = []

    def redeliver() -> None:
        (started,) = start_immediates([stored], context=world.context)
        read.append(started)

    world.choose(comment=Frequency.DAILY, mention=Frequency.IMMEDIATE)
    with world.meanwhile("events.move", redeliver, before=True):
        world.create(failed)
    assert world.waiting() == {"A": DAILY, "B": schedule}
    claimed = replace(read[0], status=Status.SENDING, attempt=1)
    assert world.runs.swap(read[0], claimed) != claimed
    world.send_everything()
    assert sorted(email.lines for email in world.emails()) == [("post1: 1",), ("post1: 1",)]


def test_event_whose_schedule_was_never_created_is_moved() -> None:
    """The profile that wanted it broke off, and its redelivery is outdated."""
    weekly = ChangeSubscriber(a_subscriber(changed_at=NOW, comment=Frequency.WEEKLY))
    daily = ChangeSubscriber(
        a_subscriber(changed_at=NOW + timedelta(minutes=1), comment=Frequency.DAILY)
    )

    for world, where in crashes(World, lambda world: world.say(weekly)):
        world.create(an_event())
        world.clock.pass_time(minutes=1)
        world.say(daily)
        world.say(weekly)
        assert world.waiting() == {"e1": DAILY}, where
        world.send_everything()
        assert [email.lines for email in world.emails()] == [("post1: 1",)], where


def test_follow_missed_by_an_erasure_is_removed_at_the_next_event(
    world: World,
) -> None:
    """The index by which it looks may not have had it yet."""
    world.choose(at=NOW - timedelta(days=1))
    world.erase()
    for user_id in ("ann", "bo"):
        world.follows.put(a_follow(user_id), replacing=None)
    event = an_event(occurred_at=NOW + timedelta(minutes=1), via=("post#post1",))
    assert world.create(event) == [Outcome.ERASED]
    assert list(world.follows.rows) == [("post#post1", "bo")]


def test_run_claimed_before_a_move_keeps_the_event(world: World) -> None:
    world.choose()
    world.create(an_event())
    world.runs.create(a_run())
    world.clock.pass_time(minutes=5)

    def claim() -> None:
        world.runs.rows[KEY] = replace(
            a_run(), status=Status.SENDING, attempt=1, window=Window(BEGINNING, world.clock())
        )

    with world.meanwhile("events.move", claim, before=True):
        world.choose(comment=Frequency.WEEKLY)
    assert world.waiting() == {"e1": DAILY}
    assert world.runs.rows[KEY].epoch == 0


def test_schedule_advanced_before_a_move_restarts_the_move(
    world: World,
) -> None:
    world.choose()
    world.create(an_event())
    world.clock.pass_time(minutes=5)

    def fan_out() -> None:
        schedule = world.schedules.rows["ann", DAILY]
        world.runs.create(a_run())
        world.schedules.put(
            schedule.advanced(schedule.next_due_at + timedelta(days=1)), replacing=schedule
        )

    with world.meanwhile("events.move", fan_out, before=True):
        world.choose(comment=Frequency.WEEKLY)
    assert world.runs.rows[KEY].epoch == 1
    assert emailed(world) == ["post1: 1"]


def test_event_is_redelivered_if_the_reader_keeps_changing(world: World) -> None:
    world.choose()

    def change() -> None:
        world.clock.pass_time(seconds=1)
        world.choose(comment=HEARD[world.clock().second % 2])

    with (
        pytest.raises(NotYet),
        world.meanwhile("subscribers.get_many", change, times=9),
    ):
        world.create(an_event())


def test_preference_change_is_redelivered_if_the_reader_keeps_changing(
    world: World,
) -> None:
    world.choose()
    world.create(an_event())

    def change() -> None:
        ann = world.subscribers.rows["ann"]
        world.subscribers.rows["ann"] = replace(ann, erased_at=world.clock() - A_MINUTE)
        world.clock.pass_time(seconds=1)

    with (
        pytest.raises(NotYet),
        world.meanwhile("subscribers.get_many", change, times=9),
    ):
        reroute("ann", context=world.context)


def test_preference_change_is_redelivered_if_an_event_keeps_moving(world: World) -> None:
    world.choose()
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    world.events.move = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        world.choose(comment=Frequency.WEEKLY)


# What breaks off.


@pytest.mark.parametrize("frequency", HEARD)
def test_event_interrupted_anywhere_is_sent_once_after_redelivery(
    frequency: Frequency,
) -> None:
    for world, where in crashes(chosen_before(frequency), lambda world: world.create(an_event())):
        world.create(an_event())
        assert emailed(world) == ["post1: 1"], where


@pytest.mark.parametrize("frequency", [*HEARD, NEVER])
def test_interrupted_first_profile_sends_waiting_events_after_redelivery(
    frequency: Frequency,
) -> None:
    """Rule 16: what was moved without its run or its message is not forgotten."""

    def make() -> World:
        world = World()
        world.create(an_event())
        return world

    for world, where in crashes(make, lambda world: world.choose(at=NOW, comment=frequency)):
        world.choose(at=NOW, comment=frequency)
        assert emailed(world) == ([] if frequency is NEVER else ["post1: 1"]), where


@pytest.mark.parametrize("to", [*HEARD, NEVER])
@pytest.mark.parametrize("frequency", HEARD)
def test_interrupted_preference_change_is_complete_after_redelivery(
    frequency: Frequency, to: Frequency
) -> None:
    def make() -> World:
        world = chosen_before(frequency)()
        world.create(an_event())
        return world

    for world, where in crashes(make, lambda world: world.choose(at=LATER, comment=to)):
        world.choose(at=LATER, comment=to)
        assert emailed(world) == ([] if to is NEVER else ["post1: 1"]), where
        assert world.waiting() == ({} if to is NEVER else {"e1": under(to)}), where


def test_interrupted_profile_sends_events_of_a_weekly_follow() -> None:
    """The weekly schedule is wanted by the follow alone, and made by whoever routes the event."""

    def make() -> World:
        world = World()
        world.follow(often=Frequency.WEEKLY)
        world.create(an_event(via=("post#post1",)))
        return world

    for world, where in crashes(make, lambda world: world.choose(at=NOW)):
        world.choose(at=NOW)
        assert emailed(world) == ["post1: 1"], where


def test_changed_default_frequency_creates_the_missing_schedule() -> None:
    """A deploy changes it, without a word from the reader."""
    world = World()
    world.choose()
    world.context = replace(world.context, defaults=(("comment", Frequency.WEEKLY),))
    world.create(an_event())
    assert world.waiting() == {"e1": "weekly"}
    assert ("ann", "weekly") in world.schedules.rows


def test_unsent_immediate_event_moves_to_the_newly_chosen_frequency() -> None:
    world = World()
    world.choose(comment=Frequency.IMMEDIATE)
    world.create(an_event())
    (run,) = world.runs.rows.values()
    world.runs.rows[run.key] = replace(run, status=Status.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED)
    world.clock.pass_time(minutes=5)
    world.choose(comment=Frequency.DAILY)
    assert emailed(world) == [], "nobody looks into a thread whose runs have ended"
    world.resend(run.key, given_up=True)
    assert emailed(world) == ["post1: 1"]
    assert world.waiting() == {"e1": "daily"}
