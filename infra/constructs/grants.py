"""Grants of the single actions that are used, where the CDK's own would add others.

`make enforce` fails where a template grants what nobody uses. The CDK grants who sends also to look
at the queue, who reads a secret also to describe it, and who writes its log every log group of the
account. These classes take the place of the CDK's wherever it grants, also for event sources,
targets and destinations.
"""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from constructs import Construct

VERSIONS = "versions/"
"""What the keys of versions begin with (adapters/templates/s3.py)."""


class LeastQueue(sqs.Queue):
    """A queue whose users may do nothing but send, or take what Lambda takes."""

    def grant_send_messages(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee send, and not look at the queue."""
        return self.grant(grantee, "sqs:SendMessage")

    def grant_consume_messages(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let Lambda take messages for a function with this role, which hides those that failed.

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
    """A secret whose readers may read it, and not describe it."""

    def grant_read(
        self,
        grantee: iam.IGrantable,
        version_stages: Sequence[str] | None = None,  # noqa: ARG002 -- as the CDK has it
    ) -> iam.Grant:
        """Let the grantee read the secret."""
        return may_read(grantee, self.secret_arn)


def may_read(grantee: iam.IGrantable, arn: str) -> iam.Grant:
    """Let the grantee read the secret with this ARN, or pattern of ARNs."""
    return iam.Grant.add_to_principal(
        grantee=grantee, actions=["secretsmanager:GetSecretValue"], resource_arns=[arn]
    )


def may_read_versions(grantee: iam.IGrantable, bucket: s3.IBucket) -> None:
    """Let the grantee read the versions of the templates, and learn that one does not exist.

    Who may not list a bucket is denied an object that is missing, as if it were there: "403" and
    not "404". A run that is pinned to a version must tell one from the other.
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
    """Let the grantee do this to a table, or to one of its indexes, named `table/index`.

    An index is a resource of its own: who may query the table may not query its indexes.
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
    """A role of a function, which may write this log and no other.

    AWS's managed policy also lets it create log groups, and write to all of the account.
    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSLambdaBasicExecutionRole.html
    """
    role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    group.grant(role, "logs:CreateLogStream", "logs:PutLogEvents")
    return role
