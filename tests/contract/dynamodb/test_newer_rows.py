"""Rows of a newer version, and rows that nobody can decode, in every table (rule 20).

Each is written by the real adapter and then changed in the table: it gets an attribute that no
version here has and, wherever an enumeration is stored, a value that is not known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import boto3
import pytest
from gazette.adapters.dynamodb.activities import DynamoActivities
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.feedback.bounces import DynamoBounces
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats, DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoQuota, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import PARTITIONS, DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.domain.delivery.pace import PacePlan, Quota
from gazette.domain.delivery.run import BEGINNING, Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.delivery_events import EngagementEvent, Mark
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.identity import shard_of
from gazette.domain.model import DAILY, Window
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.stored import is_known, readable
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.subscribers.suppression import Cause, SoftBounce
from moto import mock_aws

from gazette_cdk.topology import TABLES
from tests.builders import (
    KEY,
    NOW,
    RETENTION,
    SUPPRESSION_KEY,
    SettableClock,
    a_follow,
    a_run,
    a_schedule,
    a_subscriber,
    a_window,
    an_activity,
    an_event,
)
from tests.contract.conftest import RUN_RETENTION, SECOND, SHARDS, dynamo_events
from tests.credentials import set_credentials
from tests.fake_stores import (
    FakeActivities,
    FakeEngagements,
    FakeEvents,
    FakeFollows,
    FakeRuns,
    FakeSchedules,
    FakeSubscribers,
    FakeSuppressions,
)
from tests.moto_tables import create_tables

Item = dict[str, dict[str, Any]]

CLOCK = SettableClock()
POST = "post#post1"
EVERYTHING = Window(BEGINNING, NOW + timedelta(days=1))


@dataclass
class Table:
    """A table, past all adapters."""

    name: str

    def items(self) -> list[Item]:
        return list(self._client.scan(TableName=self.name)["Items"])

    def change(self, change: Callable[[Item], None]) -> None:
        """Every row of it."""
        for item in self.items():
            change(item)
            self._client.put_item(TableName=self.name, Item=item)

    def add(self, name: str, **value: str) -> None:
        """Every row once more, with another value of one attribute."""
        for item in self.items():
            self._client.put_item(TableName=self.name, Item=item | {name: dict(value)})

    @property
    def _client(self) -> Any:
        return boto3.client("dynamodb")


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    set_credentials(monkeypatch)
    with mock_aws():
        create_tables()
        yield


def runs() -> DynamoRuns:
    return DynamoRuns("runs", retention=RUN_RETENTION)


def schedules() -> DynamoSchedules:
    return DynamoSchedules("schedules", shards=SHARDS)


def subscribers() -> DynamoSubscribers:
    return DynamoSubscribers("subscribers")


def follows() -> DynamoFollows:
    return DynamoFollows("follows", retention=RETENTION, clock=CLOCK)


def activities() -> DynamoActivities:
    return DynamoActivities("activities", retention=RETENTION, clock=CLOCK)


def event_reader() -> DynamoEventReader:
    return DynamoEventReader("events", clock=CLOCK)


def suppressions() -> DynamoSuppressions:
    return DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=CLOCK)


def bounces() -> DynamoBounces:
    return DynamoBounces("bounces", key=SUPPRESSION_KEY, retention=RETENTION, clock=CLOCK)


def batches() -> DynamoBatches:
    return DynamoBatches("control", retention=RUN_RETENTION, clock=CLOCK)


def engagements() -> DynamoEngagements:
    return DynamoEngagements("engagement", retention=RUN_RETENTION)


def category_stats() -> DynamoCategoryStats:
    return DynamoCategoryStats("category_stats")


def rate_limiter() -> DynamoRateLimiter:
    return DynamoRateLimiter("pace", PacePlan(rate=10), name=ROWS.digest)


def store_subscriber() -> None:
    choice = Choice(frequency=Frequency.WEEKLY)
    ann = a_subscriber(comment=Frequency.DAILY)
    own = ann.reader_choices.with_choice(NOW, choice)
    subscribers().put(ann.with_choices(ann.service_choices, own), replacing=None)


def store_batches() -> None:
    batches().begin(slot_of(NOW))
    batches().announce(SHARDS)
    batches().save_checkpoint(1, slot_of(NOW))
    batches().leave_behind(1, slot_of(NOW))
    DynamoCategoryHolds("control").add(category_hold("like", "bounces", NOW))


STORE: dict[str, Callable[[], object]] = {
    "subscribers": store_subscriber,
    "schedules": lambda: schedules().put(a_schedule(), replacing=None),
    "follows": lambda: follows().put(a_follow(), replacing=None),
    "activities": lambda: activities().create(an_activity()),
    "events": lambda: dynamo_events(CLOCK).store(an_event(), DAILY),
    "runs": lambda: runs().create(replace(a_run(), status=Status.RETRYING, check_at=NOW)),
    "control": store_batches,
    "pace": lambda: DynamoQuota("pace", name=ROWS.digest).set_quota(
        Quota(rate=14, daily=50_000, left=40_000), NOW
    ),
    "engagement": lambda: engagements().record(a_run(), EngagementEvent.DELIVERED, NOW),
    "category_stats": lambda: category_stats().add("like", Mark.SENT, NOW),
    "suppressions": lambda: suppressions().add("hash", Cause.BOUNCED),
    "bounces": lambda: bounces().remember("hash", SoftBounce(NOW, "m1")),
}
"""One row of each kind that a table has."""


def newer(item: Item) -> None:
    item["newer"] = {"M": {"what": {"S": "nobody here knows"}}}


def newer_run(item: Item) -> None:
    newer(item)
    item |= {
        "status": {"S": "parked"},
        "reason": {"S": "postponed"},
        "state": {"S": "parked postponed"},
    }


def newer_subscriber(item: Item) -> None:
    newer(item)
    item["status"] = {"S": "resting"}
    for name in ("choices", "service_choices", "reader_choices"):
        if name in item:
            item[name] = {"S": item[name]["S"].replace('"daily"', '"hourly"')}
            item[name] = {"S": item[name]["S"].replace('"weekly"]', '"hourly"]')}


def newer_follow(item: Item) -> None:
    newer(item)
    item["changes"] = {"S": item["changes"]["S"].replace("null", '"hourly"')}


def newer_schedule(item: Item) -> None:
    newer(item)
    item["name"] = {"S": "hourly"}


NEWER: dict[str, Callable[[Item], None]] = {
    **dict.fromkeys(STORE, newer),
    "runs": newer_run,
    "subscribers": newer_subscriber,
    "follows": newer_follow,
    "schedules": newer_schedule,
    "suppressions": lambda item: item.update(
        reason={"S": "trap"}, newer={"S": "nobody here knows"}
    ),
}


def see_subscriber() -> None:
    ann = subscribers().get("ann")
    assert isinstance(ann, Subscriber)
    assert ann.status == "resting"
    assert not is_known(ann.status)
    assert dict(ann.chosen)["comment"] == "hourly"
    assert [value for _, value in ann.reader_choices.frequency] == ["hourly"]
    assert subscribers().get_many(["ann"]) == {"ann": ann}
    after = replace(ann, name="Anna", revision=ann.revision + 1)
    assert subscribers().put(after, replacing=ann)
    assert subscribers().get("ann") == after


def see_schedule() -> None:
    found = schedules().get("ann", "hourly")
    assert found
    assert found in schedules().of_user("ann")
    shard = shard_of("ann", SHARDS)
    (keys,) = schedules().due(slot_of(found.next_due_at), shard)
    assert found in schedules().get_many(keys)
    assert schedules().put(replace(found, sequence=9), replacing=found)


def see_follow() -> None:
    found = follows().get(POST, "ann")
    assert found
    assert found.latest.frequency == "hourly"
    assert list(follows().page(POST, after="", limit=5)) == [found]
    longer = replace(found, changes=(*found.changes, (NOW + SECOND, found.latest)))
    assert follows().put(longer, replacing=found)
    assert follows().get(POST, "ann") == longer


def see_activity() -> None:
    found = activities().get(POST, an_activity().id)
    assert found == an_activity()
    assert list(activities().since(POST, BEGINNING)) == [found]
    assert activities().mark_walked(an_activity(), POST)


def see_event() -> None:
    (stored,) = readable(dynamo_events(CLOCK).stored_under("ann", DAILY, after=BEGINNING))
    assert stored.event == an_event()
    assert list(event_reader().read("ann", DAILY, EVERYTHING)) == [stored]
    assert dynamo_events(CLOCK).amend(stored, replace(an_event(), excerpt="Else"))


def see_run() -> None:
    found = runs().get(KEY)
    assert found
    assert (found.status, found.reason) == ("parked", "postponed")
    assert not found.status.is_final
    assert found.is_open
    assert list(runs().overdue(shard_of("ann", PARTITIONS), NOW)) == [found]
    (counted,) = readable(runs().of_batch(slot_of(found.due_at)))
    assert (counted.status, counted.reason) == ("parked", "postponed")
    told = replace(found, epoch=found.epoch + 1)
    assert runs().swap(found, told) == told
    assert runs().get(KEY) == told
    claimed = replace(told, status=Status.SENDING, attempt=1, window=a_window(), nonce="n")
    assert runs().swap_together([(told, claimed)])
    assert runs().swap(replace(found, status=Status.PENDING), claimed) == claimed


def see_batches() -> None:
    slot = slot_of(NOW)
    assert batches().get(slot).started_at == NOW
    assert batches().begin(slot).started_at == NOW
    assert batches().announced() == {SHARDS: slot}
    assert batches().checkpoints() == {1: slot}
    assert list(batches().left_behind()) == [(1, slot)]
    assert [hold.category for hold in DynamoCategoryHolds("control").active()] == ["like"]


def see_pace() -> None:
    rate_limiter().reserve(NOW, NOW + SECOND)
    assert rate_limiter().read(NOW).taken == 1


def see_engagement() -> None:
    (found,) = readable(engagements().of_slot(slot_of(a_run().due_at)))
    assert found.first == {EngagementEvent.DELIVERED: NOW}
    assert engagements().record(a_run(), EngagementEvent.CLICKED, NOW)


def see_category_stats() -> None:
    category_stats().add("like", Mark.BOUNCED, NOW)
    assert (
        category_stats().since("like", NOW).sent,
        category_stats().since("like", NOW).bounced,
    ) == (1, 1)


def see_suppression() -> None:
    found = suppressions().get("hash")
    assert found
    assert found.cause == "trap"
    assert list(suppressions().each()) == [found]
    assert suppressions().holds("hash")
    assert not suppressions().add("hash", Cause.MANUAL)
    suppressions().lift("hash", Cause.UNSUBSCRIBED)
    assert suppressions().get("hash") == found


def see_bounces() -> None:
    later = SoftBounce(NOW + SECOND, "m2")
    assert sorted(bounces().remember("hash", later)) == [SoftBounce(NOW, "m1"), later]


SEE: dict[str, Callable[[], None]] = {
    "subscribers": see_subscriber,
    "schedules": see_schedule,
    "follows": see_follow,
    "activities": see_activity,
    "events": see_event,
    "runs": see_run,
    "control": see_batches,
    "pace": see_pace,
    "engagement": see_engagement,
    "category_stats": see_category_stats,
    "suppressions": see_suppression,
    "bounces": see_bounces,
}
"""Reads the row by every way there is, and writes it again under the condition of what was read."""


def spoil(name: str, **value: str) -> Callable[[Item], None]:
    """An attribute is missing, or says what nobody can decode."""

    def change(item: Item) -> None:
        item.pop(name, None)
        if value:
            item[name] = dict(value)

    return change


SPOILT: dict[str, tuple[Callable[[Item], None], ...]] = {
    "subscribers": (
        spoil("choices", S="{"),
        spoil("active_on", S="yesterday"),
        spoil("hour"),
        spoil("hour", N="24"),
        spoil("time_zone"),
        spoil("choices", S='[["2026-11-22T07:00:00",{}]]'),
        spoil("service_choices", S="[" * 5000),
    ),
    "schedules": (
        spoil("days", S="[[]"),
        spoil("next_due_at"),
        spoil("sequence", S="seven"),
        spoil("hour", N="24"),
        spoil("minute", N="60"),
        spoil("hour", N="7.5"),
        spoil("sequence", N="-1"),
        spoil("days", S="[[1],0,0]"),
        spoil("days", S="[[],1,0]"),
        spoil("days", S="[true]"),
        spoil("next_due_at", S="9999-12-31T23:59:59.999999Z"),
        spoil("paused_until", S="0001-01-01"),
    ),
    "follows": (spoil("changes", S="[[1]]"), spoil("changes"), spoil("changes", S="[]")),
    "activities": (spoil("body", S='{"category": 1}'), spoil("occurred_at", S="now")),
    "events": (
        spoil("body", S="not JSON"),
        spoil("body"),
        spoil("expires_at"),
        spoil("lasts_until", S="9999-12-31T23:59:59.999999Z"),
        spoil("expires_at", N="253402300799"),
    ),
    "runs": (
        spoil("due_at"),
        spoil("deadline", S="soon"),
        spoil("attempt", BOOL=True),  # type: ignore[arg-type]
        spoil("attempt", N="-1"),
        spoil("check_at", S="0001-01-01T00:00:00.000000Z"),
    ),
    "control": (spoil("started_at", S="then"), spoil("slot")),
    "pace": (spoil("day", S="someday"), spoil("quota", N="0"), spoil("left", N="1E+120")),
    "engagement": (spoil("delivered_at", S="then"), spoil("due_in")),
    "category_stats": (spoil("sent", S="many"),),
    "suppressions": (spoil("since", S="then"), spoil("reason")),
    "bounces": (spoil("messages", SS=["yesterday m1"]),),  # type: ignore[arg-type]
}


def raises(read: Callable[[], object]) -> None:
    with pytest.raises(UnreadableRow):
        read()


def only_unreadable(found: Iterator[object]) -> None:
    assert [type(each) for each in found] == [UnreadableRow]


def miss_subscriber() -> None:
    raises(lambda: subscribers().get("ann"))
    raises(lambda: subscribers().get_many(["ann"]))


def miss_schedule() -> None:
    schedules().put(a_schedule("bo"), replacing=None)
    raises(lambda: schedules().get("ann", DAILY))
    slot = slot_of(a_schedule().next_due_at)
    pages = [page for shard in range(SHARDS) for page in schedules().due(slot, shard)]
    found = schedules().get_many([key for page in pages for key in page])
    assert list(readable(found)) == [a_schedule("bo")]
    assert len(found) == 2


def miss_follow() -> None:
    bo = a_follow("bo")
    follows().put(bo, replacing=None)
    raises(lambda: follows().get(POST, "ann"))
    first, second = follows().page(POST, after="", limit=5)
    assert isinstance(first, UnreadableRow)
    assert first.key == (POST, "ann")
    assert second == bo


def miss_activity() -> None:
    raises(lambda: activities().get(POST, an_activity().id))


def miss_event() -> None:
    raises(lambda: list(event_reader().read("ann", DAILY, EVERYTHING)))
    raises(lambda: dynamo_events(CLOCK).get("ann", an_event().id))
    only_unreadable(dynamo_events(CLOCK).stored_under("ann", DAILY, after=BEGINNING))
    only_unreadable(event_reader().of_user("ann"))
    assert event_reader().holds("ann", DAILY, after=BEGINNING)
    dynamo_events(CLOCK).erase("ann", NOW)
    assert not Table("events").items(), "what cannot be read goes with an erasure"


def miss_run() -> None:
    bo = runs().create(replace(a_run(2), check_at=NOW))
    raises(lambda: runs().get(KEY))
    raises(lambda: runs().chain(KEY))
    raises(lambda: runs().create(a_run()))
    found = list(runs().overdue(shard_of("ann", PARTITIONS), NOW))
    assert list(readable(found)) == [bo]
    assert len(found) == 2
    assert list(readable(runs().of_user("ann"))) == [bo]
    open_runs = runs().open_runs(shard_of("ann", PARTITIONS))
    assert {due_at for _, due_at in open_runs} == {bo.due_at}


def miss_batches() -> None:
    batches().checkpoints()
    batches().announced()
    batches().left_behind()
    raises(lambda: batches().get(slot_of(NOW)))
    assert [hold.category for hold in DynamoCategoryHolds("control").active()] == ["like"]


def miss_pace() -> None:
    raises(lambda: rate_limiter().read(NOW))


def miss_engagement() -> None:
    only_unreadable(engagements().of_slot(slot_of(a_run().due_at)))


def miss_category_stats() -> None:
    category_stats().add("like", Mark.SENT, NOW - timedelta(hours=1))
    assert category_stats().since("like", NOW - timedelta(hours=1)).sent == 1


def miss_suppression() -> None:
    raises(lambda: suppressions().get("hash"))
    only_unreadable(suppressions().each())
    assert suppressions().holds("hash")


def miss_bounces() -> None:
    raises(lambda: bounces().remember("hash", SoftBounce(NOW, "m2")))


MISS: dict[str, Callable[[], None]] = {
    "subscribers": miss_subscriber,
    "schedules": miss_schedule,
    "follows": miss_follow,
    "activities": miss_activity,
    "events": miss_event,
    "runs": miss_run,
    "control": miss_batches,
    "pace": miss_pace,
    "engagement": miss_engagement,
    "category_stats": miss_category_stats,
    "suppressions": miss_suppression,
    "bounces": miss_bounces,
}
"""The row is told, and never stops what is read with it."""


def test_every_table_has_a_test_row() -> None:
    names = {table.name for table in TABLES}
    assert names == set(STORE) == set(NEWER) == set(SEE) == set(SPOILT) == set(MISS)


@pytest.mark.parametrize("name", STORE)
def test_trace_u_row_of_a_newer_version_is_recognised_and_kept(name: str) -> None:
    STORE[name]()
    old = Table(name).items()
    Table(name).change(NEWER[name])
    assert old != Table(name).items()
    SEE[name]()


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, spoilt in SPOILT.items() for change in spoilt]
)
def test_trace_u_undecodable_row_is_reported_and_skipped(
    name: str, change: Callable[[Item], None]
) -> None:
    STORE[name]()
    Table(name).change(change)
    MISS[name]()


def test_trace_u_run_with_an_invalid_key_blocks_no_run() -> None:
    """The sweep would write it under another key, and count what waits without end."""
    runs().create(replace(a_run(), status=Status.RETRYING, check_at=NOW))
    for key in ("daily", "daily#7", "daily#-000000007"):
        Table("runs").add("run", S=key)
    found = list(runs().overdue(shard_of("ann", PARTITIONS), NOW))
    assert len(found) == 4
    assert [run.key for run in readable(found)] == [KEY]
    assert [key for key, _ in runs().open_runs(shard_of("ann", PARTITIONS))] == [KEY]


def test_trace_u_shard_with_an_invalid_number_blocks_no_tick() -> None:
    store_batches()
    before = batches().checkpoints(), batches().announced(), list(batches().left_behind())
    for number in ("²²²", "abc", "1", "9999999999", "#2026-11-22T07:00Z"):
        Table("control").add("id", S=number)
    assert (batches().checkpoints(), batches().announced()) == before[:2]
    assert list(batches().left_behind()) == before[2]


def test_trace_u_unreadable_event_is_never_omitted_from_its_window() -> None:
    """A run that were sent without it would close its window over it."""
    STORE["events"]()
    Table("events").change(spoil("body", S="not JSON"))
    dynamo_events(CLOCK).store(an_event("sound"), DAILY)
    raises(lambda: list(event_reader().read("ann", DAILY, EVERYTHING)))


def test_unreadable_row_error_names_table_and_key_but_no_data() -> None:
    store_subscriber()
    Table("subscribers").change(spoil("active_on", S="ann@example.com"))
    with pytest.raises(UnreadableRow) as told:
        subscribers().get("ann")
    assert str(told.value) == (
        "The row ann of the table subscribers cannot be read: decoding it fails (ValueError)."
    )
    assert told.value.__context__ is None, "the log has what led to it, which says more"


def test_fakes_report_unreadable_rows_like_the_adapters() -> None:
    """What they hold in `unreadable`."""
    CLOCK.now = NOW
    kept_runs = FakeRuns({a_run().key: replace(a_run(), check_at=NOW)}, {KEY})
    raises(lambda: kept_runs.get(KEY))
    raises(lambda: kept_runs.chain(KEY))
    raises(lambda: kept_runs.create(a_run()))
    only_unreadable(kept_runs.overdue(shard_of("ann", PARTITIONS), NOW))
    only_unreadable(kept_runs.of_user("ann"))
    kept_schedules = FakeSchedules(unreadable={("ann", DAILY)})
    kept_schedules.put(a_schedule(), replacing=None)
    raises(lambda: kept_schedules.get("ann", DAILY))
    raises(lambda: kept_schedules.of_user("ann"))
    only_unreadable(iter(kept_schedules.get_many([("ann", DAILY)])))
    only_unreadable(kept_schedules.idle(0, 1))
    kept_events = FakeEvents(CLOCK, unreadable={("ann", an_event().id)})
    kept_events.store(an_event(), DAILY)
    raises(lambda: list(kept_events.read("ann", DAILY, EVERYTHING)))
    raises(lambda: kept_events.get("ann", an_event().id))
    only_unreadable(kept_events.stored_under("ann", DAILY, after=BEGINNING))
    assert kept_events.holds("ann", DAILY, after=BEGINNING)
    kept_follows = FakeFollows({(POST, "ann"): a_follow()}, {(POST, "ann")})
    raises(lambda: kept_follows.get(POST, "ann"))
    only_unreadable(iter(kept_follows.page(POST, after="", limit=5)))
    kept_activities = FakeActivities(unreadable={(POST, an_activity().id)})
    kept_activities.create(an_activity())
    raises(lambda: kept_activities.get(POST, an_activity().id))
    only_unreadable(kept_activities.since(POST, BEGINNING))
    kept_suppressions = FakeSuppressions(unreadable={"hash"})
    kept_suppressions.add("hash", Cause.MANUAL)
    raises(lambda: kept_suppressions.get("hash"))
    only_unreadable(kept_suppressions.each())
    assert kept_suppressions.holds("hash")
    kept_readers = FakeSubscribers(unreadable={"ann"})
    raises(lambda: kept_readers.get("ann"))
    raises(lambda: kept_readers.get_many(["ann"]))
    kept_engagements = FakeEngagements(unreadable={KEY})
    kept_engagements.record(a_run(), EngagementEvent.DELIVERED, NOW)
    only_unreadable(kept_engagements.of_slot(slot_of(a_run().due_at)))
