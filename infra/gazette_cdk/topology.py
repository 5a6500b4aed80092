"""Steps, queues and tables as plain data, with the permissions of each step."""

from dataclasses import dataclass

from gazette_cdk.concurrency import MORE_MEMORY, MOST_REPORTS

Uses = tuple[tuple[str, tuple[str, ...]], ...]
"""DynamoDB actions by table or index. The name of an index is `table/index`."""

MAX_RECEIVES = 16
"""The number of times that SQS delivers a message before it moves the message to the dead-letter
queue.

A failed message returns after 10 to 60 seconds, and after later failures within ten minutes
(`domain/redelivery.py`). The last receive is therefore 52 to 107 minutes after the first. If the
worker crashes or times out, the message returns after the visibility time-out.
docs/decisions/0051-what-failed-comes-back-within-a-minute.md
"""

VISIBILITY_FACTOR = 6
"""The ratio of the visibility time-out to the function's time-out. AWS recommends this ratio.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
"""


@dataclass(frozen=True, kw_only=True)
class Index:
    """A table index, which is local if it has no partition key."""

    name: str
    partition_key: str | None = None
    sort_key: str

    # The attributes that the index projects in addition to the keys. None for all attributes.
    holds: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Table:
    """A DynamoDB table and its indexes."""

    name: str
    partition_key: str
    sort_key: str | None = None
    indexes: tuple[Index, ...] = ()
    ttl: str | None = None

    # True if neither a service nor a later event can supply the data again.
    is_irreplaceable: bool = False

    # True if the table has a stream of its changes. A stream costs nothing until it is read. It is
    # always on, because another stack imports its ARN, so it could not be turned off again.
    has_stream: bool = False


@dataclass(frozen=True, kw_only=True)
class Step:
    """A function. Times are in seconds, memory is in MB."""

    name: str
    timeout: int
    memory: int

    # The queue that feeds the function.
    queue: str | None

    # Further queues that feed the function. Their messages do not wait behind those of `queue`.
    beside: tuple[str, ...] = ()

    batch_size: int = 10

    # The number of deliveries of a message before it moves to the dead-letter queue.
    max_receives: int = MAX_RECEIVES

    # True if the function may send messages to its own queue more than 16 times in a row. Lambda
    # would otherwise stop it as a loop.
    # https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
    may_recurse: bool = False

    # The function's permissions on tables, and on indexes, which are separate resources.
    tables: Uses

    # Further permissions in a stage that sends with SES.
    tables_of_ses: Uses = ()

    # Further permissions in a stage with a content source.
    tables_of_content: Uses = ()

    # Further permissions in a stage with critical categories.
    tables_of_critical: Uses = ()

    # Further permissions in a stage in which services may return subscribers.
    tables_of_consent: Uses = ()

    def tables_with(
        self,
        mail_provider: str,
        *,
        asks_source: bool = False,
        has_critical: bool = False,
        accepts_consent: bool = False,
    ) -> Uses:
        """Return the function's permissions on tables in a stage with this mail provider."""
        return (
            *self.tables,
            *(self.tables_of_ses if mail_provider == "ses" else ()),
            *(self.tables_of_content if asks_source else ()),
            *(self.tables_of_critical if has_critical else ()),
            *(self.tables_of_consent if accepts_consent else ()),
        )

    @property
    def queues(self) -> tuple[str, ...]:
        """The queues that feed the function."""
        return (self.queue, *self.beside) if self.queue else ()


