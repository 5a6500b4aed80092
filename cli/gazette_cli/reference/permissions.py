"""The IAM permissions of each command. Tests run the commands, and compare the calls with this
module.

A resource has a kind and a short name, such as `table/runs`, `table/runs/index/*`,
`queue/generate-dead`, `function/generate`, `bucket/templates` or `secret/links`. `queue/*` means
any queue of the stage, and `*` is used for actions without resource-level permissions.
CloudFormation generates the names of tables, so the pattern of a table also matches copies of the
table, whose names have a suffix.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gazette.domain.dead_letters import KNOWN
from gazette.settings.environment import LIVE

from gazette_cdk.stacks.names import data_stack, service_stack
from gazette_cli.restore.command import Restorable
from gazette_cli.rollback.versions import FUNCTIONS

Grant = tuple[str, str]
"""A resource and an IAM action that is allowed on it."""

_SERVICES = {
    "table": "dynamodb",
    "bus": "events",
    "queue": "sqs",
    "function": "lambda",
    "secret": "secretsmanager",
    "stack": "cloudformation",
    "schedule": "scheduler",
    "rule": "events",
    "topic": "sns",
    "mapping": "lambda",
    "layer": "lambda",
    "bucket": "s3",
    "identity": "ses",
    "configuration-set": "ses",
    "log-group": "logs",
}


_CONFIGURATION = "GetFunctionConfiguration"
_SETTINGS = f"lambda:{_CONFIGURATION}"


def _on(resource: str, *actions: str) -> frozenset[Grant]:
    service = _SERVICES[resource.partition("/")[0]]
    return frozenset((resource, f"{service}:{action}") for action in actions)


def _anywhere(*actions: str) -> frozenset[Grant]:
    """Grant actions that do not support resource-level permissions."""
    return frozenset(("*", action) for action in actions)


def _settings_of(function: str) -> frozenset[Grant]:
    return frozenset({(f"function/{function}", _SETTINGS)})


_SUPPRESSION_KEY = _on("secret/suppressions", "GetSecretValue")
"""The permission of commands that look up an address. Commands that only list addresses must not
have this permission.
"""


def _each(resources: Iterable[str], *actions: str) -> frozenset[Grant]:
    return frozenset[Grant]().union(*(_on(each, *actions) for each in resources))


_DEAD = [f"queue/{dead.name}" for dead in KNOWN]
_REDRIVEN = [f"queue/{dead.name}" for dead in KNOWN if dead.source]
_MOVED_BY_SQS = [f"queue/{dead.name}" for dead in KNOWN if dead.is_policy and not dead.has_forecast]
_SOURCES = sorted({f"queue/{dead.source}" for dead in KNOWN if dead.source})

_LIVE = [
    f"queue/{name}"
    for name in (
        *("ingest", "followers", "shard", "immediate"),
        *("generate", "resend", "feedback", "sweep"),
    )
]

_COUNT = ("GetQueueUrl", "GetQueueAttributes")
_LOOK = (*_COUNT, "ReceiveMessage", "ChangeMessageVisibility")
_TAKE = ("GetQueueUrl", "ReceiveMessage", "ChangeMessageVisibility", "DeleteMessage")

_READ_VERSIONS = _on("bucket/templates/versions/*", "GetObject") | _on(
    "bucket/templates", "ListBucket"
)
"""The permissions to read versions of the templates.

