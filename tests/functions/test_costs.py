"""What each message costs: calls by name, and units by table. docs/tables.md promises the units."""

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from gazette.adapters.aws.queues import encode_run_key
from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import PARTITIONS, DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap import fanout
from gazette.bootstrap.parts import sending
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.pace import PacePlan, Permit
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.identity import shard_of
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.calendar import SLOT, next_occurrence, slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.withdrawing.withdrawals import (
    Withdrawal,
    WithdrawalKind,
    WithdrawalList,
)
from gazette.steps.fanout.fanout import LOOKBACK

from tests.functions import test_content, test_follower_costs
from tests.functions.conftest import Cloud, due_shard, fan_out
from tests.functions.costs_page import PAGE, promised, promised_calls
from tests.functions.messages import ago, envelope, event, follow, happening, http, profile
from tests.meter import calls

KEY = RunKey("ann", DAILY, 1)
PROMISED = promised()
CALLS = promised_calls()
MUTED = {"comment": "never"}
WEEKLY = {"comment": "weekly"}
IMMEDIATE = {"comment": "immediate"}
AFTER_A_QUIET_TIME = (
    PROMISED["the first event for an idle schedule"]
    + PROMISED["a due schedule without a waiting event"]
)
"""What a digest costs more: its schedule is armed before, and goes idle afterwards."""
LONG_AGO = 5
"""The slots of long ago that each message to a shard reads."""
SLOTS = 2 + LONG_AGO
"""The slots that a message to a shard reads for two slots."""
TICK_SLOTS = 1 + LOOKBACK + LONG_AGO
"""The slots that a tick reads in a shard: its own, and those that it reads again."""


def stored_run() -> Run:
    return DynamoRuns("runs", retention=timedelta(days=180)).chain(KEY)[0]


