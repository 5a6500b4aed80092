"""What the events of one happening cost; docs/tables.md promises the units."""

from collections import Counter
from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals
from gazette.bootstrap.parts.clock import now
from gazette.domain.withdrawing.withdrawals import Withdrawal, WithdrawalKind, WithdrawalList

from tests.functions.conftest import Cloud, fan_out
from tests.functions.costs_page import promised
from tests.functions.messages import ago, event, profile
from tests.functions.test_costs import ann
from tests.meter import calls

__all__ = ["ann"]

PROMISED = promised()
RETRACTION = {"id": "e7", "user_id": "ann"}


def mention(of: str = "e1") -> dict[str, object]:
    activity = {"entity": {"type": "post", "id": "p1"}, "id": of}
    return event(7) | {"category": "mention", "part_of": activity}


def units(cloud: Cloud) -> int:
    return cloud.meter.write_units.total()


def test_first_event_of_a_happening_is_written_with_its_pointer(ann: Cloud) -> None:
    """Event and pointer are read together, and written in one transaction."""
    ann.say("event.created", mention())
    assert ann.meter.calls == calls(BatchGetItem=2 + 2 + 1, TransactWriteItems=1)
    assert units(ann) == PROMISED["an event with `part_of`"]
    ann.meter.clear()
    ann.say("event.created", mention())
    assert ann.meter.calls == calls(BatchGetItem=2 + 2 + 1, Query=1)
    assert ann.meter.write_units == Counter()


def test_activity_that_joins_the_row_of_a_mention_costs_three_write_units(ann: Cloud) -> None:
    ann.say("event.created", mention())
    ann.meter.clear()
    ann.say("event.created", event(1))
    assert ann.meter.calls == calls(BatchGetItem=2 + 2 + 1, PutItem=1, UpdateItem=1, Query=2)
    assert units(ann) == PROMISED["an event that joins the row of its happening"]


def test_mention_that_joins_in_place_costs_as_much_as_the_first_event(ann: Cloud) -> None:
    ann.say("event.created", event(1))
    ann.meter.clear()
    ann.say("event.created", mention())
    assert ann.meter.calls["dynamodb.TransactWriteItems"] == 1
    assert units(ann) == PROMISED["an event with `part_of`"]


def test_mention_that_moves_the_row_costs_a_move(ann: Cloud) -> None:
    now = {"mention": "immediate", "comment": "daily"}
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=now))
    ann.say("event.created", event(1))
    ann.meter.clear()
    ann.say("event.created", mention())
    assert ann.meter.write_units == Counter(events=6, runs=6, schedules=2)
    assert units(ann) == PROMISED["an event with `part_of` that moves the row"]
    ann.meter.clear()
    ann.say("event.retracted", RETRACTION)
    assert ann.meter.write_units == Counter(events=5, runs=4, schedules=2)
    assert units(ann) == PROMISED["a retraction that moves the row of a happening"]


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("is_open", [False, True])
def test_retraction_of_one_event_of_a_happening(ann: Cloud, *, is_open: bool) -> None:
    ann.say("event.created", event(1), mention())
    if is_open:
        fan_out(ann)
    ann.meter.clear()
    ann.say("event.retracted", RETRACTION)
    assert ann.meter.write_units["events"] == PROMISED["the retraction of one event of a happening"]
    assert ann.meter.write_units["runs"] == is_open
    ann.meter.clear()
    ann.say("event.retracted", RETRACTION)
    assert ann.meter.write_units["events"] == 0


def test_retraction_of_the_last_event_is_a_transaction_with_the_runs(ann: Cloud) -> None:
    ann.say("event.created", mention())
    ann.meter.clear()
    ann.say("event.retracted", RETRACTION)
    assert units(ann) == PROMISED["the retraction of the last event of a happening"]


def test_event_that_meets_no_other_costs_no_more(ann: Cloud) -> None:
    """As an event without the feature: the test of an event asserts its calls and units."""
    ann.say("event.created", event(1))
    assert ann.meter.calls == calls(BatchGetItem=2 + 1, PutItem=1)
    assert units(ann) == PROMISED["an event"]


@pytest.fixture
def with_withdrawal(cloud: Cloud) -> Cloud:
    """The actor of the mention, but not of the comment, was withdrawn."""
    withdrawn = Withdrawal(WithdrawalKind.ACTOR, "u7", now(), now() + timedelta(days=9))
    DynamoWithdrawals("control").change(WithdrawalList((withdrawn,), 1))
    return cloud


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("comments", ["daily", "weekly"])
def test_event_of_a_happening_that_is_left_out(with_withdrawal: Cloud, comments: str) -> None:
    cloud = with_withdrawal
    often = {"mention": "daily", "comment": comments}
    cloud.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=often))
    cloud.warm_up("ingest", "fanout", "generate")
    part_of = mention()["part_of"]
    cloud.say("event.created", mention(), event(8) | {"part_of": part_of})
    (message,) = fan_out(cloud)
    cloud.meter.clear()
    cloud.work("generate", message)
    in_place = PROMISED["an event of a happening that is left out"]
    moved = PROMISED["an event of a happening that is left out, and whose row moves"]
    without_shards = units(cloud) - cloud.meter.write_units["control"]
    assert without_shards == (in_place if comments == "daily" else moved)
    assert cloud.meter.calls["ses.SendEmail"] == 0
    assert cloud.meter.calls["sqs.SendMessageBatch"] == 1
