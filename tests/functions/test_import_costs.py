"""The estimate of `gazette import` rests on measured calls: two million readers in 90 minutes."""

import json
from pathlib import Path

import pytest
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.bootstrap.parts.clock import now
from gazette.domain.identity import address_hash
from gazette.domain.subscribers.suppression import Cause

from gazette_cli.cost.prices import read_prices
from gazette_cli.imports.estimate import CALLS, UNITS, Estimate, estimate
from gazette_cli.imports.items import Kind
from tests.builders import SUPPRESSION_KEY
from tests.functions.conftest import Cloud
from tests.functions.messages import follow, profile
from tests.unit.imports.files import follow as follow_line
from tests.unit.imports.files import reader

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
READERS, FOLLOWS_EACH = 2_000_000, 5
CONCURRENCY, RATE = 100, 2_700.0
"""`concurrency` {"ingest": 100} for the night, and `--rate 2700`, as docs/migration.md says."""


def two_million(*, concurrency: int = CONCURRENCY, rate: float = RATE) -> Estimate:
    """The estimate for the file of docs/migration.md."""
    line = {kind: len(json.dumps(one)) + 1 for kind, one in ONE.items()}
    items = {Kind.SUPPRESSION: 0, Kind.SUBSCRIBER: READERS, Kind.FOLLOW: READERS * FOLLOWS_EACH}
    sizes = {kind: items[kind] * line.get(kind, 0) for kind in items}
    return estimate(items, sizes, prices=read_prices(), concurrency=concurrency, rate=rate)


ONE = {
    Kind.SUBSCRIBER: reader(1_234_567, locale="de", digest={"hour": 7}, active_on="2026-11-02"),
    Kind.FOLLOW: follow_line(1_234_567, "article-1234567", title="A better lid for jars"),
}


@pytest.fixture
def warm(cloud: Cloud) -> Cloud:
    cloud.warm_up("ingest")
    return cloud


def assert_measured(cloud: Cloud, kind: Kind, number: int) -> None:
    assert cloud.meter.calls.total() == number * CALLS[kind]
    assert cloud.meter.write_units.total() == number * UNITS[kind].written
    assert sum(cloud.meter.read_units.values()) == number * UNITS[kind].read


@pytest.mark.parametrize("number", [1, 20])
def test_imported_profile_costs_what_the_estimate_says(warm: Cloud, number: int) -> None:
    people = [profile(f"reader{each}", active_on="2026-10-01") for each in range(number)]
    warm.say("subscriber.changed", {"subscribers": people})
    assert_measured(warm, Kind.SUBSCRIBER, number)


@pytest.mark.parametrize("number", [1, 20])
def test_imported_follow_costs_what_the_estimate_says(warm: Cloud, number: int) -> None:
    people = [f"reader{each}" for each in range(number)]
    warm.say("subscriber.changed", {"subscribers": [*map(profile, people)]})
    warm.meter.clear()
    warm.say("follow.created", {"follows": [follow(each, "post#p9") for each in people]})
    assert_measured(warm, Kind.FOLLOW, number)


def test_imported_suppression_costs_what_the_estimate_says(cloud: Cloud) -> None:
    cloud.meter.clear()
    table = DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now)
    table.add(address_hash("ann@example.com"), Cause.MANUAL, now())
    assert_measured(cloud, Kind.SUPPRESSION, 1)


def test_two_million_readers_take_at_most_90_minutes_and_25_dollars() -> None:
    expected = two_million()
    assert expected.seconds <= 90 * 60
    assert expected.total <= 25
    text = PAGE.read_text()
    assert f"about {round(expected.seconds / 60)} minutes" in text
    assert f"${expected.total:.2f}" in text
    for service, dollars in expected.dollars.items():
        assert f"| {service} | ${dollars:.2f} |" in text


def test_migration_page_states_the_duration_at_the_default_concurrency() -> None:
    hours = two_million(concurrency=5).seconds / 3600
    assert f"about {hours:.0f} hours" in PAGE.read_text()


def test_slower_of_rate_and_concurrency_limits_the_import() -> None:
    assert two_million(rate=100).limit == "rate"
    assert two_million(rate=100).seconds == READERS * (1 + FOLLOWS_EACH) / 100
    assert two_million(concurrency=2).limit == "concurrency"
    half = two_million(concurrency=4).seconds
    assert two_million(concurrency=2).seconds == pytest.approx(2 * half)


def test_items_in_lists_cost_less_than_items_alone() -> None:
    """An item of 64 KB is a list of its own."""
    prices = read_prices()
    items = {Kind.SUPPRESSION: 0, Kind.SUBSCRIBER: 1000, Kind.FOLLOW: 0}

    def bus(size: int) -> float:
        sizes = {Kind.SUBSCRIBER: 1000 * size}
        found = estimate(items, sizes, prices=prices, concurrency=5, rate=1)
        return found.dollars["EventBridge"]

    assert bus(60_000) == pytest.approx(100 * bus(250))
