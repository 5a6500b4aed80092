"""Grants of only the actions that functions use, which replace the broader grants of the CDK.

`make enforce` fails if a template grants an unused action. With the CDK's grants, senders may also
read a queue's attributes, readers of a secret may also describe the secret, and functions may write
to every log group of the account. These classes also apply to event sources, targets and
destinations.
"""

from collections.abc import Mapping, Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from constructs import Construct

VERSIONS = "versions/"
"""The key prefix of template versions in the bucket (adapters/templates/s3.py)."""


class LeastQueue(sqs.Queue):
    """A queue with minimal grants. Senders may only send messages, and Lambda may only consume
    messages.
    """

    def grant_send_messages(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee send messages, but not read the queue's attributes."""
        return self.grant(grantee, "sqs:SendMessage")

    def grant_consume_messages(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let Lambda consume messages for a function, and let the function hide failed messages.

        https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
        """
        return self.grant(
            grantee,
            "sqs:ReceiveMessage",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ChangeMessageVisibility",
        )


class LeastSecret(secretsmanager.Secret):
    """A secret whose readers may read its value, but not describe the secret."""

    def grant_read(
        self,
        grantee: iam.IGrantable,
        version_stages: Sequence[str] | None = None,  # noqa: ARG002 -- the CDK's signature
    ) -> iam.Grant:
        """Let the grantee read the secret."""
        return may_read(grantee, self.secret_arn)


def may_read(grantee: iam.IGrantable, arn: str) -> iam.Grant:
    """Let the grantee read the secret with this ARN or pattern of ARNs."""
    return iam.Grant.add_to_principal(
        grantee=grantee, actions=["secretsmanager:GetSecretValue"], resource_arns=[arn]
    )


def may_read_versions(grantee: iam.IGrantable, bucket: s3.IBucket) -> None:
    """Let the grantee read template versions, and detect that a version does not exist.

    S3 responds to a request for a missing object with 404 only if the caller may list the bucket.
    Other callers get 403, as for an object that they may not read. A run that is pinned to a
    version must distinguish these cases.
    https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
    """
    for action, arn in (
        ("s3:GetObject", bucket.arn_for_objects(f"{VERSIONS}*")),
        ("s3:ListBucket", bucket.bucket_arn),
    ):
        iam.Grant.add_to_principal(grantee=grantee, actions=[action], resource_arns=[arn])


def may_use(
    grantee: iam.IGrantable, tables: Mapping[str, dynamodb.Table], what: str, actions: Sequence[str]
) -> iam.Grant:
    """Let the grantee perform actions on a table, or on one of its indexes (`table/index`).

    An index is a separate resource. Permission to query a table does not include its indexes.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/api-permissions-reference.html
    """
    table, _, index = what.partition("/")
    arn = tables[table].table_arn
    return iam.Grant.add_to_principal(
        grantee=grantee,
        actions=[f"dynamodb:{action}" for action in actions],
        resource_arns=[f"{arn}/index/{index}" if index else arn],
    )


def role_that_logs(scope: Construct, group: logs.ILogGroup) -> iam.Role:
    """Create a role for a function that may write only to this log group.

    AWS's managed policy would also let the function create log groups, and write to all log groups
    of the account.
    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSLambdaBasicExecutionRole.html
    """
    role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    group.grant(role, "logs:CreateLogStream", "logs:PutLogEvents")
    return role


_INTERFACES = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
"""The actions with which Lambda connects a function to a VPC. AWS's managed policy contains them,
and also permissions to write to all log groups.
https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSLambdaVPCAccessExecutionRole.html
"""


def may_join_a_network(role: iam.Role, function_name: str) -> None:
    """Let Lambda connect the role's function to a VPC. Deny the same actions to the code of the
    function.

    The subnets may belong to another account, so the actions are allowed on all resources.
    https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
    """
    arn = Stack.of(role).format_arn(
        service="lambda",
        resource="function",
        resource_name=function_name,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    role.add_to_policy(iam.PolicyStatement(actions=list(_INTERFACES), resources=["*"]))
    role.add_to_policy(
        iam.PolicyStatement(
            effect=iam.Effect.DENY,
            actions=list(_INTERFACES),
            resources=["*"],
            conditions={"ArnEquals": {"lambda:SourceFunctionArn": arn}},
        )
    )