def take_all_permits(until: datetime) -> None:
    """Take the only permit that there is up to then."""
    plan = PacePlan(rate=1)
    assert isinstance(
        DynamoRateLimiter("pace", plan, name=ROWS.digest).reserve(until, until), Permit
    )


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("name", ["email", "updates"])
def test_viewing_a_sent_email_costs_three_reads_and_no_writes(cloud: Cloud, name: str) -> None:
    """The keys of the links were read when the function began."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    cloud.work("generate", *fan_out(cloud))
    path = cloud.link(name)
    cloud.warm_up("preferences")
    assert cloud.invoke("preferences", http("GET", path))["statusCode"] == 200
    assert cloud.meter.calls == calls(GetItem=2 + 1, Query=1), "the first one in a minute"
    cloud.meter.clear()
    assert cloud.invoke("preferences", http("GET", path))["statusCode"] == 200
    assert cloud.meter.calls == calls(GetItem=2, Query=1)
    assert cloud.meter.write_units == Counter()
    assert cloud.meter.read_units == Counter(runs=1, subscribers=1, events=1)


@pytest.fixture
def ann(cloud: Cloud) -> Cloud:
    """Ann is known, her schedule armed, and the functions are warm."""
    cloud.begin(register)
    cloud.warm_up("ingest", "followers", "fanout", "generate")
    return cloud


def register(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.arm("ann")


def test_event_costs_four_calls_and_two_write_units(ann: Cloud) -> None:
    """The reader is looked at before and after, and the schedule after the write, which is one,
    with its index entry."""
    ann.say("event.created", event(1))
    assert ann.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1)
    assert ann.meter.calls.total() == CALLS["an event"]
    assert ann.meter.write_units == Counter(events=2)
    assert ann.meter.write_units.total() == PROMISED["an event"]
    assert ann.meter.read_units == Counter(subscribers=2, schedules=1)


@pytest.mark.parametrize(
    ("size", "units"),
    [(1, PROMISED["an event with `data` of 1 KB"]), (2, PROMISED["an event with `data` of 2 KB"])],
)
def test_each_kilobyte_of_data_costs_two_additional_write_units(
    ann: Cloud, size: int, units: float
) -> None:
    data = {"a": "b" * (size * 1024 - len('{"a":""}'))}
    ann.say("event.created", event(1) | {"data": data})
    assert ann.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1)
    assert ann.meter.write_units == Counter(events=2 + 2 * size)
    assert ann.meter.write_units.total() == units


def test_typical_optional_fields_fit_the_write_units_of_an_event(ann: Cloud) -> None:
    """A usual image, page and picture of the actor, importance and end."""
    said = event(1) | {"importance": "high", "expires_at": ago(hours=-24)}
    said["actor"] = said["actor"] | {"url": "https://a.co/u", "avatar": "https://a.co/u.png"}
    said["entity"] = said["entity"] | {"image": {"url": "https://a.co/p.png", "text": "A post"}}
    ann.say("event.created", said)
    assert ann.meter.write_units == Counter(events=PROMISED["an event"])


def test_ten_events_of_an_invocation_cost_three_calls_plus_writes(cloud: Cloud) -> None:
    """Each in a message of its own, for a reader of its own: 1.3 calls an event."""
    readers = [f"u{number}" for number in range(10)]
    for user_id in readers:
        cloud.say("subscriber.changed", profile(user_id))
    cloud.arm(*readers)
    cloud.warm_up("ingest")
    events = [event(number, user_id=user_id) for number, user_id in enumerate(readers)]
    cloud.work("ingest", *(envelope("event.created", each) for each in events))
    assert cloud.meter.calls == calls(BatchGetItem=2 + 1, PutItem=10)
    assert cloud.meter.calls.total() == CALLS["ten events of one invocation"]
    assert cloud.meter.write_units == Counter(events=10 * PROMISED["an event"])
    assert cloud.meter.read_units == Counter(subscribers=2 * 10, schedules=10)


def test_ten_events_for_idle_schedules_are_read_together_and_armed_separately(
    cloud: Cloud,
) -> None:
    readers = [f"u{number}" for number in range(10)]
    for user_id in readers:
        cloud.say("subscriber.changed", profile(user_id))
    cloud.warm_up("ingest")
    events = [event(number, user_id=user_id) for number, user_id in enumerate(readers)]
    cloud.work("ingest", *(envelope("event.created", each) for each in events))
    assert cloud.meter.calls == calls(BatchGetItem=2 + 1, PutItem=10 + 10, GetItem=10)


def test_ten_events_of_a_reader_cost_three_reads_together(ann: Cloud) -> None:
    ann.work("ingest", *(envelope("event.created", event(number)) for number in range(10)))
    assert ann.meter.calls == calls(BatchGetItem=2 + 1, PutItem=10)
    assert ann.meter.read_units == Counter(subscribers=2, schedules=1)


def test_event_of_an_unknown_reader_costs_a_call_less(ann: Cloud) -> None:
    ann.say("event.created", event(1, user_id="bo"))
    assert ann.meter.calls == calls(BatchGetItem=2, PutItem=1)
    assert ann.meter.write_units == Counter(events=2)


def test_repeated_event_costs_a_single_rejected_write(ann: Cloud) -> None:
    said = event(1)
    ann.say("event.created", said)
    ann.meter.clear()
    ann.say("event.created", said)
    assert ann.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1)
    assert ann.meter.write_units == Counter(events=1)
    assert ann.meter.write_units.total() == PROMISED["a repeated event, activity or follow"]


def test_muted_event_is_not_written(ann: Cloud) -> None:
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=MUTED))
    ann.meter.clear()
    ann.say("event.created", event(1))
    assert ann.meter.calls == calls(BatchGetItem=2, GetItem=1)
    assert ann.meter.write_units == Counter()
    assert ann.meter.write_units.total() == PROMISED["a muted event, or one whose reader has left"]
    assert ann.meter.read_units == Counter(subscribers=2, events=1)


def test_amended_event_costs_a_rejected_write_and_a_write(ann: Cloud) -> None:
    ann.say("event.created", event(1))
    ann.meter.clear()
    ann.say("event.created", {**event(1), "amended_at": ago()})
    assert ann.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1, UpdateItem=1, Query=1)
    assert ann.meter.write_units == Counter(events=1 + 2)
    assert ann.meter.write_units.total() == PROMISED["an amended event"]


def test_events_of_a_list_share_their_reads_for_a_reader(
    ann: Cloud,
) -> None:
    ann.say("event.created", {"events": [event(number) for number in range(100)]})
    assert ann.meter.calls == calls(BatchGetItem=2 + 1, PutItem=100)
    assert ann.meter.calls.total() == CALLS["a list of 100 events"]
    assert ann.meter.write_units == Counter(events=200)
    assert ann.meter.read_units == Counter(subscribers=2, schedules=1)


def test_list_event_of_many_readers_costs_a_read_unit_per_lookup(ann: Cloud) -> None:
    ann.say(
        "event.created",
        {"events": [event(number, user_id=f"user{number}") for number in range(150)]},
    )
    assert ann.meter.calls == calls(BatchGetItem=2 * 2, PutItem=150)
    assert ann.meter.write_units == Counter(events=300)
    assert ann.meter.read_units == Counter(subscribers=300)


def test_retraction_costs_four_calls_and_two_write_units(ann: Cloud) -> None:
    """The row stays and loses its index entry."""
    ann.say("event.created", event(1))
    ann.meter.clear()
    ann.say("event.retracted", {"id": "e1", "user_id": "ann"})
    assert ann.meter.calls == calls(GetItem=2, PutItem=1, Query=1)
    assert ann.meter.write_units == Counter(events=2)
    assert ann.meter.write_units.total() == PROMISED["a retracted event"]


@pytest.mark.usefixtures("later")
def test_retraction_that_stops_an_open_run_costs_a_write_more(ann: Cloud) -> None:
    ann.say("event.created", event(1))
    fan_out(ann)
    ann.meter.clear()
    ann.say("event.retracted", {"id": "e1", "user_id": "ann"})
    assert ann.meter.calls == calls(GetItem=2, PutItem=2, Query=1)
    assert ann.meter.write_units == Counter(events=2, runs=1)


def test_retraction_before_the_event_costs_a_write_unit(ann: Cloud) -> None:
    ann.say("event.retracted", {"id": "e1", "user_id": "ann"})
    assert ann.meter.calls == calls(GetItem=2, PutItem=1)
    assert ann.meter.write_units == Counter(events=1)


def test_new_profile_costs_three_write_units(cloud: Cloud) -> None:
    """The row, for which choices it was routed, and a schedule, which is in no index."""
    cloud.warm_up("ingest")
    cloud.say("subscriber.changed", profile())
    assert cloud.meter.calls == calls(GetItem=4, Query=1, UpdateItem=2, PutItem=1)
    assert cloud.meter.write_units == Counter(subscribers=2, schedules=1)
    assert cloud.meter.write_units.total() == PROMISED["a new profile"]


def test_ten_profiles_of_a_list_make_the_calls_of_ten_profiles(cloud: Cloud) -> None:
    """They are applied side by side, and no call is made for another one."""
    cloud.warm_up("ingest")
    cloud.say("subscriber.changed", {"subscribers": [profile(f"u{each}") for each in range(10)]})
    assert cloud.meter.calls == calls(GetItem=40, Query=10, UpdateItem=20, PutItem=10)
    assert cloud.meter.calls.total() == 10 * CALLS["a new profile"]
    assert cloud.meter.write_units == Counter(subscribers=20, schedules=10)
    assert cloud.meter.write_units.total() == 10 * PROMISED["a new profile"]


def test_ten_follows_of_a_list_make_the_calls_of_ten_follows(ann: Cloud) -> None:
    entities = [f"post#p{number}" for number in range(10)]
    ann.say("follow.created", {"follows": [follow("ann", each) for each in entities]})
    assert ann.meter.calls == calls(PutItem=10, GetItem=10, Query=10)
    assert ann.meter.calls.total() == 10 * CALLS["a follow"]
    assert ann.meter.write_units == Counter(follows=10 * PROMISED["a follow"])


def test_repeated_profile_is_not_written(cloud: Cloud) -> None:
    said = profile()
    cloud.say("subscriber.changed", said)
    cloud.meter.clear()
    cloud.say("subscriber.changed", said)
    assert cloud.meter.calls == calls(GetItem=4, Query=1)
    assert cloud.meter.write_units == Counter()


def test_profile_with_a_new_name_costs_two_write_units(ann: Cloud) -> None:
    """The row, and the schedule's, which says how new it is; the index has keys only."""
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), name="Anna"))
    assert ann.meter.calls == calls(GetItem=4, Query=1, UpdateItem=1, PutItem=1)
    assert ann.meter.write_units == Counter(subscribers=1, schedules=1)
    assert ann.meter.write_units.total() == PROMISED["a profile with another name or address"]


def test_profile_with_a_new_hour_costs_an_additional_write_unit(
    ann: Cloud,
) -> None:
    """And two for the run of the number that was given up, which its batch counts.

    Compared with another name: the index entry, out of one slot and into another, is two more.
    """
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), digest={"hour": 20}))
    assert ann.meter.calls == calls(GetItem=4, Query=1, UpdateItem=1, PutItem=2)
    assert ann.meter.write_units == Counter(subscribers=1, schedules=3, runs=2)
    assert ann.meter.write_units.total() == PROMISED["a profile with another hour or time zone"]


