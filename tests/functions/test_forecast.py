"""The write units that a forecast counts are those that the real handlers take, unit by unit."""

from datetime import UTC, datetime, time, timedelta

import pytest
from gazette.bootstrap import fanout, generate, ingest, resend
from gazette.bootstrap.parts import rate_limiters, routing, sending
from gazette.domain.scheduling.calendar import SLOT

from gazette_cli.simulate.exact import Reader, Stored, Week
from gazette_cli.simulate.forecast import simulate
from tests.builders import SettableClock
from tests.functions.conftest import Cloud
from tests.functions.messages import envelope, event, profile
from tests.unit.simulate.questions import installation, question

BEGIN = datetime.combine(datetime.now(UTC).date() + timedelta(days=1), time(0, 5), UTC)
READERS = [
    Reader(name=f"reader{number}", zone=zone, hour=hour, minute=10 * number % 60)
    for number, (zone, hour) in enumerate(
        [("Asia/Kolkata", 8), ("Asia/Kolkata", 8), ("UTC", 8), ("UTC", 8), ("UTC", 20), ("UTC", 9)]
    )
]
EVENTS = [
    Stored(reader=f"reader{number}", at=BEGIN + timedelta(hours=hour))
    for number, hour in [(0, 0), (1, 0), (2, 0), (2, 1), (4, 3), (2, 22), (0, 26), (5, 30), (4, 40)]
]
TICKS = [BEGIN.replace(minute=0) + SLOT * 6 * number for number in range(3, 61, 3)]
"""The clock strikes every three hours, for all slots since it did."""

WEEK = Week(readers=READERS, events=EVENTS, ticks=TICKS)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SettableClock:
    """The clock of every function."""
    found = SettableClock(BEGIN - SLOT)
    for joined in (ingest, fanout, generate, resend, sending, routing, rate_limiters):
        monkeypatch.setattr(joined, "now", found)
    return found


def lived(cloud: Cloud, clock: SettableClock) -> None:
    """The week, through the handlers."""
    for each in READERS:
        digest = {"hour": each.hour, "minute": each.minute}
        cloud.say("subscriber.changed", profile(each.name, time_zone=each.zone, digest=digest))
    left = list(EVENTS)
    for tick in TICKS:
        while left and left[0].at < tick:
            stored = left.pop(0)
            clock.now = stored.at
            number = len(EVENTS) - len(left)
            cloud.work("ingest", envelope("event.created", event(number, user_id=stored.reader)))
        clock.now = tick + timedelta(seconds=30)
        cloud.invoke("fanout", {"time": tick.isoformat()})
        for message in cloud.take("shard"):
            cloud.work("fanout", message["Body"])
        for message in cloud.take("generate"):
            cloud.work("generate", message["Body"])


@pytest.mark.long
def test_small_week_costs_the_forecast_write_units(cloud: Cloud, clock: SettableClock) -> None:
    """All but those of the pace, which depend on which emails an invocation happens to have."""
    cloud.warm_up("ingest", "fanout", "generate")
    lived(cloud, clock)
    found = simulate(question(len(READERS), of=installation(100, shards=1)), week=WEEK)
    assert found.tally.sent["digest"] == cloud.meter.calls["sesv2.SendEmail"]
    measured = +cloud.meter.write_units
    permits, ticks = measured.pop("pace"), len(TICKS)
    forecast = dict(found.writes)
    assert forecast.pop("permits") == pytest.approx(permits, abs=2 * ticks)
    of_quota = 2 * ticks
    assert sum(forecast.values()) - of_quota == sum(measured.values()), (forecast, measured)
