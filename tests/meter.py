"""What the real adapters ask of AWS, counted: calls, and read and write units by AWS's own rules.

Sits below the adapters, at botocore, and needs moto: the emulator's own capacity figures are
constants. Item sizes and units:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
Indexes: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html, "Provisioned
throughput considerations". Transactions:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html, "Capacity
management": every item is written twice, also one that is only looked at; index entries, which
are no items of the transaction, are counted once.
"""

import base64
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import RLock
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.config import Config

from gazette_cli.restore.command import COPY
from proofs.enforce.calls import Asked, asked, table_actions
from proofs.enforce.record import Told, settings
from tests.moto_tables import moto_backend

Item = dict[str, dict[str, Any]]

_CALL = "_make_api_call"
_FILTER = {"FilterExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"}

_STAGE = re.compile("^gazette-[a-z]+-")
_SUFFIX = re.compile("-[A-Za-z]{6}$")  # of the ARN of a secret
_OF_A_SENDER = {"SendEmail"}
_OF_ANY = {
    "DescribeAlarms": "*",
    "DescribeEventBus": "*",
    "DescribeRule": "rule/*",
    "GetAccountSettings": "*",
    "GetAlias": "function/*",
    "GetEventSourceMapping": "mapping/*",
    "GetMetricStatistics": "*",
    "GetSchedule": "schedule/*",
    "GetTemplate": "stack/*",
    "ListRuleNamesByTarget": "*",
    "ListStackResources": "stack/*",
    "ListSubscriptionsByTopic": "topic/*",
    "ListVersionsByFunction": "function/*",
}
"""Operations on resources whose names CloudFormation draws, or that have none."""

_QUEUE_NAMED_BY = ("QueueName", "QueueUrl", "SourceArn")


@dataclass
class Meter:
    """`calls` by `service.Operation`; units by table; `requests` as they were made.

    `actions` are (table, DynamoDB action) as IAM sees them, by who was acting; `grants` are
    (resource, action) of every service, such as (`queue/generate-dead`, `sqs:SendMessage`);
    `asked` is the same with the resources as the calls name them, and the condition keys, by who
    was acting with which settings.
    """

    calls: Counter[str] = field(default_factory=Counter)
    write_units: Counter[str] = field(default_factory=Counter)
    read_units: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    actions: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    grants: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    asked: dict[tuple[str, Told], set[Asked]] = field(default_factory=lambda: defaultdict(set))
    actor: str = ""
    told: Told = frozenset()

    def clear(self) -> None:
        """Count from zero; who did what is kept."""
        self.calls.clear()
        self.write_units.clear()
        self.read_units.clear()
        self.requests.clear()

    @contextmanager
    def acting(self, actor: str) -> Iterator[None]:
        """Everything inside the block is done by `actor`, with the settings of its beginning."""
        before = self.actor, self.told
        self.actor, self.told = actor, settings(os.environ)
        try:
            yield
        finally:
            self.actor, self.told = before


@contextmanager
def metered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Meter]:
    """Count every call that any client makes inside the block."""
    meter = Meter()
    original: Any = getattr(BaseClient, _CALL)
    unmetered = boto3.client("dynamodb", config=Config(user_agent_extra="meter"))
    backend = moto_backend("dynamodb")

    @cache
    def table_of(name: str) -> dict[str, Any]:
        return dict(backend.describe_table(name)["Table"])

    def stored(write: _Write) -> Item | None:
        key = _key(table_of(write.table), write.named)
        found: Any = backend.get_item(write.table, key)
        return None if found is None else dict(found.to_json()["Attributes"])

    @contextmanager
    def weighed(write: _Write) -> Iterator[None]:
        before = stored(write)
        try:
            yield
        finally:
            meter.write_units[write.table] += write_units(
                table_of(write.table), before, stored(write), times=write.times
            )

    one_at_a_time = RLock()  # moto is not atomic, and neither is counting

    def counted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        with one_at_a_time:
            return answered(client, operation, request)

    def answered(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if client is unmetered:
            return original(client, operation, request)
        service = client.meta.service_model.service_name
        meter.calls[f"{service}.{operation}"] += 1
        meter.requests.append((f"{service}.{operation}", request))
        meter.grants[meter.actor].update(_grants(service, operation, request))
        meter.asked[meter.actor, meter.told].update(asked(service, operation, request))
        if service != "dynamodb":
            return original(client, operation, request)
        meter.actions[meter.actor].update(table_actions(operation, request))
        with ExitStack() as writes:
            for write in _writes(operation, request):
                writes.enter_context(weighed(write))
            answer = original(client, operation, request)
        seen = answer
        if request.get("Select") == "COUNT":  # read as much, and sent nothing
            seen = unmetered.query(**{key: request[key] for key in request.keys() - {"Select"}})
        if operation == "Scan":  # read as much, and sent what the filter leaves
            seen = unmetered.scan(**{key: request[key] for key in request.keys() - _FILTER})
        meter.read_units.update(_read_units(operation, request, seen))
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, _CALL, counted)
        yield meter


