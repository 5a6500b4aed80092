"""Links for readers: the URLs that an email may show, and signed tokens. Pure.

A token replaces a login, so a person who has the keys can act for any reader.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any

from gazette.domain.errors import InvalidKeys, InvalidToken
from gazette.domain.identity import address_hash, parse_run_id, run_id
from gazette.domain.model import RunKey
from gazette.domain.subscribers.subscriber import Reader, Subscriber

LONGEST_URL = 2000
"""Characters. Longer URLs may be cut off or rejected on their way to a browser."""

_WEB = re.compile(r"https?://[A-Za-z0-9\[][!#-;=?-~]*")
"""An absolute http or https URL (RFC 3986) without quotes, angle brackets and spaces."""


def is_web_link(url: str) -> bool:
    """Return True if an email may link to it: http or https, and short enough not to be cut off."""
    return len(url) <= LONGEST_URL and _WEB.fullmatch(url) is not None


KEY_ID = re.compile(r"k[1-9][0-9]{0,5}")
"""The ids `k1`, `k2`, … of keys. The key with the highest number is the newest."""

SHORTEST_KEY = 32
"""Characters. With a key that can be guessed, an attacker could unsubscribe every reader."""


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """The keys by id, at least one. `repr` does not show them."""

    by_id: Mapping[str, bytes] = field(repr=False)

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids, the oldest first."""
        return tuple(sorted(self.by_id, key=_number))

    @property
    def newest(self) -> str:
        """The id of the key that signs."""
        return self.ids[-1]

    def with_next(self, key: str) -> "LinkKeys":
        """Return these keys and `key`, which has the next number and signs from now on.

        Raises InvalidKeys if there is no valid number left.
        """
        key_id = f"k{_number(self.newest) + 1}"
        if not KEY_ID.fullmatch(key_id):
            raise InvalidKeys(f"there is no number after {self.newest}")
        return LinkKeys({**self.by_id, key_id: key.encode()})

    def without(self, key_id: str) -> "LinkKeys":
        """Return these keys without one, whose links are no longer accepted. Never the newest."""
        if key_id == self.newest:
            raise ValueError(f"{key_id} is the key that signs")
        return LinkKeys({name: key for name, key in self.by_id.items() if name != key_id})

    def to_json(self) -> str:
        """Return the keys as JSON, in the form of the secret. `read_keys` parses it."""
        return json.dumps({key_id: self.by_id[key_id].decode() for key_id in self.ids})


def read_keys(content: str) -> LinkKeys:
    """Return the keys in the content of a secret, such as `{"k1": "…"}`.

    Raises InvalidKeys, whose message never contains the content.
    """
    try:
        keys: Any = json.loads(content)
    except ValueError:
        raise InvalidKeys("it is not JSON") from None  # the cause would quote the content
    if not isinstance(keys, dict) or not keys:
        raise InvalidKeys("it is not a JSON object with at least one key")
    for key_id, key in keys.items():
        if not KEY_ID.fullmatch(key_id):
            raise InvalidKeys("one of its key ids is not k1, k2, … up to k999999")
        if not isinstance(key, str) or len(key) < SHORTEST_KEY:
            raise InvalidKeys(f"{key_id} is not a string of at least {SHORTEST_KEY} characters")
    try:
        return LinkKeys({key_id: key.encode() for key_id, key in keys.items()})
    except UnicodeError:
        raise InvalidKeys("a key contains a lone surrogate, which is not valid text") from None


def _number(key_id: str) -> int:
    return int(key_id[1:])


_SIGNATURE_BYTES = 16


class Purpose(StrEnum):
    """The purpose of a link. A token for one purpose is never valid for another."""

    UNSUBSCRIBE = "unsubscribe"
    PREFERENCES = "preferences"
    RUN = "run"
    UNDO = "undo"

    @property
    def lifetime(self) -> timedelta:
        """The time for which a link works. People search kept emails for the unsubscribe link."""
        return timedelta(days=730 if self is Purpose.UNSUBSCRIBE else 90)


