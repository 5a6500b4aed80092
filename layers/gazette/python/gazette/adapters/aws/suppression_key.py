"""The key for hashing suppressed addresses, stored in Secrets Manager. The key never changes."""

from gazette.adapters.aws.secrets import read_secret
from gazette.domain.errors import InvalidKeys
from gazette.domain.links import SHORTEST_KEY


def read_suppression_key(secret: str) -> bytes:
    """Read the key with one GetSecretValue. `secret` is a name or an ARN.

    Raises Unavailable if the key cannot be read, and InvalidKeys if it is invalid. Callers must not
    treat an address as unsuppressed in either case.
    """
    key = read_secret(secret, "The suppression key").get("SecretString", "")
    if len(key) < SHORTEST_KEY or not key.isascii() or any(map(str.isspace, key)):
        raise InvalidKeys(
            f"The secret {secret} does not contain a suppression key of {SHORTEST_KEY} or more "
            f"ASCII characters without spaces. Restore the original value: with any other key, "
            f"suppressed addresses are not recognised."
        )
    return key.encode()
