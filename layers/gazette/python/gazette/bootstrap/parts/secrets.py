"""What is kept in Secrets Manager."""

from gazette.adapters.aws.link_keys import CachedKeys, SecretKeyStore
from gazette.bootstrap.parts.clock import now


def link_keys(secret: str) -> CachedKeys:
    """The keys that sign the readers' links. One GetSecretValue at cold start."""
    return CachedKeys(SecretKeyStore(secret), clock=now)
