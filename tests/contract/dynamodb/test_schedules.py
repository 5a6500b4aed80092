"""What the port `Schedules` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from zoneinfo import available_timezones

import boto3
import pytest
from botocore.client import BaseClient
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.domain.content.items import REMEMBERED, Shown
from gazette.domain.identity import shard_of
from gazette.domain.model import DAILY, Schedule, ScheduleState
from gazette.domain.ports.ledgers import Schedules
from gazette.domain.scheduling.calendar import Days, Recurrence, slot_of
from gazette.domain.stored import readable
from moto import mock_aws

from tests.builders import NOW, a_schedule
from tests.contract.conftest import SECOND, SHARDS
from tests.credentials import set_credentials
from tests.fake_stores import FakeSchedules
from tests.meter import item_size
from tests.moto_tables import create_tables

FIRST = a_schedule().next_due_at
WEEKLY = replace(
    a_schedule(),
    name="weekly",
    recurrence=Recurrence(21, 30, "Asia/Tokyo", Days(frozenset({2, 7}), 3, 2)),
)


def due(schedules: Schedules, schedule: Schedule) -> list[Schedule]:
    """What is found in the slot and shard that `schedule` is due in, as it is stored."""
    shard = shard_of(schedule.user_id, SHARDS)
    keys = [key for page in schedules.due(slot_of(schedule.next_due_at), shard) for key in page]
    return list(readable(schedules.get_many(keys)))


def with_shards(schedules: Schedules, shards: int) -> Schedules:
    """The same table, as a function sees it that was deployed with so many shards."""
    if isinstance(schedules, FakeSchedules):
        schedules.shards = shards
        return schedules
    return DynamoSchedules("schedules", shards=shards)


def test_schedule_is_read_as_stored(schedules: Schedules) -> None:
    assert schedules.get("ann", "weekly") is None
    schedules.put(WEEKLY, replacing=None)
    assert schedules.get("ann", "weekly") == WEEKLY


def test_pause_is_stored_and_removed_with_the_next_change(schedules: Schedules) -> None:
    paused = replace(WEEKLY, recurrence=replace(WEEKLY.recurrence, paused_until=date(2026, 12, 14)))
    schedules.put(paused, replacing=None)
    assert schedules.get("ann", "weekly") == paused
    assert due(schedules, paused) == [paused]
    schedules.put(WEEKLY, replacing=paused)
    assert schedules.get("ann", "weekly") == WEEKLY


def test_schedule_is_created_only_if_missing(schedules: Schedules) -> None:
    assert schedules.put(a_schedule(), replacing=None)
    assert not schedules.put(a_schedule(), replacing=None)
    assert schedules.get("ann", DAILY) == a_schedule()
    assert schedules.get("bo", DAILY) is None


@pytest.mark.parametrize(
    "stale",
    [
        a_schedule(sequence=2),
        a_schedule(revision=2),
        a_schedule(next_due_at=NOW + SECOND),
        replace(a_schedule(), changed_at=NOW + SECOND),
        None,
    ],
)
def test_schedule_is_replaced_only_if_unchanged_since_read(
    schedules: Schedules, stale: Schedule | None
) -> None:
    schedules.put(a_schedule(), replacing=None)
    changed = replace(
        a_schedule(revision=2), recurrence=Recurrence(20, 30, "UTC", Days(month_day=31))
    )
    assert not schedules.put(changed, replacing=stale)
    assert schedules.put(changed, replacing=a_schedule())
    assert schedules.get("ann", DAILY) == changed


def test_missing_schedule_is_not_replaced(schedules: Schedules) -> None:
    assert not schedules.put(a_schedule(), replacing=a_schedule())
    assert schedules.get("ann", DAILY) is None


def test_all_schedules_of_a_user_include_withdrawn_schedules(
    schedules: Schedules,
) -> None:
    for schedule in (WEEKLY, a_schedule(), a_schedule("bo")):
        schedules.put(schedule, replacing=None)
    schedules.withdraw(a_schedule())
    assert schedules.of_user("ann") == [a_schedule().withdrawn(), WEEKLY]
    assert schedules.of_user("nobody") == []


def test_due_schedule_is_found_only_in_its_slot_and_shard(schedules: Schedules) -> None:
    schedules.put(a_schedule(), replacing=None)
    slot = slot_of(a_schedule().next_due_at)
    found = {
        shard: [key for page in schedules.due(slot, shard) for key in page]
        for shard in range(SHARDS)
    }
    assert found.pop(shard_of("ann", SHARDS)) == [("ann", DAILY)]
    assert not any(found.values())
    other = slot + timedelta(minutes=10)
    assert not any(list(schedules.due(other, shard)) for shard in range(SHARDS))


def test_schedule_keeps_its_shard_until_the_next_write(schedules: Schedules) -> None:
    """The number of shards is a setting: whoever changes it must lose nothing."""
    schedules.put(a_schedule(), replacing=None)
    before, after = shard_of("ann", SHARDS), shard_of("ann", 9)
    assert before != after
    fewer = with_shards(schedules, 9)
    slot = slot_of(FIRST)
    assert list(fewer.due(slot, before)) == [[("ann", DAILY)]]
    assert not list(fewer.due(slot, after))
    tomorrow = FIRST + timedelta(days=1)
    fewer.put(a_schedule().advanced(tomorrow), replacing=a_schedule())
    assert not list(fewer.due(slot_of(tomorrow), before))
    assert len(list(fewer.due(slot_of(tomorrow), after))) == 1


def test_two_schedules_of_a_user_may_be_due_in_the_same_slot(schedules: Schedules) -> None:
    for schedule in (a_schedule(), WEEKLY):
        schedules.put(schedule, replacing=None)
    assert sorted(due(schedules, WEEKLY), key=lambda found: found.name) == [a_schedule(), WEEKLY]


def test_due_schedules_on_several_pages_are_all_found(schedules: Schedules) -> None:
    users = [f"user{number}" for number in range(500)]
    users = [user for user in users if shard_of(user, SHARDS) == 0]
    assert len(users) > 100
    for user in users:
        schedules.put(a_schedule(user), replacing=None)
    pages = list(schedules.due(slot_of(a_schedule().next_due_at), 0))
    keys = [key for page in pages for key in page]
    assert sorted(user_id for user_id, _ in keys) == sorted(users)
    found = list(readable(schedules.get_many(keys)))
    assert sorted(schedule.user_id for schedule in found) == sorted(users)
    assert max(map(len, pages)) <= 100


def test_due_schedules_are_counted_by_slot_and_shard(schedules: Schedules) -> None:
    for schedule in (a_schedule(), WEEKLY, a_schedule("bo")):
        schedules.put(schedule, replacing=None)
    schedules.withdraw(a_schedule("bo"))
    slot, shard = slot_of(FIRST), shard_of("ann", SHARDS)
    assert [schedules.count_due(slot, number) for number in range(SHARDS)] == [
        2 * (number == shard) for number in range(SHARDS)
    ]
    assert schedules.count_due(slot + timedelta(minutes=10), shard) == 0


def test_schedule_advances_once(schedules: Schedules) -> None:
    schedules.put(a_schedule(), replacing=None)
    tomorrow = a_schedule().next_due_at + timedelta(days=1)
    assert schedules.put(a_schedule().advanced(tomorrow), replacing=a_schedule())
    assert not schedules.put(a_schedule().advanced(tomorrow), replacing=a_schedule())
    advanced = a_schedule(next_due_at=tomorrow, sequence=2, revision=2, last_due_at=FIRST)
    assert schedules.get("ann", DAILY) == advanced
    assert due(schedules, a_schedule()) == []
    assert due(schedules, advanced) == [advanced]


@pytest.mark.parametrize("state", list(ScheduleState))
def test_schedule_is_due_while_armed_or_leaving(schedules: Schedules, state: ScheduleState) -> None:
    put = replace(a_schedule(), state=state)
    schedules.put(put, replacing=None)
    assert schedules.get("ann", DAILY) == put
    assert bool(due(schedules, put)) == (state in {ScheduleState.ARMED, ScheduleState.LEAVING})


def test_batch_read_omits_missing_schedules(
    schedules: Schedules,
) -> None:
    for schedule in (a_schedule(), WEEKLY):
        schedules.put(schedule, replacing=None)
    keys = [("ann", "weekly"), ("ann", DAILY), ("nobody", DAILY)]
    found = readable(schedules.get_many(keys))
    assert sorted(found, key=lambda schedule: schedule.name) == [a_schedule(), WEEKLY]
    assert not schedules.get_many([])


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_trace_ad_batch_read_of_schedules_is_strongly_consistent(
    schedules: Schedules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else who stores an event could read that its schedule is armed, when it has gone idle."""
    asked: list[dict[str, Any]] = []
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def noted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        asked.append(request["RequestItems"]["schedules"])
        return real(client, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", noted)
        schedules.get_many([("ann", DAILY)])
    assert [request["ConsistentRead"] for request in asked] == [True]


def test_every_idle_schedule_is_in_a_single_segment(schedules: Schedules) -> None:
    """Moto returns the whole table for each segment."""
    bo = a_schedule("bo")
    for schedule in (
        a_schedule().idle(),
        WEEKLY.withdrawn(),
        bo,
        replace(bo, name="weekly").idle(),
    ):
        schedules.put(schedule, replacing=None)
    found = [one for segment in range(3) for one in readable(schedules.idle(segment, 3))]
    assert {(one.user_id, one.name) for one in found} == {("ann", DAILY), ("bo", "weekly")}
    assert all(one.is_idle for one in found)


def test_withdrawn_schedule_is_kept_and_never_due(schedules: Schedules) -> None:
    schedules.put(a_schedule(), replacing=None)
    assert schedules.withdraw(a_schedule())
    assert not schedules.withdraw(a_schedule("nobody"))
    assert schedules.get("ann", DAILY) == a_schedule().withdrawn()
    assert schedules.get("nobody", DAILY) is None
    assert due(schedules, a_schedule()) == []


def test_advance_does_not_restore_a_withdrawn_schedule(schedules: Schedules) -> None:
    """Fan-out read it before the reader left."""
    schedules.put(a_schedule(), replacing=None)
    schedules.withdraw(a_schedule())
    assert not schedules.put(a_schedule().advanced(NOW + timedelta(days=1)), replacing=a_schedule())


def test_withdrawn_schedule_is_due_again_after_a_write(schedules: Schedules) -> None:
    schedules.put(a_schedule(), replacing=None)
    schedules.withdraw(a_schedule())
    assert schedules.put(a_schedule(revision=3), replacing=a_schedule(revision=2))
    assert due(schedules, a_schedule()) == [a_schedule(revision=3)]


def test_removed_schedule_leaves_no_trace(schedules: Schedules) -> None:
    for schedule in (a_schedule(), WEEKLY):
        schedules.put(schedule, replacing=None)
    schedules.withdraw(WEEKLY)
    assert schedules.remove(a_schedule())
    assert schedules.remove(replace(WEEKLY, revision=2))
    assert schedules.of_user("ann") == []
    assert due(schedules, a_schedule()) == []
    assert not schedules.put(a_schedule().advanced(NOW + timedelta(days=1)), replacing=a_schedule())
    assert not schedules.remove(a_schedule()), "nothing is there"
    assert schedules.put(WEEKLY, replacing=None)
    assert due(schedules, WEEKLY) == [WEEKLY]


@pytest.mark.parametrize(
    "stale",
    [
        a_schedule(sequence=2),
        a_schedule(revision=2),
        a_schedule(next_due_at=NOW + SECOND),
        replace(a_schedule(), changed_at=NOW + SECOND),
    ],
)
def test_schedule_changed_since_read_is_neither_removed_nor_withdrawn(
    schedules: Schedules, stale: Schedule
) -> None:
    schedules.put(a_schedule(), replacing=None)
    assert not schedules.remove(stale)
    assert not schedules.withdraw(stale)
    assert due(schedules, a_schedule()) == [a_schedule()]


ASKING = replace(
    a_schedule(),
    sources=("events", "recommendations"),
    fetched_at=NOW - SECOND,
    fetched_for=FIRST,
    shown=bytes(range(96)) * 6,
)


def test_fetched_content_state_is_read_as_stored(schedules: Schedules) -> None:
    schedules.put(ASKING, replacing=None)
    assert schedules.get("ann", DAILY) == ASKING
    assert due(schedules, ASKING) == [ASKING]


def test_only_the_first_of_two_concurrent_fetches_is_written(schedules: Schedules) -> None:
    schedules.put(ASKING, replacing=None)
    later = ASKING.fetched(NOW, FIRST + timedelta(days=1), b"after")
    assert schedules.put(later, replacing=ASKING)
    assert not schedules.put(ASKING.fetched(NOW, FIRST, b"other"), replacing=ASKING)
    assert schedules.get("ann", DAILY) == later


def test_withdrawn_schedule_keeps_its_content_state(schedules: Schedules) -> None:
    schedules.put(ASKING, replacing=None)
    schedules.withdraw(ASKING)
    assert schedules.get("ann", DAILY) == ASKING.withdrawn()


def test_largest_schedule_row_fits_a_write_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the longest name of a zone and a full memory."""
    largest = replace(
        ASKING,
        user_id="u" * 64,
        recurrence=Recurrence(
            23, 50, max(available_timezones(), key=len), Days(), paused_until=date(2026, 12, 14)
        ),
        sequence=10**10 - 1,
        revision=10**10,
        last_due_at=FIRST,
        active_until=FIRST,
        shown=Shown().with_(map(str, range(2 * REMEMBERED))).hashes,
    )
    set_credentials(monkeypatch)
    with mock_aws():
        create_tables()
        DynamoSchedules("schedules", shards=SHARDS).put(largest, replacing=None)
        (row,) = boto3.client("dynamodb").scan(TableName="schedules")["Items"]
    assert item_size(row) <= 1024