SUBSCRIBERS = Table(
    name="subscribers", partition_key="user_id", is_irreplaceable=True, has_stream=True
)
SCHEDULES = Table(
    name="schedules",
    partition_key="user_id",
    sort_key="name",
    indexes=(Index(name="due", partition_key="due", sort_key="user_id", holds=()),),
    is_irreplaceable=True,
)
EVENTS = Table(
    name="events",
    partition_key="user_id",
    sort_key="event_id",
    indexes=(Index(name="stored", sort_key="stored"),),
    ttl="expires_at",
)
RUNS = Table(
    name="runs",
    partition_key="user_id",
    sort_key="run",
    indexes=(
        Index(name="open", partition_key="open", sort_key="check_at", holds=("due_at",)),
        Index(name="batch", partition_key="batch", sort_key="user_id", holds=("state",)),
    ),
    ttl="expires_at",
    has_stream=True,
)
FOLLOWS = Table(
    name="follows",
    partition_key="entity",
    sort_key="user_id",
    indexes=(Index(name="by_user", partition_key="user_id", sort_key="entity", holds=()),),
    ttl="expires_at",
    is_irreplaceable=True,
)
ACTIVITIES = Table(
    name="activities",
    partition_key="entity",
    sort_key="activity_id",
    indexes=(Index(name="occurred", sort_key="occurred_at", holds=("home",)),),
    ttl="expires_at",
)
CONTROL = Table(
    name="control", partition_key="kind", sort_key="id", ttl="expires_at", is_irreplaceable=True
)
SUPPRESSIONS = Table(name="suppressions", partition_key="address_hash", is_irreplaceable=True)
BOUNCES = Table(name="bounces", partition_key="address_hash", ttl="expires_at")
ENGAGEMENT = Table(
    name="engagement", partition_key="slot", sort_key="run", ttl="expires_at", has_stream=True
)
CATEGORY_STATS = Table(
    name="category_stats", partition_key="category", sort_key="hour", ttl="expires_at"
)
PACE = Table(name="pace", partition_key="name")
TABLES = (
    SUBSCRIBERS,
    SCHEDULES,
    FOLLOWS,
    ACTIVITIES,
    EVENTS,
    RUNS,
    CONTROL,
    PACE,
    ENGAGEMENT,
    CATEGORY_STATS,
    SUPPRESSIONS,
    BOUNCES,
)

