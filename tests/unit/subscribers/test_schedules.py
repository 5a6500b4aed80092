"""The schedules of a reader follow the profile, whoever else advances them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY, RunKey, Schedule
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import Days, DigestTimes, Recurrence, slot_of
from gazette.domain.stored import readable
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.steps.subscribers.schedules import arm, set_schedule, withdraw_if_left

from tests.builders import NOW, SettableClock, a_run, a_subscriber, an_event
from tests.world import World, crashes, interleavings

LATER = NOW + timedelta(seconds=1)
DAY = timedelta(days=1)


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def change(
    world: World,
    *,
    hour: int = 8,
    minute: int = 0,
    changed_at: datetime = NOW,
    times: DigestTimes | None = None,
    **chosen: Frequency,
) -> Outcome:
    """`subscriber.changed`."""
    times = times or DigestTimes(hour=hour, minute=minute)
    subscriber = a_subscriber(changed_at=changed_at, times=times, **chosen)
    return world.say(ChangeSubscriber(subscriber))[0]


def daily(world: World) -> Schedule:
    """Ann's daily schedule."""
    return world.schedules.rows["ann", DAILY]


# Which there are, and when they are due. It is Sunday, 08:03 in Berlin.


@pytest.mark.parametrize(
    ("chosen", "defaults", "names"),
    [
        ({}, {}, {"daily"}),
        ({"like": Frequency.IMMEDIATE, "comment": Frequency.NEVER}, {}, {"daily"}),
        ({"like": Frequency.WEEKLY}, {}, {"daily", "weekly"}),
        ({}, {"like": Frequency.CUSTOM}, {"daily", "custom"}),
        (
            {"like": Frequency.WEEKLY},
            {"comment": Frequency.CUSTOM},
            {"daily", "weekly", "custom"},
        ),
    ],
)
def test_reader_has_the_schedules_required_by_choices_and_defaults(
    chosen: dict[str, Frequency], defaults: dict[str, Frequency], names: set[str]
) -> None:
    world = World(defaults=frequencies(defaults))
    change(world, **chosen)  # type: ignore[arg-type]
    assert {name for _, name in world.schedules.rows} == names
    assert not world.schedules.withdrawn


@pytest.mark.parametrize(
    ("name", "times", "due"),
    [
        ("daily", DigestTimes(hour=9, minute=0), "2026-11-22T08:00"),
        ("daily", DigestTimes(hour=8, minute=0), "2026-11-23T07:00"),
        ("weekly", DigestTimes(hour=9, minute=0, weekly_on=7), "2026-11-22T08:00"),
        ("weekly", DigestTimes(hour=8, minute=0, weekly_on=7), "2026-11-29T07:00"),
        ("weekly", DigestTimes(minute=0), "2026-11-23T07:00"),
        ("custom", DigestTimes(minute=0), "2026-11-23T07:00"),
        ("custom", DigestTimes(minute=0, custom_on=Days(frozenset({2, 6}))), "2026-11-24T07:00"),
        (
            "custom",
            DigestTimes(hour=18, minute=30, custom_on=Days(frozenset({7}))),
            "2026-11-22T17:30",
        ),
    ],
)
def test_new_schedule_is_due_at_the_next_chosen_hour_and_day(
    world: World, name: str, times: DigestTimes, due: str
) -> None:
    change(world, times=times, like=Frequency.WEEKLY, comment=Frequency.CUSTOM)
    schedule = world.schedules.rows["ann", name]
    assert schedule.next_due_at == datetime.fromisoformat(due).replace(tzinfo=UTC)
    assert (schedule.sequence, schedule.revision) == (1, 1)


def test_trace_k_open_slot_is_never_chosen(world: World) -> None:
    """Fan-out may have read it already."""
    change(world, minute=5)
    world.create(an_event())
    assert daily(world).next_due_at == datetime(2026, 11, 23, 7, 5, tzinfo=UTC)


def test_deselected_schedule_sends_remaining_events_at_the_readers_hour(
    world: World,
) -> None:
    change(world, like=Frequency.WEEKLY)
    change(world, hour=20, changed_at=LATER, like=Frequency.DAILY)
    assert world.schedules.rows["ann", "weekly"].recurrence == Recurrence(
        20, 0, "Europe/Berlin", Days(frozenset({1}))
    )
    assert not world.schedules.withdrawn


