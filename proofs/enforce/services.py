"""The calls that AWS itself makes for a stage according to its templates, each with its purpose."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proofs.enforce.account import Account
from proofs.enforce.keys import ON_THE_KEY_OF_A_LOG, ON_THE_KEY_OF_AN_ARCHIVE, key_of
from proofs.enforce.policies import Request
from proofs.enforce.template import (
    ACCOUNT,
    REGION,
    Resource,
    function_of,
    in_account,
    queues_behind,
)

Made = Iterator[tuple[Request, str]]


def calls_of_aws(account: Account) -> Made:
    """Yield each request with its purpose."""
    for kind, calls in _BY_TYPE.items():
        for resource in account.templates.of_type(kind):
            for request, why in calls(account, resource):
                for each in account.with_calls_on_the_key(request):
                    yield each, why


def _of_function(account: Account, function: Resource) -> Made:
    """Yield Lambda's use of the role, and the function's writes to the log.

    https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html
    """
    role = function.properties["Role"]
    yield _request("lambda.amazonaws.com", "sts:AssumeRole", role), "Lambda runs the function"
    group = function.properties.get("LoggingConfig", {}).get("LogGroup")
    group = group or f"/aws/lambda/{function.ref}"
    for action in ("CreateLogStream", "PutLogEvents"):
        stream = in_account(f"logs:{{place}}:log-group:{group}:log-stream:a")
        yield _request(role, f"logs:{action}", stream), "Lambda writes the function's log"
    for action in _ON_INTERFACES if "VpcConfig" in function.properties else ():
        yield _request(role, f"ec2:{action}", "*"), "Lambda connects the function to the VPC"


_ON_INTERFACES = (
    "AssignPrivateIpAddresses",
    "CreateNetworkInterface",
    "DeleteNetworkInterface",
    "DescribeNetworkInterfaces",
    "DescribeSubnets",
    "UnassignPrivateIpAddresses",
)
"""https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html"""


def _of_log(account: Account, group: Resource) -> Made:
    """Yield the calls of CloudWatch Logs on the key of a log group."""
    context = {"kms:encryptioncontext:aws:logs:arn": group.arn.removesuffix(":*")}
    yield from _on_the_key(f"logs.{REGION}.amazonaws.com", group, ON_THE_KEY_OF_A_LOG, context)


def _of_archive(account: Account, archive: Resource) -> Made:
    """Yield the calls of EventBridge on the key of an archive."""
    yield from _on_the_key("events.amazonaws.com", archive, ON_THE_KEY_OF_AN_ARCHIVE, {})


def _on_the_key(
    service: str, resource: Resource, actions: Iterable[str], context: Mapping[str, str]
) -> Made:
    key = key_of(resource)
    for action in actions if key else ():
        yield _request(service, f"kms:{action}", key, context), "a service encrypts its data"


def _of_mapping(account: Account, mapping: Resource) -> Made:
    """Yield the calls of an event source mapping.
    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/iam-policy-example-lamda-process-dynamodb-streams.html
    """
    source = mapping.properties["EventSourceArn"]
    role = _role(account, mapping.properties["FunctionName"])
    if "/stream/" in source:
        for action in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"):
            yield _request(role, f"dynamodb:{action}", source), "Lambda reads the stream"
        yield from _of_discarded(mapping, role)
        return
    for action in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes"):
        yield _request(role, f"sqs:{action}", source), "Lambda takes messages from the queue"


def _of_discarded(mapping: Resource, role: str) -> Made:
    """Yield the calls for a batch that Lambda discards.
    https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html"""
    why = "Lambda puts a discarded batch into the bucket"
    bucket = mapping.properties["DestinationConfig"]["OnFailure"]["Destination"]
    yield _request(role, "s3:PutObject", f"{bucket}/aws/lambda/0/shard/2026/11/22/0"), why
    yield _request(role, "s3:ListBucket", bucket), why


def _of_async(account: Account, config: Resource) -> Made:
    """Yield the calls of an asynchronous invocation's destination.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html"""
    role = _role(account, config.properties["FunctionName"])
    for outcome in config.properties.get("DestinationConfig", {}).values():
        why = "Lambda puts what failed on the queue"
        yield _request(role, "sqs:SendMessage", outcome["Destination"]), why


def _of_schedule(account: Account, schedule: Resource) -> Made:
    """Yield the calls of a schedule.

    https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html"""
    target = schedule.properties["Target"]
    named = schedule.properties.get("GroupName", "default")
    group = in_account(f"scheduler:{{place}}:schedule-group/{named}")
    source = {"aws:sourcearn": group, "aws:sourceaccount": ACCOUNT}
    role = target["RoleArn"]
    yield _request("scheduler.amazonaws.com", "sts:AssumeRole", role, source), "Scheduler ticks"
    yield _request(role, "lambda:InvokeFunction", target["Arn"]), "Scheduler ticks"
    for dead in _dead(target):
        yield _request(role, "sqs:SendMessage", dead), "Scheduler could not tick"


