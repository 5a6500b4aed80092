"""A reader changes the hour while a digest is open: one email, and no digest is lost."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.model import DAILY, Schedule
from gazette.domain.scheduling.calendar import DigestTimes, slot_of

from tests.builders import a_subscriber, an_event
from tests.world import World, crashes, interleavings

GRACE = timedelta(minutes=15)
HOUR = datetime.fromisoformat("2026-11-23T07:00Z")
"""Eight in Berlin."""


def due(minutes: float = 20) -> World:
    """Ann's digest of eight was started, and its message has waited for so many minutes."""
    world = World()
    world.choose()
    world.create(an_event())
    world.clock.now = HOUR
    world.fan_out(slot_of(HOUR))
    world.clock.pass_time(seconds=minutes * 60)
    return world


def choose_hour(world: World, hour: int = 20) -> None:
    """The reader wants it at another hour from now on."""
    times = DigestTimes(hour=hour, minute=0)
    world.say(ChangeSubscriber(a_subscriber(changed_at=HOUR, times=times)))


def daily(world: World) -> Schedule:
    """Ann's daily schedule."""
    return world.schedules.rows["ann", DAILY]


def runs(world: World) -> list[tuple[datetime, Reason]]:
    """What became of each run."""
    found = sorted(world.runs.rows.values(), key=lambda run: run.key.sequence)
    return [(run.due_at, run.reason) for run in found]


def test_run_just_due_is_sent_and_the_new_hour_starts_tomorrow() -> None:
    world = due(minutes=GRACE / timedelta(minutes=1))
    choose_hour(world)
    world.deliver_queued()
    assert len(world.emails()) == 1
    assert daily(world).next_due_at == HOUR + timedelta(days=1, hours=12)


def test_trace_ah_date_with_a_sent_digest_has_no_second_digest() -> None:
    """Fan-out died between message and advance; its repetition finds that nothing waits."""
    world = due(minutes=0)
    world.schedules.rows["ann", DAILY] = replace(
        daily(world), next_due_at=HOUR, sequence=1, last_due_at=None
    )
    world.deliver_queued()
    world.clock.pass_time(minutes=12)
    world.fan_out(slot_of(HOUR))
    assert (daily(world).is_idle, daily(world).last_due_at) == (True, HOUR)
    choose_hour(world)
    world.create(an_event("later"))
    assert daily(world).next_due_at == HOUR + timedelta(days=1, hours=12)


def test_trace_p_overdue_unclaimed_run_is_sent_at_the_new_hour() -> None:
    world = due(minutes=15.1)
    choose_hour(world)
    world.deliver_queued()
    assert world.emails() == []
    assert daily(world).next_due_at == HOUR + timedelta(hours=12)
    world.send_digest()
    assert len(world.emails()) == 1
    assert runs(world) == [
        (HOUR, Reason.PREFERENCES_CHANGED),
        (HOUR + timedelta(days=1), Reason.SUPERSEDED),
        (HOUR + timedelta(hours=12), Reason.ACCEPTED),
    ]


def test_trace_p_date_repeated_by_a_time_zone_change_has_a_second_digest() -> None:
    """Eight on the 23rd in Auckland, and again in Honolulu, 23 hours later: two runs, no date."""
    world = World()

    def live_in(zone: str) -> None:
        there = replace(
            a_subscriber(changed_at=world.clock(), times=DigestTimes(hour=8, minute=0)),
            time_zone=zone,
        )
        world.say(ChangeSubscriber(there))

    world.clock.now = datetime.fromisoformat("2026-11-22T07:00Z")
    live_in("Pacific/Auckland")
    world.create(an_event("e1", entity_id="post1"))
    world.send_digest()
    world.clock.pass_time(hours=1)
    live_in("Pacific/Honolulu")
    world.create(an_event("e2", entity_id="post2"))
    world.send_digest()
    assert [email.lines for email in world.emails()] == [("post1: 1",), ("post2: 1",)]
    sent = [run for run in world.runs.rows.values() if run.status is Status.SENT]
    assert [f"{run.due_at:%d %H:%M}" for run in sent] == ["22 19:00", "23 18:00"]


def test_new_hour_in_the_past_starts_tomorrow() -> None:
    world = due(minutes=90)
    choose_hour(world, 9)
    assert daily(world).next_due_at == HOUR + timedelta(days=1, hours=1)


