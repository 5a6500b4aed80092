"""Events out: their event bus, the bucket for batches that could not be published, and the streams
from which the outbox function publishes.
"""

import json
from collections.abc import Mapping
from typing import Any

from aws_cdk import CfnResource, Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gazette_cdk.constructs.step import StepConstruct
from gazette_cdk.stage import Stage

RETRIES = 20
"""The number of times that Lambda repeats a batch before it goes to the bucket.

A number limits the delay better than an age. While one change cannot be published, all later
changes of its shard wait. They would reach the maximum age too, and would all go to the bucket.
Halving a batch uses up no retry.
https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
"""

_WINDOW = Duration.seconds(5)
_KEPT = Duration.days(14)
"""The retention of batches in the bucket, which contain addresses; that of dead letters."""

_EXISTS: list[Any] = [{"exists": True}]

_PATTERNS: Mapping[str, Mapping[str, Any]] = {
    "subscribers": {"email": {"S": _EXISTS}},
    "runs": {"status": {"S": ["sent", "failed", "skipped"]}},
    "engagement": {"run": {"S": _EXISTS}},
}
"""The rows whose changes Lambda passes to the function: profiles, runs that ended, and delivery
events. Lambda drops other changes, such as a deleted row, at no cost.

A pattern can name only the parts of a record below `dynamodb`.
https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
"""

_TYPES: Mapping[str, tuple[str, ...]] = {
    "subscribers": ("subscriber.", "preferences."),
    "runs": ("email.sent", "email.skipped", "email.failed"),
    "engagement": ("email.delivered", "email.bounced", "email.complained", "email.clicked"),
}
"""The prefixes of the types of events out that come from each table."""


class EventsOut(Construct):
    """The event bus, and the bucket for batches that could not be published.

    They are in the data stack, because a bus with rules of consumers cannot be deleted.
    https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_DeleteEventBus.html
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        removal = RemovalPolicy.RETAIN if stage.retain else RemovalPolicy.DESTROY
        self.bus = events.EventBus(self, "Bus", event_bus_name=stage.out_bus)
        self.bus.apply_removal_policy(removal)
        self.unpublished = s3.Bucket(
            self,
            "Unpublished",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            lifecycle_rules=[s3.LifecycleRule(expiration=_KEPT)],
            removal_policy=removal,
        )


def publish_changes(
    outbox: StepConstruct,
    out: EventsOut,
    *,
    stage: Stage,
    tables: Mapping[str, dynamodb.Table],
) -> None:
    """Let Lambda read the streams that the stage's types of events need, and pass changes to the
    function.

    The function may publish on its bus. It may read no table. The first batch begins with the
    oldest change in the stream, because changes during the deployment would be lost otherwise.
    """
    may_publish = iam.Grant.add_to_principal(
        grantee=outbox.function, actions=["events:PutEvents"], resource_arns=[out.bus.event_bus_arn]
    )
    may_write = [
        iam.Grant.add_to_principal(grantee=outbox.function, actions=[action], resource_arns=[arn])
        for action, arn in (
            ("s3:PutObject", out.unpublished.arn_for_objects("aws/lambda/*")),
            ("s3:ListBucket", out.unpublished.bucket_arn),
        )
    ]
    for table, prefixes in _TYPES.items():
        if not any(each.startswith(prefixes) for each in stage.events_out):
            continue
        stream = tables[table].table_stream_arn
        if stream is None:
            raise ValueError(f"The table {table} has no stream.")
        may_read = iam.Grant.add_to_principal(
            grantee=outbox.function, actions=_READING, resource_arns=[stream]
        )
        mapping = outbox.live.add_event_source_mapping(
            table.title(),
            event_source_arn=stream,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=outbox.step.batch_size,
            max_batching_window=_WINDOW,
            bisect_batch_on_error=True,
            retry_attempts=RETRIES,
            filters=[{"pattern": json.dumps({"dynamodb": {"NewImage": _PATTERNS[table]}})}],
        )
        _send_to(mapping, out.unpublished)
        for grant in (may_publish, *may_write, may_read):
            grant.apply_before(mapping)


_READING = [
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
]
"""The actions that Lambda needs on a stream.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/iam-policy-example-lamda-process-dynamodb-streams.html
"""


def _send_to(mapping: lambda_.EventSourceMapping, bucket: s3.IBucket) -> None:
    """Send batches that cannot be published to the bucket.

    The CDK's own class for this destination would also let the function delete objects.
    """
    resource = mapping.node.default_child
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{mapping.node.path} is not a mapping of CloudFormation.")
    resource.add_property_override("DestinationConfig.OnFailure.Destination", bucket.bucket_arn)
