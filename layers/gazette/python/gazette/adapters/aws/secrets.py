"""Secrets Manager, which waits briefly: messages wait for the answer and are delivered again."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.clients import Patience, client
from gazette.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_secretsmanager.type_defs import GetSecretValueResponseTypeDef

PATIENCE = Patience(connect=1, read=2, attempts=2)
"""A function that starts must be built within Lambda's ten seconds, even if one service is silent.
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
"""


def secrets_client() -> "SecretsManagerClient":
    """The client, which all secrets of a process share."""
    secrets: SecretsManagerClient = client("secretsmanager", PATIENCE)
    return secrets


def read_secret(secret: str, meaning: str) -> "GetSecretValueResponseTypeDef":
    """One GetSecretValue. `secret` is a name or an ARN; `meaning` is what the error calls it.

    Raises Unavailable if it cannot be read.
    """
    try:
        return secrets_client().get_secret_value(SecretId=secret)
    except (BotoCoreError, ClientError) as err:
        raise Unavailable(f"{meaning} cannot be read: {err}") from err
