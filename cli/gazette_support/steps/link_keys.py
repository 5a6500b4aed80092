"""Rotate the keys that sign links: add a new key, or retire an old key."""

from collections.abc import Callable

from gazette.domain.errors import InvalidKeys, Overtaken
from gazette.domain.links import LinkKeys
from gazette.domain.ports.rendering import KeyStore


def rotate(*, store: KeyStore, draw_key: Callable[[], str]) -> LinkKeys:
    """Add a new key, which signs new links. Older keys still verify links. Return all keys.

    Raises Overtaken if another process changed the keys at the same time.
    """
    keys = store.read().with_next(draw_key())
    return _stored(keys, store)


def retire(key_id: str, *, store: KeyStore, draw_key: Callable[[], str] | None = None) -> LinkKeys:
    """Remove a key. Return the remaining keys.

    `draw_key` is specified if the key was leaked. If the leaked key is the newest, a new key
    replaces it in the same write. Raises InvalidKeys if the key does not exist, or if it is the
    newest key and `draw_key` is None. Raises Overtaken if another process changed the keys at the
    same time.
    """
    keys = store.read()
    refuse_to_retire(key_id, keys, leaked=draw_key is not None)
    if draw_key and key_id == keys.newest:
        keys = keys.with_next(draw_key())
    return _stored(keys.without(key_id), store)


def refuse_to_retire(key_id: str, keys: LinkKeys, *, leaked: bool) -> None:
    """Raise InvalidKeys if the key cannot be retired."""
    if key_id not in keys.by_id:
        raise InvalidKeys(f"Key {key_id!r} does not exist. The keys are {', '.join(keys.ids)}.")
    if key_id == keys.newest and not leaked:
        raise InvalidKeys(
            f"{key_id} is the newest key, which signs new links. Rotate the keys first, then "
            "retire it. If the key was leaked, retire it with --now."
        )


def _stored(keys: LinkKeys, store: KeyStore) -> LinkKeys:
    if not store.replace(keys):
        raise Overtaken("Another process changed the keys at the same time. Try again.")
    return keys