@pytest.mark.parametrize("status", [Status.SENDING, Status.UNKNOWN, Status.SENT])
def test_claimed_run_continues_after_a_change_of_the_hour(status: Status) -> None:
    world = due()
    [run] = world.runs.rows.values()
    claimed = replace(run, status=status, reason=Reason.CLAIMED, attempt=1)
    world.runs.rows[run.key] = claimed
    choose_hour(world)
    assert world.runs.rows[run.key] == claimed
    assert daily(world).next_due_at == HOUR + timedelta(days=1, hours=12)


def test_run_that_may_have_been_sent_is_not_cancelled() -> None:
    world = due()
    [run] = world.runs.rows.values()
    retrying = replace(run, status=Status.RETRYING, attempt=1, uncertain=frozenset({1}))
    world.runs.rows[run.key] = retrying
    choose_hour(world)
    assert world.runs.rows[run.key] == retrying


def test_profile_with_the_same_hour_cancels_no_run() -> None:
    world = due()
    choose_hour(world, 8)
    world.deliver_queued()
    assert len(world.emails()) == 1


def test_repeated_changes_of_the_hour_send_a_single_email() -> None:
    world = due()
    for hour in (20, 8, 21, 20):
        choose_hour(world, hour)
    world.deliver_queued()
    while daily(world).listed:
        world.send_digest()
    assert len(world.emails()) == 1


def test_interrupted_change_of_the_hour_is_complete_after_redelivery() -> None:
    for world, where in crashes(due, choose_hour):
        choose_hour(world)
        assert daily(world).next_due_at == HOUR + timedelta(hours=12), where
        world.deliver_queued()
        world.send_digest()
        assert len(world.emails()) == 1, where


def test_run_delivered_during_a_change_of_the_hour_is_sent_once() -> None:
    claimed = []

    def run(world: World) -> Run:
        return min(world.runs.rows.values(), key=lambda run: run.key.sequence)

    def change(world: World) -> None:
        claimed.append(run(world).status not in {Status.PENDING, Status.RETRYING})
        choose_hour(world)

    for world, where in interleavings(due, lambda world: world.deliver(run(world).key), change):
        days = 1 if claimed[-1] else 0
        assert daily(world).next_due_at == HOUR + timedelta(days=days, hours=12), where
        world.send_digest()
        assert len(world.emails()) == 1, where
    assert set(claimed) == {True, False}
    for world, where in interleavings(due, choose_hour, World.deliver_queued):
        world.send_digest()
        assert len(world.emails()) == 1, where


def test_fan_out_concurrent_with_a_new_hour_starts_no_duplicate_run() -> None:
    def before() -> World:
        world = World()
        world.choose()
        world.create(an_event())
        world.clock.now = HOUR + timedelta(minutes=20)
        return world

    def fan_out(world: World) -> None:
        world.fan_out(slot_of(HOUR))

    for act, other in ((fan_out, choose_hour), (choose_hour, fan_out)):
        for world, where in interleavings(before, act, other):
            world.deliver_queued()
            world.fan_out(slot_of(HOUR))
            world.send_digest()
            world.deliver_queued()
            assert len(world.emails()) == 1, where
            assert daily(world).next_due_at > world.clock.now, where


def test_missed_occurrences_have_runs_despite_a_change_of_the_hour() -> None:
    """Nobody ticked for three days; fan-out comes back after the change."""
    world = World()
    world.choose()
    world.create(an_event())
    world.clock.now = HOUR + timedelta(days=3, hours=1)
    choose_hour(world)
    assert runs(world) == [(HOUR + timedelta(days=day), Reason.SUPERSEDED) for day in range(4)]
    world.send_digest()
    assert len(world.emails()) == 1
    assert runs(world)[-1] == (HOUR + timedelta(days=3, hours=12), Reason.ACCEPTED)


@pytest.mark.parametrize("days", [1, 3, 30])
def test_repeated_profile_during_an_outage_cancels_no_occurrence(days: int) -> None:
    """Services put profiles every night, also while nobody ticks."""
    world = due(minutes=0)
    world.deliver_queued()
    world.clock.pass_time(days=days, hours=1)
    world.create(an_event("e2"))
    world.choose(at=HOUR + timedelta(days=days))
    world.clock.pass_time(minutes=1)
    world.fan_out(slot_of(HOUR + timedelta(days=1)))
    world.deliver_queued()
    assert len(world.emails()) == 2