def test_new_time_zone_costs_as_much_as_a_new_hour(
    ann: Cloud,
) -> None:
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), time_zone="America/New_York"))
    assert ann.meter.write_units == Counter(subscribers=1, schedules=3, runs=2)
    assert ann.meter.write_units.total() == PROMISED["a profile with another hour or time zone"]


def test_pause_costs_a_new_hour_and_a_check_of_waiting_events(
    ann: Cloud,
) -> None:
    """Once for the pause, whatever its length: nothing is written while it lasts."""
    until = ago(days=-9)[:10]
    said = profile(changed_at=ago(days=9), digest={"paused_until": until})
    ann.say("subscriber.changed", said)
    assert ann.meter.calls == calls(GetItem=4, Query=8, UpdateItem=2, PutItem=2)
    assert ann.meter.write_units == Counter(subscribers=2, schedules=3, runs=2)
    assert ann.meter.write_units.total() == PROMISED["a profile that begins or ends a pause"]


def test_first_profile_places_waiting_events_in_a_single_transaction(cloud: Cloud) -> None:
    """Each event and its index entry (2 + 2); once that no run starts (2), and the revision of the
    schedule (2). The schedule is armed once (2)."""
    cloud.say("event.created", {"events": [event(number) for number in range(10)]})
    cloud.meter.clear()
    cloud.say("subscriber.changed", profile())
    assert cloud.meter.calls == calls(
        GetItem=4 + 1 + 1,
        Query=1 + 1,
        BatchGetItem=2 + 1,
        UpdateItem=2,
        PutItem=1 + 1,
        TransactWriteItems=1,
    )
    assert cloud.meter.write_units == Counter(
        subscribers=2, schedules=1 + 2 + 2, events=10 * 4, runs=2
    )


def test_profile_with_new_choices_moves_waiting_events_in_a_single_transaction(
    ann: Cloud,
) -> None:
    """The same, and where it leaves the same once more: that no run starts, and the revision.

    The new schedule is armed once.
    """
    ann.say("event.created", {"events": [event(number) for number in range(10)]})
    ann.meter.clear()
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=WEEKLY))
    assert ann.meter.calls == calls(
        GetItem=4 + 2 + 1,
        Query=9 + 2,
        BatchGetItem=2 + 1,
        UpdateItem=2,
        PutItem=2 + 1,
        TransactWriteItems=1,
    )
    assert ann.meter.write_units == Counter(
        subscribers=2, schedules=1 + 1 + 2 + 4, events=10 * 4, runs=4
    )


@pytest.mark.usefixtures("later")
def test_preference_change_stops_an_open_run_in_the_same_transaction(ann: Cloud) -> None:
    """Its epoch is raised (2): it then begins anew, and without the event."""
    ann.say("event.created", event(1))
    fan_out(ann)
    ann.meter.clear()
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=WEEKLY))
    assert ann.meter.calls["dynamodb.TransactWriteItems"] == 1
    assert ann.meter.write_units["events"] == 4
    assert ann.meter.write_units["runs"] == 2 + 2 + 2, "and the next ones, on both sides"
    assert (stored_run().status, stored_run().epoch) == (Status.PENDING, 1)


def test_profile_that_mutes_withdraws_waiting_events_in_a_single_transaction(ann: Cloud) -> None:
    """Each event (2) and its index entry (1); once the look and the revision as above."""
    ann.say("event.created", {"events": [event(number) for number in range(10)]})
    ann.meter.clear()
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=MUTED))
    assert ann.meter.calls == calls(
        GetItem=4 + 1,
        Query=8 + 1,
        BatchGetItem=2,
        UpdateItem=2,
        PutItem=1,
        TransactWriteItems=1,
    )
    assert ann.meter.write_units == Counter(subscribers=2, schedules=1 + 2, events=10 * 3, runs=2)


def chosen(**given: object) -> dict[str, object]:
    return {"user_id": "ann", "chosen_at": ago(days=1), **given}


def test_reader_choice_costs_a_profile_change_and_an_activity_signal(ann: Cloud) -> None:
    """The hour: the row, its sign of life; schedule and the number given up, as with a profile."""
    ann.say("preferences.chosen", chosen(digest={"hour": 20}))
    assert ann.meter.calls == calls(GetItem=3, Query=1, UpdateItem=2, PutItem=2)
    assert ann.meter.write_units == Counter(subscribers=1 + 1, schedules=3, runs=2)


def test_repeated_reader_choice_is_not_written(ann: Cloud) -> None:
    said = chosen(digest={"hour": 20})
    ann.say("preferences.chosen", said)
    ann.meter.clear()
    ann.say("preferences.chosen", said)
    assert ann.meter.calls == calls(GetItem=3, Query=1)
    assert ann.meter.write_units == Counter()


def test_reader_choice_before_the_profile_costs_two_write_units(cloud: Cloud) -> None:
    """The choice, and the sign of life; the profile then looks twice, and is refused once."""
    cloud.warm_up("ingest")
    cloud.say("preferences.chosen", chosen(frequency="daily"))
    assert cloud.meter.calls == calls(GetItem=2, UpdateItem=2)
    assert cloud.meter.write_units == Counter(subscribers=2)
    assert cloud.meter.write_units.total() == PROMISED["a reader's own choice before the profile"]
    cloud.meter.clear()
    cloud.say("subscriber.changed", profile())
    assert cloud.meter.write_units == Counter(subscribers=1 + 2, schedules=1)


def test_activity_signal_costs_two_calls_and_a_write_unit_per_day(ann: Cloud) -> None:
    ann.say("subscriber.active", {"user_id": "ann", "active_at": ago(days=1)})
    assert ann.meter.calls == calls(GetItem=1, UpdateItem=1)
    assert ann.meter.write_units == Counter(subscribers=1)
    assert ann.meter.write_units.total() == PROMISED["a reader's activity, once a day"]


def test_activity_signal_of_a_known_day_is_not_written(ann: Cloud) -> None:
    said = {"user_id": "ann", "active_at": ago(days=1)}
    ann.say("subscriber.active", said)
    ann.meter.clear()
    ann.say("subscriber.active", said, said | {"active_at": ago(days=2)})
    assert ann.meter.calls == calls(GetItem=2)
    assert ann.meter.write_units == Counter()


def test_follow_costs_three_calls_and_two_write_units(ann: Cloud) -> None:
    """The row and its index entry; the activities are looked through for what was missed."""
    ann.say("follow.created", follow())
    assert ann.meter.calls == calls(GetItem=1, PutItem=1, Query=1)
    assert ann.meter.write_units == Counter(follows=2)
    assert ann.meter.write_units.total() == PROMISED["a follow"]


