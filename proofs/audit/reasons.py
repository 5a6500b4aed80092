"""What the tools find in a stage, and why it is right here: rule, then reason."""

from collections.abc import Mapping
from types import MappingProxyType

CDK_NAG: Mapping[str, str] = MappingProxyType(
    {
        "AwsSolutions-SMG4": (
            "Old keys must stay while links signed with them are to work: rotated by hand."
        ),
        "AwsSolutions-APIG4": (
            "Readers need no login: each link is signed, and the function looks."
        ),
        "AwsSolutions-IAM5[Resource::*]": "SES's quota and metrics have no resources to name.",
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:"
        "identity/*]": "In the sandbox SES asks for the recipient's, too; a condition names the "
        "sender.",
        "AwsSolutions-IAM5[Resource::GazetteDataProd:ExportsOutputFnGetAttTemplates785E9C36Arn/"
        "versions/*]": "Each version of the templates is an object of its own.",
        "AwsSolutions-S1": (
            "A handful of reads by functions a day. Who changed what is in force is in the table "
            "control, and CloudTrail can log who reads objects."
        ),
        "AwsSolutions-DDB3": "What the other tables hold is told again, or soon over (restorable).",
        "AwsSolutions-L1": "The layers are built and tested for Python 3.13.",
        "AwsSolutions-SQS3": (
            "These are where undelivered and refused messages end; each has an alarm."
        ),
        "AwsSolutions-CFR1": "Readers are everywhere.",
        "AwsSolutions-CFR3": "A log of CloudFront has paths, and paths hold tokens.",
    }
)
"""Rules of AWS Solutions."""

CFN_LINT: Mapping[str, str] = MappingProxyType(
    {"W3005": "CDK writes DependsOn also where a GetAtt says it already; it does no harm."}
)

_KEY_OF_AWS = (
    "Encrypted with a key of the service. One of your own costs a dollar a month and each request, "
    "and SES, SNS and EventBridge would have to be let in to it."
)
CHECKOV: Mapping[str, str] = MappingProxyType(
    {
        "CKV_AWS_18": (
            "A handful of reads by functions a day. Who changed what is in force is in the table "
            "control, and CloudTrail can log who reads objects."
        ),
        "CKV_AWS_26": _KEY_OF_AWS,
        "CKV_AWS_27": "SQS encrypts by itself (SSE-SQS); " + _KEY_OF_AWS,
        "CKV_AWS_119": _KEY_OF_AWS,
        "CKV_AWS_149": _KEY_OF_AWS,
        "CKV_AWS_158": _KEY_OF_AWS,
        "CKV_AWS_173": "No secret is in an environment: it has the names of secrets.",
        "CKV_AWS_28": "What these tables hold is told again, or soon over (restorable).",
        "CKV_AWS_86": "A log of CloudFront has paths, and paths hold tokens.",
        "CKV_AWS_115": (
            "The mappings bound what a queue starts, and the API's throttle what readers do; "
            "reserved concurrency is taken from the account."
        ),
        "CKV_AWS_116": (
            "Queues have dead-letter queues, and ticks a destination for failures; a request of a "
            "reader has nowhere to wait."
        ),
        "CKV_AWS_117": "Functions call AWS alone, or the SMTP server; a VPC would need a NAT.",
        "CKV_AWS_192": "Nothing here is Java.",
    }
)
