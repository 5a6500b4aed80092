"""What the bill assumes of processors, queues, rows and logs. `make bench` measures the first."""

from collections.abc import Mapping
from types import MappingProxyType

CPU: Mapping[str, float] = MappingProxyType(
    {
        "event in a list": 2.0,
        "event alone": 2.5,
        "delivery event": 8.0,
        "due schedule": 8.0,
        "fetch": 8.0,
        "tick of a shard": 40.0,
        "sweep of a partition": 40.0,
    }
)
"""Milliseconds of a whole processor for each, ten messages in an invocation: those of events as
`make bench` measures them."""

A_FETCH, FETCH_CALLS = 0.2, 11.0
"""Seconds that a recommendation service takes to answer, and calls of AWS beside it for a fetch."""

SLOWER = 1.5
"""How much longer a vCPU of Lambda may take than the processor that measured."""

CALL = 5.0
"""Milliseconds that a call of DynamoDB or SQS takes within a region."""

CALLS: Mapping[str, float] = MappingProxyType(
    {"event in a list": 1.03, "event alone": 1.3, "delivery event": 2.5}
)
"""Calls for which an invocation waits, for each."""

AN_INVOCATION, AN_EMAIL = 0.37, 0.022
"""Seconds that an invocation of generate takes whatever it has, and more for each of its emails.

They hold its share of SES's answers, of waits for permits and of what is requeued meanwhile: with
both `make pacing` finds what it takes at 14 emails a second, one in an invocation, and at 500."""

BY_SMTP = 2.1
"""Seconds of an invocation with an email by SMTP (gazette.settings.concurrency)."""

REQUEUED_ALONE, REQUEUED = 2.5, 0.1
"""How often an email is requeued in a slot that is full, as `make pacing` finds it: where an
invocation has one, and where it has several."""

MEMORY: Mapping[str, int] = MappingProxyType(
    {"ingest": 512, "generate": 1024, "feedback": 512, "fanout": 512, "sweep": 512, "content": 256}
)
"""MB of each function, as in infra/topology.py."""

A_VCPU = 1769
"""MB that bring a whole vCPU. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
"""

AROUND_AN_EVENT = 55
"""Bytes of an event's row beyond those that a service put: keys and times."""

AN_INDEX_ENTRY = 100
"""Bytes that DynamoDB adds to each row and each entry of an index when it counts storage.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html"""

ROWS: Mapping[str, int] = MappingProxyType(
    {"runs": 535, "batch": 75, "engagement": 190, "subscribers": 270, "schedules": 300, "due": 40}
)
"""Bytes of a row, or of an entry in an index of that name, without what DynamoDB adds."""

EVENT_DAYS = 39
"""Days for which an event of a daily digest is stored."""

LINE: Mapping[str, int] = MappingProxyType(
    {"ingest": 40, "generate": 330, "feedback": 340, "fanout": 430}
)
"""Bytes of the log for each message of a function: of ingest, its id in one line for all."""

AROUND_AN_INVOCATION: Mapping[str, int] = MappingProxyType(
    {"ingest": 525, "generate": 510, "feedback": 310, "fanout": 510, "sweep": 510}
)
"""Bytes of the log for each invocation: metrics, and the line of ingest."""

A_REPORT = 2_000
"""Bytes of a delivery event on its queue."""

POLLERS, A_POLL = 5, 20
"""Lambda asks each queue with five long polls, which last twenty seconds where nothing comes.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html"""

QUEUES = 8
"""Queues that feed functions."""

ALARMS = 78
"""Metrics of alarms in a stage that sends with SES."""

METRICS = 44
"""Metrics of docs/metrics.md that a stage writes in most hours, of some ninety."""

SECRETS, SECRET_CALLS = 2, 50_000
"""Secrets, and calls of Secrets Manager in a month: one for each process and minute at most."""

SHARDS, TICKS, SWEEPS = 16, 144, 288
"""Shards by default; ticks and sweeps in a day."""

MONTH = 365 / 12
"""Days."""