def test_repeated_follow_costs_a_single_rejected_write(ann: Cloud) -> None:
    said = follow()
    ann.say("follow.created", said)
    ann.meter.clear()
    ann.say("follow.created", said)
    assert ann.meter.calls == calls(GetItem=2, PutItem=1, Query=1)
    assert ann.meter.write_units == Counter(follows=1)


def test_late_follow_costs_a_call_per_missed_activity(
    ann: Cloud,
) -> None:
    """And six for all: activities and reader twice, the follow once more, and the schedule."""
    for number in range(3):
        ann.say("activity.created", happening(number))
    ann.meter.clear()
    ann.say("follow.created", follow())
    assert ann.meter.calls == calls(GetItem=1, Query=1, BatchGetItem=6, PutItem=1 + 3)
    assert ann.meter.write_units == Counter(follows=2, events=3 * 2)


def test_unfollow_costs_seven_write_units_per_waiting_event(ann: Cloud) -> None:
    ann.say("follow.created", follow())
    ann.say("activity.created", happening(1))
    ann.meter.clear()
    ann.say("follow.deleted", follow(changed_at=ago(minutes=1)))
    assert ann.meter.calls == calls(
        GetItem=2 + 1,
        Query=8 + 1,
        BatchGetItem=4,
        PutItem=2,
        UpdateItem=1,  # since when the reader follows otherwise
        TransactWriteItems=1,
    )
    units = Counter(follows=1 + 1, subscribers=1, events=3, schedules=2, runs=2)
    assert ann.meter.write_units == units


@pytest.mark.long
def test_late_follow_stores_many_activities_at_three_write_units_each(
    ann: Cloud,
) -> None:
    for number in range(120):
        ann.say("activity.created", happening(number))
    ann.meter.clear()
    ann.say("follow.created", follow())
    assert ann.meter.calls == calls(
        GetItem=1,
        Query=1,
        PutItem=1,
        BatchGetItem=2 + 2 + 2 + 2 + 1 + 1,  # activities twice, events, reader, schedule, follow
        TransactWriteItems=2,
    )
    assert ann.meter.write_units == Counter(follows=2, events=120 * 3)


@pytest.mark.usefixtures("later")
def test_erasure_cost_depends_on_the_stored_data(ann: Cloud) -> None:
    ann.say("event.created", {"events": [event(number) for number in range(30)]})
    ann.say("follow.created", follow(), follow(entity="post#p2"))
    fan_out(ann)
    ann.meter.clear()
    ann.say("subscriber.deleted", {"user_id": "ann", "deleted_at": ago()})
    assert ann.meter.calls == calls(
        GetItem=2,  # the profile, before and after
        PutItem=1 + 1,  # the profile, and the open run is cancelled
        Query=6,  # the runs of three digests, schedules, follows, events
        DeleteItem=1,  # the schedule
        BatchWriteItem=1 + 2,  # 25 follows, or events, each
    )
    assert ann.meter.write_units == Counter(
        subscribers=1, runs=3, schedules=2, follows=2 * 2, events=30 * 2
    )


def test_repeated_erasure_costs_a_write_unit(ann: Cloud) -> None:
    said = {"user_id": "ann", "deleted_at": ago()}
    ann.say("subscriber.deleted", said)
    ann.meter.clear()
    ann.say("subscriber.deleted", said)
    assert ann.meter.calls == calls(GetItem=2, PutItem=1, Query=6)
    assert ann.meter.write_units == Counter(subscribers=1)


def visit(entity: str = "p1", **when: float) -> dict[str, object]:
    return {"user_id": "ann", "entity": {"type": "post", "id": entity}, "seen_at": ago(**when)}


def test_first_visit_costs_three_write_units(ann: Cloud) -> None:
    ann.say("entity.seen", visit(days=1))
    assert ann.meter.calls == calls(PutItem=1, GetItem=2, Query=1, UpdateItem=2)
    assert ann.meter.write_units == Counter(events=1, subscribers=2)
    assert (
        ann.meter.write_units.total()
        == PROMISED["the first visit of a reader in 30 days, on a day without other activity"]
    )
    assert ann.meter.read_units == Counter(subscribers=2, runs=1)


def test_further_visits_cost_four_calls_and_a_write_unit(ann: Cloud) -> None:
    ann.say("entity.seen", visit(days=1))
    ann.meter.clear()
    ann.say("entity.seen", visit("p2", days=1))
    assert ann.meter.calls == calls(PutItem=1, GetItem=2, Query=1)
    assert ann.meter.calls.total() == CALLS["a visit of a reader (`entity.seen`)"]
    assert (
        ann.meter.write_units.total()
        == (PROMISED["a visit (`entity.seen`) on a day with other activity"])
    )


def test_repeated_visit_costs_a_rejected_write(ann: Cloud) -> None:
    ann.say("entity.seen", visit(days=1))
    ann.meter.clear()
    ann.say("entity.seen", visit(days=2))
    assert ann.meter.write_units.total() == PROMISED["a repeated or older visit"]


@pytest.mark.usefixtures("later")
def test_digest_of_a_reader_with_marks_costs_a_read_unit_for_each_entity(ann: Cloud) -> None:
    ann.say("entity.seen", visit("other", days=1))
    ann.say("event.created", event(1), event(2, entity="post#p2"))
    (message,) = fan_out(ann)
    ann.meter.clear()
    ann.work("generate", message)
    assert ann.meter.calls == calls(
        Query=2, BatchGetItem=3 + 1, UpdateItem=1, PutItem=2, SendEmail=1
    )
    assert ann.meter.write_units == Counter(runs=1 + 3, pace=1)
    assert ann.meter.read_units["events"] == 1 + 2


@pytest.mark.usefixtures("later")
def test_seen_event_costs_three_write_units_and_a_run_one(ann: Cloud) -> None:
    ann.say("event.created", event(1), event(2), event(3, entity="post#p2"))
    ann.say("entity.seen", visit())
    (message,) = fan_out(ann)
    ann.meter.clear()
    ann.work("generate", message)
    each = PROMISED["an event that is left out because its reader has seen its entity"]
    assert ann.meter.write_units == Counter(
        events=2 * each,
        runs=1 + 3 + PROMISED["each run that leaves out seen events"],
        pace=1,
    )
    assert ann.meter.calls == calls(
        Query=2 + 1, BatchGetItem=3 + 1, UpdateItem=1 + 2, PutItem=2 + 1, SendEmail=1
    )


