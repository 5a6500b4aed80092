"""Who runs the command, as AWS knows them."""

from typing import Any

import boto3

from cli.shared.aws_errors import refusals_in_words


def caller() -> str:
    """The ARN of the user or of the session of a role. One GetCallerIdentity. Raises NotPossible.

    It takes no permission, and answers also where a policy denies it:
    https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
    """
    with refusals_in_words("your credentials", service="sts"):
        client: Any = boto3.client("sts")
        return str(client.get_caller_identity()["Arn"])
