"""Signed links: what lets a reader act without a login. Pure; the keys come in."""

import base64
import binascii
import hashlib
import hmac
from enum import StrEnum

from gazette.domain.errors import InvalidToken, UnknownKey
from gazette.domain.links.keys import KEY_ID, LinkKeys

_SIGNATURE_BYTES = 16


class Purpose(StrEnum):
    """What a link is for: a token of one never does for another.

    Each names the run whose email holds it: so it is known which email a reader left by.
    """

    UNSUBSCRIBE = "unsubscribe"
    PREFERENCES = "preferences"
    RUN = "run"


def sign(payload: str, *, purpose: Purpose, keys: LinkKeys) -> str:
    """A token, `[A-Za-z0-9_.-]`, that proves this installation made a link for `payload`.

    `<key id>.<payload>.<signature>`, by the newest key. HMAC-SHA-256 (RFC 2104), cut to 128 bits:
    long enough that none can be guessed, short enough for a header.
    """
    return _token(payload, purpose, keys.newest, keys.by_id[keys.newest])


def verify(token: str, *, purpose: Purpose, keys: LinkKeys) -> str:
    """The payload that `token` was signed for.

    Raises UnknownKey where it names a key that is not among `keys`, and InvalidToken for any other
    text that none of them signed for `purpose`.
    """
    key_id, _, signed = token.partition(".")
    if not KEY_ID.fullmatch(key_id):
        raise InvalidToken("This link names no key.")
    if key_id not in keys.by_id:
        raise UnknownKey("This link names a key that is not known.")
    try:
        payload = _decode(signed.partition(".")[0]).decode()
    except (binascii.Error, UnicodeError) as err:
        raise InvalidToken("This link is incomplete.") from err
    genuine = _token(payload, purpose, key_id, keys.by_id[key_id])
    if not hmac.compare_digest(token.encode(errors="replace"), genuine.encode()):
        raise InvalidToken("This link was not made by this service, or was altered.")
    return payload


def _token(payload: str, purpose: Purpose, key_id: str, key: bytes) -> str:
    message = f"{purpose}\n{payload}".encode()
    signature = hmac.new(key, message, hashlib.sha256).digest()[:_SIGNATURE_BYTES]
    return f"{key_id}.{_encode(payload.encode())}.{_encode(signature)}"


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    padded = text.encode("ascii") + b"=" * (-len(text) % 4)
    return base64.b64decode(padded, altchars=b"-_", validate=True)
