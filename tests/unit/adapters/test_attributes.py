"""Attributes that hold JSON: what a row says again is not decoded again."""

from datetime import datetime

import pytest
from gazette.adapters.dynamodb import histories, values
from gazette.adapters.dynamodb.histories import read_choices, write_choices
from gazette.adapters.dynamodb.values import read_days, write_days
from gazette.domain.scheduling.calendar import Days
from gazette.domain.subscribers.frequency import frequencies

AT = datetime.fromisoformat("2026-11-23T07:00Z")


def test_repeated_value_is_decoded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    days, choices = write_days(Days(month_day=7)), write_choices(((AT, frequencies({})),))
    first = read_days(days), read_choices(choices)
    monkeypatch.setattr(histories, "json", None)
    monkeypatch.setattr(values, "json", None)
    assert (read_days(days), read_choices(choices)) == first


def test_undecodable_value_is_rejected_every_time() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="does not name the days"):
            read_days("[]")
