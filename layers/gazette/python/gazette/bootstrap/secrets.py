"""Secrets Manager, read once per process."""

from aws_lambda_powertools.utilities.parameters import get_secret


def links_key(secret: str) -> bytes:
    """The key that signs the readers' links. One GetSecretValue at cold start."""
    return str(get_secret(secret)).encode()