@pytest.mark.usefixtures("later")
def test_withdrawn_event_costs_a_transaction_and_the_withdrawal_no_call(cloud: Cloud) -> None:
    cloud.begin(register)
    withdrawn = Withdrawal(WithdrawalKind.ACTOR, "u1", now(), now() + timedelta(days=9))
    DynamoWithdrawals("control").change(WithdrawalList((withdrawn,), 1))
    cloud.warm_up("ingest", "fanout", "generate")
    cloud.say("event.created", event(1), event(2))
    (message,) = fan_out(cloud)
    cloud.meter.clear()
    cloud.work("generate", message)
    each = PROMISED["a withdrawn event that the next run leaves out"]
    assert cloud.meter.write_units == Counter(events=4, runs=each - 4 + 1 + 3, pace=1)
    assert cloud.meter.calls == calls(
        Query=2, BatchGetItem=3, TransactWriteItems=1, UpdateItem=1, PutItem=2, SendEmail=1
    )


@pytest.fixture
def ann_at_once(cloud: Cloud) -> Cloud:
    """Ann wants to hear of comments at once."""
    cloud.say("subscriber.changed", profile(frequencies=IMMEDIATE))
    cloud.warm_up("ingest", "generate")
    return cloud


def test_visit_costs_a_unit_for_each_open_run_of_the_entity(ann_at_once: Cloud) -> None:
    """One Query finds the runs of the usual and of the urgent email."""
    ann_at_once.say("entity.seen", visit("other", days=1))
    urgent = event(2) | {"expires_at": ago(hours=-1)}
    ann_at_once.say("event.created", event(1), urgent)
    ann_at_once.meter.clear()
    ann_at_once.say("entity.seen", visit(days=1))
    assert ann_at_once.meter.calls == calls(PutItem=1 + 2, GetItem=2, Query=1)
    assert ann_at_once.meter.write_units == Counter(events=1, runs=2)


def test_immediate_event_costs_six_calls_and_four_write_units(ann_at_once: Cloud) -> None:
    """As any event, and a run with its entry in `open`, and the message.

    Once a minute and process it asks which versions of the templates are in force.
    """
    ann_at_once.say("event.created", event(1))
    assert ann_at_once.meter.calls == calls(
        BatchGetItem=2, PutItem=1 + 1, Query=1, SendMessageBatch=1, GetItem=1
    )
    ann_at_once.meter.calls.clear()
    ann_at_once.say("event.created", event(2, entity="post#p2"))
    assert ann_at_once.meter.calls == calls(
        BatchGetItem=2, PutItem=1 + 1, Query=1, SendMessageBatch=1
    )
    assert ann_at_once.meter.write_units == Counter(events=2 * 2, runs=2 * 2)
    each = ann_at_once.meter.write_units.total() / 2
    assert each == PROMISED["an event for an immediate email"]


def test_immediate_event_that_joins_a_run_costs_two_write_units(ann_at_once: Cloud) -> None:
    ann_at_once.say("event.created", event(1))
    ann_at_once.meter.clear()
    ann_at_once.say("event.created", event(2))
    assert ann_at_once.meter.calls == calls(BatchGetItem=2, PutItem=1, Query=1, SendMessageBatch=1)
    assert ann_at_once.meter.write_units == Counter(events=2)


