"""The assumptions of the bill about processors, queues, rows and logs.

`make bench` measures the processor time.
"""

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
"""Milliseconds of a whole processor per message, with ten messages in an invocation. `make bench`
measures those of events."""

A_FETCH, FETCH_CALLS = 0.2, 11.0
"""The response time of a recommendation service in seconds, and the AWS calls of a fetch."""

SLOWER = 1.5
"""The factor by which a vCPU of Lambda may be slower than the processor of the benchmark."""

CALL = 5.0
"""The duration of a DynamoDB or SQS call within a region, in milliseconds."""

CALLS: Mapping[str, float] = MappingProxyType(
    {"event in a list": 1.03, "event alone": 1.3, "delivery event": 2.5}
)
"""The sequential calls of an invocation, per message."""

AN_INVOCATION, AN_EMAIL = 0.37, 0.022
"""The duration of an invocation of generate in seconds, and the additional seconds per email.

Both include SES's answers, waits for permits and requeued runs. They reproduce the results of
`make pacing` at 14 emails per second, with one email per invocation, and at 500."""

BY_SMTP = 2.1
"""The seconds of an invocation with an email by SMTP (gazette.settings.concurrency)."""

REQUEUED_ALONE, REQUEUED = 2.5, 0.1
"""The requeues per email in a full slot by `make pacing`, with one email per invocation and with
several."""

MEMORY: Mapping[str, int] = MappingProxyType(
    {"ingest": 512, "generate": 1024, "feedback": 512, "fanout": 512, "sweep": 512, "content": 256}
)
"""The memory of each function in MB, as in infra/topology.py."""

A_VCPU = 1769
"""The MB of memory with a whole vCPU.
https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
"""

AROUND_AN_EVENT = 55
"""The bytes of keys and times in an event's row, in addition to the published event."""

AN_INDEX_ENTRY = 100
"""The bytes that DynamoDB adds to each row and each index entry in its storage size.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html"""

ROWS: Mapping[str, int] = MappingProxyType(
    {"runs": 535, "batch": 75, "engagement": 190, "subscribers": 270, "schedules": 300, "due": 40}
)
"""The bytes of a row or index entry, without the bytes that DynamoDB adds."""

EVENT_DAYS = 39
"""The days for which an event of a daily digest is stored."""

LINE: Mapping[str, int] = MappingProxyType(
    {"ingest": 40, "generate": 330, "feedback": 340, "fanout": 430}
)
"""The bytes of log per message of a function. Ingest logs the ids of all messages in one line."""

AROUND_AN_INVOCATION: Mapping[str, int] = MappingProxyType(
    {"ingest": 525, "generate": 510, "feedback": 310, "fanout": 510, "sweep": 510}
)
"""The bytes of log per invocation, for metrics and the line of ingest."""

A_REPORT = 2_000
"""The bytes of a delivery event on its queue."""

POLLERS, A_POLL = 5, 20
"""The long polls with which Lambda polls each queue, and the seconds of an empty poll.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html"""

QUEUES = 8
"""The number of queues with a function."""

ALARMS = 78
"""The number of alarm metrics in a stage that sends with SES."""

METRICS = 44
"""The number of metrics that a stage writes in most hours, out of about ninety in
docs/metrics.md."""

SECRETS, SECRET_CALLS = 2, 50_000
"""The number of secrets, and the calls per month. Each process makes at most one per minute."""

SHARDS, TICKS, SWEEPS = 16, 144, 288
"""The default number of shards, and the ticks and sweeps per day."""

MONTH = 365 / 12
"""The average days of a month."""