NEW_LINK = "new-link"
"""The category of the event that sends a reader a new link to their preferences.

No service can publish such an event, or one that shares its email, because in the contract neither
a category nor an entity type may contain a hyphen (identity.CATEGORY_NAME).
"""


class ScopeKind(StrEnum):
    """The kind of emails that a link concerns.

    Tokens contain the values, so they are short and never change.
    """

    EVERYTHING = "all"
    """All emails to the address."""

    DIGESTS = "d"
    """All digests."""

    IMMEDIATE = "i"
    """Immediate emails, of some categories or of all."""

    CATEGORY = "c"
    """One category, in digests and immediate emails."""

    ENTITY = "e"
    """One follow."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The emails that a link concerns."""

    kind: ScopeKind
    names: tuple[str, ...] = ()
    """The categories, or the marks of entities (`entity_mark`)."""


EVERYTHING = Scope(ScopeKind.EVERYTHING)
"""The scope of a link that concerns all emails to its address."""

DIGESTS = Scope(ScopeKind.DIGESTS)

_SCOPE = re.compile(
    r"all|d|i|(?:i|c):[a-z][a-z0-9_]{0,31}(?:,[a-z][a-z0-9_]{0,31})*|e:[\w-]{12}(?:,[\w-]{12})?",
    re.ASCII,
)

MOST_NAMED = 8
"""The largest number of categories in a link, so that it fits a header."""


def entity_mark(entity: str) -> str:
    """Return the mark of an entity in links: 12 characters of the SHA-256 of its key."""
    return _encode(hashlib.sha256(entity.encode()).digest()[:9])


def immediate_of(categories: Sequence[str]) -> Scope:
    """Return the scope of the immediate emails of these categories; of all if there are too
    many."""
    return Scope(ScopeKind.IMMEDIATE, tuple(categories) if len(categories) <= MOST_NAMED else ())