# Changes.


def test_repeated_change_has_no_effect(world: World) -> None:
    change(world, like=Frequency.WEEKLY)
    before = world.schedules.rows.copy()
    change(world, like=Frequency.WEEKLY)
    assert world.schedules.rows == before


def test_new_hour_creates_a_new_revision_and_sequence(world: World) -> None:
    change(world)
    world.arm()
    world.schedules.rows["ann", DAILY] = replace(daily(world), sequence=5)
    change(world, hour=20, changed_at=LATER)
    assert (daily(world).sequence, daily(world).revision) == (6, 3)
    assert daily(world).next_due_at == datetime(2026, 11, 22, 19, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("times", "changes"),
    [
        (DigestTimes(minute=0, weekly_on=3), {"weekly"}),
        (DigestTimes(minute=0, custom_on=Days(frozenset({6, 7}))), {"custom"}),
        (DigestTimes(minute=30), {"daily", "weekly", "custom"}),
    ],
)
def test_change_of_days_revises_only_schedules_using_the_days(
    world: World, times: DigestTimes, changes: set[str]
) -> None:
    change(world, like=Frequency.WEEKLY, comment=Frequency.CUSTOM)
    change(world, times=times, changed_at=LATER, like=Frequency.WEEKLY, comment=Frequency.CUSTOM)
    changed = {name for (_, name), row in world.schedules.rows.items() if row.revision == 2}
    assert changed == changes


def test_newer_profile_with_the_same_hour_updates_only_the_timestamp(
    world: World,
) -> None:
    """Else a slower, older change could still win over it."""
    change(world)
    world.arm()
    before = daily(world)
    change(world, changed_at=LATER)
    assert daily(world) == replace(before, changed_at=LATER)


def test_outdated_change_is_ignored(world: World) -> None:
    change(world, hour=20, changed_at=LATER)
    before = daily(world)
    assert change(world) is Outcome.OUTDATED
    assert daily(world) == before


def test_slow_worker_does_not_overwrite_a_newer_schedule(world: World) -> None:
    change(world)
    newer = replace(daily(world), changed_at=LATER + timedelta(seconds=1))
    world.schedules.rows["ann", DAILY] = newer
    change(world, hour=20, changed_at=LATER)
    assert daily(world) == newer


def test_change_leaves_missed_occurrences_to_fan_out(world: World) -> None:
    """The shard's checkpoint is behind: each occurrence that was missed gets its run."""
    change(world)
    world.arm()
    before = daily(world)
    world.clock.pass_time(days=3)
    change(world)
    assert daily(world) == before
    world.create(an_event(occurred_at=world.clock()))
    world.send_digest()
    assert [run.due_at.day for run in world.runs.rows.values()] == [23, 24, 25]


def test_returning_reader_gets_no_missed_digests(world: World) -> None:
    change(world)
    world.arm()
    world.unsubscribe()
    assert not daily(world).listed
    world.clock.pass_time(days=3)
    world.suppressions.rows.clear()
    world.subscribers.set_status("ann", SubscriberStatus.SUPPRESSED)
    change(world, changed_at=world.clock.now)
    assert daily(world).listed
    assert daily(world).next_due_at == datetime(2026, 11, 26, 7, 0, tzinfo=UTC)
    assert (daily(world).sequence, daily(world).revision) == (2, 4)
    assert [run.reason for run in world.runs.rows.values()] == [Reason.SUPERSEDED]


def test_change_is_retried_if_fan_out_advances_the_schedule(world: World) -> None:
    change(world)
    world.arm()

    def advance() -> None:
        schedule = daily(world)
        world.schedules.put(
            schedule.advanced(schedule.next_due_at + timedelta(days=1)), replacing=schedule
        )

    with world.meanwhile("schedules.of_user", advance):
        change(world, hour=20, changed_at=LATER)
    assert (daily(world).sequence, daily(world).revision) == (3, 4)
    assert daily(world).next_due_at == datetime(2026, 11, 22, 19, 0, tzinfo=UTC)


