"""The key of what is stored of suppressed addresses, in Secrets Manager. It never changes."""

from gazette.adapters.aws.secrets import read_secret
from gazette.domain.errors import InvalidKeys
from gazette.domain.links import SHORTEST_KEY


def read_suppression_key(secret: str) -> bytes:
    """The key in `secret`, a name or an ARN. One GetSecretValue.

    Raises Unavailable if it cannot be read, and InvalidKeys if it cannot be a key. Neither may be
    taken for "nobody is suppressed": without the key nobody can tell.
    """
    key = read_secret(secret, "The key of the suppressions").get("SecretString", "")
    if len(key) < SHORTEST_KEY or not key.isascii() or any(map(str.isspace, key)):
        raise InvalidKeys(
            f"The secret {secret} does not contain the key of the suppressions, {SHORTEST_KEY} or "
            "more ASCII characters without spaces. Restore the value with which the tables were "
            "written: with any other key no suppressed address is known as such."
        )
    return key.encode()