INGEST = Step(
    name="ingest",
    timeout=90,  # ten messages with up to a full entry of events each, which are written one by one
    memory=512,
    queue="ingest",
    tables=(
        ("subscribers", ("GetItem", "BatchGetItem", "PutItem", "UpdateItem")),
        ("schedules", ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")),
        (
            "follows",
            ("GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem", "BatchWriteItem"),
        ),
        ("follows/by_user", ("Query",)),
        ("activities", ("GetItem", "BatchGetItem", "PutItem", "UpdateItem")),
        ("activities/occurred", ("Query",)),
        (
            "events",
            (
                "GetItem",
                "BatchGetItem",
                "Query",
                "PutItem",
                "UpdateItem",
                "DeleteItem",
                "BatchWriteItem",
            ),
        ),
        ("events/stored", ("Query",)),
        ("runs", ("Query", "PutItem", "UpdateItem", "ConditionCheckItem")),
        ("control", ("GetItem", "UpdateItem")),
        ("suppressions", ("GetItem", "UpdateItem")),
    ),
)
FOLLOWERS = Step(
    name="followers",
    timeout=60,
    memory=512,
    queue="followers",
    batch_size=2,  # two pages of a hundred followers, who may each need a run and a message
    may_recurse=True,  # a walk over the followers queues its continuation after the last page
    tables=(
        ("subscribers", ("GetItem", "BatchGetItem")),
        ("schedules", ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")),
        ("follows", ("GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem")),
        ("activities", ("GetItem", "UpdateItem")),
        ("events", ("GetItem", "PutItem", "UpdateItem", "DeleteItem")),
        ("runs", ("Query", "PutItem", "UpdateItem", "ConditionCheckItem")),
        ("control", ("GetItem", "UpdateItem")),
    ),
    tables_of_critical=(("suppressions", ("GetItem",)),),
)
FANOUT = Step(
    name="fanout",
    timeout=120,
    memory=512,
    queue="shard",
    batch_size=1,
    may_recurse=True,  # a shard that takes longer than one invocation queues a message for the rest
    tables=(
        ("subscribers", ("GetItem", "UpdateItem")),
        ("schedules", ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem")),
        ("schedules/due", ("Query",)),
        ("events/stored", ("Query",)),
        ("runs", ("Query", "PutItem")),
        ("control", ("Query", "UpdateItem", "DeleteItem")),
    ),
    tables_of_ses=(("pace", ("UpdateItem",)),),  # reads the account's sending quota
)
_SENDING = (
    ("runs", ("GetItem", "Query", "PutItem", "UpdateItem", "ConditionCheckItem")),
    ("suppressions", ("BatchGetItem",)),
    ("events", ("GetItem", "BatchGetItem", "UpdateItem", "DeleteItem")),
    ("events/stored", ("Query",)),
    # Changed preferences may move events from the run to an idle schedule.
    ("follows", ("BatchGetItem",)),
    ("schedules", ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")),
    ("control", ("GetItem", "BatchGetItem", "Query", "UpdateItem")),
    ("pace", ("UpdateItem",)),
)
GENERATE = Step(
    name="generate",
    timeout=120,  # ten emails are rendered in parallel, then sent and committed
    memory=MORE_MEMORY,  # less at a low rate (Stage.sized)
    queue="generate",
    beside=("immediate",),  # an immediate email does not wait behind a backlog of digests
    may_recurse=True,  # a run without a permit is requeued with a new message
    tables=(
        *_SENDING,
        ("subscribers", ("BatchGetItem", "UpdateItem")),
    ),
)
RESEND = Step(
    name="resend",
    timeout=GENERATE.timeout,
    memory=GENERATE.memory,
    queue="resend",
    max_receives=MAX_RECEIVES + 15,  # each attempt and each crashed worker uses up one receive
    may_recurse=True,
    tables=(
        *_SENDING,
        ("subscribers", ("BatchGetItem",)),
    ),
)
FEEDBACK = Step(
    name="feedback",
    timeout=40,  # up to a second for each delivery event, and 15 s for the failed messages
    memory=256,
    queue="feedback",
    # One read, one write of counts, one log line and one line of metrics for all.
    batch_size=MOST_REPORTS,
    # A failed message reaches the dead-letter queue before the grace period ends. SQS also stops
    # counting a message in the age of the oldest one after a few receives.
    # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    max_receives=3,
    tables=(
        ("runs", ("GetItem", "BatchGetItem", "Query", "PutItem")),
        ("control", ("UpdateItem",)),
        ("subscribers", ("GetItem", "UpdateItem")),
        ("schedules", ("Query", "UpdateItem")),
        ("suppressions", ("UpdateItem",)),
        ("bounces", ("UpdateItem",)),
        ("engagement", ("UpdateItem",)),
        ("category_stats", ("Query", "UpdateItem")),
    ),
)
SWEEP = Step(
    name="sweep",
    timeout=120,
    memory=512,
    queue="sweep",
    batch_size=1,
    tables=(
        ("runs", ("Query", "BatchGetItem", "PutItem")),
        ("runs/open", ("Query",)),
        ("control", ("Query",)),
        ("pace", ("GetItem",)),
        ("schedules", ("Scan", "PutItem")),
        ("events/stored", ("Query",)),
    ),
    tables_of_ses=(
        ("control", ("GetItem",)),
    ),  # reads the time up to which delivery events have arrived
)
PREFERENCES = Step(
    name="preferences",
    timeout=25,
    memory=512,
    queue=None,
    tables=(
        ("subscribers", ("GetItem", "BatchGetItem", "UpdateItem")),
        ("schedules", ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")),
        ("follows", ("GetItem", "BatchGetItem", "PutItem")),
        ("follows/by_user", ("Query",)),
        ("events", ("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem")),
        ("events/stored", ("Query",)),
        ("runs", ("GetItem", "Query", "PutItem", "UpdateItem", "ConditionCheckItem")),
        ("control", ("GetItem", "UpdateItem")),
        ("engagement", ("UpdateItem",)),
        ("suppressions", ("GetItem", "UpdateItem", "DeleteItem")),
    ),
)
STEPS = (INGEST, FOLLOWERS, FANOUT, GENERATE, RESEND, FEEDBACK, SWEEP, PREFERENCES)
"""The functions of every stage."""

CONTENT = Step(
    name="content",
    timeout=120,  # ten requests in sequence with possible retries, and the writes of their items
    memory=256,
    queue="content",
    may_recurse=True,  # a fetch without a permit is requeued with a new message
    tables=(
        ("subscribers", ("GetItem", "BatchGetItem")),
        ("schedules", ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")),
        ("events", ("GetItem", "PutItem", "UpdateItem", "DeleteItem")),
        ("events/stored", ("Query",)),
        ("runs", ("Query", "PutItem", "UpdateItem", "ConditionCheckItem")),
        ("control", ("GetItem", "UpdateItem")),
        ("pace", ("UpdateItem",)),
    ),
)
"""The additional function of a stage that has a content source."""

API = Step(
    name="api",
    timeout=25,
    memory=512,
    queue=None,
    tables=(
        ("subscribers", ("GetItem",)),
        ("schedules", ("GetItem", "Query")),
        ("follows", ("BatchGetItem", "Query")),
        ("follows/by_user", ("Query",)),
        ("activities", ("GetItem",)),
        ("events", ("GetItem", "Query")),
        ("events/stored", ("Query",)),
        ("runs", ("Query",)),
        ("control", ("GetItem", "Query")),
        ("engagement", ("BatchGetItem",)),
        ("suppressions", ("GetItem",)),
        ("bounces", ("GetItem",)),
    ),
)
API_WRITES = Step(
    name="api_writes",
    timeout=25,
    memory=512,
    queue=None,
    tables=(
        ("subscribers", ("GetItem", "BatchGetItem", "UpdateItem")),
        ("schedules", ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")),
        ("follows", ("BatchGetItem",)),
        ("follows/by_user", ("Query",)),
        ("events", ("GetItem", "UpdateItem", "DeleteItem")),
        ("events/stored", ("Query",)),
        ("runs", ("Query", "PutItem", "UpdateItem", "ConditionCheckItem")),
        ("control", ("GetItem", "UpdateItem")),
    ),
    tables_of_consent=(("suppressions", ("GetItem", "UpdateItem", "DeleteItem")),),
)
"""The additional functions of a stage with the API for services. They are separate, because grants
apply to a function, and most routes only read.
"""

OUTBOX = Step(
    name="outbox",
    timeout=60,  # a hundred changes in ten calls, each of which may be repeated twice
    memory=256,
    queue=None,  # it reads the streams of tables
    batch_size=100,
    tables=(),
)
"""The additional function of a stage that publishes events out."""

_FORECASTING = (
    ("control", ("GetItem", "Query")),
    ("events/stored", ("Query",)),
    ("pace", ("GetItem",)),
    ("runs", ("GetItem", "Query")),
    ("subscribers", ("GetItem",)),
    ("suppressions", ("GetItem",)),
)
SUPPORT = Step(
    name="support",
    timeout=30,
    memory=512,
    queue=None,
    tables=(
        *_FORECASTING,
        ("schedules", ("GetItem", "Query")),
        ("events", ("GetItem",)),
        ("follows", ("BatchGetItem",)),
        ("follows/by_user", ("Query",)),
        ("engagement", ("BatchGetItem",)),
    ),
)
SUPPORT_REDRIVE = Step(
    name="support_redrive",
    timeout=30,  # messages are moved for ten seconds, and others become visible again afterwards
    memory=512,
    queue=None,
    tables=(*_FORECASTING, ("schedules", ("GetItem",))),
)
"""The additional functions of a stage with dashboards, which serve the support page. They are
separate, because grants apply to a function, and only one of them may move messages.
"""
