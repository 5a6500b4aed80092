"""What `gazette cost` states for each route is what the real handlers consume."""

from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from gazette_cli.cost.prices import read_prices
from gazette_cli.cost.routes import ROUTES, consumed
from gazette_support.adapters.published_api import document
from tests.functions.api.test_routes import stage  # noqa: F401 -- a fixture
from tests.functions.conftest import Cloud
from tests.functions.messages import ago, event
from tests.functions.serving import leave, reported, work_off_feedback
from tests.services import request

_QUERY: dict[str, dict[str, Any]] = {
    "getSubscriber": {"user_id": "bo"},
    "listEmails": {"user_id": "ann"},
    "getEventReceipt": {"user_id": "bo", "id": event(2)["id"]},
    "getActivityReceipt": {"entity_type": "post", "entity_id": "p1", "id": "a1"},
    "getEntity": {"type": "post", "id": "p1"},
    "createLink": {"user_id": "bo"},
    "patchChoices": {"user_id": "bo"},
    "returnSubscriber": {"user_id": "ann"},
    "exportSubscriber": {"user_id": "ann"},
    "reportDeliveryEvent": {},
}


def operations() -> dict[str, tuple[str, str]]:
    """Return the method and the path of each operation."""
    return {
        operation["operationId"]: (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def test_every_route_has_a_cost() -> None:
    assert ROUTES.keys() == operations().keys() == _QUERY.keys()


@pytest.mark.parametrize("operation", ROUTES)
def test_cost_of_a_request_matches_the_bill(stage: Cloud, operation: str) -> None:  # noqa: F811
    """`returnSubscriber` lifts an unsubscription."""
    route, (method, path) = ROUTES[operation], operations()[operation]
    body = None
    if operation == "patchChoices":
        body = {"chosen_at": ago(), "frequencies": {"mention": "never"}}
    if operation == "returnSubscriber":
        leave(stage, "ann")
        body = {"email": "ann@example.com", "consented_at": datetime.now(UTC).isoformat()}
    if operation == "reportDeliveryEvent":
        forget_engagement()
        body = {**reported(), "type": "delivered"}
    stage.meter.clear()
    answer = stage.invoke(route.function, request(method, path, body, **_QUERY[operation]))
    assert answer["statusCode"] == (202 if route.messages else 200)
    if route.entries:
        stage.work_off_bus()
    if route.messages:
        work_off_feedback(stage)
    calls = [name for name, _ in stage.meter.requests if name.startswith("dynamodb.")]
    spent = (stage.meter.write_units.total(), sum(stage.meter.read_units.values()), len(calls))
    assert spent == (route.units.written, route.units.read, route.calls)


def forget_engagement() -> None:
    """Delete the only engagement row, as if no delivery event had arrived."""
    dynamodb = boto3.client("dynamodb")
    (row,) = dynamodb.scan(TableName="engagement")["Items"]
    key = {name: row[name] for name in ("slot", "run")}
    dynamodb.delete_item(TableName="engagement", Key=key)


def test_dollars_of_a_million_requests() -> None:
    prices = read_prices()
    dollars = {
        operation: sum(
            prices.of[each.price].of(each.quantity)
            for each in consumed(operation, 1_000_000, memory=512)
        )
        for operation in ROUTES
    }
    assert dollars["getEntity"] < dollars["getSubscriber"] < dollars["getEventReceipt"] < 3
    assert 5 < dollars["patchChoices"] < 20
    assert 3 < dollars["reportDeliveryEvent"] < 7
