"""The calls to KMS that follow from a call on an encrypted resource.

The key is the one in the properties of the resource, and the actions are those that the
documentation of each service requires. The construct has no part in this.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from proofs.enforce.policies import Grant, Request, read
from proofs.enforce.template import ACCOUNT, Resource

_EVENTS = "events.amazonaws.com"
_PUBLISHING = ("GenerateDataKey", "GenerateDataKeyWithoutPlaintext", "Decrypt")

_ON_THE_KEY: Mapping[str, tuple[str, ...]] = {
    # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
    "sqs:SendMessage": ("GenerateDataKey", "Decrypt"),
    "sqs:ReceiveMessage": ("Decrypt",),
    # https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
    "sns:Publish": _PUBLISHING,
    # https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
    "secretsmanager:GetSecretValue": ("Decrypt",),
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
    "s3:GetObject": ("Decrypt",),
    "s3:PutObject": ("GenerateDataKey",),
}
"""The actions on the key of a resource, by the action on the resource."""

ON_THE_KEY_OF_A_LOG = (
    "Encrypt",
    "Decrypt",
    "ReEncryptFrom",
    "ReEncryptTo",
    "GenerateDataKey",
    "GenerateDataKeyWithoutPlaintext",
    "DescribeKey",
)
"""https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html"""

ON_THE_KEY_OF_AN_ARCHIVE = (
    "DescribeKey",
    "GenerateDataKey",
    "Decrypt",
    "ReEncryptFrom",
    "ReEncryptTo",
)
"""https://docs.aws.amazon.com/eventbridge/latest/userguide/encryption-archives.html"""


def calls_on_the_key(request: Request, resource: Resource | None) -> Iterator[Request]:
    """Yield the calls to KMS of a request on the resource, by the same caller.

    EventBridge sends neither its account nor an ARN.
    https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
    """
    key = key_of(resource) if resource else ""
    if not key:
        return
    actions = (
        ("Decrypt",)
        if request.action.startswith("dynamodb:")
        else _ON_THE_KEY.get(request.action, ())
    )
    kept = {"aws:securetransport"}
    kept |= {"aws:sourceaccount", "aws:sourcearn"} if request.caller != _EVENTS else set()
    context = frozenset(each for each in request.context if each[0] in kept)
    for action in actions:
        yield replace(request, action=f"kms:{action}", resource=key, context=context)


def key_of(resource: Resource) -> str:
    """Return the ARN of the key that encrypts a resource. It is empty for a key of AWS."""
    given = resource.properties
    match resource.type:
        case "AWS::DynamoDB::Table":
            key = given.get("SSESpecification", {}).get("KMSMasterKeyId")
        case "AWS::SQS::Queue" | "AWS::SNS::Topic":
            key = given.get("KmsMasterKeyId")
        case "AWS::SecretsManager::Secret" | "AWS::Logs::LogGroup":
            key = given.get("KmsKeyId")
        case "AWS::S3::Bucket":
            (rule,) = given["BucketEncryption"]["ServerSideEncryptionConfiguration"]
            key = rule["ServerSideEncryptionByDefault"].get("KMSMasterKeyID")
        case "AWS::Events::Archive":
            key = given.get("KmsKeyIdentifier")
        case _:
            key = None
    return str(key or "")


def grants_of_key(key: Resource) -> Iterator[Grant]:
    """Yield the grants of the policy of a key to services. Its resource `*` is the key itself.

    The statement that lets IAM policies of the account apply belongs to the owner of the key.
    https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
    """
    root = f":iam::{ACCOUNT}:root"
    statements: list[Mapping[str, Any]] = [
        {**each, "Resource": key.arn}
        for each in key.properties["KeyPolicy"]["Statement"]
        if not str(each["Principal"].get("AWS", "")).endswith(root)
    ]
    yield from read(key.arn, {"Statement": statements})
