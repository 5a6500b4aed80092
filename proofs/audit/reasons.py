"""The findings of the tools that are accepted, with the reason for each rule."""

from collections.abc import Mapping
from types import MappingProxyType

CDK_NAG: Mapping[str, str] = MappingProxyType(
    {
        "AwsSolutions-SMG4": (
            "Old keys must stay as long as links signed with them work. Keys are rotated by hand."
        ),
        "AwsSolutions-APIG4": (
            "Readers need no login, because each link is signed and the function verifies it."
        ),
        "AwsSolutions-IAM5[Resource::*]": "SES's quota and metrics do not support resources.",
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:"
        "identity/*]": "In the sandbox SES also requires the recipient's identity; a condition "
        "restricts the sender.",
        "AwsSolutions-IAM5[Resource::GazetteDataProd:ExportsOutputFnGetAttTemplates785E9C36Arn/"
        "versions/*]": "Each version of the templates is a separate object.",
        "AwsSolutions-S1": (
            "Functions read it a few times a day. The table control records changes of the "
            "active version, and CloudTrail can log reads of objects."
        ),
        "AwsSolutions-DDB3": (
            "The rows of the other tables can be supplied again, or expire soon (restorable)."
        ),
        "AwsSolutions-L1": "The layers are built and tested for Python 3.13.",
        "AwsSolutions-SQS3": (
            "These queues receive undelivered and rejected messages; each has an alarm."
        ),
        "AwsSolutions-CFR1": "Readers are everywhere.",
        "AwsSolutions-CFR3": "A CloudFront log contains paths, and paths contain tokens.",
    }
)
"""Rules of AWS Solutions."""

CFN_LINT: Mapping[str, str] = MappingProxyType(
    {"W3005": "The CDK adds DependsOn even where a GetAtt implies it, which is harmless."}
)

_KEY_OF_AWS = (
    "Encrypted with a key of the service, unless the app passes one. A customer managed key costs "
    "a dollar a month and a fee for each request."
)
CHECKOV: Mapping[str, str] = MappingProxyType(
    {
        "CKV_AWS_18": (
            "Functions read it a few times a day. The table control records changes of the "
            "active version, and CloudTrail can log reads of objects."
        ),
        "CKV_AWS_26": _KEY_OF_AWS,
        "CKV_AWS_27": "SQS encrypts by itself (SSE-SQS); " + _KEY_OF_AWS,
        "CKV_AWS_119": _KEY_OF_AWS,
        "CKV_AWS_149": _KEY_OF_AWS,
        "CKV_AWS_158": _KEY_OF_AWS,
        "CKV_AWS_173": "Environments contain the names of secrets, but no secret.",
        "CKV_AWS_28": (
            "The rows of these tables can be supplied again, or expire soon (restorable)."
        ),
        "CKV_AWS_86": "A CloudFront log contains paths, and paths contain tokens.",
        "CKV_AWS_115": (
            "The mappings limit a queue's concurrency, and the API's throttle that of readers; "
            "reserved concurrency is taken from the account."
        ),
        "CKV_AWS_116": (
            "Queues have dead-letter queues, and ticks a destination for failures; a reader's "
            "request cannot wait."
        ),
        "CKV_AWS_117": (
            "Functions call only AWS or the SMTP server; a VPC would need a NAT. The app may pass "
            "a VPC for the content function."
        ),
        "CKV_AWS_192": "The stage does not use Java.",
    }
)
