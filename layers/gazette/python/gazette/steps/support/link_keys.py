"""Rotate the keys that sign links: add a new key, retire an old one."""

from collections.abc import Callable

from gazette.domain.errors import InvalidKeys, Overtaken
from gazette.domain.links import LinkKeys
from gazette.domain.ports.rendering import KeyStore


def rotate(*, store: KeyStore, draw_key: Callable[[], str]) -> LinkKeys:
    """Add the next key, which signs from now on; older keys still verify. Returns all keys.

    Raises Overtaken if another process changed the keys at the same time.
    """
    keys = store.read().with_next(draw_key())
    return _stored(keys, store)


def retire(key_id: str, *, store: KeyStore, draw_key: Callable[[], str] | None = None) -> LinkKeys:
    """Remove a key. Return the remaining keys.

    `draw_key`: given if the key leaked. If the key signs, the next one replaces it in the same
    write. Raises InvalidKeys if there is no such key or, without `draw_key`, if it is the newest;
    and Overtaken if another process changed the keys at the same time.
    """
    keys = store.read()
    refuse_to_retire(key_id, keys, leaked=draw_key is not None)
    if draw_key and key_id == keys.newest:
        keys = keys.with_next(draw_key())
    return _stored(keys.without(key_id), store)


def refuse_to_retire(key_id: str, keys: LinkKeys, *, leaked: bool) -> None:
    """Raise InvalidKeys if `retire` would."""
    if key_id not in keys.by_id:
        raise InvalidKeys(f"There is no key {key_id!r}. The keys are {', '.join(keys.ids)}.")
    if key_id == keys.newest and not leaked:
        raise InvalidKeys(
            f"{key_id} is the newest key and signs. Rotate first, then retire it. If it leaked, "
            "retire it with --now."
        )


def _stored(keys: LinkKeys, store: KeyStore) -> LinkKeys:
    if not store.replace(keys):
        raise Overtaken("Another process changed the keys at the same time. Try again.")
    return keys