Without ListBucket, S3 reports a missing object as access denied.
https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
"""

_DRY_RUN = (
    _settings_of("generate")
    | _SUPPRESSION_KEY
    | _on("table/subscribers", "GetItem")
    | _on("table/suppressions", "GetItem")
    | _on("table/schedules", "GetItem")
    | _on("table/events/index/*", "Query")
    | _on("table/runs", "GetItem", "Query")
    | _on("table/control", "GetItem", "Query")
    | _on("table/pace", "GetItem")
)
"""The permissions to forecast the redrive of a run."""

_RESTORABLE = [f"table/{each}" for each in Restorable]

_VIEW_BATCH = (
    _settings_of("fanout")
    | _on("table/control", "Query")
    | _on("table/runs/index/*", "Query")
    | _on("table/schedules/index/*", "Query")
)

_SOURCE = _settings_of("content") | _on("secret/recommend-token", "GetSecretValue")
"""The permissions to query the recommendation service of a stage. The secret is that of
`recommendations_secret`. Replace `recommend-token` with its name.
"""

_DOCTOR = (
    _settings_of("generate")
    | _settings_of("sweep")
    | _anywhere(
        "ses:GetAccount",
        "ses:GetConfigurationSet",
        "ses:GetConfigurationSetEventDestinations",
        "ses:GetEmailIdentity",
        "lambda:GetAccountSettings",
        "cloudwatch:DescribeAlarms",
        "cloudwatch:GetMetricStatistics",
        "events:DescribeEventBus",
        "events:ListRuleNamesByTarget",
    )
    | _on("stack/*", "GetTemplate", "ListStackResources")
    | _on("table/*", "DescribeContinuousBackups", "DescribeTable", "DescribeTimeToLive")
    | _on("queue/*", "GetQueueAttributes")
    | _on("topic/*", "ListSubscriptionsByTopic")
    | _on("schedule/*", "GetSchedule")
    | _on("rule/*", "DescribeRule")
    | _on("mapping/*", "GetEventSourceMapping")
    | _on("function/*", "GetAlias", "ListVersionsByFunction")
    | _on("table/control", "GetItem", "Query")
    | _READ_VERSIONS
    | _on("table/pace", "GetItem")
    | _SOURCE
)
"""The permissions of `gazette doctor` without `--send`."""

PERMISSIONS: Mapping[str, frozenset[Grant]] = {
    "accept": _DOCTOR
    | _each((f"function/{each}" for each in ("ingest", "feedback", "preferences")), _CONFIGURATION)
    | _SUPPRESSION_KEY
    | _on("bus/gazette", "PutEvents")
    | _on("secret/links", "GetSecretValue")
    | _on("table/subscribers", "GetItem")
    | _on("table/events", "GetItem")
    | _on("table/runs", "Query")
    | _on("table/schedules", "GetItem")
    | _on("table/engagement", "BatchGetItem")
    | _on("table/control", "DeleteItem")
    | _on("table/category_stats", "Query", "BatchWriteItem")
    | _on("table/suppressions", "GetItem", "DeleteItem", "UpdateItem")
    | _on("table/bounces", "DeleteItem")
    | _each(("queue/quarantine", "queue/generate-dead"), *_TAKE)
    | _each(("queue/generate-dead", "queue/generate"), "GetQueueUrl", "SendMessage")
    | _each(("log-group/feedback", "log-group/generate"), "FilterLogEvents")
    | _anywhere("ses:DeleteSuppressedDestination"),
    "events-out republish": _settings_of("outbox")
    | _on("bucket/outunpublished", "ListBucket")
    | _on("bucket/outunpublished/aws/lambda/*", "GetObject", "DeleteObject")
    | _on("bus/out", "PutEvents"),
    "events-out tell": _settings_of("outbox")
    | _on("table/subscribers", "GetItem")
    | _on("bus/out", "PutEvents"),
    "event lint": frozenset(),
    "event preview": _settings_of("generate")
    | _on("layer/*", "GetLayerVersion")
    | _on("table/control", "GetItem")
    | _READ_VERSIONS,
    "event schemas": frozenset(),
    "batch list": _VIEW_BATCH,
    "batch show": _VIEW_BATCH
    | _settings_of("generate")
    | _on("table/control", "GetItem")
    | _on("table/pace", "GetItem"),
    "batch cancel": _VIEW_BATCH
    | _on("table/control", "GetItem", "UpdateItem")
    | _on("table/runs", "GetItem", "PutItem"),
    "dlq list": _each(_DEAD, *_LOOK),
    "dlq show": _each(_DEAD, *_LOOK) | _DRY_RUN,
    "dlq redrive": _DRY_RUN
    | _each(_REDRIVEN, *_LOOK, "DeleteMessage")
    | _each(_MOVED_BY_SQS, "ListMessageMoveTasks", "StartMessageMoveTask")
    | _each(_SOURCES, *_COUNT, "SendMessage"),
    "experiment show": _settings_of("generate") | _on("table/control", "GetItem"),
    "experiment start": _settings_of("generate")
    | _on("table/control", "GetItem", "Query", "PutItem"),
    "experiment stop": _settings_of("generate")
    | _on("table/control", "Query", "PutItem", "DeleteItem"),
    "links list": _settings_of("preferences") | _on("secret/links", "GetSecretValue"),
    "links rotate": _settings_of("preferences")
    | _on("secret/links", "GetSecretValue", "PutSecretValue"),
    "links retire": _settings_of("preferences")
    | _on("secret/links", "GetSecretValue", "PutSecretValue"),
    "quarantine list": _on("queue/quarantine", *_LOOK),
    "quarantine redrive": _on("queue/quarantine", *_LOOK, "DeleteMessage")
    | _each(("queue/ingest", "queue/feedback"), "GetQueueUrl", "SendMessage"),
    "restore": _settings_of("ingest")
    | _each(_RESTORABLE, "DescribeTable", "Scan", "BatchWriteItem")
    | _each((f"table/{each}" for each in Restorable if each.is_by_reader), "Query"),
    "sending status": _settings_of("generate")
    | _on("table/pace", "GetItem")
    | _on("table/control", "Query"),
    "sending stop": _settings_of("generate")
    | _on("table/pace", "UpdateItem")
    | _on("table/control", "UpdateItem"),
    "sending resume": _settings_of("generate")
    | _settings_of("feedback")
    | _on("table/pace", "GetItem", "UpdateItem")
    | _on("table/control", "Query", "DeleteItem")
    | _on("table/category_stats", "Query", "BatchWriteItem"),
    "sources try": _SOURCE,
    "sources status": _settings_of("content")
    | _on("table/pace", "GetItem")
    | _each(("queue/content", "queue/content-dead"), *_COUNT),
    "sources stop": _settings_of("content") | _on("table/pace", "UpdateItem"),
    "sources resume": _settings_of("content") | _on("table/pace", "GetItem", "UpdateItem"),
    "sources arm": _settings_of("content")
    | _on("table/subscribers", "GetItem", "Scan")
    | _on("table/schedules", "BatchGetItem", "PutItem", "Query")
    | _on("table/runs", "PutItem", "Query"),
    "suppression list": _settings_of("feedback") | _on("table/suppressions", "Scan"),
    "suppression add": _settings_of("feedback")
    | _SUPPRESSION_KEY
    | _on("table/suppressions", "GetItem", "UpdateItem"),
    "suppression remove": _settings_of("feedback")
    | _SUPPRESSION_KEY
    | _on("table/suppressions", "GetItem", "DeleteItem", "UpdateItem")
    | _on("table/bounces", "DeleteItem")
    | _anywhere("ses:DeleteSuppressedDestination", "ses:ListSuppressedDestinations"),
    "suppression import": _settings_of("feedback")
    | _SUPPRESSION_KEY
    | _on("table/suppressions", "UpdateItem"),
    "withdraw add": _settings_of("ingest") | _on("table/control", "GetItem", "PutItem"),
    "withdraw list": _settings_of("ingest") | _on("table/control", "GetItem"),
    "withdraw remove": _settings_of("ingest") | _on("table/control", "GetItem", "PutItem"),
    "import check": frozenset(),
    "import run": _settings_of("feedback")
    | _SUPPRESSION_KEY
    | _on("table/suppressions", "UpdateItem")
    | _on("bus/gazette", "PutEvents")
    | _on("queue/ingest", *_COUNT)
    | _on("queue/quarantine", "GetQueueUrl", "ReceiveMessage", "ChangeMessageVisibility"),
    "import verify": _settings_of("ingest")
    | _SUPPRESSION_KEY
    | _each(("table/subscribers", "table/follows", "table/suppressions"), "GetItem"),
    "suppression export": _settings_of("feedback") | _on("table/suppressions", "Scan"),
    "doctor": _DOCTOR | _on("identity/*", "SendEmail") | _on("configuration-set/*", "SendEmail"),
    "explain": _settings_of("ingest")
    | _settings_of("generate")
    | _SUPPRESSION_KEY
    | _on("table/subscribers", "GetItem")
    | _on("table/suppressions", "GetItem")
    | _on("table/follows", "BatchGetItem")
    | _on("table/follows/index/*", "Query")
    | _on("table/schedules", "Query")
    | _on("table/runs", "Query")
    | _on("table/events/index/*", "Query")
    | _on("table/control", "GetItem", "Query"),
    "cost": frozenset(),
    "init": frozenset(),
    "simulate": frozenset(),
    "find": _settings_of("generate")
    | _on("table/runs", "DescribeTable", "GetItem", "Scan")
    | _on("table/subscribers", "DescribeTable", "Scan"),
    "overview": _VIEW_BATCH
    | _settings_of("generate")
    | _on("table/pace", "GetItem")
    | _on("table/control", "GetItem")
    | _each([*_DEAD, *_LIVE, "queue/quarantine"], *_COUNT)
    | _anywhere("cloudwatch:DescribeAlarms"),
    "preview": _settings_of("generate")
    | _on("layer/*", "GetLayerVersion")
    | _on("table/control", "GetItem")
    | _READ_VERSIONS
    | _on("table/subscribers", "GetItem")
    | _on("table/schedules", "GetItem")
    | _on("table/runs", "Query")
    | _on("table/events/index/*", "Query"),
    "export": _settings_of("ingest")
    | _settings_of("feedback")
    | _SUPPRESSION_KEY
    | _on("table/subscribers", "GetItem")
    | _on("table/suppressions", "GetItem")
    | _on("table/bounces", "GetItem")
    | _on("table/schedules", "Query")
    | _on("table/follows/index/*", "Query")
    | _on("table/follows", "BatchGetItem")
    | _on("table/events", "Query")
    | _on("table/runs", "Query")
    | _on("table/engagement", "BatchGetItem"),
    "receipt": _settings_of("ingest")
    | _settings_of("feedback")
    | _on("table/events", "GetItem", "BatchGetItem", "DescribeTable", "Scan")
    | _on("table/runs", "Query")
    | _on("table/engagement", "BatchGetItem")
    | _on("table/schedules", "GetItem")
    | _on("table/subscribers", "GetItem")
    | _on("table/control", "GetItem", "Query")
    | _on("table/activities", "GetItem")
    | _on("table/follows", "BatchGetItem", "Query"),
    "replay": _settings_of("generate")
    | _on("layer/*", "GetLayerVersion")
    | _on("table/control", "GetItem")
    | _READ_VERSIONS
    | _on("table/runs", "DescribeTable", "Query", "Scan")
    | _on("table/subscribers", "GetItem")
    | _on("table/events/index/*", "Query"),
    "rollback": _on("function/*", "GetAlias", "ListVersionsByFunction")
    | _each((f"function/{name}" for name in FUNCTIONS), "UpdateAlias"),
    "send-test": _settings_of("generate")
    | _SUPPRESSION_KEY
    | _on("table/suppressions", "GetItem")
    | _on("identity/*", "SendEmail")
    | _on("configuration-set/*", "SendEmail"),
    "templates list": _settings_of("generate") | _on("table/control", "GetItem", "Query"),
    "templates diff": _settings_of("generate")
    | _on("layer/*", "GetLayerVersion")
    | _on("table/control", "GetItem")
    | _READ_VERSIONS,
    "templates push": _settings_of("generate")
    | _on("layer/*", "GetLayerVersion")
    | _on("table/control", "GetItem", "Query", "PutItem")
    | _READ_VERSIONS
    | _on("bucket/templates/versions/*", "PutObject"),
    "templates rollout": _settings_of("generate") | _on("table/control", "GetItem", "PutItem"),
    "templates rollback": _settings_of("generate")
    | _on("table/control", "GetItem", "Query", "PutItem")
    | _READ_VERSIONS,
    "statistics": _settings_of("feedback")
    | _on("table/engagement", "Query")
    | _on("table/runs/index/*", "Query")
    | _on("table/control", "Query"),
}
"""The permissions of each command, by the path of the command."""

OF_VERSION = _settings_of("generate")
"""The permissions of `gazette --version --stage NAME`."""

_OPEN = ("GetQueueAttributes", "GetQueueUrl", "ListDeadLetterSourceQueues", "ListQueueTags")
_READ = (*_OPEN, "ReceiveMessage", "ChangeMessageVisibility")
_REDRIVE = ("StartMessageMoveTask", "ListMessageMoveTasks", "CancelMessageMoveTask")

IN_THE_CONSOLE = (
    _anywhere("sqs:ListQueues")
    | _each([*_REDRIVEN, "queue/quarantine"], *_READ, *_REDRIVE, "DeleteMessage")
    | _each(_SOURCES, *_OPEN, "SendMessage")
    | _each([each for each in _DEAD if each not in _REDRIVEN], *_READ, "PurgeQueue")
)
"""The permissions to handle dead letters in the SQS console: open a queue, read, delete and redrive
messages, and purge the queue of ticks.

