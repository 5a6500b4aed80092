"""What the events of one happening cost; docs/tables.md promises the units."""

from collections import Counter

import pytest

from tests.functions.conftest import Cloud, fan_out
from tests.functions.costs_page import promised, promised_calls
from tests.functions.messages import ago, event, profile
from tests.functions.test_costs import IMMEDIATE, ann, ann_at_once
from tests.meter import calls

__all__ = ["ann", "ann_at_once"]

PROMISED = promised()
CALLS = promised_calls()
PART = {"part_of": {"entity": {"type": "post", "id": "p1"}, "id": "e1"}}


def mention(number: int = 7, **given: object) -> dict[str, object]:
    return event(number) | {"category": "mention"} | PART | given


def test_first_event_with_part_of_costs_a_transaction_of_row_and_pointer(ann: Cloud) -> None:
    ann.say("event.created", mention())
    print(ann.meter.calls, ann.meter.write_units, ann.meter.read_units)
    ann.meter.clear()
    ann.say("event.created", event(1))
    print(ann.meter.calls, ann.meter.write_units, ann.meter.read_units)
    ann.meter.clear()
    ann.say("event.created", mention())
    print(ann.meter.calls, ann.meter.write_units, ann.meter.read_units)
    ann.meter.clear()
    ann.say("event.retracted", {"id": "e7", "user_id": "ann"})
    print(ann.meter.calls, ann.meter.write_units, ann.meter.read_units)
    ann.meter.clear()
    ann.say("event.created", event(2))
    ann.meter.clear()
    ann.say("event.created", mention(8, part_of={"entity": {"type": "post", "id": "p1"}, "id": "e2"}))
    print(ann.meter.calls, ann.meter.write_units, ann.meter.read_units)
    ann.meter.clear()
    fan_out(ann)
    ann.meter.clear()
    ann.say("event.retracted", {"id": "e8", "user_id": "ann"})
    print(ann.meter.calls, ann.meter.write_units, ann.meter.read_units)
    assert 0


def test_move(ann: Cloud) -> None:
    ann.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies={"mention": "immediate", "comment": "daily"}))
    ann.say("event.created", event(1))
    ann.meter.clear()
    ann.say("event.created", mention())
    print(ann.meter.calls, ann.meter.write_units, ann.meter.read_units)
    ann.meter.clear()
    ann.say("event.retracted", {"id": "e7", "user_id": "ann"})
    print(ann.meter.calls, ann.meter.write_units, ann.meter.read_units)
    assert 0
