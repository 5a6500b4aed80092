"""A subscriber registers, changes, shows a sign of life, leaves and is erased: in any order."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import pytest
from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    Command,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    RetractEvent,
)
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.errors import NotYet
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.subscribers.choices import Choice, ReaderChoices
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.history import remember
from gazette.domain.subscribers.subscriber import Erased, Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import KEY, NOW, SettableClock, a_run, a_subscriber, an_event
from tests.world import World, crashes, interleavings

A_MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
ANN = address_hash("ann@example.com")


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def change(world: World, subscriber: Subscriber) -> Outcome:
    """`subscriber.changed`."""
    return world.say(ChangeSubscriber(subscriber))[0]


def ann(world: World) -> Subscriber:
    """Ann as she is stored."""
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


# The latest profile wins.


def test_whole_profile_is_stored(world: World) -> None:
    given_profile = a_subscriber(like=Frequency.WEEKLY)
    assert change(world, given_profile) is Outcome.CHANGED
    registered = replace(given_profile, registered_on=NOW.date())
    assert replace(ann(world), routed_for="") == registered


def test_imported_reader_is_as_old_as_the_last_activity(world: World) -> None:
    """So that a reader who was inactive for a year does not begin anew."""
    long_ago = (NOW - timedelta(days=60)).date()
    given_profile = replace(a_subscriber(), active_on=long_ago)
    change(world, given_profile)
    assert (ann(world).registered_on, ann(world).active_on) == (long_ago, None)
    assert ann(world).is_overdue_at(NOW, timedelta(days=45))
    assert not ann(world).is_overdue_at(NOW, timedelta(days=90))
    world.say(MarkActive("ann", NOW))
    assert not ann(world).is_overdue_at(NOW, timedelta(days=45))


def test_later_profile_does_not_change_the_date_of_registration(world: World) -> None:
    change(world, a_subscriber())
    again = replace(a_subscriber(changed_at=NOW + A_MINUTE), active_on=date(2020, 1, 1))
    change(world, again)
    assert (ann(world).registered_on, ann(world).active_on) == (NOW.date(), None)


def test_activity_after_the_registration_counts_from_the_registration(world: World) -> None:
    change(world, replace(a_subscriber(), active_on=NOW.date() + timedelta(days=9)))
    assert ann(world).registered_on == NOW.date()


def test_duplicate_profile_changes_nothing(world: World) -> None:
    change(world, a_subscriber())
    before = ann(world)
    assert change(world, a_subscriber()) is Outcome.CHANGED
    assert ann(world) == before


def test_older_profile_only_adds_to_choice_history(world: World) -> None:
    newer = replace(a_subscriber(changed_at=NOW + A_MINUTE, like=Frequency.DAILY), name="Anna")
    older = a_subscriber(like=Frequency.NEVER)
    change(world, newer)
    assert change(world, older) is Outcome.OUTDATED
    assert (ann(world).name, ann(world).chosen) == ("Anna", frequencies({"like": Frequency.DAILY}))
    assert [at for at, _ in ann(world).choices] == [NOW, NOW + A_MINUTE]


def test_events_muted_by_older_profile_are_withdrawn(world: World) -> None:
    """It was muted when it occurred, as is found out late."""
    change(world, a_subscriber(changed_at=NOW + A_MINUTE))
    world.create(an_event(occurred_at=NOW))
    change(world, a_subscriber(comment=Frequency.NEVER))
    assert world.waiting() == {}


PROFILES = (
    a_subscriber(comment=Frequency.WEEKLY),
    a_subscriber(email="ann@example.org"),
    replace(a_subscriber(times=DigestTimes(hour=20)), name="Anna"),
    a_subscriber(changed_at=NOW - A_MINUTE, like=Frequency.CUSTOM),
)


@pytest.mark.parametrize("order", list(permutations(PROFILES)))
def test_profiles_with_same_timestamp_end_in_same_state(
    order: tuple[Subscriber, ...],
) -> None:
    def final(profiles: tuple[Subscriber, ...]) -> Subscriber:
        world = World()
        for profile in (*profiles, profiles[0]):
            change(world, profile)
        return replace(ann(world), revision=1, routed_for="")

    assert final(order) == final(PROFILES)


@given(
    st.lists(
        st.builds(
            a_subscriber,
            changed_at=st.integers(0, 3).map(lambda minutes: NOW + minutes * A_MINUTE),
            email=st.sampled_from(["ann@example.com", "ann@example.org"]),
            comment=st.sampled_from(Frequency),
        ),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_profiles_in_any_order_end_in_same_state(
    profiles: list[Subscriber], data: st.DataObject
) -> None:
    ends = []
    for order in (profiles, data.draw(st.permutations(profiles))):
        world = World()
        for profile in order:
            change(world, profile)
        ends.append(replace(ann(world), revision=1, routed_for="", routes_since=None))
        assert len(world.schedules.rows) <= 3
        assert not world.schedules.withdrawn
    assert ends[0] == ends[1]
    assert ends[0].changed_at == max(profile.changed_at for profile in profiles)


def test_concurrent_profiles_are_both_applied() -> None:
    first = a_subscriber(changed_at=NOW, comment=Frequency.NEVER)
    second = a_subscriber(changed_at=NOW + A_MINUTE, comment=Frequency.WEEKLY)
    expected = remember(first.choices, second.changed_at, second.chosen)
    for act, other in ((first, second), (second, first)):
        for world, where in interleavings(
            World,
            lambda world, act=act: change(world, act),  # type: ignore[misc]
            lambda world, other=other: change(world, other),  # type: ignore[misc]
        ):
            assert ann(world).choices == expected, where
            assert ann(world).changed_at == second.changed_at, where
            assert set(world.schedules.rows) >= {("ann", DAILY), ("ann", "weekly")}, where


def test_constantly_changing_profile_message_is_retried(world: World) -> None:
    world.subscribers.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        change(world, a_subscriber())


def test_routing_choices_are_stored_without_repetitions(world: World) -> None:
    """Not the repetitions: they decide nothing."""
    change(world, a_subscriber(like=Frequency.DAILY))
    world.clock.pass_time(hours=1)
    change(world, a_subscriber(changed_at=world.clock(), like=Frequency.DAILY))
    assert len(ann(world).routed_for) == 16


def test_unchanged_choices_read_no_waiting_events(world: World) -> None:
    change(world, a_subscriber())
    with world.calls() as calls:
        change(world, replace(a_subscriber(changed_at=NOW + A_MINUTE), name="Anna"))
    assert "events.stored_under" not in calls


# Status.


def test_suppressed_address_gets_no_email(world: World) -> None:
    world.suppressions.add(ANN, Cause.BOUNCED)
    change(world, a_subscriber(email="Ann@Example.com"))
    assert ann(world).status is SubscriberStatus.SUPPRESSED
    assert not world.schedules.rows
    assert world.create(an_event()) == [Outcome.UNSUBSCRIBED]


def test_reader_with_new_address_gets_email_again(world: World) -> None:
    world.suppressions.add(ANN, Cause.BOUNCED)
    change(world, a_subscriber())
    change(world, a_subscriber(changed_at=NOW + A_MINUTE, email="ann@example.org"))
    assert ann(world).status is SubscriberStatus.ACTIVE
    assert ("ann", DAILY) in world.schedules.rows
    assert not world.schedules.withdrawn


@pytest.mark.parametrize("status", [SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED])
def test_older_profile_does_not_change_status(world: World, status: SubscriberStatus) -> None:
    change(world, a_subscriber())
    world.subscribers.set_status("ann", status)
    change(world, a_subscriber(changed_at=NOW - A_MINUTE, email="ann@example.org"))
    assert ann(world).status is status


def test_profile_does_not_resubscribe_reader_who_unsubscribed(world: World) -> None:
    change(world, a_subscriber())
    world.arm()
    world.unsubscribe()
    for minutes, email in ((1, "ann@example.com"), (2, "ann@example.org")):
        change(world, a_subscriber(changed_at=NOW + minutes * A_MINUTE, email=email))
        assert ann(world).status is SubscriberStatus.UNSUBSCRIBED
        assert not world.schedules.listed


def test_reader_who_unsubscribes_during_change_is_not_due() -> None:
    def make() -> World:
        world = World()
        change(world, a_subscriber())
        world.arm()
        return world

    newer = a_subscriber(
        changed_at=NOW + A_MINUTE, times=DigestTimes(hour=20), comment=Frequency.WEEKLY
    )
    for world, where in interleavings(make, lambda world: change(world, newer), World.unsubscribe):
        assert ann(world).status is SubscriberStatus.UNSUBSCRIBED, where
        assert not world.schedules.listed, where


# Signs of life.


@pytest.mark.parametrize("known", [True, False])
def test_activity_before_profile_is_recorded(world: World, known: bool) -> None:
    if known:
        change(world, a_subscriber())
    assert world.say(MarkActive("ann", NOW)) == [Outcome.ACTIVE]
    if not known:
        change(world, a_subscriber())
    assert ann(world).active_on == NOW.date()


def test_only_first_activity_per_day_is_written(world: World) -> None:
    change(world, a_subscriber())
    with world.calls() as calls:
        for minutes in range(5):
            world.say(MarkActive("ann", NOW + minutes * A_MINUTE))
    assert calls.count("subscribers.mark_active") == 1


@pytest.mark.parametrize("order", list(permutations([0, 1, 2])))
def test_latest_activity_day_is_kept(world: World, order: tuple[int, ...]) -> None:
    change(world, a_subscriber())
    for days in order:
        world.say(MarkActive("ann", NOW - days * DAY))
    assert ann(world).active_on == date(2026, 11, 22)


def test_profile_change_keeps_last_activity(world: World) -> None:
    change(world, a_subscriber())
    world.say(MarkActive("ann", NOW))
    change(world, a_subscriber(changed_at=NOW + A_MINUTE))
    assert ann(world).active_on == NOW.date()


def test_activity_of_erased_reader_is_ignored(world: World) -> None:
    world.erase()
    assert world.say(MarkActive("ann", NOW)) == [Outcome.ERASED]
    assert not world.subscribers.active


# Erasure.


def a_full_life() -> World:
    """Ann has whatever there is to have."""
    world = World()
    day_ago = NOW - DAY
    world.choose(at=day_ago, comment=Frequency.WEEKLY, mention=Frequency.IMMEDIATE)
    world.follow(at=day_ago)
    world.follow(entity="blog#b1", at=day_ago)
    world.follow(entity="blog#b2", at=day_ago)
    world.follow(entity="blog#b2", following=False)
    world.say(MarkActive("ann", NOW))
    world.create(
        an_event("e1"), an_event("e2", category="mention"), an_event("e3", category="like")
    )
    world.say(RetractEvent("ann", "e9"))
    world.runs.create(replace(a_run(), status=Status.RETRYING, attempt=1, detail="452"))
    return world


def gone(world: World) -> None:
    """Nothing of Ann is left but the instant, and runs that have ended and say nothing."""
    assert world.subscribers.rows == {"ann": Erased("ann", NOW)}
    assert not world.subscribers.active
    assert not world.schedules.rows
    assert not world.follows.rows
    assert not world.events.rows
    world.send_everything()
    for run in world.runs.rows.values():
        ended = (Status.CANCELLED, Reason.ERASED), (Status.SKIPPED, Reason.EMPTY)
        assert (run.status, run.reason) == ended[run.key.is_immediate]
    assert not world.mailer.calls


def test_attack_tables_contain_no_personal_data_after_erasure() -> None:
    world = a_full_life()
    assert world.erase() is Outcome.ERASED
    gone(world)
    assert not world.suppressions.rows
    assert world.erase(at=NOW) is Outcome.ERASED
    gone(world)


def test_redelivery_completes_interrupted_erasure() -> None:
    for world, where in crashes(a_full_life, World.erase):
        assert world.erase() is Outcome.ERASED, where
        gone(world)


def test_erasure_keeps_address_hash_of_unsubscribed_reader() -> None:
    """Also of one to which they moved after they had left."""

    def make() -> World:
        world = a_full_life()
        world.subscribers.set_status("ann", SubscriberStatus.UNSUBSCRIBED)
        return world

    for world, where in crashes(make, World.erase):
        world.erase()
        assert world.suppressions.rows == {ANN: Cause.UNSUBSCRIBED}, where
        change(world, a_subscriber(changed_at=NOW + A_MINUTE))
        assert ann(world).status is SubscriberStatus.SUPPRESSED, where


def test_erasure_does_not_restore_suppression_lifted_by_operator() -> None:
    world = a_full_life()
    world.subscribers.set_status("ann", SubscriberStatus.SUPPRESSED)
    world.erase()
    assert not world.suppressions.rows


def test_sent_events_stay_sent_after_erasure() -> None:
    world = a_full_life()
    sent = replace(a_run(), status=Status.SENT, reason=Reason.ACCEPTED, message_id="m1")
    world.runs.rows[KEY] = sent
    world.erase()
    assert world.runs.rows[KEY] == sent


def test_erasure_does_not_cancel_run_being_sent() -> None:
    world = a_full_life()
    world.runs.rows[KEY] = replace(a_run(), status=Status.SENDING, attempt=1)
    world.erase()
    assert world.runs.rows[KEY].status is Status.SENDING


def test_later_events_for_erased_reader_are_rejected(world: World) -> None:
    world.choose(at=NOW - DAY)
    world.erase()
    later = NOW + A_MINUTE
    assert world.create(an_event(occurred_at=later)) == [Outcome.ERASED]
    assert world.say(RetractEvent("ann", "e1")) == [Outcome.ERASED]
    assert world.follow(at=later) is Outcome.ERASED
    assert world.say(MarkActive("ann", later)) == [Outcome.ERASED]
    assert change(world, a_subscriber()) is Outcome.ERASED
    gone(world)


def test_erasure_of_unknown_reader_is_accepted(world: World) -> None:
    assert world.erase() is Outcome.ERASED
    assert change(world, a_subscriber(changed_at=NOW - A_MINUTE)) is Outcome.ERASED
    gone(world)


def test_erasure_older_than_profile_keeps_later_data() -> None:
    world = a_full_life()
    before = (world.subscribers.rows.copy(), world.events.rows.copy(), world.follows.rows.copy())
    at = NOW - 2 * DAY
    assert world.erase(at=at) is Outcome.OUTDATED
    after = world.subscribers.rows["ann"]
    assert isinstance(after, Subscriber)
    assert (after.erased_at, after.addressed_after, after.revision) == (at, at, 2)
    world.subscribers.rows["ann"] = replace(
        after, erased_at=None, addressed_after=None, revision=1, routed_for=""
    )
    reader = before[0]["ann"]
    assert isinstance(reader, Subscriber)
    was = {"ann": replace(reader, routed_for="")}
    assert (was, *before[1:]) == (world.subscribers.rows, world.events.rows, world.follows.rows)


def a_past() -> list[Command]:
    """A choice, a follow and an event, each an hour before the erasure."""
    then = NOW - 3 * A_MINUTE
    return [
        ChoosePreferences("ann", Choice(frequencies=frequencies({"like": Frequency.NEVER})), then),
        ChangeFollow("ann", "post#p1", FollowState(True), then),
        CreateEvents((an_event("past", occurred_at=then),)),
    ]


@pytest.mark.parametrize("order", list(permutations(range(5))))
def test_data_from_before_erasure_is_removed_in_any_order(
    order: tuple[int, ...],
) -> None:
    """An erasure that a later profile has overtaken reaches as far as one that came in time."""
    erasure = EraseSubscriber("ann", NOW - 2 * A_MINUTE)
    profile = ChangeSubscriber(a_subscriber(changed_at=NOW - A_MINUTE))
    said = [*a_past(), erasure, profile]
    world = World()
    for number in (*order, order[0], 3):
        world.say(said[number])
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    assert (dict(reader.chosen), reader.reader_choices) == ({}, ReaderChoices())
    assert reader.erased_at == erasure.at
    assert [*world.follows.followed_by("ann")] == []
    assert not isinstance(world.events.get("ann", "past"), StoredEvent)
    world.say(CreateEvents((an_event("new", occurred_at=NOW),)))
    assert [each.name for each in world.schedules.of_user("ann") if each.listed] == [DAILY]


def test_interrupted_erasure_older_than_profile_is_completed() -> None:
    def started() -> World:
        world = World()
        for each in (*a_past(), ChangeSubscriber(a_subscriber(changed_at=NOW - A_MINUTE))):
            world.say(each)
        return world

    erasure = EraseSubscriber("ann", NOW - 2 * A_MINUTE)
    for world, where in crashes(started, lambda world: world.say(erasure)):
        world.say(erasure)
        reader = world.subscribers.get("ann")
        assert isinstance(reader, Subscriber), where
        assert reader.reader_choices == ReaderChoices(), where
        assert [*world.follows.followed_by("ann")] == [], where
        assert not isinstance(world.events.get("ann", "past"), StoredEvent), where


def test_later_of_two_erasures_is_kept(world: World) -> None:
    world.erase(at=NOW)
    assert world.erase(at=NOW - A_MINUTE) is Outcome.OUTDATED
    assert world.subscribers.rows["ann"] == Erased("ann", NOW)


@pytest.mark.parametrize(
    "writes",
    [
        lambda world: world.create(an_event("late"), an_event("other", category="mention")),
        lambda world: world.follow(entity="blog#b3"),
        lambda world: world.say(ChangeFollow("ann", "blog#b1", FollowState(False), NOW)),
        lambda world: world.say(MarkActive("ann", NOW + DAY)),
        lambda world: change(world, a_subscriber(comment=Frequency.CUSTOM)),
    ],
    ids=["event", "follow", "unfollow", "activity", "profile"],
)
def test_writes_concurrent_with_erasure_are_removed(
    writes: Callable[[World], object],
) -> None:
    for world, where in interleavings(a_full_life, writes, World.erase):
        assert world.subscribers.rows == {"ann": Erased("ann", NOW)}, where
        assert not world.follows.rows, where
        assert not world.events.rows, where
        assert not world.schedules.rows, where
        assert not world.subscribers.active, where
        world.send_everything()
        assert not world.emails(), where


# Coming back.


def register_again(world: World) -> Outcome:
    """Ann registers again, a minute after her erasure."""
    return change(world, a_subscriber(changed_at=NOW + A_MINUTE, comment=Frequency.DAILY))


def test_reregistered_reader_keeps_only_run_numbers() -> None:
    world = a_full_life()
    world.erase()
    assert register_again(world) is Outcome.CHANGED
    assert ann(world).choices == ((NOW + A_MINUTE, frequencies({"comment": Frequency.DAILY})),)
    assert (ann(world).erased_at, ann(world).active_on) == (NOW, None)
    assert world.schedules.rows["ann", DAILY].sequence == KEY.sequence + 1
    assert not world.follows.rows


def test_events_from_before_erasure_stay_rejected() -> None:
    world = a_full_life()
    world.erase()
    register_again(world)
    assert world.create(an_event()) == [Outcome.ERASED]
    assert world.follow(at=NOW) is Outcome.ERASED
    assert change(world, a_subscriber()) is Outcome.ERASED
    assert world.erase() is Outcome.OUTDATED
    assert not world.follows.rows
    assert not world.events.rows


def test_events_after_erasure_are_accepted() -> None:
    world = a_full_life()
    world.erase()
    register_again(world)
    later = NOW + 2 * A_MINUTE
    world.clock.now = later
    assert world.follow(at=later) is Outcome.CHANGED
    assert world.create(an_event(occurred_at=later)) == [Outcome.STORED]
    world.send_digest()
    assert [email.lines for email in world.emails()] == [("post1: 1",)]


def test_reader_who_returns_during_erasure_gets_digests() -> None:
    """The message that registers them again may overtake the one that erases them."""
    for world, where in interleavings(a_full_life, World.erase, register_again):
        assert ("ann", DAILY) in world.schedules.rows, where
        assert not world.schedules.withdrawn, where


def test_interrupted_erasure_is_completed_after_reader_returns() -> None:
    """Its redelivery finds the new profile: nothing from before may be left all the same."""
    for world, where in crashes(a_full_life, World.erase):
        if not isinstance(world.subscribers.rows["ann"], Erased):
            continue
        register_again(world)
        world.erase()
        assert not world.follows.rows, where
        assert not world.waiting(), where
        assert ("ann", DAILY) in world.schedules.rows, where


def test_second_erasure_after_return_removes_all_data() -> None:
    world = a_full_life()
    world.erase()
    register_again(world)
    world.erase(at=NOW + DAY / 24)
    assert world.subscribers.rows == {"ann": Erased("ann", NOW + DAY / 24)}
    assert not world.schedules.rows


def test_timestamps_are_compared_across_time_zones(world: World) -> None:
    world.erase(at=datetime(2026, 11, 22, 7, tzinfo=UTC))
    berlin = datetime.fromisoformat("2026-11-22T07:59:00+01:00")
    assert change(world, a_subscriber(changed_at=berlin)) is Outcome.ERASED


def test_run_started_during_erasure_sends_no_email() -> None:
    """Fan-out had read the schedule before; its worker has read the reader, and claims last."""

    def make() -> World:
        world = World()
        world.choose(at=NOW - DAY)
        world.create(an_event(occurred_at=NOW))
        world.clock.now = NOW + A_MINUTE
        return world

    def deliver(world: World) -> None:
        world.deliver(world.runs.create(a_run(7)).key)

    later = [
        where.partition(",")[0]
        for world, where in interleavings(make, deliver, World.erase)
        if world.emails()
    ]
    assert later == ["before suppressions.holds", "before mailer.send", "before runs.swap"]


def test_immediate_event_after_return_during_erasure_is_sent() -> None:
    """The run that collects is there already; it must not end with the erasure."""

    def make() -> World:
        world = World()
        world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE)
        world.create(an_event("before", occurred_at=NOW))
        world.clock.now = NOW + A_MINUTE / 6
        return world

    def erase(world: World) -> None:
        world.erase(at=NOW + A_MINUTE / 12)

    def return_at_once(world: World) -> None:
        world.choose(at=world.clock(), comment=Frequency.IMMEDIATE)
        world.create(an_event("after", entity_id="post1", occurred_at=world.clock()))

    for world, where in interleavings(make, erase, return_at_once):
        if world.subscribers.get("ann") is None or isinstance(world.subscribers.get("ann"), Erased):
            continue
        world.send_everything()
        assert "after" not in world.waiting() or world.emails(), where


def test_reader_reusing_an_id_is_due_despite_concurrent_unsubscribe() -> None:
    """The profile may be written anew between the status and the schedules."""

    def return_with_another_address(world: World) -> None:
        world.erase(at=NOW)
        change(world, a_subscriber(changed_at=NOW + A_MINUTE, email="new@example.com"))

    def make() -> World:
        world = World()
        change(world, a_subscriber(changed_at=NOW - DAY))
        return world

    for world, where in interleavings(make, World.unsubscribe, return_with_another_address):
        if ann(world).status is SubscriberStatus.ACTIVE:
            assert not world.schedules.withdrawn, where
