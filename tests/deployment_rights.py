"""The least permissions with which CloudFormation can deploy a stage.

They are derived from AWS's schemas of the resource types, which list the actions of each handler,
and from the service authorization reference, which lists the resources of each action. cfn-lint
contains both.
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

REGION = "eu-central-1"

TYPES: Mapping[str, tuple[str, ...]] = {
    "data": (
        "AWS::DynamoDB::Table",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SecretsManager::Secret",
    ),
    "functions": (
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::Lambda::Alias",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Version",
        "AWS::Logs::LogGroup",
        "AWS::Logs::MetricFilter",
        "AWS::SSM::Parameter",
    ),
    "events": (
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::Events::Archive",
        "AWS::Events::EventBus",
        "AWS::Events::Rule",
        "AWS::SNS::Subscription",
        "AWS::SNS::Topic",
        "AWS::SNS::TopicPolicy",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
        "AWS::Scheduler::Schedule",
    ),
    "web": (
        "AWS::ApiGatewayV2::Api",
        "AWS::ApiGatewayV2::ApiMapping",
        "AWS::ApiGatewayV2::DomainName",
        "AWS::ApiGatewayV2::Integration",
        "AWS::ApiGatewayV2::Route",
        "AWS::ApiGatewayV2::Stage",
        "AWS::CertificateManager::Certificate",
        "AWS::CloudFront::Distribution",
        "AWS::Route53::RecordSet",
        "AWS::SES::ConfigurationSet",
        "AWS::SES::ConfigurationSetEventDestination",
        "AWS::SES::EmailIdentity",
        "AWS::WAFv2::WebACL",
    ),
    "network": ("AWS::EC2::SecurityGroup",),
}
"""The types of the resources of all stages, by the policy that allows them."""

SERVICES: Mapping[str, tuple[str, ...]] = {
    "data": ("dynamodb", "s3", "secretsmanager"),
    "functions": ("iam", "lambda", "logs", "ssm"),
    "events": ("cloudwatch", "events", "scheduler", "sns", "sqs"),
    "web": ("acm", "apigateway", "cloudfront", "route53", "ses", "wafv2"),
    "network": ("ec2",),
    "key": ("kms",),
}
"""The services of each policy."""

UNUSED = (
    # Data in the tables, and options of tables that no stage has.
    *("dynamodb:*Item", "dynamodb:Query", "dynamodb:Scan", "dynamodb:*Replica"),
    *("dynamodb:*Import*", "dynamodb:[!D]*KinesisStreamingDestination"),
    *("dynamodb:DisableKinesisStreamingDestination", "dynamodb:UpdateContributorInsights"),
    *("dynamodb:PutResourcePolicy", "dynamodb:DeleteResourcePolicy"),
    # Objects in buckets, and options of buckets that no stage has.
    *("s3:DeleteObject", "s3:PutObjectAcl", "s3:[!G]*BucketMetadata*"),
    *("s3:PutAccelerate*", "s3:PutAnalytics*", "s3:PutIntelligent*", "s3:PutInventory*"),
    *("s3:PutMetrics*", "s3:PutReplication*", "s3:PutBucketAbac", "s3:PutBucketAcl"),
    *("s3:PutBucketCORS", "s3:PutBucketLogging", "s3:PutBucketNotification"),
    *("s3:PutBucketObjectLock*", "s3:[!G]*BucketWebsite", "secretsmanager:*Region*"),
    # Options of functions and logs that no stage has.
    "lambda:[!G]*ProvisionedConcurrencyConfig",
    *("lambda:PutFunctionCodeSigningConfig", "lambda:DeleteFunctionCodeSigningConfig"),
    *("lambda:GetCodeSigningConfig", "lambda:PassCapacityProvider"),
    *("lambda:PutFunctionScalingConfig", "logs:CreateLogStream", "logs:PutLogEvents"),
    *("logs:PutDataProtection*", "logs:DeleteDataProtection*", "logs:PutIndexPolicy"),
    *("logs:DeleteIndexPolicy", "logs:PutBearerToken*", "logs:PutLogGroupDeletionProtection"),
    # Principals and options that no stage has.
    *("iam:*GroupPolicy", "iam:*UserPolicy", "events:*Permission", "sns:PutDataProtection*"),
    *("ses:*Archiving*", "cloudfront:*ConnectionGroup", "cloudfront:GetVpcOrigin"),
    *("cloudfront:UpdateDistributionWithStagingConfig", "ec2:DescribeInstances"),
    "kms:ListAliases",
)
"""Patterns of actions that the schemas list for options that no stage has."""

ADDED: Mapping[str, tuple[str, ...]] = {
    # The access logs of the HTTP APIs.
    # https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging.html
    "functions": (
        *("logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups"),
        *("logs:DescribeResourcePolicies", "logs:GetLogDelivery", "logs:ListLogDeliveries"),
        *("logs:PutResourcePolicy", "logs:UpdateLogDelivery"),
    ),
}
"""Actions that the schemas do not list."""

PLACES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("acm", "certificate"): ("acm:*:*:certificate/*",),
    ("apigateway", "Api"): ("apigateway:*::/apis/*",),
    ("apigateway", "Apis"): ("apigateway:*::/apis", "apigateway:*::/apis/*"),
    ("apigateway", "DomainName"): ("apigateway:*::/domainnames/*",),
    ("apigateway", "DomainNames"): (
        "apigateway:*::/domainnames",
        "apigateway:*::/domainnames/*",
    ),
    ("apigateway", "Tags"): ("apigateway:*::/tags/*",),
    ("cloudfront", "distribution"): ("cloudfront::*:distribution/*",),
    ("cloudwatch", "alarm"): ("cloudwatch:*:*:alarm:gazette-*",),
    ("cloudwatch", "dashboard"): ("cloudwatch::*:dashboard/gazette-*",),
    ("dynamodb", "table"): ("dynamodb:*:*:table/GazetteData*",),
    ("ec2", "security-group"): ("ec2:*:*:security-group/*",),
    ("ec2", "vpc"): ("ec2:*:*:vpc/*",),
    ("events", "archive"): ("events:*:*:archive/gazette-*",),
    ("events", "event-bus"): ("events:*:*:event-bus/gazette*",),
    ("events", "rule-on-custom-event-bus"): ("events:*:*:rule/gazette*/Gazette*",),
    ("events", "rule-on-default-event-bus"): ("events:*:*:rule/Gazette*",),
    ("iam", "policy"): ("iam::*:policy/gazette-*",),
    ("iam", "role"): ("iam::*:role/Gazette*",),
    ("kms", "key"): ("kms:*:*:key/*",),
    ("lambda", "eventSourceMapping"): ("lambda:*:*:event-source-mapping:*",),
    ("lambda", "function"): ("lambda:*:*:function:gazette-*",),
    ("lambda", "function alias"): ("lambda:*:*:function:gazette-*",),
    ("lambda", "layer"): ("lambda:*:*:layer:Core*", "lambda:*:*:layer:Dependencies*"),
    ("lambda", "layerVersion"): ("lambda:*:*:layer:Core*:*", "lambda:*:*:layer:Dependencies*:*"),
    ("logs", "log-group"): (
        "logs:*:*:log-group:/aws/lambda/gazette-*",
        "logs:*:*:log-group:/aws/vendedlogs/gazette-*",
    ),
    ("route53", "change"): ("route53:::change/*",),
    ("route53", "hostedzone"): ("route53:::hostedzone/*",),
    ("s3", "bucket"): ("s3:::gazettedata*",),
    ("s3", "object"): ("s3:::cdk-*-assets-*",),
    ("scheduler", "schedule"): ("scheduler:*:*:schedule/default/Gazette*",),
    ("secretsmanager", "Secret"): (
        "secretsmanager:*:*:secret:LinksKey*",
        "secretsmanager:*:*:secret:SuppressionsKey*",
    ),
    ("ses", "configuration-set"): ("ses:*:*:configuration-set/gazette-*",),
    ("ses", "identity"): ("ses:*:*:identity/*",),
    ("sns", "topic"): ("sns:*:*:Gazette*",),
    ("sqs", "queue"): ("sqs:*:*:gazette-*",),
    ("ssm", "parameter"): ("ssm:*:*:parameter/gazette/*", "ssm:*:*:parameter/cdk-bootstrap/*"),
    ("wafv2", "webacl"): ("wafv2:*:*:global/webacl/*",),
}
"""The names of a stage's resources, by the service and its type of resource. The prefixes are those
that Gazette chooses, or the beginning of the name of a stack, which CloudFormation uses."""

CONDITIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "iam:PassRole": (
        "iam::*:role/Gazette*",
        {
            "StringEquals": {
                "iam:PassedToService": ["lambda.amazonaws.com", "scheduler.amazonaws.com"]
            }
        },
    ),
    # https://docs.aws.amazon.com/apigateway/latest/developerguide/using-service-linked-roles.html
    "iam:CreateServiceLinkedRole": (
        "iam::*:role/aws-service-role/ops.apigateway.amazonaws.com/*",
        {"StringEquals": {"iam:AWSServiceName": "ops.apigateway.amazonaws.com"}},
    ),
}
"""Actions with a resource and a condition of their own."""


BOUNDARY = (
    "cloudwatch:GetMetricData",
    *("dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem"),
    *("dynamodb:DeleteItem", "dynamodb:DescribeStream", "dynamodb:GetItem"),
    *("dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"),
    *("dynamodb:PutItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:UpdateItem"),
    *("ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface"),
    *("ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"),
    *("ec2:UnassignPrivateIpAddresses", "events:PutEvents", "kms:Decrypt"),
    *("kms:GenerateDataKey", "lambda:InvokeFunction", "logs:CreateLogStream"),
    *("logs:PutLogEvents", "s3:GetObject", "s3:ListBucket", "s3:PutObject"),
    *("secretsmanager:GetSecretValue", "ses:GetAccount", "ses:SendEmail"),
    *("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes"),
    *("sqs:GetQueueUrl", "sqs:ReceiveMessage", "sqs:SendMessage"),
)
"""The actions of all roles of a stage, which a permission boundary must allow."""


def actions(policy: str) -> set[str]:
    """Return the actions of a policy."""
    listed = {action for kinds in TYPES.values() for kind in kinds for action in _of_type(kind)}
    listed |= set(ADDED.get(policy, ()))
    return {
        action
        for action in listed
        if action.split(":")[0] in SERVICES[policy]
        and resource_types(action) is not None
        and not any(fnmatchcase(action, each) for each in UNUSED)
    }


def _of_type(kind: str) -> Iterator[str]:
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # takes a second

    handlers = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, kind).schema["handlers"]
    for handler in ("create", "read", "update", "delete"):
        yield from handlers.get(handler, {}).get("permissions", ())


def resource_types(action: str) -> tuple[str, ...] | None:
    """Return the types of resources that an action supports. None if IAM knows no such action."""
    service, name = action.split(":")
    found = _reference()[service]["Actions"].get(name.lower()) if name[0].isupper() else None
    return None if found is None else tuple(found.get("Resources", ()))


@cache
def _reference() -> dict[str, Any]:
    file = files("cfnlint") / "data" / "AdditionalSpecs" / "Policies.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
