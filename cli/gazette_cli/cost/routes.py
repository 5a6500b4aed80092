"""The cost of requests to the API for services, by route.

Tests measure the units and the calls on the real handlers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gazette_cli.cost.actions import Units
from gazette_cli.cost.assumptions import A_VCPU, CALL, SLOWER

_CPU = 8.0
"""Processor time per request in milliseconds, most of which is validation and JSON."""

_LINE = 450
"""The log bytes per request."""

_A_LINE_OF_THE_ACCESS_LOG = 350

_REQUESTS_OF_A_MESSAGE = 1.2
"""The requests to SQS per message. Lambda receives and deletes ten messages together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The consumption of one request."""

    function: str
    units: Units

    # The number of sequential calls to AWS.
    calls: int

    # The number of entries on the event bus.
    entries: int = 0

    # The number of messages to another function.
    messages: int = 0


ROUTES: Mapping[str, Route] = MappingProxyType(
    {
        "exportSubscriber": Route(function="api", units=Units(0, 3), calls=3),
        "getSubscriber": Route(function="api", units=Units(0, 4.5), calls=5),
        "listEmails": Route(function="api", units=Units(0, 3), calls=3),
        "getEventReceipt": Route(function="api", units=Units(0, 5), calls=5),
        "getActivityReceipt": Route(function="api", units=Units(0, 1), calls=1),
        "getEntity": Route(function="api", units=Units(0, 0.5), calls=1),
        "createLink": Route(function="api", units=Units(0, 1), calls=1),
        "patchChoices": Route(function="api_writes", units=Units(4, 23.5), calls=28, entries=1),
        "returnSubscriber": Route(function="api_writes", units=Units(9, 10), calls=18),
        "reportDeliveryEvent": Route(function="api_writes", units=Units(3, 1), calls=4, messages=1),
    }
)
"""The consumption of each route, by operation id, for a subscriber with one waiting digest and
without follows. `patchChoices` changes a frequency for which no event waits, and ingest repeats
the choice. `returnSubscriber` lifts an unsubscription. `reportDeliveryEvent` reports that an email
in one category arrived, and feedback processes it. `exportSubscriber` is the first page, and each
further one costs less.
"""


@dataclass(frozen=True, slots=True)
class Consumed:
    """The consumption of some requests of a route, by the name of the price."""

    operation: str
    price: str
    quantity: float


def consumed(operation: str, requests: float, *, memory: int) -> Iterator[Consumed]:
    """Yield what a number of requests consumes. `memory` is that of the function in MB."""
    route = ROUTES[operation]
    seconds = (_CPU * SLOWER * A_VCPU / memory + CALL * route.calls) / 1000
    for price, each in (
        ("apigateway.requests", 1),
        ("lambda.requests", 1),
        ("lambda.gb_seconds", seconds * memory / 1024),
        ("dynamodb.reads", route.units.read),
        ("dynamodb.writes", route.units.written),
        ("eventbridge.events", route.entries),
        ("sqs.requests", route.messages * _REQUESTS_OF_A_MESSAGE),
        ("cloudwatch.logs", (_LINE + _A_LINE_OF_THE_ACCESS_LOG) / 1e9),
    ):
        if each:
            yield Consumed(operation, price, each * requests)