@pytest.fixture
def limited(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Ann wants to hear of comments at once, and the stage allows two immediate emails an hour."""
    monkeypatch.setenv("GAZETTE_IMMEDIATE_LIMIT", '{"per_hour": 2, "per_day": 2}')
    cloud.say("subscriber.changed", profile(frequencies=IMMEDIATE))
    cloud.arm("ann")
    cloud.say("event.created", event(1))
    cloud.meter.clear()
    return cloud


def test_limited_event_costs_four_calls_and_a_write_unit_more(limited: Cloud) -> None:
    """It reads the runs of the thread, the event and the usage, and writes the usage."""
    limited.say("event.created", event(2, entity="post#p2"))
    assert limited.meter.calls == calls(
        BatchGetItem=2,
        PutItem=1 + 1,
        Query=1 + 1,
        SendMessageBatch=1,
        GetItem=2,
        UpdateItem=1,
    )
    assert limited.meter.write_units == Counter(events=2 + 1, runs=2)
    assert limited.meter.write_units.total() == PROMISED["an event for a limited immediate email"]
    assert limited.meter.calls.total() == CALLS["an event for a limited immediate email"]
    assert limited.meter.read_units["events"] == 2


def test_limited_event_that_joins_a_run_costs_a_query_more(limited: Cloud) -> None:
    limited.say("event.created", event(2))
    assert limited.meter.calls == calls(BatchGetItem=2, PutItem=1, Query=2, SendMessageBatch=1)
    assert limited.meter.write_units == Counter(events=2)


def test_event_beyond_the_limit_costs_two_write_units(limited: Cloud) -> None:
    """As an event of a digest. Nothing is written to refuse it."""
    limited.say("event.created", event(2, entity="post#p2"))
    limited.meter.clear()
    limited.say("event.created", event(3, entity="post#p3"))
    assert limited.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1, Query=1, GetItem=2)
    assert limited.meter.write_units == Counter(events=2)
    assert (
        limited.meter.write_units.total()
        == PROMISED["an event beyond the limit of immediate emails"]
    )
    assert limited.meter.calls.total() == CALLS["an event beyond the limit of immediate emails"]


def test_repeated_limited_event_costs_two_reads_more(limited: Cloud) -> None:
    """Its run does not collect any more. It takes no token."""
    limited.say("event.created", event(2, entity="post#p2"), event(3, entity="post#p3"))
    limited.meter.clear()
    limited.say("event.created", event(3, entity="post#p3"))
    assert limited.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1, Query=1, GetItem=1)
    assert limited.meter.write_units == Counter(events=1)


def test_waiting_event_beyond_the_limit_costs_two_write_units(limited: Cloud) -> None:
    """The mark, in the row and in the index. The runs of each thread are read."""
    limited.say("event.created", event(2, entity="post#p2"))
    likes = [event(number, entity=f"post#p{number}") | {"category": "like"} for number in range(9)]
    limited.say("event.created", {"events": likes[3:]})
    limited.meter.clear()
    both = IMMEDIATE | {"like": "immediate"}
    limited.say("subscriber.changed", profile(changed_at=ago(), frequencies=both))
    assert limited.meter.write_units["events"] == 6 * PROMISED["a waiting event beyond the limit"]
    assert limited.meter.calls["dynamodb.TransactWriteItems"] == 0
    assert limited.meter.write_units["runs"] == 0


@pytest.mark.usefixtures("later")
def test_immediate_email_costs_the_same_as_a_digest(ann_at_once: Cloud) -> None:
    ann_at_once.say("event.created", event(1))
    (entry,) = ann_at_once.queued("immediate")
    ann_at_once.meter.clear()
    ann_at_once.work("generate", entry["MessageBody"])
    assert ann_at_once.meter.calls == calls(
        Query=2, BatchGetItem=2, UpdateItem=1, PutItem=2, SendEmail=1
    )
    assert ann_at_once.meter.write_units == Counter(runs=3, pace=1)
    assert ann_at_once.meter.write_units.total() == PROMISED["an immediate email, in generate"]
    (email,) = ann_at_once.sent()
    assert email["FromEmailAddress"] == "Gazette now <now@example.com>"
    assert email["ConfigurationSetName"] == "immediate"


def test_immediate_email_that_the_sweep_queues_costs_three_write_units(cloud: Cloud) -> None:
    """The run, and the time of the next check in `open`. No message is sent before."""
    due_at = now() + timedelta(minutes=5)
    key = RunKey("ann", immediate_schedule("post#p1"), 1)
    check_at = due_at - timedelta(minutes=9)
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    runs.create(Run(key, due_at=due_at, check_at=check_at, step=2))
    cloud.warm_up("sweep")
    cloud.meter.clear()
    cloud.work("sweep", json.dumps({"partition": shard_of("ann", PARTITIONS)}))
    assert cloud.meter.write_units == Counter(runs=3)
    assert cloud.meter.calls["sqs.SendMessageBatch"] == 1
    assert cloud.meter.write_units.total() == PROMISED["an immediate email that the sweep queues"]
    (entry,) = cloud.queued("immediate")
    assert 5 * 60 < entry["DelaySeconds"] <= 6 * 60


@pytest.mark.usefixtures("later")
def test_immediate_email_in_quiet_hours_costs_six_write_units(ann_at_once: Cloud) -> None:
    """The worker gives the run a later end, and the sweep queues it. No permit is taken."""
    at = now().astimezone(ZoneInfo("Europe/Berlin")) + timedelta(hours=1)
    hours = f"{at - timedelta(hours=1):%H:%M}-{at + timedelta(minutes=6):%H:%M}"
    chosen = {"user_id": "ann", "chosen_at": ago(), "quiet_hours": hours}
    ann_at_once.say("preferences.chosen", chosen)
    ann_at_once.say("event.created", event(1))
    (entry,) = ann_at_once.queued("immediate")
    ann_at_once.warm_up("sweep")
    ann_at_once.meter.clear()
    ann_at_once.work("generate", entry["MessageBody"])
    assert ann_at_once.meter.calls == calls(Query=2, BatchGetItem=1, PutItem=1)
    assert ann_at_once.meter.write_units == Counter(runs=3)
    assert ann_at_once.sent() == []
    (run,) = DynamoRuns("runs", retention=timedelta(days=180)).of_user("ann")
    assert isinstance(run, Run)
    soon = replace(run, check_at=now() + timedelta(minutes=59, seconds=50))
    DynamoRuns("runs", retention=timedelta(days=180)).swap(run, soon)
    ann_at_once.meter.clear()
    ann_at_once.work("sweep", json.dumps({"partition": shard_of("ann", PARTITIONS)}))
    assert ann_at_once.meter.write_units == Counter(runs=3)
    promised = PROMISED["an immediate email that waits for the end of quiet hours"]
    assert promised == 3 + PROMISED["an immediate email that the sweep queues"]


@pytest.mark.usefixtures("later")
def test_immediate_event_after_its_run_was_sent_costs_a_query(ann_at_once: Cloud) -> None:
    ann_at_once.say("event.created", event(1), event(2))
    first, again = ann_at_once.queued("immediate")
    ann_at_once.work("generate", first["MessageBody"])
    ann_at_once.meter.clear()
    ann_at_once.work("generate", again["MessageBody"])
    assert ann_at_once.meter.calls == calls(Query=1)
    assert ann_at_once.meter.write_units == Counter()


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("events", [1, 300])
def test_digest_costs_eight_calls_and_four_write_units(ann: Cloud, events: int) -> None:
    """Whatever the number of events; 300 of them fit one page."""
    said = [event(number, entity=f"post#p{number % 30}") for number in range(events)]
    ann.say("event.created", {"events": said})
    (message,) = fan_out(ann)
    ann.meter.clear()
    ann.work("generate", message)
    assert ann.meter.calls == calls(
        Query=1 + 1,  # the chain of runs, and one page of events
        BatchGetItem=1 + 1 + 1,  # the reader, the address, and whether the batch was cancelled
        UpdateItem=1,  # its permit
        PutItem=2,  # claim and commit
        SendEmail=1,
    )
    # The claim; the commit, out of what is open, and as what the batch counts it.
    assert ann.meter.write_units == Counter(runs=1 + 3, pace=1)
    assert ann.meter.write_units.total() == PROMISED["a digest, in generate"]


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_ten_digests_of_an_invocation_cost_five_and_a_half_calls_each(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they read beside their own windows is read together, and one write is ten permits."""
    readers = [f"reader{number}" for number in range(10)]
    for user_id in readers:
        cloud.say("subscriber.changed", profile(user_id))
        cloud.say("event.created", event(1, user_id=user_id))
    for user_id in readers:
        fan_out(cloud, user_id)
    messages = [encode_run_key(RunKey(user_id, DAILY, 1)) for user_id in readers]
    cloud.warm_up("generate")
    monkeypatch.setattr(sending.coalescer(), "_patience", 60)  # nobody goes on without the others
    cloud.meter.clear()
    cloud.work("generate", *messages)
    assert cloud.meter.calls == calls(
        Query=10 * (1 + 1),  # the chain of runs, and one page of events
        BatchGetItem=1 + 1 + 1,  # the readers, whether the batch was cancelled, the addresses
        UpdateItem=1,  # ten permits
        PutItem=10 * 2,  # claim and commit
        SendEmail=10,
    )
    assert cloud.meter.write_units == Counter(runs=10 * (1 + 3), pace=1)
    assert cloud.meter.write_units.total() == PROMISED["ten digests of one invocation"]


@pytest.mark.usefixtures("later")
def test_requeued_digest_costs_six_calls_and_a_write_unit(
    ann: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal brings the row; who remembers it reads nothing. How many wait is asked once."""
    ann.say("event.created", event(1))
    (message,) = fan_out(ann)
    take_all_permits(now() + timedelta(hours=1, seconds=8))  # no later one is believed
    ann.meter.clear()
    ann.work("generate", message)
    assert ann.meter.calls == calls(
        Query=2, BatchGetItem=1, UpdateItem=1, GetQueueAttributes=1, SendMessageBatch=1
    )
    assert ann.meter.write_units == Counter(pace=1)
    (entry,) = ann.queued("generate")
    assert entry["DelaySeconds"] == 1, "nobody else waits"
    ann.meter.clear()
    ann.work("generate", entry["MessageBody"])
    assert ann.meter.calls == calls(SendMessageBatch=1)
    assert ann.meter.write_units == Counter()
    assert not ann.sent()
    assert stored_run().status is Status.PENDING


@pytest.mark.usefixtures("later")
def test_digest_beyond_the_account_quota_has_the_documented_cost(
    ann: Cloud,
) -> None:
    """Also for a worker that found nothing left before: a tick may have told of room since."""
    ann.say("subscriber.changed", profile("bo"))
    ann.send_quota.update(MaxSendRate=500.0, Max24HourSend=200.0, SentLast24Hours=200.0)
    for user_id in ("ann", "bo"):
        ann.say("event.created", event(1, user_id=user_id))
        (message,) = fan_out(ann, user_id)
        ann.meter.clear()
        ann.work("generate", message)
        assert ann.meter.calls == calls(Query=2, BatchGetItem=1, UpdateItem=1, PutItem=1)
        assert ann.meter.write_units == Counter(runs=3, pace=1)
        assert (
            ann.meter.write_units.total()
            == PROMISED["a daily run when the account's 24-hour quota is used up"]
        )
    assert stored_run().reason is Reason.DAILY_CAP


@pytest.mark.usefixtures("later")
def test_digest_with_a_low_score_has_the_documented_cost(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_DIGEST_WORTH", '{"score": 1000, "days": 3}')
    register(cloud)
    cloud.warm_up("generate")
    ann = cloud
    ann.say("event.created", event(1))
    (message,) = fan_out(ann)
    ann.meter.clear()
    ann.work("generate", message)
    assert ann.meter.calls == calls(Query=2, BatchGetItem=1, PutItem=1)
    assert ann.meter.write_units == Counter(runs=3)
    assert ann.meter.write_units.total() == PROMISED["a daily run with a low score"]
    assert stored_run().reason is Reason.WAITS_FOR_MORE


def test_tick_reads_the_ses_quota_once_for_two_write_units(
    cloud: Cloud,
) -> None:
    cloud.send_quota.update(MaxSendRate=14.0, Max24HourSend=200.0, SentLast24Hours=3.0)
    cloud.warm_up("fanout")
    for _ in range(2):
        cloud.invoke("fanout", {"time": ago()})
    assert cloud.meter.calls == Counter(
        {
            "sqs.SendMessageBatch": 2,
            "sesv2.GetAccount": 2,
            "dynamodb.Query": 6,
            "dynamodb.UpdateItem": 4,
        }
    )
    assert cloud.meter.write_units == Counter(pace=4)
    assert cloud.meter.write_units.total() == 2 * PROMISED["a tick"]
    rows = {row["name"]: (row["quota"], row["daily"], row["left"]) for row in cloud.rows("pace")}
    assert rows == {ROWS.digest: (14, 200, 158), ROWS.immediate: (14, 200, 39)}


def test_tick_reads_no_quota_if_the_provider_is_not_ses(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_MAIL_PROVIDER", "smtp")
    cloud.warm_up("fanout")
    cloud.invoke("fanout", {"time": ago()})
    assert cloud.meter.calls == calls(Query=3, SendMessageBatch=1)


@pytest.mark.usefixtures("later")
def test_empty_digest_costs_three_calls_and_three_write_units(
    ann: Cloud,
) -> None:
    ann.say("event.created", event(1))
    (message,) = fan_out(ann)
    ann.say("event.retracted", {"id": "e1", "user_id": "ann"})
    ann.meter.clear()
    ann.work("generate", message)
    assert ann.meter.calls == calls(Query=2, PutItem=1)
    assert ann.meter.write_units == Counter(runs=3)
    assert ann.meter.write_units.total() == PROMISED["a run with no event left to send"]
    assert stored_run().reason is Reason.EMPTY


@pytest.mark.usefixtures("later")
def test_fan_out_of_a_due_digest_costs_six_write_units(ann: Cloud) -> None:
    """And two queries: of the runs, and of what waits behind the last that was sent.

    For all that is due in a slot and shard together, two more: the batch, and the checkpoint.
    """
    ann.say("event.created", event(1))
    shard = due_shard(ann)
    ann.meter.clear()
    ann.work("fanout", shard)
    assert ann.meter.write_units == Counter(runs=3, schedules=3, control=2)
    assert ann.meter.write_units.total() == PROMISED["a due schedule, in fan-out"] + 2
    assert ann.meter.calls == calls(
        Query=TICK_SLOTS + 2, BatchGetItem=1, PutItem=2, UpdateItem=2, SendMessageBatch=1
    )
    assert ann.meter.read_units == {"schedules": TICK_SLOTS / 2 + 1, "runs": 1, "events": 1}


@pytest.mark.usefixtures("later")
def test_schedule_goes_idle_for_four_write_units_without_a_message(
    ann: Cloud,
) -> None:
    """Flagged (1), its sequence used by an ended run (1), taken out (2).

    It is looked at before the flag and after it, and no batch counts it.
    """
    shard = due_shard(ann)
    ann.meter.clear()
    ann.work("fanout", shard)
    assert ann.meter.write_units == Counter(schedules=1 + 2, runs=1, control=2)
    assert ann.meter.write_units.total() == PROMISED["a due schedule without a waiting event"] + 2
    assert ann.meter.calls == calls(
        Query=TICK_SLOTS + 2 * 2, BatchGetItem=1, PutItem=1 + 1 + 1, UpdateItem=2
    )
    assert ann.meter.read_units == {"schedules": TICK_SLOTS / 2 + 1, "runs": 2, "events": 2}
    assert stored_run().reason is Reason.NOTHING_WAITED


def go_idle(cloud: Cloud) -> None:
    """Nothing waits for Ann when her digest is due."""
    register(cloud)
    assert fan_out(cloud) == []


@pytest.fixture
def quiet(cloud: Cloud) -> Cloud:
    """Nothing waits for Ann, and her schedule is idle."""
    cloud.begin(go_idle)
    cloud.warm_up("ingest", "fanout")
    return cloud


@pytest.mark.usefixtures("later")
def test_idle_schedule_costs_no_units_at_its_next_occurrence(quiet: Cloud) -> None:
    """What is left is the tick's: the slots, and the checkpoint. No row is read, none written."""
    daily = DynamoSchedules("schedules", shards=1).get("ann", DAILY)
    assert daily
    slot = slot_of(next_occurrence(daily.recurrence, after=daily.next_due_at))
    quiet.meter.clear()
    quiet.work(
        "fanout",
        json.dumps({"shard": 0, "since": (slot - SLOT).isoformat(), "until": slot.isoformat()}),
    )
    assert quiet.meter.calls == calls(Query=SLOTS, UpdateItem=1)
    assert quiet.meter.write_units == Counter(control=1)
    assert quiet.meter.read_units == {"schedules": SLOTS / 2}


def test_moving_events_to_an_idle_schedule_costs_two_write_units_to_arm(
    quiet: Cloud,
) -> None:
    """Beside the twelve for the move, and what the profile costs."""
    quiet.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=WEEKLY))
    assert fan_out(quiet, schedule="weekly") == []
    quiet.say("event.created", event(1))
    quiet.meter.clear()
    quiet.say("subscriber.changed", profile(changed_at=ago(days=8)))
    assert quiet.meter.write_units == Counter(
        subscribers=2, schedules=1 + 2 * 2 + 2, events=4, runs=4
    )
    assert {row["name"]: row["state"] for row in quiet.rows("schedules")} == {
        "daily": "armed",
        "weekly": "armed",
    }


