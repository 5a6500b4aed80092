"""What is kept in Secrets Manager."""

from gazette.adapters.aws.link_keys import KeptKeys, SecretKeyStore
from gazette.bootstrap.parts.clock import now


def link_keys(secret: str) -> KeptKeys:
    """The keys that sign the readers' links. One GetSecretValue at cold start."""
    return KeptKeys(SecretKeyStore(secret), clock=now)