SQS moves messages with the permissions of the person who starts the redrive.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
"""


def policy(grants: frozenset[Grant], stage: str) -> dict[str, Any]:
    """Return an IAM policy. Resources with the same actions share one statement."""
    actions: dict[str, set[str]] = defaultdict(set)
    for grant in grants:
        for arn in arns(grant, stage):
            actions[arn].add(grant[1])
    resources: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for arn, names in sorted(actions.items()):
        resources[tuple(sorted(names))].append(arn)
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": list(names), "Resource": same_actions}
            for names, same_actions in sorted(resources.items())
        ],
    }


def arns(grant: Grant, stage: str) -> Iterator[str]:
    """Yield the ARNs of a grant for a stage, in any region and account of the `aws` partition.

    GetFunctionConfiguration has two ARNs, with and without the alias. AWS documents that Invoke is
    evaluated with the ARN of the alias, but not which ARN applies to other operations.
    https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html
    """
    resource, action = grant
    arn = _arn(resource, stage)
    yield arn
    if action == _SETTINGS:
        yield f"{arn}:{LIVE}"


def _arn(resource: str, stage: str) -> str:
    kind, _, name = resource.partition("/")
    stacks = service_stack(stage)
    match kind:
        case "*":
            return "*"
        case "table":
            table, _, index = name.partition("/")
            short = table.title().replace("_", "").removesuffix("*")
            pattern = f"{data_stack(stage)}-{short}*"
            return f"arn:aws:dynamodb:*:*:table/{pattern}" + (f"/{index}" if index else "")
        case "queue":
            return f"arn:aws:sqs:*:*:gazette-{stage}-{name}"
        case "bus" if name == "gazette":  # the default of the setting `bus`
            return f"arn:aws:events:*:*:event-bus/{name}"
        case "bus":
            return f"arn:aws:events:*:*:event-bus/gazette-{stage}-{name}"
        case "function":
            return f"arn:aws:lambda:*:*:function:gazette-{stage}-{name}"
        case "stack":
            return f"arn:aws:cloudformation:*:*:stack/Gazette*{stage.capitalize()}/*"
        case "schedule":
            return f"arn:aws:scheduler:*:*:schedule/default/{stacks}-*"
        case "rule":
            return f"arn:aws:events:*:*:rule/*{stacks}-*"
        case "topic":
            return f"arn:aws:sns:*:*:{stacks}-*"
        case "mapping":
            return "arn:aws:lambda:*:*:event-source-mapping:*"
        case "layer":
            return "arn:aws:lambda:*:*:layer:*"
        case "bucket":  # CloudFormation generates bucket names in lower case
            bucket, _, inside = name.partition("/")
            return f"arn:aws:s3:::gazettedata{stage}-{bucket}*" + (f"/{inside}" if inside else "")
        case "identity":
            return "arn:aws:ses:*:*:identity/*"
        case "log-group":
            return f"arn:aws:logs:*:*:log-group:/aws/lambda/gazette-{stage}-{name}:*"
        case "configuration-set":
            return f"arn:aws:ses:*:*:configuration-set/gazette-{stage}-*"
        case "secret" if name == "recommend-token":
            return f"arn:aws:secretsmanager:*:*:secret:{name}-*"
        case _:
            return f"arn:aws:secretsmanager:*:*:secret:{name.title()}Key*"