def test_erasure_removes_an_idle_schedule_for_a_write_unit(quiet: Cloud) -> None:
    quiet.say("subscriber.deleted", {"user_id": "ann", "deleted_at": ago()})
    assert quiet.meter.write_units == Counter(subscribers=1, schedules=1)


@pytest.mark.usefixtures("later")
def test_digest_after_an_idle_period_costs_twelve_write_units(
    quiet: Cloud,
) -> None:
    """The schedule is armed, its run starts, and at the next occurrence nothing waits."""
    quiet.say("event.created", event(1))
    messages = fan_out(quiet)
    armed = quiet.meter.write_units.copy()
    quiet.work("generate", *messages)
    quiet.meter.clear()
    assert fan_out(quiet) == []
    units = armed + quiet.meter.write_units
    del units["control"]  # of the ticks, whoever is due
    assert units == Counter(events=2, schedules=2 + 3 + 3, runs=3 + 1)
    of_schedule = units["schedules"] + units["runs"]
    assert of_schedule == PROMISED["a due schedule, in fan-out"] + AFTER_A_QUIET_TIME
    assert f"{of_schedule} write units, however long the quiet time was" in PAGE.read_text()


def test_arming_an_idle_schedule_costs_two_calls_and_write_units(
    quiet: Cloud,
) -> None:
    """The row and its index entry; the profile is read after that, once more."""
    quiet.say("event.created", event(1))
    assert quiet.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1 + 1, GetItem=1)
    assert quiet.meter.write_units == Counter(events=2, schedules=2)
    armed = PROMISED["an event"] + PROMISED["the first event for an idle schedule"]
    assert quiet.meter.write_units.total() == armed
    assert quiet.meter.read_units == Counter(subscribers=2 + 1, schedules=1)


