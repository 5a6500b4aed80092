"""The AWS identity of the caller."""

from typing import Any

import boto3

from gazette_cli.shared.aws_errors import refusals_in_words


def caller() -> str:
    """Return the ARN of the user or role session, with one GetCallerIdentity call. Raises
    NotPossible.

    The operation needs no permission, and works even if a policy denies it:
    https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
    """
    with refusals_in_words("your credentials", service="sts"):
        client: Any = boto3.client("sts")
        return str(client.get_caller_identity()["Arn"])
