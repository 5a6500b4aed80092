"""The actions and resources of a call to AWS, by the service authorization reference.

https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Any

TRANSACTED = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
"""IAM's actions for the parts of a transaction.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html"""

UNKNOWN = "unknown"
_QUEUE_NAMED_BY = ("QueueUrl", "QueueName", "SourceArn")

_OF_THE_STACKS = {
    ("cloudformation", "GetTemplate"): "stack",
    ("cloudformation", "ListStackResources"): "stack",
    ("cloudwatch", "DescribeAlarms"): "",
    ("cloudwatch", "GetMetricStatistics"): "",
    ("events", "DescribeEventBus"): "",
    ("events", "DescribeRule"): "rule",
    ("events", "ListRuleNamesByTarget"): "",
    ("lambda", "GetAccountSettings"): "",
    ("lambda", "GetEventSourceMapping"): "mapping",
    ("scheduler", "GetSchedule"): "schedule",
    ("sns", "ListSubscriptionsByTopic"): "topic",
}
"""Calls of `gazette doctor`, with the kind of their resource. CloudFormation names these resources,
and policies allow all of a kind, so the single resource makes no difference."""

Context = frozenset[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """An action on the resource of a call: a table, the URL of a queue, or the ARN of a secret.

    `inside` is a part of it, such as `/index/due`. `named` is empty if the action has no resources.
    `kind` is UNKNOWN if this module does not know the call, which then counts as denied. `context`
    has the condition keys of the call in lower case.
    """

    action: str
    kind: str
    named: str
    inside: str = ""
    context: Context = frozenset()


def asked(service: str, operation: str, request: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield IAM's actions for one call of botocore."""
    match service, operation:
        case "dynamodb", _:
            # An index is a separate resource, and its table needs no permission.
            # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/api-permissions-reference.html
            index = f"/index/{request['IndexName']}" if "IndexName" in request else ""
            for table, action in table_actions(operation, request):
                yield Asked(f"dynamodb:{action}", "table", table, index)
        case "sqs", _:
            # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html
            action = operation.removesuffix("Batch")
            named = next(request[key] for key in _QUEUE_NAMED_BY if key in request)
            yield Asked(f"sqs:{action}", "queue", named)
        case _ if (service, operation) in _OF_THE_STACKS:
            kind = _OF_THE_STACKS[service, operation]
            yield Asked(f"{service}:{operation}", kind, operation if kind else "")
        case "lambda", _ if "LayerVersion" in operation:
            # https://docs.aws.amazon.com/lambda/latest/dg/permissions-user-layer.html
            yield Asked(f"lambda:{operation.removesuffix('ByArn')}", "layer", operation)
        case "lambda", _:
            # https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html
            qualifier = f":{request['Qualifier']}" if "Qualifier" in request else ""
            yield Asked(f"lambda:{operation}", "function", request["FunctionName"], qualifier)
        case "s3", "GetObject":
            # Without permission to list the bucket, a missing object returns 403 instead of 404.
            # https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
            yield Asked("s3:GetObject", "bucket", request["Bucket"], f"/{request['Key']}")
            yield Asked("s3:ListBucket", "bucket", request["Bucket"])
        case "s3", "ListObjectsV2":
            yield Asked("s3:ListBucket", "bucket", request["Bucket"])
        case "s3", ("PutObject" | "DeleteObject"):
            yield Asked(f"s3:{operation}", "bucket", request["Bucket"], f"/{request['Key']}")
        case "secretsmanager", _:
            yield Asked(f"secretsmanager:{operation}", "secret", request["SecretId"])
        case "events", "PutEvents":
            for entry in request["Entries"]:
                context = {
                    ("events:source", (entry["Source"],)),
                    ("events:detail-type", (entry["DetailType"],)),
                }
                yield Asked(
                    "events:PutEvents", "bus", entry["EventBusName"], "", frozenset(context)
                )
        case "logs", "FilterLogEvents":
            yield Asked("logs:FilterLogEvents", "log group", request["logGroupName"])
        case "sts", "GetCallerIdentity":
            # Takes no permission, and cannot be denied.
            # https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
            return
        case "sesv2", "SendEmail":
            yield from _sending(request)
        case ("sesv2", _) | ("cloudwatch", "GetMetricData" | "DescribeAlarms"):
            prefix = service.removesuffix("v2")
            yield Asked(f"{prefix}:{operation}", "", "")
        case _:
            yield Asked(f"{service}:{operation}", UNKNOWN, operation)


def table_actions(operation: str, request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the table and the DynamoDB action of each part of a call."""
    match operation:
        case "TransactWriteItems":
            for part in request["TransactItems"]:
                ((kind, wanted),) = part.items()
                yield wanted["TableName"], TRANSACTED[kind]
        case "BatchGetItem" | "BatchWriteItem":
            for table in request["RequestItems"]:
                yield table, operation
        case _:
            yield request["TableName"], operation


def _sending(request: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield the identity, and the configuration set if one is named.

    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsimpleemailservicev2.html
    """
    _, sender = parseaddr(request["FromEmailAddress"])
    destination = request.get("Destination", {})
    recipients = tuple(each for key in sorted(destination) for each in destination[key])
    context = frozenset({("ses:fromaddress", (sender,)), ("ses:recipients", recipients)})
    yield Asked("ses:SendEmail", "identity", sender, "", context)
    if "ConfigurationSetName" in request:
        named = request["ConfigurationSetName"]
        yield Asked("ses:SendEmail", "configuration set", named, "", context)