def test_profile_is_redelivered_if_the_schedule_keeps_changing(world: World) -> None:
    change(world)
    world.schedules.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        change(world, hour=20, changed_at=LATER)


def test_interrupted_schedule_change_is_complete_after_redelivery() -> None:
    for world, where in crashes(World, lambda world: change(world, like=Frequency.WEEKLY)):
        change(world, like=Frequency.WEEKLY)
        assert set(world.schedules.rows) == {("ann", "daily"), ("ann", "weekly")}, where
        assert {row.sequence for row in world.schedules.rows.values()} == {1}, where
        assert not world.schedules.withdrawn, where


def test_later_of_two_concurrent_schedule_changes_applies() -> None:
    def early(world: World) -> None:
        change(world)

    def late(world: World) -> None:
        change(world, hour=20, changed_at=LATER)

    for act, other in ((early, late), (late, early)):
        for world, where in interleavings(World, act, other):
            assert daily(world).recurrence.hour == 20, where
            assert slot_of(daily(world).due_after(NOW)).hour == 19, where


def test_change_to_an_elapsed_hour_keeps_todays_digest(
    world: World,
) -> None:
    """Its number too: it is the same occurrence, and the next one has the new hour."""
    change(world, hour=20)
    world.create(an_event())
    before = daily(world)
    change(world, hour=7, changed_at=LATER)
    assert (daily(world).next_due_at, daily(world).sequence) == (before.next_due_at, 1)
    assert (daily(world).recurrence.hour, daily(world).revision) == (7, before.revision + 1)
    world.send_digest()
    assert daily(world).next_due_at == datetime(2026, 11, 23, 6, 0, tzinfo=UTC)


def test_change_after_the_start_of_todays_digest_applies_tomorrow(world: World) -> None:
    """Also where fan-out broke off between the run and the schedule."""
    change(world, hour=9)
    world.arm()
    world.clock.now = daily(world).next_due_at
    world.runs.create(replace(a_run(1), due_at=world.clock.now))
    change(world, hour=20, changed_at=LATER)
    assert daily(world).next_due_at == datetime(2026, 11, 23, 19, 0, tzinfo=UTC)
    assert daily(world).sequence == 2


def test_fan_out_starts_no_run_after_an_unseen_change(world: World) -> None:
    """It read the schedule before: that number has a run, which has ended."""
    change(world)
    world.arm()
    stale = daily(world)
    change(world, hour=20, changed_at=LATER)
    world.runs.create(Run(RunKey("ann", DAILY, stale.sequence), stale.next_due_at, NOW))
    spent = world.runs.rows[RunKey("ann", DAILY, stale.sequence)]
    assert (spent.status, spent.reason) == (Status.SKIPPED, Reason.SUPERSEDED)
    assert daily(world).sequence == stale.sequence + 1


def test_every_earlier_sequence_of_a_schedule_has_a_run(world: World) -> None:
    world.choose(at=NOW - DAY)
    world.arm()
    for number in range(3):
        change(world, hour=9 + number, changed_at=NOW + timedelta(seconds=number))
    world.send_digest()
    change(world, hour=20, changed_at=NOW + DAY)
    numbers = {run.key.sequence for run in readable(world.runs.of_user("ann"))}
    assert numbers == set(range(1, daily(world).sequence))


def test_run_started_before_a_change_continues(world: World) -> None:
    change(world)
    world.arm()
    started = world.runs.create(a_run(1))
    change(world, hour=20, changed_at=LATER)
    assert world.runs.rows[started.key] == started


# Numbers.


def test_schedule_sequence_continues_after_the_latest_run(world: World) -> None:
    """Numbers are never used twice, not even after an erasure: an id names one run for ever."""
    change(world, changed_at=NOW - DAY)
    world.erase(at=NOW - timedelta(hours=1))
    world.runs.rows[a_run(7).key] = replace(a_run(7), status=Status.CANCELLED)
    world.runs.create(a_run(3))
    change(world)
    assert daily(world).sequence == 8


# A digest that a follow alone wants.


