"""The data stack, with the tables, keys, templates and sending domain. It outlives the service
stack.
"""

from typing import Any, Unpack

from aws_cdk import Fn, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from gazette_cdk.constructs.domain import SendingDomain
from gazette_cdk.constructs.events_out import EventsOut
from gazette_cdk.constructs.grants import LeastSecret
from gazette_cdk.constructs.web.links_domain import LinksDomain
from gazette_cdk.stacks.encryption import encrypt
from gazette_cdk.stacks.placement import Placement
from gazette_cdk.stage import Stage
from gazette_cdk.topology import TABLES, Table


class DataStack(Stack):
    """The tables, keys and templates of a stage, and its domains.

    `tables` contains the tables by name. `links_secret` contains the keys that sign the links in
    emails. `suppressions_secret` contains the key of the hashes in `suppressions`, which are
    useless without the key. `templates` is the bucket of pushed templates. `events_out` contains
    the event bus of a stage that publishes events out. `key` encrypts everything that the stack
    stores.

    `installation` identifies these tables, even if a stage is deleted and deployed again with the
    same names. It is the last part of the stack's ARN, which CloudFormation generates.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        key: kms.IKey | None = None,
        **placement: Unpack[Placement],
    ) -> None:
        super().__init__(scope, construct_id, **placement)
        self.installation = Fn.select(2, Fn.split("/", self.stack_id))
        self.tables = {table.name: self._table(table, stage) for table in TABLES}
        self.links_secret = LeastSecret(
            self,
            "LinksKey",
            description=(
                "The keys that sign the links in emails, by id. The highest number signs. "
                "Replacing or removing a key breaks the links signed with it; adding one is "
                f"safe. To add one: gazette links rotate --stage {stage.name}."
            ),
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=64,
                exclude_punctuation=True,
                secret_string_template="{}",  # noqa: S106 -- the JSON that gets the key
                generate_string_key="k1",
            ),
            removal_policy=RemovalPolicy.RETAIN if stage.retain else RemovalPolicy.DESTROY,
        )
        self.suppressions_secret = LeastSecret(
            self,
            "SuppressionsKey",
            description=(
                "The key of the hashes in the tables Suppressions and Bounces. Never replace, "
                "rotate or delete it. Another key would not match any suppressed address, and "
                "each would get email again. Copy it wherever these tables are copied."
            ),
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=64, exclude_punctuation=True
            ),
            removal_policy=RemovalPolicy.RETAIN if stage.retain else RemovalPolicy.DESTROY,
        )

        self.templates = self._templates(stage)

        if stage.domain:
            SendingDomain(self, "Domain", stage=stage)
        self.links = LinksDomain(self, "Links", stage=stage) if stage.links_host else None
        self.events_out = EventsOut(self, "Out", stage=stage) if stage.events_out else None
        if key:
            encrypt(self, key)

    def _templates(self, stage: Stage) -> s3.Bucket:
        """Create the bucket of pushed templates.

        Versions never expire, because a run may need its version again.
        """
        return s3.Bucket(
            self,
            "Templates",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            versioned=True,
            removal_policy=RemovalPolicy.RETAIN if stage.retain else RemovalPolicy.DESTROY,
        )

    def _table(self, table: Table, stage: Stage) -> dynamodb.Table:
        built = dynamodb.Table(
            self,
            table.name.title().replace("_", ""),
            partition_key=_string(table.partition_key),
            sort_key=_string(table.sort_key) if table.sort_key else None,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            time_to_live_attribute=table.ttl,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=stage.restores(table)
            ),
            stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES if table.has_stream else None,
            deletion_protection=stage.retain,
            removal_policy=RemovalPolicy.RETAIN if stage.retain else RemovalPolicy.DESTROY,
        )
        for index in table.indexes:
            if index.partition_key is None:
                built.add_local_secondary_index(
                    index_name=index.name,
                    sort_key=_string(index.sort_key),
                    **_held(index.holds),
                )
            else:
                built.add_global_secondary_index(
                    index_name=index.name,
                    partition_key=_string(index.partition_key),
                    sort_key=_string(index.sort_key),
                    **_held(index.holds),
                )
        return built


def _string(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _held(attributes: tuple[str, ...] | None) -> dict[str, Any]:
    if attributes is None:
        return {"projection_type": dynamodb.ProjectionType.ALL}
    if not attributes:
        return {"projection_type": dynamodb.ProjectionType.KEYS_ONLY}
    return {
        "projection_type": dynamodb.ProjectionType.INCLUDE,
        "non_key_attributes": list(attributes),
    }