def test_second_event_finds_the_schedule_armed(quiet: Cloud) -> None:
    quiet.say("event.created", event(1))
    quiet.meter.clear()
    quiet.say("event.created", event(2))
    assert quiet.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1)
    assert quiet.meter.write_units == Counter(events=2)


def test_profile_with_a_new_name_does_not_write_an_idle_schedule(quiet: Cloud) -> None:
    quiet.say("subscriber.changed", profile(changed_at=ago(days=9), name="Anna"))
    assert quiet.meter.calls == calls(GetItem=4, Query=1, UpdateItem=1)
    assert quiet.meter.write_units == Counter(subscribers=1)


def test_profile_with_a_new_hour_writes_only_the_idle_schedule_row(quiet: Cloud) -> None:
    quiet.say("subscriber.changed", profile(changed_at=ago(days=9), digest={"hour": 20}))
    assert quiet.meter.calls == calls(GetItem=4, Query=1, UpdateItem=1, PutItem=1)
    assert quiet.meter.write_units == Counter(subscribers=1, schedules=1)


def test_dormancy_costs_five_write_units_and_resuming_four(
    ann: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fan-out reads the reader where it must, and withdraws what it finds."""
    shard = due_shard(ann)
    monkeypatch.setattr(fanout, "now", lambda: now() + timedelta(days=50))
    fanout.build_fan_out.cache_clear()
    ann.warm_up("fanout")
    ann.meter.clear()
    ann.work("fanout", shard)
    assert ann.meter.calls == calls(
        Query=TICK_SLOTS + 1,  # what is due, and all schedules of the reader
        BatchGetItem=1,
        GetItem=1 + 1,  # the reader, before resting and before each is withdrawn
        UpdateItem=1 + 1 + 1 + 1,  # the reader, the schedule, the batch, the checkpoint
        PutItem=1,
    )
    assert ann.meter.write_units == Counter(subscribers=1, runs=2, schedules=2, control=2)
    assert stored_run().reason is Reason.DORMANT
    ann.meter.clear()
    ann.say("subscriber.active", {"user_id": "ann", "active_at": ago()})
    assert ann.meter.write_units == Counter(subscribers=2, schedules=2)


def test_each_documented_cost_is_measured() -> None:
    happening = Path(__file__).with_name("test_happening_costs.py")
    modules = (__file__, test_follower_costs.__file__, test_content.__file__, happening)
    tests = "".join(Path(module).read_text() for module in modules)
    assert [operation for operation in PROMISED if f'["{operation}"]' not in tests] == []


def test_readme_write_units_of_a_digest_of_five_events_are_correct() -> None:
    """For what became of it two units, sent and delivered, and one for its category."""
    units = 5 * PROMISED["an event"] + 2 + 1
    units += PROMISED["a due schedule, in fan-out"] + PROMISED["a digest, in generate"]
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    assert f"{units} write units, ${units * 0.625:.0f} for a million" in readme
    assert f"after a day without news uses {AFTER_A_QUIET_TIME} more" in readme


MUTES_POST = {"mute": [{"type": "post", "id": "p1"}]}


def test_mute_costs_one_write_unit(ann: Cloud) -> None:
    """The choice's message, without a change of choices; the sign of life costs extra."""
    ann.say("subscriber.active", {"user_id": "ann", "active_at": ago()})
    ann.meter.clear()
    ann.say("preferences.chosen", {"user_id": "ann", "chosen_at": ago(), **MUTES_POST})
    assert ann.meter.write_units == Counter(subscribers=PROMISED["a mute, or the end of a mute"])


def test_event_of_a_reader_with_a_mute_costs_as_many_calls_and_units(ann: Cloud) -> None:
    ann.say("preferences.chosen", {"user_id": "ann", "chosen_at": ago(), **MUTES_POST})
    ann.meter.clear()
    ann.say("event.created", event(1, entity="post#p2"))
    assert ann.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1)
    assert ann.meter.read_units == Counter(subscribers=2, schedules=1)
    assert ann.meter.write_units == Counter(events=PROMISED["an event"])


def test_event_about_a_muted_thing_costs_no_unit(ann: Cloud) -> None:
    ann.say("preferences.chosen", {"user_id": "ann", "chosen_at": ago(), **MUTES_POST})
    ann.meter.clear()
    ann.say("event.created", event(1))
    assert ann.meter.write_units == Counter()
