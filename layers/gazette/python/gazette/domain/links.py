"""Links for readers: the URLs that an email may show, and signed tokens. Pure.

A token replaces a login, so whoever has the keys can act for any reader.
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
"""Characters. Longer URLs may be cut off or refused on their way to a browser."""

_WEB = re.compile(r"https?://[A-Za-z0-9\[][!#-;=?-~]*")
"""An absolute http or https URL (RFC 3986) without quotes, angle brackets and spaces."""


def is_web_link(url: str) -> bool:
    """Whether an email may link there: http or https only, and short enough not to be cut off."""
    return len(url) <= LONGEST_URL and _WEB.fullmatch(url) is not None


KEY_ID = re.compile(r"k[1-9][0-9]{0,5}")
"""`k1`, `k2`, …: the key with the highest number is the newest."""

SHORTEST_KEY = 32
"""Characters. With a key that can be guessed, anybody could unsubscribe anybody."""


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
        """These keys, and `key` with the next number, which signs from now on.

        Raises InvalidKeys if there is no valid number left.
        """
        key_id = f"k{_number(self.newest) + 1}"
        if not KEY_ID.fullmatch(key_id):
            raise InvalidKeys(f"there is no number after {self.newest}")
        return LinkKeys({**self.by_id, key_id: key.encode()})

    def without(self, key_id: str) -> "LinkKeys":
        """These keys without one, whose links are no longer accepted. Never the newest."""
        if key_id == self.newest:
            raise ValueError(f"{key_id} is the key that signs")
        return LinkKeys({name: key for name, key in self.by_id.items() if name != key_id})

    def to_json(self) -> str:
        """The keys as JSON, as the secret stores them; `read_keys` reads it."""
        return json.dumps({key_id: self.by_id[key_id].decode() for key_id in self.ids})


def read_keys(content: str) -> LinkKeys:
    """The keys in the content of a secret, such as `{"k1": "…"}`.

    Raises InvalidKeys, whose message never contains the content.
    """
    try:
        found: Any = json.loads(content)
    except ValueError:
        raise InvalidKeys("it is not JSON") from None  # the cause would quote the content
    if not isinstance(found, dict) or not found:
        raise InvalidKeys("it is not a JSON object with at least one key")
    for key_id, key in found.items():
        if not KEY_ID.fullmatch(key_id):
            raise InvalidKeys("one of its key ids is not k1, k2, … up to k999999")
        if not isinstance(key, str) or len(key) < SHORTEST_KEY:
            raise InvalidKeys(f"{key_id} is not a string of at least {SHORTEST_KEY} characters")
    try:
        return LinkKeys({key_id: key.encode() for key_id, key in found.items()})
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
        """For how long a link works. People look for the way out in emails that they kept."""
        return timedelta(days=730 if self is Purpose.UNSUBSCRIBE else 90)


NEW_LINK = "new-link"
"""The category of the event by which a reader is mailed a new link to their preferences.

No service can put such an event, nor one that shares its email: in the contract neither a category
nor the type of an entity has a hyphen (identity.CATEGORY_NAME).
"""


class ScopeKind(StrEnum):
    """What a link concerns. The values are in tokens, so they are short and never change.

    `EVERYTHING`: all emails to its address. `DIGESTS`. `IMMEDIATE`: immediate emails, of some
    categories or of all. `CATEGORY`: a category, however it comes. `ENTITY`: a follow.
    """

    EVERYTHING = "all"
    DIGESTS = "d"
    IMMEDIATE = "i"
    CATEGORY = "c"
    ENTITY = "e"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a link concerns. `names`: the categories, or the marks of entities (`entity_mark`)."""

    kind: ScopeKind
    names: tuple[str, ...] = ()


EVERYTHING = Scope(ScopeKind.EVERYTHING)
"""The scope of a link that concerns all emails to its address."""

DIGESTS = Scope(ScopeKind.DIGESTS)

_SCOPE = re.compile(
    r"all|d|i|(?:i|c):[a-z][a-z0-9_]{0,31}(?:,[a-z][a-z0-9_]{0,31})*|e:[\w-]{12}(?:,[\w-]{12})?",
    re.ASCII,
)

MOST_NAMED = 8
"""Categories that a link names at most, so that it fits a header."""


def entity_mark(entity: str) -> str:
    """What a link names an entity by, given by its key: 12 characters, of its SHA-256."""
    return _encode(hashlib.sha256(entity.encode()).digest()[:9])


def immediate_of(categories: Sequence[str]) -> Scope:
    """The scope of the immediate emails of these categories; of all where they are too many."""
    return Scope(ScopeKind.IMMEDIATE, tuple(categories) if len(categories) <= MOST_NAMED else ())


