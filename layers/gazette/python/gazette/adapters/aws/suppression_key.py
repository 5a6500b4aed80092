"""The key of the hashes of suppressed addresses, in Secrets Manager. It never changes."""

from gazette.adapters.aws.secrets import read_secret
from gazette.domain.errors import InvalidKeys
from gazette.domain.links import SHORTEST_KEY


def read_suppression_key(secret: str) -> bytes:
    """One GetSecretValue for the key in `secret`, a name or an ARN.

    Raises Unavailable if the key cannot be read, and InvalidKeys if it is invalid. Neither means
    that an address is not suppressed, because only the key can tell.
    """
    key = read_secret(secret, "The key of the suppressions").get("SecretString", "")
    if len(key) < SHORTEST_KEY or not key.isascii() or any(map(str.isspace, key)):
        raise InvalidKeys(
            f"The secret {secret} does not contain the key of the suppressions, {SHORTEST_KEY} or "
            "more ASCII characters without spaces. Restore the value with which the tables were "
            "written: no other key recognises the suppressed addresses."
        )
    return key.encode()
