"""The key of the links is changed: a new one signs, and an old one is given up."""

from collections.abc import Callable

from gazette.domain.errors import InvalidKeys, Overtaken
from gazette.domain.links import LinkKeys
from gazette.domain.ports.rendering import KeyStore


def rotate(*, store: KeyStore, draw_key: Callable[[], str]) -> LinkKeys:
    """Add the next key, which signs from now on; all others still verify. Returns them all.

    Raises Overtaken where somebody else changed them at the same moment.
    """
    keys = store.read().with_next(draw_key())
    return _stored(keys, store)


def retire(key_id: str, *, store: KeyStore) -> LinkKeys:
    """Take out a key that no longer signs. Returns those that are left.

    Raises InvalidKeys where there is no such key or it is the newest, and Overtaken where somebody
    else changed them at the same moment.
    """
    keys = store.read()
    refuse_to_retire(key_id, keys)
    return _stored(keys.without(key_id), store)


def refuse_to_retire(key_id: str, keys: LinkKeys) -> None:
    """Raises InvalidKeys where `retire` would."""
    if key_id not in keys.by_id:
        raise InvalidKeys(f"There is no key {key_id!r}: there is {', '.join(keys.ids)}.")
    if key_id == keys.newest:
        raise InvalidKeys(f"{key_id} is the newest and signs: rotate first, and retire it later.")


def _stored(keys: LinkKeys, store: KeyStore) -> LinkKeys:
    if not store.replace(keys):
        raise Overtaken("Somebody else changed the keys at the same moment: look, and try again.")
    return keys