@pytest.mark.parametrize("digest", [Frequency.WEEKLY, Frequency.CUSTOM])
def test_schedule_is_created_with_its_first_event(world: World, digest: Frequency) -> None:
    change(world)
    world.follow(often=digest)
    assert ("ann", digest.value) not in world.schedules.rows
    world.create(an_event(via=("post#post1",)))
    schedule = world.schedules.rows["ann", digest.value]
    assert schedule.recurrence == a_subscriber().recurrence(digest)
    world.create(an_event("e2", via=("post#post1",)))
    assert world.schedules.rows["ann", digest.value] == schedule
    world.send_everything()
    assert [email.lines for email in world.emails()] == [("post1: 2",)]


def test_arming_does_not_rebuild_an_existing_schedule(world: World) -> None:
    change(world, hour=20, like=Frequency.WEEKLY)
    world.arm()
    before = world.schedules.rows["ann", "weekly"]
    arm({("ann", "weekly"): a_subscriber()}, context=world.context)
    assert world.schedules.rows["ann", "weekly"] == before


@pytest.mark.parametrize("digest", [Frequency.DAILY, Frequency.WEEKLY, Frequency.CUSTOM])
def test_set_schedule_stores_name_days_and_hour(world: World, digest: Frequency) -> None:
    set_schedule(a_subscriber(), digest, context=world.context, current=None)
    assert world.schedules.rows["ann", digest.value].recurrence == a_subscriber().recurrence(digest)


# Who leaves.


@pytest.mark.parametrize(
    "stop", [World.unsubscribe, World.erase], ids=["unsubscribes", "is erased"]
)
def test_schedule_created_for_a_follow_during_unsubscribe_is_never_due(
    stop: Callable[[World], object],
) -> None:
    """No schedule of a reader who left is in the due index."""

    def make() -> World:
        world = World()
        world.choose(at=NOW - timedelta(days=1))
        world.follow(at=NOW - timedelta(hours=1), often=Frequency.WEEKLY)
        return world

    for world, where in interleavings(
        make, lambda world: world.create(an_event(via=("post#post1",))), stop
    ):
        assert not world.schedules.listed, where


def test_reader_returning_during_withdrawal_is_due() -> None:
    """Whoever takes them out read that they had left, and nothing since."""

    def make() -> World:
        world = World()
        change(world)
        world.arm()
        world.subscribers.set_status("ann", SubscriberStatus.SUPPRESSED)
        return world

    def take_out(world: World) -> None:
        withdraw_if_left("ann", context=world.context)

    def come_back(world: World) -> None:
        change(world, changed_at=LATER)

    for act, other in ((take_out, come_back), (come_back, take_out)):
        for world, where in interleavings(make, act, other):
            assert not world.schedules.withdrawn, where


def test_schedule_created_during_a_change_has_the_new_hour() -> None:
    """The change may not have seen it, and the profile that it was made from is stale."""

    def make() -> World:
        world = World()
        change(world, changed_at=NOW - DAY)
        world.follow(at=NOW - DAY, often=Frequency.WEEKLY)
        return world

    for world, where in interleavings(
        make,
        lambda world: world.create(an_event(via=("post#post1",))),
        lambda world: change(world, hour=20),
    ):
        assert world.schedules.rows["ann", "weekly"].recurrence.hour == 20, where


def test_schedule_created_during_erasure_and_return_uses_the_new_profile() -> None:
    """Revisions begin anew with the return, so they alone do not tell."""

    def make() -> World:
        world = World()
        change(world, changed_at=NOW - DAY)
        world.follow(at=NOW - DAY, often=Frequency.WEEKLY)
        return world

    def return_anew(world: World) -> None:
        world.erase(at=NOW - timedelta(hours=1))
        change(world, hour=20)

    for world, where in interleavings(
        make, lambda world: world.create(an_event(via=("post#post1",))), return_anew
    ):
        weekly = world.schedules.rows.get(("ann", "weekly"))
        assert weekly is None or weekly.recurrence.hour == 20, where


def test_trace_ai_redelivery_withdraws_a_schedule_armed_for_a_dormant_reader(
    world: World,
) -> None:
    """It died before it read the profile; the reader became dormant meanwhile."""
    change(world)
    world.create(an_event())
    armed = daily(world)
    world.subscribers.set_status("ann", SubscriberStatus.DORMANT)
    world.create(an_event())
    assert daily(world) == armed.withdrawn()