_HASH_DIGITS = 64
"""The length of a SHA-256 in hex."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class LinkToken:
    """The content of a link's token: the email that contained it, and the address of that email."""

    run: RunKey
    """The run of the email."""

    address: str
    """The hash of the address (identity.address_hash)."""

    since: datetime | None
    """The reader's `addressed_after` at that time."""

    issued_on: date
    """The UTC date on which the run was due."""

    scope: Scope = EVERYTHING
    """The emails that the link concerns.

    A version that does not know a scope must not treat it as everything.
    """

    @classmethod
    def of(cls, run: RunKey, due_at: datetime, reader: Subscriber) -> "LinkToken":
        """Return the token for the email to this reader of a run that was due at `due_at`."""
        issued_on = due_at.astimezone(UTC).date()
        return cls(run, address_hash(reader.email), reader.addressed_after, issued_on)

    def is_for(self, reader: Reader) -> bool:
        """Return True if the reader is the same, and has had the same address since the email.

        `since` differs after an erasure and after a change of address, unless services report
        several of them at one instant.
        """
        return (
            isinstance(reader, Subscriber)
            and self.since == reader.addressed_after
            and self.address == address_hash(reader.email)
        )

    def is_for_registration_of(self, reader: Subscriber) -> bool:
        """Return True if the user id has not been erased since, even if the address changed."""
        if reader.erased_at is None:
            return True
        return self.since is not None and self.since >= reader.erased_at

    def has_expired(self, purpose: Purpose, today: date) -> bool:
        """Return True if a link with this token is too old for `purpose`."""
        return today - self.issued_on > purpose.lifetime

    def to_text(self) -> str:
        """Return the payload of the token; `read_link` parses it."""
        since = "" if self.since is None else str((self.since - _EPOCH) // _MICROSECOND)
        address = _encode(bytes.fromhex(self.address))
        issued_on = self.issued_on.toordinal()
        scope = ":".join(filter(None, (self.scope.kind.value, ",".join(self.scope.names))))
        return f"{run_id(self.run)}.{scope}.{since}.{issued_on}.{address}"


def read_link(text: str) -> LinkToken:
    """Return the token with this payload. Raises InvalidToken for any other text."""
    try:
        run, scope, since, issued_on, address = text.split(".")
        link = LinkToken(
            parse_run_id(run),
            _decode(address).hex(),
            _EPOCH + int(since) * _MICROSECOND if since else None,
            date.fromordinal(int(issued_on)),
            _scope(scope),
        )
    except (ValueError, OverflowError) as err:
        raise InvalidToken("This link is not from an email.") from err
    is_hash = len(link.address) == _HASH_DIGITS
    if not is_hash or link.to_text() != text:
        raise InvalidToken("This link was not made by this version.")
    return link


UNDO_FOR = timedelta(days=1)
"""The time in which the page's undo button works."""


def undo_text(link: LinkToken, act: str, at: datetime) -> str:
    """Return the payload that undoes an act of `link` at an instant; `read_undo` parses it."""
    return f"{link.to_text()}@{act}@{(at - _EPOCH) // _MICROSECOND}"


def read_undo(text: str) -> tuple[LinkToken, str, datetime]:
    """Return the link, the act and the instant in this payload. Raises InvalidToken."""
    try:
        link, act, at = text.split("@")
        return read_link(link), act, _EPOCH + int(at) * _MICROSECOND
    except (ValueError, OverflowError) as err:
        raise InvalidToken("This action cannot be undone.") from err


def _scope(text: str) -> Scope:
    """Return the scope with this text.

    Raises ValueError for one that this version does not know.
    """
    if not _SCOPE.fullmatch(text):
        raise ValueError(f"{text!r} is not a scope")
    kind, _, names = text.partition(":")
    return Scope(ScopeKind(kind), tuple(names.split(",")) if names else ())


def sign(payload: str, *, purpose: Purpose, keys: LinkKeys) -> str:
    """Return a token, `[A-Za-z0-9_.-]`, that proves this installation made a link for `payload`.

    `<key id>.<payload>.<signature>`, signed with the newest key. HMAC-SHA-256 (RFC 2104), cut to
    128 bits: too long to be guessed, short enough for a header.
    """
    return _token(payload, purpose, keys.newest, keys.by_id[keys.newest])


def verify(token: str, *, purpose: Purpose, keys: LinkKeys) -> str:
    """Return the payload that `token` was signed for.

    Raises InvalidToken for any other text.
    """
    key_id, _, signed = token.partition(".")
    if key_id not in keys.by_id:
        raise InvalidToken("This link names an unknown key.")
    try:
        payload = _decode(signed.partition(".")[0]).decode()
    except (binascii.Error, UnicodeError) as err:
        raise InvalidToken("This link is incomplete.") from err
    genuine = _token(payload, purpose, key_id, keys.by_id[key_id])
    if not hmac.compare_digest(token.encode(errors="replace"), genuine.encode()):
        raise InvalidToken("This link was not made by this service, or was altered.")
    return payload


def for_purpose(token: str, purpose: Purpose, *, of: Purpose, keys: LinkKeys) -> str:
    """Return a token for `purpose` with the content of one that is for another purpose.

    It is signed with the same key, so that it ends when a leaked key is removed. Raises
    InvalidToken.
    """
    payload = verify(token, purpose=of, keys=keys)
    key_id = token.partition(".")[0]
    return _token(payload, purpose, key_id, keys.by_id[key_id])


def _token(payload: str, purpose: Purpose, key_id: str, key: bytes) -> str:
    message = f"{purpose}\n{payload}".encode()
    signature = hmac.new(key, message, hashlib.sha256).digest()[:_SIGNATURE_BYTES]
    return f"{key_id}.{_encode(payload.encode())}.{_encode(signature)}"


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    padded = text.encode("ascii") + b"=" * (-len(text) % 4)
    return base64.b64decode(padded, altchars=b"-_", validate=True)
