"""The customer managed key of a stage, which encrypts everything that the stage stores.

The rules of each service decide who needs permission to use the key. docs/customer-managed-key.md
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from aws_cdk import Annotations, ArnFormat, CfnResource, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs

from gazette_cdk.constructs.watching.parts import of_kind
from gazette_cdk.stage import Stage

_BUCKET = s3.CfnBucket
_PROPERTIES: Mapping[type[Any], Callable[[str], Mapping[str, object]]] = {
    dynamodb.CfnTable: lambda arn: {
        "sse_specification": dynamodb.CfnTable.SSESpecificationProperty(
            sse_enabled=True, sse_type="KMS", kms_master_key_id=arn
        )
    },
    sqs.CfnQueue: lambda arn: {"kms_master_key_id": arn},
    sns.CfnTopic: lambda arn: {"kms_master_key_id": arn},
    secretsmanager.CfnSecret: lambda arn: {"kms_key_id": arn},
    s3.CfnBucket: lambda arn: {
        "bucket_encryption": _BUCKET.BucketEncryptionProperty(
            server_side_encryption_configuration=[
                _BUCKET.ServerSideEncryptionRuleProperty(
                    bucket_key_enabled=True,
                    server_side_encryption_by_default=_BUCKET.ServerSideEncryptionByDefaultProperty(
                        sse_algorithm="aws:kms", kms_master_key_id=arn
                    ),
                )
            ]
        )
    },
    logs.CfnLogGroup: lambda arn: {"kms_key_id": arn},
    lambda_.CfnFunction: lambda arn: {"kms_key_arn": arn},
    events.CfnArchive: lambda arn: {"kms_key_identifier": arn},
}
"""The types of resources that store data, and the properties that encrypt them with a key.

These are the properties of CloudFormation. With a key in the construct of a queue, the CDK would
also widen the queue's policy and the grants of its senders.
"""

DECRYPT = "kms:Decrypt"
GENERATE = "kms:GenerateDataKey"

_NEEDED: Mapping[str, tuple[str, ...]] = {
    # The caller also decrypts the new data key, to verify it.
    # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
    "sqs:SendMessage": (GENERATE, DECRYPT),
    "sqs:ReceiveMessage": (DECRYPT,),
    # https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
    "secretsmanager:GetSecretValue": (DECRYPT,),
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
    "s3:GetObject": (DECRYPT,),
    "s3:PutObject": (GENERATE,),
}
"""The actions on the key that a role needs for an action on an encrypted resource."""

_TABLES = "dynamodb:"
"""The prefix of actions on tables and streams, for which the caller must decrypt the table key.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
"""


def encrypt(stack: Stack, key: kms.IKey) -> None:
    """Encrypt all data of the stack with the key, and let the stack's roles use it.

    Call this after everything has been added to the stack. None of the properties replaces a
    resource. An event bus keeps the key of AWS, because an event that cannot be encrypted would be
    lost. docs/decisions/0130-a-customer-managed-key-reaches-what-is-stored.md
    """
    parts = stack.node.find_all()
    for kind, properties in _PROPERTIES.items():
        for resource in of_kind(parts, kind):
            for name, value in properties(key.key_arn).items():
                setattr(resource, name, value)
    queues = of_kind(parts, sqs.CfnQueue)
    for action, roles in _users(of_kind(parts, iam.Policy)).items():
        policy = iam.Policy(
            stack,
            f"May{action.removeprefix('kms:')}",
            roles=roles,
            statements=[iam.PolicyStatement(actions=[action], resources=[key.key_arn])],
        )
        _allow_before(policy, queues)


def _allow_before(policy: iam.Policy, queues: Iterable[sqs.CfnQueue]) -> None:
    """Attach the policy to its roles before CloudFormation encrypts a queue, because senders and
    consumers would be denied in between.
    """
    resource = policy.node.default_child
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{policy.node.path} is not a policy of CloudFormation.")
    for queue in queues:
        queue.add_resource_dependency(resource)


def _users(policies: Iterable[iam.Policy]) -> dict[str, list[iam.IRole]]:
    """Return the roles that need each action on the key because of their own policies."""
    users: dict[str, list[iam.IRole]] = {}
    for policy in policies:
        role = policy.node.scope
        if isinstance(role, iam.Role):
            for action in sorted(_needed_for(policy)):
                users.setdefault(action, []).append(role)
    return users


def _needed_for(policy: iam.Policy) -> set[str]:
    """Return the actions on the key that the policy's role needs for its other actions."""
    return {
        needed
        for statement in policy.document.to_json()["Statement"]
        for action in _listed(statement["Action"])
        for needed in ((DECRYPT,) if action.startswith(_TABLES) else _NEEDED.get(action, ()))
    }


def let_services_use(key: kms.IKey, stage: Stage, *, has_topic: bool) -> None:
    """Let the AWS services of the stage use the key, in the policy of the key.

    `has_topic` is True if the app passes a topic for the alarms. The CDK cannot change the policy
    of an imported key, so the app gets a warning for such a key.
    """
    added = [
        key.add_to_resource_policy(statement, True).statement_added
        for statement in _statements(Stack.of(key), stage, has_topic=has_topic)
    ]
    if not all(added):
        Annotations.of(key).add_warning_v2(
            "gazette:imported-key",
            "The policy of an imported key cannot be changed here. It must allow the services of "
            f"AWS to use the key for stage {stage.name!r}. docs/customer-managed-key.md has the "
            "statements.",
        )


def _statements(here: Stack, stage: Stage, *, has_topic: bool) -> Iterator[iam.PolicyStatement]:
    """Yield the statements of the key's policy. `here` is the stack of the key.

    EventBridge sends no account or ARN that a condition could compare.
    https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
    """
    yield _allow("events.amazonaws.com", GENERATE, DECRYPT)
    if stage.archive_days:
        # https://docs.aws.amazon.com/eventbridge/latest/userguide/encryption-archives.html
        yield _allow(
            "events.amazonaws.com", "kms:DescribeKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"
        )
    yield _for_logs(here, stage)
    account = {"StringEquals": {"aws:SourceAccount": here.account}}
    publishes = (GENERATE, "kms:GenerateDataKeyWithoutPlaintext", DECRYPT)
    if not has_topic:
        yield _allow("cloudwatch.amazonaws.com", *publishes, conditions=account)
    if stage.mail_provider == "ses" and stage.feedback_by_sns:
        yield _allow("ses.amazonaws.com", *publishes, conditions=account)
        topics = here.format_arn(service="sns", resource="*")
        yield _allow(
            "sns.amazonaws.com",
            GENERATE,
            DECRYPT,
            conditions={"ArnLike": {"aws:SourceArn": topics}},
        )


def _for_logs(here: Stack, stage: Stage) -> iam.PolicyStatement:
    """Let CloudWatch Logs use the key for the log groups of the functions and the HTTP APIs.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    """
    groups = [
        here.format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"{prefix}/gazette-{stage.name}-*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        for prefix in ("/aws/lambda", "/aws/vendedlogs")
    ]
    return _allow(
        f"logs.{here.region}.amazonaws.com",
        "kms:Encrypt",
        DECRYPT,
        "kms:ReEncryptFrom",
        "kms:ReEncryptTo",
        GENERATE,
        "kms:GenerateDataKeyWithoutPlaintext",
        "kms:DescribeKey",
        conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
    )


def _allow(
    service: str, *actions: str, conditions: Mapping[str, object] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        principals=[iam.ServicePrincipal(service)],
        actions=list(actions),
        resources=["*"],
        conditions=conditions,
    )


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
