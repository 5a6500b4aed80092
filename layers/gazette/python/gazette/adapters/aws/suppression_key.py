"""The key of what is stored of suppressed addresses, in Secrets Manager. It never changes."""

from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.domain.links import SHORTEST_KEY

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

_CONFIG = Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 2})
"""Short, because a message waits for the answer, which then is delivered again."""


def read_suppression_key(secret: str) -> bytes:
    """The key in `secret`, a name or an ARN. One GetSecretValue.

    Raises Unavailable if it cannot be read, and InvalidKeys if it cannot be a key. Neither may be
    taken for "nobody is suppressed": without the key nobody can tell.
    """
    client: SecretsManagerClient = boto3.client("secretsmanager", config=_CONFIG)
    try:
        key = client.get_secret_value(SecretId=secret).get("SecretString", "")
    except (BotoCoreError, ClientError) as err:
        raise Unavailable(f"The key of the suppressions cannot be read: {err}") from err
    if len(key) < SHORTEST_KEY or not key.isascii() or any(map(str.isspace, key)):
        raise InvalidKeys(
            f"The secret {secret} does not contain the key of the suppressions, {SHORTEST_KEY} or "
            "more ASCII characters without spaces. Restore the value with which the tables were "
            "written: with any other key no suppressed address is known as such."
        )
    return key.encode()
