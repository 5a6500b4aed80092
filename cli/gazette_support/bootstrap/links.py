"""Dependencies of `gazette links`."""

import secrets

from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.settings.preferences import PreferencesSettings


def build_links(settings: PreferencesSettings) -> SecretKeyStore:
    """Return the `KeyStore` of the link-signing keys, from the settings of preferences."""
    return SecretKeyStore(settings.links_secret)


def draw_key() -> str:
    """Return a random key of 64 characters."""
    return secrets.token_urlsafe(48)
