"""A part of a batch that DynamoDB leaves out again and again: calls and pauses have an end.

https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from gazette.adapters.dynamodb.client import read_rows
from gazette.adapters.dynamodb.events import DynamoEvents
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import PARTITIONS, DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.dynamodb.tables import SubscriberRow
from gazette.domain.delivery.run import Run
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import Mark
from gazette.domain.identity import shard_of
from gazette.domain.model import DAILY

from tests.builders import (
    NOW,
    RETENTION,
    SettableClock,
    a_follow,
    a_run,
    a_schedule,
    a_subscriber,
    an_event,
)
from tests.contract.conftest import RUN_RETENTION, dynamo_events

pytestmark = [
    pytest.mark.parametrize("engine", ["moto"], indirect=True),
    pytest.mark.usefixtures("engine"),
]

PAUSES = [0.02, 0.05, 0.1, 0.2]
CALLS = 5


@dataclass
class Throttled:
    """DynamoDB leaves the rows of these partition keys out of each batch, so many times."""

    keys: set[str] = field(default_factory=set)
    times: float = float("inf")
    calls: list[list[str]] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    says_nothing: bool = False
    """An answer without a row has no `Responses`."""

    def answer(self, real: Callable[..., Any], operation: str, request: dict[str, Any]) -> Any:
        if operation not in {"BatchGetItem", "BatchWriteItem"}:
            return real(operation, request)
        ((table, asked),) = request["RequestItems"].items()
        is_read = operation == "BatchGetItem"
        each = asked["Keys"] if is_read else asked
        assert len(self.calls) < 50, "it asks without end"
        self.calls.append([partition_of(one) for one in each])
        left = self.keys if len(self.calls) <= self.times else set()
        taken = [one for one in each if partition_of(one) not in left]
        left_out = [one for one in each if partition_of(one) in left]

        def some(part: list[Any]) -> dict[str, Any]:
            return {table: asked | {"Keys": part} if is_read else part}

        answer = real(operation, {"RequestItems": some(taken)}) if taken else {}
        if not taken and is_read and not self.says_nothing:
            answer = {"Responses": {table: []}}
        what = "UnprocessedKeys" if is_read else "UnprocessedItems"
        return answer | {what: some(left_out) if left_out else {}}


def partition_of(one: dict[str, Any]) -> str:
    """Of a key to read, or of a request to delete."""
    key: dict[str, Any] = one["DeleteRequest"]["Key"] if "DeleteRequest" in one else one
    names = ("entity", "category", "user_id")
    found: str = next(key[name]["S"] for name in names if name in key)
    return found


@pytest.fixture
def throttled(engine: str, monkeypatch: pytest.MonkeyPatch) -> Throttled:
    assert engine == "moto"
    throttled = Throttled()
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def short(caller: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        return throttled.answer(
            lambda *given: real(caller, *given),
            operation,
            request,
        )

    monkeypatch.setattr(BaseClient, "_make_api_call", short)
    monkeypatch.setattr(time, "sleep", throttled.pauses.append)
    return throttled


def runs_of(user_ids: list[str]) -> DynamoRuns:
    runs = DynamoRuns("runs", retention=RUN_RETENTION)
    for nth, user_id in enumerate(user_ids):
        runs.create(replace(a_run(user_id=user_id), check_at=NOW + timedelta(seconds=nth)))
    return runs


def overdue(runs: DynamoRuns, partition: int) -> tuple[list[str], str]:
    """The readers of the runs that it yields, and the error behind them."""
    found: list[str] = []
    try:
        for run in runs.overdue(partition, NOW + timedelta(days=1)):
            assert isinstance(run, Run)
            found.append(run.key.user_id)
    except Unavailable as err:
        return found, str(err)
    return found, ""


def schedules_of(user_ids: list[str]) -> DynamoSchedules:
    schedules = DynamoSchedules("schedules", shards=4)
    for user_id in user_ids:
        assert schedules.put(replace(a_schedule(), user_id=user_id), replacing=None)
    return schedules


def follows_of(user_ids: list[str], clock: SettableClock) -> DynamoFollows:
    follows = DynamoFollows("follows", retention=RETENTION, clock=clock)
    for user_id in user_ids:
        assert follows.put(a_follow(user_id, entity=user_id), replacing=None)
    return follows


def subscribers_of(user_ids: list[str]) -> DynamoSubscribers:
    subscribers = DynamoSubscribers("subscribers")
    for user_id in user_ids:
        assert subscribers.put(a_subscriber(user_id=user_id), replacing=None)
    return subscribers


USERS = ["ann", "bo", "cy"]


def asking(table: str, clock: SettableClock) -> Callable[[], object]:
    """What reads the rows of all USERS at once."""
    match table:
        case "subscribers":
            subscribers = subscribers_of(USERS)
            return lambda: subscribers.get_many(USERS)
        case "follows":
            follows = follows_of(USERS, clock)
            return lambda: follows.get_many([(user_id, user_id) for user_id in USERS])
        case _:
            schedules = schedules_of(USERS)
            return lambda: schedules.get_many([(user_id, DAILY) for user_id in USERS])


@pytest.mark.parametrize("table", ["subscribers", "follows", "schedules"])
def test_unprocessed_key_is_retried_five_times_with_backoff(
    table: str, throttled: Throttled, clock: SettableClock
) -> None:
    ask = asking(table, clock)
    throttled.keys = {"bo"}
    with pytest.raises(Unavailable, match=f"repeatedly did not process a key of {table}"):
        ask()
    assert throttled.calls == [USERS, *[["bo"]] * (CALLS - 1)]
    assert throttled.pauses == PAUSES


@pytest.mark.parametrize("table", ["subscribers", "follows", "schedules"])
def test_unprocessed_key_is_read_by_a_retry(
    table: str, throttled: Throttled, clock: SettableClock
) -> None:
    ask = asking(table, clock)
    whole = ask()
    throttled.calls.clear()
    throttled.keys, throttled.times = {"bo"}, CALLS - 1
    assert sorted(map(str, items(ask()))) == sorted(map(str, items(whole)))
    assert (len(throttled.calls), throttled.pauses) == (CALLS, PAUSES)


def items(found: Any) -> list[object]:
    return list(found.items()) if isinstance(found, dict) else list(found)


@pytest.mark.parametrize("table", ["subscribers", "follows", "schedules"])
def test_complete_response_takes_a_single_call_without_delay(
    table: str, throttled: Throttled, clock: SettableClock
) -> None:
    asking(table, clock)()
    assert (throttled.calls, throttled.pauses) == ([USERS], [])


def test_batch_response_without_rows_counts_all_keys_as_unprocessed(throttled: Throttled) -> None:
    subscribers_of(["ann"])
    throttled.keys, throttled.says_nothing = {"ann"}, True
    (left_out,) = read_rows([(SubscriberRow, ("ann",))])
    assert isinstance(left_out, Unavailable)
    throttled.calls.clear()
    throttled.times = 1
    (read,) = read_rows([(SubscriberRow, ("ann",))])
    assert isinstance(read, SubscriberRow)


def of_one_partition(number: int) -> list[str]:
    """Readers whose runs are in partition 0."""
    names = (f"reader{nth}" for nth in range(10_000))
    return [name for name in names if shard_of(name, PARTITIONS) == 0][:number]


def test_unprocessed_overdue_run_does_not_block_later_runs(
    throttled: Throttled,
) -> None:
    """150 runs are two batches: the one that is left out is in the first."""
    user_ids = of_one_partition(150)
    runs = runs_of(user_ids)
    throttled.keys = {user_ids[3]}
    found, error = overdue(runs, 0)
    assert sorted(found) == sorted({*user_ids} - throttled.keys)
    assert "repeatedly did not process a key of runs" in error
    assert len(throttled.calls) == CALLS + 1
    throttled.keys = set()
    found, error = overdue(runs, 0)
    assert (sorted(found), error) == (sorted(user_ids), "")


def test_table_returning_no_overdue_run_is_queried_for_a_single_batch(throttled: Throttled) -> None:
    """Else thousands of runs would take the time of the whole invocation, for nothing."""
    user_ids = of_one_partition(150)
    runs = runs_of(user_ids)
    throttled.keys = {*user_ids}
    found, error = overdue(runs, 0)
    assert (found, len(throttled.calls), throttled.pauses) == ([], CALLS, PAUSES)
    assert "repeatedly did not process a key of runs" in error


def stored(user_id: str, number: int, clock: SettableClock) -> DynamoEvents:
    events = dynamo_events(clock)
    for nth in range(number):
        events.store(an_event(f"e{nth}", user_id=user_id), DAILY)
    return events


def left_in_table(events: DynamoEvents, user_id: str) -> int:
    return len(list(events.stored_under(user_id, DAILY, after=NOW - timedelta(days=1))))


def test_unprocessed_events_of_an_erased_reader_are_retried_then_named(
    throttled: Throttled, clock: SettableClock
) -> None:
    events = stored("ann", 30, clock)
    throttled.keys = {"ann"}
    with pytest.raises(Unavailable, match="repeatedly did not process some rows of events"):
        events.erase("ann", None)
    assert [len(each) for each in throttled.calls] == [25] * CALLS
    assert throttled.pauses == PAUSES
    throttled.times, throttled.calls = 1, []
    events.erase("ann", None)
    assert [len(each) for each in throttled.calls] == [25, 25, 5]
    assert left_in_table(events, "ann") == 0


def test_unprocessed_counts_of_a_category_are_retried_then_named(
    throttled: Throttled,
) -> None:
    stats = DynamoCategoryStats("category_stats")
    stats.add("comment", Mark.SENT, NOW)
    throttled.keys = {"comment"}
    with pytest.raises(Unavailable, match="repeatedly did not process some rows of category_stats"):
        stats.forget("comment")
    assert (len(throttled.calls), throttled.pauses) == (CALLS, PAUSES)
    throttled.keys = set()
    stats.forget("comment")
    assert stats.since("comment", NOW).sent == 0
