"""Access to Secrets Manager. Time-outs are short, because SQS redelivers a message if its function
fails.
"""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.clients import Patience, client
from gazette.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_secretsmanager.type_defs import GetSecretValueResponseTypeDef

PATIENCE = Patience(connect=1, read=2, attempts=2)
"""The time-outs and retry limit for reading secrets. Lambda allows a function ten seconds to
initialize, even if a service does not respond.
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html"""


def secrets_client() -> "SecretsManagerClient":
    """Return the Secrets Manager client that a process uses for all secrets."""
    secrets: SecretsManagerClient = client("secretsmanager", PATIENCE)
    return secrets


def read_secret(secret: str, meaning: str) -> "GetSecretValueResponseTypeDef":
    """Read a secret with one GetSecretValue. `secret` is a name or an ARN.

    `meaning` is the name of the secret in error messages. Raises Unavailable if the secret cannot
    be read.
    """
    try:
        return secrets_client().get_secret_value(SecretId=secret)
    except (BotoCoreError, ClientError) as err:
        raise Unavailable(f"{meaning} cannot be read: {err}") from err
