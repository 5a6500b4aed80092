"""Steps, queues and tables as plain data: what exists, and who may do what with what."""

from dataclasses import dataclass

MAX_RECEIVES = 5
"""Receives after which a message goes to the dead-letter queue."""

VISIBILITY_FACTOR = 6
"""Visibility over function time-out, as AWS asks of queues that feed a function.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html"""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table. `local_index` and `sparse_index` are (name, partition key, sort key)."""

    name: str
    partition_key: str
    sort_key: str | None = None
    local_index: tuple[str, str] | None = None
    sparse_index: tuple[str, str, str] | None = None
    sparse_index_keys_only: bool = False
    ttl: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A function. `queue` feeds it; `reads` and `writes` are DynamoDB actions by table.

    Times in seconds, memory in MB.
    """

    name: str
    timeout: int
    memory: int
    queue: str | None
    batch_size: int = 10
    tables: tuple[tuple[str, tuple[str, ...]], ...]


SUBSCRIBERS = Table(name="subscribers", partition_key="user_id")
SCHEDULES = Table(
    name="schedules",
    partition_key="user_id",
    sort_key="name",
    sparse_index=("due", "due", "user_id"),
)
EVENTS = Table(
    name="events",
    partition_key="user_id",
    sort_key="event_id",
    local_index=("stored", "stored"),
    ttl="expires_at",
)
RUNS = Table(
    name="runs",
    partition_key="user_id",
    sort_key="run",
    sparse_index=("open", "open", "check_at"),
    sparse_index_keys_only=True,
    ttl="expires_at",
)
TABLES = (SUBSCRIBERS, SCHEDULES, EVENTS, RUNS)

INGEST = Step(
    name="ingest",
    timeout=30,
    memory=512,
    queue="ingest",
    tables=(
        ("subscribers", ("GetItem", "UpdateItem")),
        ("schedules", ("GetItem", "PutItem")),
        ("events", ("PutItem",)),
    ),
)
FANOUT = Step(
    name="fanout",
    timeout=120,
    memory=512,
    queue="shard",
    batch_size=1,
    tables=(("schedules", ("Query", "PutItem")), ("runs", ("PutItem",))),
)
GENERATE = Step(
    name="generate",
    timeout=120,  # ten runs in a row, each at its send time-out, and the last commit
    memory=1024,
    queue="generate",
    tables=(
        ("runs", ("Query", "PutItem")),
        ("subscribers", ("GetItem",)),
        ("events", ("Query",)),
    ),
)
PREFERENCES = Step(
    name="preferences",
    timeout=25,
    memory=512,
    queue=None,
    tables=(
        ("subscribers", ("UpdateItem",)),
        ("schedules", ("GetItem", "UpdateItem")),
        ("runs", ("Query", "PutItem")),
    ),
)
STEPS = (INGEST, FANOUT, GENERATE, PREFERENCES)
