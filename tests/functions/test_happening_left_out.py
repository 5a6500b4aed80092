"""An event that leaves its happening while other functions write the same rows."""

from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals
from gazette.bootstrap.parts.clock import now
from gazette.domain.withdrawing.withdrawals import Withdrawal, WithdrawalKind, WithdrawalList

from tests.functions.conftest import Cloud, fan_out, make_cold
from tests.functions.messages import ago, event, profile
from tests.functions.test_grants import Meanwhile, meanwhile

__all__ = ["meanwhile"]

PART_OF = {"entity": {"type": "post", "id": "p1"}, "id": "e1"}
MENTION = event(7) | {"category": "mention", "part_of": PART_OF}
REPLY = event(8) | {"part_of": PART_OF}

pytestmark = pytest.mark.usefixtures("later")


def daily(cloud: Cloud, *, comments: str = "daily") -> None:
    often = {"mention": "daily", "comment": comments}
    cloud.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=often))
    withdrawn = Withdrawal(WithdrawalKind.ACTOR, "u7", now(), now() + timedelta(days=9))
    DynamoWithdrawals("control").change(WithdrawalList((withdrawn,), 1))
    cloud.warm_up("ingest", "fanout", "generate")


def test_retraction_of_a_mention_that_is_left_out_meanwhile_is_final(
    cloud: Cloud, meanwhile: Meanwhile
) -> None:
    daily(cloud, comments="weekly")
    cloud.say("event.created", MENTION, REPLY)
    (message,) = fan_out(cloud)
    meanwhile("events", "GetItem", lambda: cloud.work("generate", message))
    cloud.say("event.retracted", {"id": "e7", "user_id": "ann"})
    DynamoWithdrawals("control").change(WithdrawalList((), 2))
    cloud.say("event.created", MENTION)
    make_cold()
    for each in fan_out(cloud):
        cloud.work("generate", each)
    assert "mention" not in str([run.get("categories") for run in cloud.rows("runs")])
    row = next(row for row in cloud.rows("events") if row["event_id"] == "e7")
    assert "retracted_at" in row
    assert "body" not in row


def test_row_without_a_wanted_event_becomes_a_marker_with_the_rights_of_the_function(
    cloud: Cloud, meanwhile: Meanwhile
) -> None:
    """The activity was retracted first, and the other event is muted meanwhile. The test of rights
    compares the calls of each function with its policy."""
    daily(cloud)
    cloud.say("event.retracted", {"id": "e1", "user_id": "ann"})
    cloud.say("event.created", MENTION, REPLY)
    (message,) = fan_out(cloud)
    meanwhile("subscribers", "UpdateItem", lambda: cloud.work("generate", message))
    muted = {"mention": "daily", "comment": "never"}
    cloud.say("subscriber.changed", profile(changed_at=ago(minutes=1), frequencies=muted))
    row = next(row for row in cloud.rows("events") if row["event_id"] == "e1")
    assert "retracted_at" in row
    assert "body" not in row
