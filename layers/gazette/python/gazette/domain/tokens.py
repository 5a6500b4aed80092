"""Signed links: what lets a reader act without a login. Pure; the key comes in."""

import base64
import binascii
import hashlib
import hmac

from gazette.domain.errors import InvalidToken

_SIGNATURE_BYTES = 16


def sign(user_id: str, *, purpose: str, key: bytes) -> str:
    """A token, `[A-Za-z0-9_.-]`, that proves this installation made a link for `user_id`.

    `purpose` keeps a token for one act from being used for another. HMAC-SHA-256 (RFC 2104),
    cut to 128 bits: long enough that none can be guessed, short enough for a header.
    """
    return f"{_encode(user_id.encode())}.{_encode(_signature(user_id, purpose, key))}"


def verify(token: str, *, purpose: str, key: bytes) -> str:
    """The user id that `token` was signed for. Raises InvalidToken for any other text."""
    payload, _, _ = token.partition(".")
    try:
        user_id = _decode(payload).decode()
    except (binascii.Error, UnicodeError) as err:
        raise InvalidToken("This link is incomplete. Open it again from the email.") from err
    genuine = sign(user_id, purpose=purpose, key=key)
    if not hmac.compare_digest(token.encode(), genuine.encode()):
        raise InvalidToken("This link was not made by this service, or was cut off on the way.")
    return user_id


def _signature(user_id: str, purpose: str, key: bytes) -> bytes:
    message = f"{purpose}\n{user_id}".encode()
    return hmac.new(key, message, hashlib.sha256).digest()[:_SIGNATURE_BYTES]


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    padded = text.encode("ascii") + b"=" * (-len(text) % 4)
    return base64.b64decode(padded, altchars=b"-_", validate=True)
