"""The forecast of the demo's week is what a run of the demo measured."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from demo.forecast import compare, digests_by_slot, forecast, recorded


def test_demo_forecast_matches_measured_digests_per_slot() -> None:
    week, seen = recorded()
    found = forecast(week)
    assert digests_by_slot(found) == seen.digests
    assert sum(seen.digests.values()) == 2_416
    compared = compare(found, seen)
    assert compared.agrees
    assert compared.measured_units == 89_566
    assert abs(compared.apart) < 0.01


@pytest.mark.parametrize("off", ["hours", "units"])
def test_incorrect_forecast_fails_comparison(off: str) -> None:
    week, seen = recorded()
    if off == "hours":
        late = [replace(each, at=each.at + timedelta(hours=20)) for each in week.events]
        week = replace(week, events=late)
    else:
        units = Counter(seen.write_units)
        units["runs"] += 6_000
        seen = replace(seen, write_units=units)
    compared = compare(forecast(week), seen)
    assert not compared.agrees
    assert bool(compared.other_slots) is (off == "hours")