def _of_rule(account: Account, rule: Resource) -> Made:
    """Yield the calls of an EventBridge rule.
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html"""
    source = {"aws:sourcearn": rule.arn, "aws:sourceaccount": ACCOUNT}
    for target in rule.properties.get("Targets", []):
        for queue in (target["Arn"], *_dead(target)):
            yield (
                _request("events.amazonaws.com", "sqs:SendMessage", queue, source),
                "EventBridge puts events on the queue",
            )


def _of_subscription(account: Account, subscription: Resource) -> Made:
    """Yield the calls of an SNS subscription.
    https://docs.aws.amazon.com/sns/latest/dg/subscribe-sqs-queue-to-sns-topic.html"""
    given = subscription.properties
    source = {"aws:sourcearn": given["TopicArn"], "aws:sourceaccount": ACCOUNT}
    for queue in (given["Endpoint"], *queues_behind(subscription)):
        if given["Protocol"] == "sqs":
            yield (
                _request("sns.amazonaws.com", "sqs:SendMessage", queue, source),
                "SNS puts messages on the queue",
            )


def _of_destination(account: Account, destination: Resource) -> Made:
    """Yield the calls of an SES event destination.
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-add-event-destination-sns.html"""
    given = destination.properties
    topic = given["EventDestination"].get("SnsDestination", {}).get("TopicARN")
    if topic:
        name = given["ConfigurationSetName"]
        arn = in_account(f"ses:{{place}}:configuration-set/{name}")
        source = {"aws:sourcearn": arn, "aws:sourceaccount": ACCOUNT}
        yield _request("ses.amazonaws.com", "sns:Publish", topic, source), "SES reports"


def _of_alarm(account: Account, alarm: Resource) -> Made:
    """Yield the calls of an alarm.
    https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger"""
    source = {"aws:sourcearn": alarm.arn, "aws:sourceaccount": ACCOUNT}
    for key in ("AlarmActions", "OKActions", "InsufficientDataActions"):
        for topic in alarm.properties.get(key, []):
            yield _request("cloudwatch.amazonaws.com", "sns:Publish", topic, source), "an alarm"


def _of_route(account: Account, route: Resource) -> Made:
    """Yield the calls of a route of an HTTP API. The source names the method and the path.
    https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway.html
    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html"""
    given = route.properties
    integration = given["Target"].removeprefix("integrations/")
    invoked = next(
        each.properties["IntegrationUri"]
        for each in account.templates.of_type("AWS::ApiGatewayV2::Integration")
        if each.ref == integration
    )
    place = given["RouteKey"].replace(" ", "")
    arn = in_account(f"execute-api:{{place}}:{given['ApiId']}") + f"/$default/{place}"
    source = {"aws:sourcearn": arn, "aws:sourceaccount": ACCOUNT}
    yield (
        _request("apigateway.amazonaws.com", "lambda:InvokeFunction", invoked, source),
        "API Gateway asks the function",
    )


_BY_TYPE = {
    "AWS::Lambda::Function": _of_function,
    "AWS::Lambda::EventSourceMapping": _of_mapping,
    "AWS::Lambda::EventInvokeConfig": _of_async,
    "AWS::Scheduler::Schedule": _of_schedule,
    "AWS::Events::Rule": _of_rule,
    "AWS::SNS::Subscription": _of_subscription,
    "AWS::SES::ConfigurationSetEventDestination": _of_destination,
    "AWS::CloudWatch::Alarm": _of_alarm,
    "AWS::ApiGatewayV2::Route": _of_route,
    "AWS::Logs::LogGroup": _of_log,
    "AWS::Events::Archive": _of_archive,
}


def _request(
    caller: str, action: str, resource: str, source: Mapping[str, str] | None = None
) -> Request:
    context = {key: (value,) for key, value in (source or {}).items()}
    context["aws:securetransport"] = ("true",)
    return Request(caller, action, resource, frozenset(context.items()))


def _role(account: Account, named: str) -> str:
    """Return the role of the function that a mapping names by name, ARN, or alias."""
    name = function_of(named) if named.startswith("arn:") else named.split(":")[0]
    return next(
        str(each.properties["Role"]) for each in account.functions.values() if each.ref == name
    )


def _dead(target: Mapping[str, Any]) -> list[str]:
    arn = target.get("DeadLetterConfig", {}).get("Arn")
    return [arn] if arn else []