_HASH_DIGITS = 64
"""SHA-256 in hex."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class LinkToken:
    """What the token of a link says: whose email it was in, and to which address that went.

    `run`: that email's. `address`: as a hash (identity.address_hash). `since`: `addressed_after` of
    the reader then. `issued_on`: the UTC date on which the run was due. `scope`: what the link
    concerns; a version that does not know a scope must not take it for everything.
    """

    run: RunKey
    address: str
    since: datetime | None
    issued_on: date
    scope: Scope = EVERYTHING

    @classmethod
    def of(cls, run: RunKey, due_at: datetime, reader: Subscriber) -> "LinkToken":
        """The token for the email of a run that was due then, to this reader."""
        issued_on = due_at.astimezone(UTC).date()
        return cls(run, address_hash(reader.email), reader.addressed_after, issued_on)

    def is_for(self, reader: Reader) -> bool:
        """Whether the reader still is who the email went to, at the same address ever since.

        `since` differs after an erasure and after a change of address, unless services say that
        several happened at one instant.
        """
        return (
            isinstance(reader, Subscriber)
            and self.since == reader.addressed_after
            and self.address == address_hash(reader.email)
        )

    def is_for_registration_of(self, reader: Subscriber) -> bool:
        """Whether the user id has not been erased since, whatever became of the address."""
        if reader.erased_at is None:
            return True
        return self.since is not None and self.since >= reader.erased_at

    def has_expired(self, purpose: Purpose, today: date) -> bool:
        """Whether a link with this token is too old for `purpose`."""
        return today - self.issued_on > purpose.lifetime

    def to_text(self) -> str:
        """The payload of the token; `read_link` reads it."""
        since = "" if self.since is None else str((self.since - _EPOCH) // _MICROSECOND)
        address = _encode(bytes.fromhex(self.address))
        issued_on = self.issued_on.toordinal()
        scope = ":".join(filter(None, (self.scope.kind.value, ",".join(self.scope.names))))
        return f"{run_id(self.run)}.{scope}.{since}.{issued_on}.{address}"


def read_link(text: str) -> LinkToken:
    """The token with this payload. Raises InvalidToken if it is none that this version makes."""
    try:
        run, scope, since, issued_on, address = text.split(".")
        found = LinkToken(
            parse_run_id(run),
            _decode(address).hex(),
            _EPOCH + int(since) * _MICROSECOND if since else None,
            date.fromordinal(int(issued_on)),
            _scope(scope),
        )
    except (ValueError, OverflowError) as err:
        raise InvalidToken("This link is none of an email.") from err
    is_hash = len(found.address) == _HASH_DIGITS
    if not is_hash or found.to_text() != text:
        raise InvalidToken("This link is none that this version makes.")
    return found


UNDO_FOR = timedelta(days=1)
"""How long what was left can be taken back by the button of the page that says so."""


def undo_text(link: LinkToken, act: str, at: datetime) -> str:
    """The payload by which an act of `link` at an instant is taken back; `read_undo` reads it."""
    return f"{link.to_text()}@{act}@{(at - _EPOCH) // _MICROSECOND}"


def read_undo(text: str) -> tuple[LinkToken, str, datetime]:
    """The link, the act and the instant in this payload. Raises InvalidToken."""
    try:
        link, act, at = text.split("@")
        return read_link(link), act, _EPOCH + int(at) * _MICROSECOND
    except (ValueError, OverflowError) as err:
        raise InvalidToken("This is nothing that can be taken back.") from err


def _scope(text: str) -> Scope:
    """The scope with this text. Raises ValueError for one that this version does not know."""
    if not _SCOPE.fullmatch(text):
        raise ValueError(f"{text!r} is no scope")
    kind, _, names = text.partition(":")
    return Scope(ScopeKind(kind), tuple(names.split(",")) if names else ())


def sign(payload: str, *, purpose: Purpose, keys: LinkKeys) -> str:
    """A token, `[A-Za-z0-9_.-]`, that proves this installation made a link for `payload`.

    `<key id>.<payload>.<signature>`, signed with the newest key. HMAC-SHA-256 (RFC 2104), cut to
    128 bits: too long to be guessed, short enough for a header.
    """
    return _token(payload, purpose, keys.newest, keys.by_id[keys.newest])


def verify(token: str, *, purpose: Purpose, keys: LinkKeys) -> str:
    """The payload that `token` was signed for.

    Raises InvalidToken for any other text.
    """
    key_id, _, signed = token.partition(".")
    if key_id not in keys.by_id:
        raise InvalidToken("This link names no key that is known here.")
    try:
        payload = _decode(signed.partition(".")[0]).decode()
    except (binascii.Error, UnicodeError) as err:
        raise InvalidToken("This link is incomplete.") from err
    genuine = _token(payload, purpose, key_id, keys.by_id[key_id])
    if not hmac.compare_digest(token.encode(errors="replace"), genuine.encode()):
        raise InvalidToken("This link was not made by this service, or was altered.")
    return payload


def for_purpose(token: str, purpose: Purpose, *, of: Purpose, keys: LinkKeys) -> str:
    """The token for `purpose` that says the same as one that is `of` another.

    Signed with the same key, so that what a leaked key opened ends with that key. Raises
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