@dataclass(frozen=True)
class _Write:
    """One item that a call writes or looks at; `named` holds its key, perhaps among others."""

    table: str
    named: Item
    times: int = 1


def _grants(service: str, operation: str, request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(resource, action) that a policy must name for one call: for a copy of a table, the table."""
    match service:
        case "dynamodb":
            index = "/index/*" if "IndexName" in request else ""
            for table, action in table_actions(operation, request):
                yield f"table/{table.removesuffix(COPY)}{index}", f"dynamodb:{action}"
        case "sqs":
            named = next(request[key] for key in _QUEUE_NAMED_BY if key in request)
            queue = _STAGE.sub("", named.replace(":", "/").rpartition("/")[2])
            yield f"queue/{queue}", f"sqs:{operation.removesuffix('Batch')}"
        case "lambda" if "LayerVersion" in operation:
            yield "layer/*", f"lambda:{operation.removesuffix('ByArn')}"
        case "lambda" if operation not in _OF_ANY:
            yield f"function/{_STAGE.sub('', request['FunctionName'])}", f"lambda:{operation}"
        case "secretsmanager":
            name = _SUFFIX.sub("", request["SecretId"].rpartition(":")[2])
            yield f"secret/{name}", f"secretsmanager:{operation}"
        case "events" if operation == "PutEvents":
            for entry in request["Entries"]:
                yield f"bus/{_STAGE.sub('', entry['EventBusName'])}", "events:PutEvents"
        case "s3" if operation == "ListObjectsV2":
            yield f"bucket/{request['Bucket']}", "s3:ListBucket"
        case "s3":
            inside = (
                "aws/lambda" if request.get("Key", "").startswith("aws/lambda/") else "versions"
            )
            yield f"bucket/{request['Bucket']}/{inside}/*", f"s3:{operation}"
            if operation == "GetObject":  # else what is missing is denied
                yield f"bucket/{request['Bucket']}", "s3:ListBucket"
        case "logs":
            yield (
                f"log-group/{_STAGE.sub('', request['logGroupName'].rpartition('/')[2])}",
                (f"logs:{operation}"),
            )
        case "sts" if operation == "GetCallerIdentity":
            return  # takes no permission, and cannot be denied
        case "sesv2" if operation in _OF_A_SENDER:
            yield "identity/*", f"ses:{operation}"
            yield "configuration-set/*", f"ses:{operation}"
        case "sesv2":
            yield "*", f"ses:{operation}"
        case _ if operation in _OF_ANY:
            yield _OF_ANY[operation], f"{service}:{operation}"
        case _:
            yield service, f"{service}:{operation}"


def _writes(operation: str, request: dict[str, Any]) -> Sequence[_Write]:
    match operation:
        case "PutItem":
            return [_Write(request["TableName"], request["Item"])]
        case "UpdateItem" | "DeleteItem":
            return [_Write(request["TableName"], request["Key"])]
        case "TransactWriteItems":
            asked = [next(iter(part.values())) for part in request["TransactItems"]]
            return [
                _Write(each["TableName"], each.get("Item") or each["Key"], times=2)
                for each in asked
            ]
        case "BatchWriteItem":
            return [
                _Write(table, each.get("Item") or each["Key"])
                for table, parts in request["RequestItems"].items()
                for part in parts
                for each in part.values()
            ]
        case _:
            return []


def calls(**number: int) -> Counter[str]:
    """Calls as the meter names them: of DynamoDB, or of SQS and SES where only they have such."""
    services = {"GetQueueAttributes": "sqs", "SendMessageBatch": "sqs", "SendEmail": "sesv2"}
    return Counter(
        {f"{services.get(name, 'dynamodb')}.{name}": count for name, count in number.items()}
    )


def write_units(
    table: dict[str, Any], before: Item | None, after: Item | None, *, times: int = 1
) -> int:
    """Units of one write of the table and all its indexes; a refused write costs its table.

    `times`: how often the item is written, which is twice in a transaction.
    """
    units = _units(max(item_size(before), item_size(after))) * times
    for index in (
        *table.get("GlobalSecondaryIndexes", ()),
        *table.get("LocalSecondaryIndexes", ()),
    ):
        old = _projected(table, index, before)
        new = _projected(table, index, after)
        if old == new:
            continue
        if old and new and _index_key(index, old) == _index_key(index, new):
            units += _units(max(item_size(old), item_size(new)))
        else:
            units += sum(_units(item_size(entry)) for entry in (old, new) if entry)
    return units


def _read_units(
    operation: str, request: dict[str, Any], answer: dict[str, Any]
) -> dict[str, int | float]:
    """A GetItem rounds each item up to 4 KB, a Query or Scan the sum; nothing counts as one."""
    match operation:
        case "GetItem":
            sizes = [item_size(answer.get("Item"))]
        case "Query" | "Scan":
            sizes = [sum(map(item_size, answer["Items"]))]
        case "BatchGetItem":
            return {
                table: _weight(asked)
                * sum(
                    _reading_units(size)
                    for size in (
                        *map(item_size, answer["Responses"].get(table, ())),
                        *[0] * (len(asked["Keys"]) - len(answer["Responses"].get(table, ()))),
                    )
                )
                for table, asked in request["RequestItems"].items()
            }
        case _:
            return {}
    return {request["TableName"]: _weight(request) * sum(map(_reading_units, sizes))}


def _weight(asked: dict[str, Any]) -> int | float:
    return 1 if asked.get("ConsistentRead") else 0.5


def _key(table: dict[str, Any], named: Item) -> Item:
    return {part["AttributeName"]: named[part["AttributeName"]] for part in table["KeySchema"]}


def _projected(table: dict[str, Any], index: dict[str, Any], item: Item | None) -> Item | None:
    keys = {part["AttributeName"] for part in index["KeySchema"]}
    if item is None or not keys <= item.keys():
        return None
    if index["Projection"]["ProjectionType"] == "ALL":
        return item
    kept = keys | {part["AttributeName"] for part in table["KeySchema"]}
    kept |= set(index["Projection"].get("NonKeyAttributes", ()))
    return {name: value for name, value in item.items() if name in kept}


def _index_key(index: dict[str, Any], entry: Item) -> list[dict[str, Any]]:
    return [entry[part["AttributeName"]] for part in index["KeySchema"]]


def _units(size: int) -> int:
    return max(1, math.ceil(size / 1024))


def _reading_units(size: int) -> int:
    return max(1, math.ceil(size / 4096))


def item_size(item: Item | None) -> int:
    """Bytes of an item as DynamoDB counts them, without what it adds for storage."""
    return sum(len(name.encode()) + _value_size(value) for name, value in (item or {}).items())


def _value_size(typed: dict[str, Any]) -> int:
    ((kind, value),) = typed.items()
    match kind:
        case "S":
            return len(value.encode())
        case "SS":
            return sum(len(text.encode()) for text in value)
        case "N":
            return math.ceil(len(value.lstrip("-").replace(".", "").strip("0")) / 2) + 1
        case "B":
            return len(base64.b64decode(value) if isinstance(value, str) else value)
        case "NS":
            return sum(_value_size({"N": number}) for number in value)
        case "BOOL" | "NULL":
            return 1
        case _:
            raise NotImplementedError(f"no table of Gazette has attributes of type {kind}")
