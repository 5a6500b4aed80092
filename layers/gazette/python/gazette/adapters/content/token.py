"""The bearer token of a recommendation service, in Secrets Manager."""

from gazette.adapters.aws.secrets import read_secret
from gazette.domain.errors import InvalidKeys


def read_token(secret: str) -> str:
    """Read the token from a secret with one GetSecretValue, and strip surrounding spaces.

    Raises Unavailable if the token cannot be read. Raises InvalidKeys if the token contains
    characters that an Authorization header does not allow (RFC 6750, section 2.1).
    """
    token = (
        read_secret(secret, "The recommendation service's token").get("SecretString", "").strip()
    )
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidKeys(
            f"The secret {secret} does not contain a bearer token. Store only the token as the "
            "text of the secret, in printable ASCII without spaces."
        )
    return token
