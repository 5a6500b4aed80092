"""Ingest: what each message does, in any order and any number of times."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber, Command, CreateEvent
from gazette.domain.errors import InvalidEvent, NotYet
from gazette.domain.model import DAILY, LocalHour, Schedule, SubscriberStatus
from gazette.steps.ingest import Ingested, ingest

from tests.builders import NOW, SettableClock, a_subscriber, an_event
from tests.fakes import FakeEvents, FakeQuarantine, FakeSchedules, FakeSubscribers


@dataclass
class World:
    clock: SettableClock
    subscribers: FakeSubscribers = field(default_factory=FakeSubscribers)
    schedules: FakeSchedules = field(default_factory=FakeSchedules)
    quarantine: FakeQuarantine = field(default_factory=FakeQuarantine)

    def __post_init__(self) -> None:
        self.events = FakeEvents(self.clock)

    def ingest(self, command: Command | InvalidEvent) -> Ingested:
        def decode(_: str) -> Command:
            if isinstance(command, InvalidEvent):
                raise command
            return command

        return ingest(
            "the body",
            decode=decode,
            subscribers=self.subscribers,
            schedules=self.schedules,
            events=self.events,
            quarantine=self.quarantine,
            clock=self.clock,
        )

    @property
    def schedule(self) -> Schedule:
        return self.schedules.rows["ann", DAILY]


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def a_change(*, hour: int = 8, changed_at: datetime = NOW) -> ChangeSubscriber:
    return ChangeSubscriber(
        a_subscriber(changed_at=changed_at), LocalHour(hour, 0, "Europe/Berlin")
    )


def test_an_event_is_stored_once(world: World) -> None:
    assert world.ingest(CreateEvent(an_event())) is Ingested.STORED
    assert world.ingest(CreateEvent(an_event(actor="Cy"))) is Ingested.DUPLICATE
    assert len(world.events.rows) == 1


def test_an_event_may_come_before_its_subscriber(world: World) -> None:
    assert world.ingest(CreateEvent(an_event())) is Ingested.STORED
    assert world.ingest(a_change()) is Ingested.SUBSCRIBER_CHANGED


def test_what_does_not_fit_is_kept_with_its_reason(world: World) -> None:
    assert world.ingest(InvalidEvent("detail.user_id: missing")) is Ingested.QUARANTINED
    assert world.quarantine.kept == [("the body", "detail.user_id: missing")]
    assert not world.events.rows


def test_a_new_subscriber_is_due_at_the_next_wanted_hour(world: World) -> None:
    world.ingest(a_change(hour=9))
    assert world.schedule.next_due_at == datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
    assert (world.schedule.sequence, world.schedule.revision) == (1, 1)


def test_the_open_slot_is_never_chosen(world: World) -> None:
    """Trace k: fan-out may have read it already. It is 08:03 in Berlin."""
    world.ingest(ChangeSubscriber(a_subscriber(), LocalHour(8, 5, "Europe/Berlin")))
    assert world.schedule.next_due_at == datetime(2026, 11, 23, 7, 5, tzinfo=UTC)


def test_the_same_change_again_changes_nothing(world: World) -> None:
    world.ingest(a_change())
    before = world.schedule
    world.ingest(a_change())
    assert world.schedule == before


def test_a_crash_between_profile_and_schedule_is_mended_by_the_redelivery(world: World) -> None:
    world.subscribers.save(a_subscriber())
    world.ingest(a_change())
    assert world.schedule.sequence == 1


def test_another_hour_makes_a_new_revision_and_a_new_sequence(world: World) -> None:
    world.ingest(a_change())
    world.schedules.rows["ann", DAILY] = replace(world.schedule, sequence=5)
    world.ingest(a_change(hour=20, changed_at=NOW + timedelta(seconds=1)))
    assert (world.schedule.sequence, world.schedule.revision) == (6, 2)
    assert world.schedule.next_due_at == datetime(2026, 11, 22, 19, 0, tzinfo=UTC)


def test_a_newer_profile_with_the_same_hour_is_remembered_without_a_new_occurrence(
    world: World,
) -> None:
    """Else a slower, older change could still win over it."""
    world.ingest(a_change())
    before = world.schedule
    later = NOW + timedelta(seconds=2)
    world.ingest(a_change(changed_at=later))
    assert world.schedule == replace(before, changed_at=later)


def test_a_schedule_that_fan_out_no_longer_sees_is_brought_back(world: World) -> None:
    world.ingest(a_change())
    world.clock.pass_time(days=3)
    world.ingest(a_change())
    assert world.schedule.next_due_at == datetime(2026, 11, 26, 7, 0, tzinfo=UTC)
    assert (world.schedule.sequence, world.schedule.revision) == (2, 2)


def test_a_reader_who_leaves_while_the_schedule_is_written_is_not_due(world: World) -> None:
    original = world.schedules.put

    def raced(schedule: Schedule, *, replacing: Schedule | None) -> bool:
        world.subscribers.set_status("ann", SubscriberStatus.UNSUBSCRIBED)
        return original(schedule, replacing=replacing)

    world.schedules.put = raced  # type: ignore[method-assign]
    world.ingest(a_change())
    assert ("ann", DAILY) in world.schedules.withdrawn


def test_a_change_that_was_overtaken_is_ignored(world: World) -> None:
    world.ingest(a_change(hour=20, changed_at=NOW + timedelta(seconds=1)))
    before = world.schedule
    assert world.ingest(a_change()) is Ingested.OUTDATED
    assert world.schedule == before


def test_a_slow_worker_does_not_overwrite_the_schedule_of_a_newer_change(world: World) -> None:
    world.ingest(a_change())
    newer = replace(world.schedule, changed_at=NOW + timedelta(seconds=2))
    world.schedules.rows["ann", DAILY] = newer
    world.ingest(a_change(hour=20, changed_at=NOW + timedelta(seconds=1)))
    assert world.schedule == newer


def test_a_profile_change_does_not_subscribe_a_reader_who_left(world: World) -> None:
    world.ingest(a_change())
    world.subscribers.set_status("ann", SubscriberStatus.UNSUBSCRIBED)
    world.schedules.withdraw("ann", DAILY)
    world.ingest(a_change(hour=20, changed_at=NOW + timedelta(seconds=1)))
    assert world.subscribers.rows["ann"].status is SubscriberStatus.UNSUBSCRIBED
    assert ("ann", DAILY) in world.schedules.withdrawn


def test_fan_out_moving_the_schedule_meanwhile_is_tried_again(world: World) -> None:
    world.ingest(a_change())
    original = world.schedules.get
    calls = 0

    def stale_once(user_id: str, name: str) -> Schedule | None:
        nonlocal calls
        calls += 1
        current = original(user_id, name)
        return replace(current, sequence=99) if calls == 1 and current else current

    world.schedules.get = stale_once  # type: ignore[method-assign]
    world.ingest(a_change(hour=20, changed_at=NOW + timedelta(seconds=1)))
    assert world.schedule.revision == 2


def test_a_schedule_that_never_rests_sends_the_message_back(world: World) -> None:
    world.ingest(a_change())
    world.schedules.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        world.ingest(a_change(hour=20, changed_at=NOW + timedelta(seconds=1)))
