"""Secrets Manager with short time-outs, because SQS delivers the messages again after a failure."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.clients import Patience, client
from gazette.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_secretsmanager.type_defs import GetSecretValueResponseTypeDef

PATIENCE = Patience(connect=1, read=2, attempts=2)
"""Lambda allows ten seconds for the start of a function, even if one service does not answer.
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html"""


def secrets_client() -> "SecretsManagerClient":
    """Return the client, which all secrets of a process share."""
    secrets: SecretsManagerClient = client("secretsmanager", PATIENCE)
    return secrets


def read_secret(secret: str, meaning: str) -> "GetSecretValueResponseTypeDef":
    """One GetSecretValue. `secret` is a name or an ARN; `meaning` names the secret in the error.

    Raises Unavailable if it cannot be read.
    """
    try:
        return secrets_client().get_secret_value(SecretId=secret)
    except (BotoCoreError, ClientError) as err:
        raise Unavailable(f"{meaning} cannot be read: {err}") from err
