"""Assumptions of the cost estimate about processor time, queues, rows and logs.

`make bench` measures the processor time.
"""

from collections.abc import Mapping
from types import MappingProxyType

CPU: Mapping[str, float] = MappingProxyType(
    {
        "event in a list": 2.0,
        "event alone": 2.5,
        "visit": 2.5,
        "mute": 2.5,
        "delivery event": 2.5,
        "due schedule": 8.0,
        "fetch": 8.0,
        "change": 1.0,
        "subscriber in a list": 18.0,
        "follow in a list": 6.0,
        "tick of a shard": 40.0,
        "sweep of a partition": 40.0,
    }
)
"""Processor time per message in milliseconds, with ten messages per invocation, or ten to fifty
delivery events.

`make bench` measures the values for events, with calls of 10 ms, which take up to 15 % more than
with calls of 5 ms (CALL). The values for delivery events, and for profiles and follows in a list,
were measured with the same server in place of AWS.
"""

A_FETCH, FETCH_CALLS = 0.2, 11.0
"""The response time of a recommendation service in seconds, and the number of AWS calls per fetch.
"""

SLOWER = 1.5
"""The factor by which a Lambda vCPU may be slower than the processor of the benchmark."""

CALL = 5.0
"""The duration of a DynamoDB or SQS call within a region, in milliseconds."""

CALLS: Mapping[str, float] = MappingProxyType(
    {
        "event in a list": 1.03,
        "event alone": 1.3,
        "visit": 4.0,
        "mute": 5.0,
        "delivery event": 1.1,
        "change": 0.1,
        "limited event": 4.0,
        "wait for quiet hours": 4.0,
    }
)
"""The number of sequential DynamoDB and SQS calls per message."""

AN_EMAIL_ALONE = 0.39
"""The duration of a generate invocation that sends one email, in seconds.

It includes the response time of SES and the wait for the permit.
"""

BY_SMTP = 2.1
"""The duration in seconds of an invocation that sends one email by SMTP
(gazette_cdk.concurrency).
"""

REQUEUED_ALONE, REQUEUED_FAST = 2.5, 0.1
"""The number of requeues per digest in a full slot: with one email per invocation, and with several
emails that are sent together. Otherwise, no digest is requeued. `make pacing` measured these
numbers.
"""

MEMORY: Mapping[str, int] = MappingProxyType(
    {
        "ingest": 512,
        "generate": 512,
        "feedback": 256,
        "fanout": 512,
        "sweep": 512,
        "content": 256,
        "outbox": 256,
        "api": 512,
        "api_writes": 512,
        "support": 512,
    }
)
"""The memory of each function in MB, as in infra/gazette_cdk/topology.py. The memory of `generate`
is for 14 emails per second."""

A_VCPU = 1769
"""The memory in MB at which a function has one full vCPU.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
"""

AROUND_AN_EVENT = 55
"""The size in bytes of the keys and timestamps that an event's row contains in addition to the
published event.
"""

AN_INDEX_ENTRY = 100
"""The overhead in bytes that DynamoDB adds to the billed size of each row and each index entry.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
"""

ROWS: Mapping[str, int] = MappingProxyType(
    {
        "runs": 535,
        "batch": 75,
        "engagement": 190,
        "mark": 90,
        "subscribers": 270,
        "schedules": 300,
        "due": 40,
    }
)
"""The size of each kind of row or index entry in bytes, excluding the overhead of DynamoDB."""

MARK_DAYS = 198
"""The retention in days of a visit, with the default `event_retention_days`."""

EVENT_DAYS = 39
"""The retention in days of an event that belongs to a daily digest."""

LINE: Mapping[str, int] = MappingProxyType(
    {"ingest": 40, "generate": 245, "feedback": 64, "fanout": 430}
)
"""The log bytes per message, by function. Ingest logs the ids of all messages in one line, and
feedback the ids of all emails whose delivery events are expected.
"""

AROUND_AN_INVOCATION: Mapping[str, int] = MappingProxyType(
    {"ingest": 440, "generate": 455, "feedback": 520, "fanout": 510, "sweep": 510}
)
"""The bytes that an invocation logs in addition to its messages, by function: the metrics and, for
ingest and feedback, one log line.
"""

A_REPORT = 2_000
"""The size of a delivery event on its queue, in bytes."""

POLLERS, A_POLL = 5, 20
"""The number of long polls that Lambda runs per queue, and the duration of an empty poll in
seconds.

Lambda can reduce the number to two when traffic is low, but "this optimization is not available
when you enable the maximum concurrency setting", which every queue has
(docs/decisions/0132-a-stage-at-rest-costs-at-most-14-dollars.md).
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
"""

QUEUES = 8
"""The number of queues that trigger a function."""

ALARMS = 78
"""The number of alarm metrics in a stage that sends with SES."""

SECRETS, SECRET_CALLS = 2, 50_000
"""The number of secrets, and the number of calls to Secrets Manager per month. Each process makes
at most one call per minute.
"""

DASHBOARDS, FREE_DASHBOARDS = 2, 3
"""The number of dashboards of a stage, and the number of free ones of an account.

"3 Custom Dashboards referencing up to 50 metrics each per month"
https://aws.amazon.com/cloudwatch/pricing/
"""

A_LOOK, LOOK_CALLS, LOOK_METRICS = 1.0, 28, 13
"""The duration of a look at the story of a stage in seconds, and the number of its calls to SQS and
of the metrics that it reads.
"""

SHARDS, TICKS, SWEEPS = 16, 144, 288
"""The default number of shards, the number of ticks per day, and the number of sweeps per day."""

MONTH = 365 / 12
"""The average number of days in a month."""
