"""The codecs that copy fields between domain classes and rows."""

from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest
from gazette.adapters.dynamodb import runs, schedules, subscribers
from gazette.adapters.dynamodb.pacing import pace
from gazette.adapters.dynamodb.tables import RunRow, SubscriberRow
from gazette.adapters.dynamodb.values import Codecs, attributes_of, fields_in
from gazette.domain.delivery.pace import Pace
from gazette.domain.delivery.run import Run
from gazette.domain.model import Schedule
from gazette.domain.scheduling.calendar import DigestTimes, Recurrence
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import NOW, a_run


@pytest.mark.parametrize(
    ("kind", "codecs", "others"),
    [
        (Run, runs._FIELDS, {"key", "window", "variant", "head"}),
        (Schedule, schedules._FIELDS, {"recurrence"}),
        (Recurrence, schedules._RECURRENCE, set()),
        (
            Subscriber,
            subscribers._PROFILE,
            {"times", "recorded_service_choices", "reader_choices", "quiet_hours"},
        ),
        (DigestTimes, subscribers._TIMES, set()),
        (Pace, pace._FIELDS, {"quota", "breaker"}),
    ],
)
def test_every_field_is_stored(kind: type[Any], codecs: Codecs, others: set[str]) -> None:
    assert {each.name for each in fields(kind)} == {*codecs, *others}


def test_row_omits_empty_optional_attributes_and_keeps_required_ones() -> None:
    attributes = attributes_of(a_run(), runs._FIELDS, RunRow)
    assert (attributes["attempt"], attributes["resent"]) == (0, False)
    assert attributes.keys().isdisjoint({"nonce", "overtaken", "categories", "sent_at"})


def test_absent_attribute_leaves_the_default_unless_it_is_needed() -> None:
    row = SubscriberRow("ann", weekly_on=7, changed_at=NOW - timedelta(days=1))
    assert fields_in(row, subscribers._TIMES) == {"weekly_on": 7}
    with pytest.raises(KeyError, match="hour"):
        fields_in(row, subscribers._TIMES, needs=("hour",))
