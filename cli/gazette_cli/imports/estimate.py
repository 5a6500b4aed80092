"""The cost and the duration of an import, from measured calls and the prices of `gazette cost`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gazette_cli.cost import actions
from gazette_cli.cost.assumptions import A_VCPU, CALL, CPU, MEMORY, SLOWER
from gazette_cli.cost.prices import Prices
from gazette_cli.imports.items import Kind

A_LIST = 100
"""The number of items in an entry."""

_BYTES_A_LIST = 64_000
_THREADS = 10
"""The number of items that an invocation of ingest processes at the same time."""

_A_CHUNK = 64 * 1024
_A_BATCH = 10
_AROUND = 330
"""The size in bytes of the envelope that EventBridge puts around a list."""

_LOGGED = 525
"""The bytes that an invocation of ingest logs."""

CALLS: Mapping[Kind, int] = MappingProxyType(
    {Kind.SUPPRESSION: 1, Kind.SUBSCRIBER: 8, Kind.FOLLOW: 3}
)
"""The calls of an item to DynamoDB. Tests measure them."""

UNITS: Mapping[Kind, actions.Units] = MappingProxyType(
    {
        Kind.SUPPRESSION: actions.Units(1),
        Kind.SUBSCRIBER: actions.profile(),
        Kind.FOLLOW: actions.follow(),
    }
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated cost and duration of an import."""

    dollars: Mapping[str, float]
    """The cost by AWS service."""

    seconds: float
    """The duration, if nothing else uses ingest."""

    limit: str
    """The limit of the duration: `rate` or `concurrency`."""

    @property
    def total(self) -> float:
        """The cost of all services in dollars."""
        return sum(self.dollars.values())


def estimate(
    items: Mapping[Kind, int],
    sizes: Mapping[Kind, int],
    *,
    prices: Prices,
    concurrency: int,
    rate: float,
) -> Estimate:
    """Return the estimate for new items, whose sizes are in bytes.

    `concurrency` is the maximum concurrency of ingest, and `rate` the number of items per second
    that the import puts. Items that the stage has already cost less.
    """
    billed = received = busy = 0.0
    writes = reads = requests = 0.0
    for kind, number in items.items():
        writes += number * UNITS[kind].written
        reads += number * UNITS[kind].read
        if kind is Kind.SUPPRESSION or not number:
            continue
        size = sizes[kind] / number
        listed = max(1, min(A_LIST, _BYTES_A_LIST // math.ceil(size)))
        entries = math.ceil(number / listed)
        chunks = math.ceil((listed * size + _AROUND) / _A_CHUNK)
        billed += entries * chunks
        received += entries * chunks + entries / _A_BATCH * (_A_BATCH * chunks + 1)
        requests += entries / _A_BATCH
        busy += number * _seconds(kind)
    dollars = {
        "EventBridge": prices.of["eventbridge.events"].of(billed),
        "SQS": prices.of["sqs.requests"].of(received),
        "Lambda": prices.of["lambda.gb_seconds"].of(busy * MEMORY["ingest"] / 1024)
        + prices.of["lambda.requests"].of(requests),
        "DynamoDB, writes": prices.of["dynamodb.writes"].of(writes),
        "DynamoDB, reads": prices.of["dynamodb.reads"].of(reads),
        "CloudWatch": prices.of["cloudwatch.logs"].of(requests * _LOGGED / 1e9),
    }
    by_rate, by_ingest = sum(items.values()) / rate, busy / concurrency
    limit = "rate" if by_rate > by_ingest else "concurrency"
    return Estimate(dollars, max(by_rate, by_ingest), limit)


def _seconds(kind: Kind) -> float:
    """Return the time of an invocation that an item takes.

    Ten items wait for DynamoDB at the same time, but share the processor.
    """
    waiting = CALLS[kind] * CALL / _THREADS
    processor = CPU[f"{kind} in a list"] * SLOWER * A_VCPU / MEMORY["ingest"]
    return max(waiting, processor) / 1000
