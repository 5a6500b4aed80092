"""Steps, queues and tables as plain data: what exists, and who may do what with what."""

from dataclasses import dataclass

MAX_RECEIVES = 5
"""Receives after which a message goes to the dead-letter queue."""

VISIBILITY_FACTOR = 6
"""Visibility over function time-out, as AWS asks of queues that feed a function.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html"""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table.

    `local_index` is (name, sort key), `global_index` (name, partition key, sort key). What an
    index holds beside the keys: everything where `…_holds` is None, else these attributes.
    """

    name: str
    partition_key: str
    sort_key: str | None = None
    local_index: tuple[str, str] | None = None
    local_index_holds: tuple[str, ...] | None = None
    global_index: tuple[str, str, str] | None = None
    global_index_holds: tuple[str, ...] | None = None
    ttl: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A function. `queue` feeds it; `tables` are DynamoDB actions by table.

    `may_recurse`: it may put messages on its own queue more than 16 times in a row, where
    Lambda would otherwise end it as a loop.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
    Times in seconds, memory in MB.
    """

    name: str
    timeout: int
    memory: int
    queue: str | None
    batch_size: int = 10
    may_recurse: bool = False
    tables: tuple[tuple[str, tuple[str, ...]], ...]


SUBSCRIBERS = Table(name="subscribers", partition_key="user_id")
SCHEDULES = Table(
    name="schedules",
    partition_key="user_id",
    sort_key="name",
    global_index=("due", "due", "user_id"),
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
    global_index=("open", "open", "check_at"),
    global_index_holds=(),
    ttl="expires_at",
)
FOLLOWS = Table(
    name="follows",
    partition_key="entity",
    sort_key="user_id",
    global_index=("by_user", "user_id", "entity"),
    global_index_holds=(),
    ttl="expires_at",
)
ACTIVITIES = Table(
    name="activities",
    partition_key="entity",
    sort_key="activity_id",
    local_index=("occurred", "occurred_at"),
    local_index_holds=("home",),
    ttl="expires_at",
)
SUPPRESSIONS = Table(name="suppressions", partition_key="address_hash")
PACE = Table(name="pace", partition_key="name")
TABLES = (SUBSCRIBERS, SCHEDULES, FOLLOWS, ACTIVITIES, EVENTS, RUNS, SUPPRESSIONS, PACE)

INGEST = Step(
    name="ingest",
    timeout=90,  # ten messages in a row, each a list of as many events as fit an entry
    memory=512,
    queue="ingest",
    tables=(
        ("subscribers", ("GetItem", "BatchGetItem", "PutItem", "UpdateItem")),
        (
            "schedules",
            ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"),
        ),
        ("follows", ("GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem")),
        ("activities", ("GetItem", "Query", "PutItem", "UpdateItem")),
        (
            "events",
            ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"),
        ),
        ("runs", ("Query", "PutItem", "UpdateItem", "ConditionCheckItem")),
        ("suppressions", ("GetItem", "PutItem")),
    ),
)
FOLLOWERS = Step(
    name="followers",
    timeout=60,
    memory=512,
    queue="followers",
    batch_size=2,  # two pages of a hundred, each perhaps with a run and a message of its own
    may_recurse=True,  # a walk hands over to the next one, and each begins behind the last
    tables=(
        ("subscribers", ("GetItem", "BatchGetItem")),
        (
            "schedules",
            ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"),
        ),
        ("follows", ("GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem")),
        ("activities", ("GetItem", "UpdateItem")),
        ("events", ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")),
        ("runs", ("Query", "PutItem", "UpdateItem", "ConditionCheckItem")),
    ),
)
FANOUT = Step(
    name="fanout",
    timeout=120,
    memory=512,
    queue="shard",
    batch_size=1,
    tables=(
        ("schedules", ("Query", "PutItem")),
        ("events", ("Query",)),
        ("runs", ("Query", "PutItem")),
        ("pace", ("UpdateItem",)),
    ),
)
GENERATE = Step(
    name="generate",
    timeout=120,  # ten runs in a row, each at its send time-out, and the last commit
    memory=1024,
    queue="generate",
    may_recurse=True,  # a run for which there is no turn is put off by a message of its own
    tables=(
        ("runs", ("Query", "PutItem")),
        ("subscribers", ("GetItem",)),
        ("events", ("Query",)),
        ("pace", ("UpdateItem",)),
    ),
)
PREFERENCES = Step(
    name="preferences",
    timeout=25,
    memory=512,
    queue=None,
    tables=(
        ("subscribers", ("GetItem", "UpdateItem")),
        ("schedules", ("Query", "UpdateItem")),
        ("runs", ("Query", "PutItem")),
        ("suppressions", ("PutItem",)),
    ),
)
STEPS = (INGEST, FOLLOWERS, FANOUT, GENERATE, PREFERENCES)
