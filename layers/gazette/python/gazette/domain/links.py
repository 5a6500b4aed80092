"""Links for readers: the URLs that an email may show, and signed tokens. Pure.

Anyone who has the keys can act for any reader, because a token replaces a login.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from gazette.domain.errors import InvalidKeys, InvalidToken
from gazette.domain.identity import address_hash, parse_run_id, run_id
from gazette.domain.model import RunKey
from gazette.domain.subscribers.subscriber import Reader, Subscriber

LONGEST_URL = 2000
"""The maximum length of a URL, in characters. Longer URLs may be truncated or rejected."""

_WEB = re.compile(r"https?://[A-Za-z0-9\[][!#-;=?-~]*")
"""The pattern of an http or https URL (RFC 3986) without quotes, angle brackets and spaces."""


def is_web_link(url: str) -> bool:
    """Return True if an email may link to `url`: an http or https URL that is not too long."""
    return len(url) <= LONGEST_URL and _WEB.fullmatch(url) is not None


def has_host(url: str) -> bool:
    """Return True if a URL names a host, and its brackets and its port are valid."""
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0  # reading the port checks it
    except ValueError:
        return False


KEY_ID = re.compile(r"k[1-9][0-9]{0,5}")
"""The pattern of key ids: `k1`, `k2`, … The key with the highest number is the newest."""

SHORTEST_KEY = 32
"""The minimum length of a key, in characters. An attacker who guesses a key could opt out any
reader."""


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """One or more signing keys, by id. `repr` does not show the keys."""

    by_id: Mapping[str, bytes] = field(repr=False)

    @property
    def ids(self) -> tuple[str, ...]:
        """All key ids, oldest first."""
        return tuple(sorted(self.by_id, key=_number))

    @property
    def newest(self) -> str:
        """The id of the newest key, which signs new links."""
        return self.ids[-1]

    def with_next(self, key: str) -> "LinkKeys":
        """Return these keys with a new key, which has the next number and signs new links.

        Raises InvalidKeys if no valid number is left.
        """
        key_id = f"k{_number(self.newest) + 1}"
        if not KEY_ID.fullmatch(key_id):
            raise InvalidKeys(f"there is no number after {self.newest}")
        return LinkKeys({**self.by_id, key_id: key.encode()})

    def without(self, key_id: str) -> "LinkKeys":
        """Return these keys without `key_id`, whose links are then no longer accepted.

        Raises ValueError for the newest key.
        """
        if key_id == self.newest:
            raise ValueError(f"{key_id} signs new links, so it cannot be removed")
        return LinkKeys({name: key for name, key in self.by_id.items() if name != key_id})

    def to_json(self) -> str:
        """Return the keys as JSON, in the format of the secret that `read_keys` parses."""
        return json.dumps({key_id: self.by_id[key_id].decode() for key_id in self.ids})


def read_keys(content: str) -> LinkKeys:
    """Parse the keys in a secret, such as `{"k1": "…"}`.

    Raises InvalidKeys. The error text never contains the secret.
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
    """The purpose of a link. A token for one purpose is never valid for a different purpose."""

    UNSUBSCRIBE = "unsubscribe"
    PREFERENCES = "preferences"
    RUN = "run"
    """A link that shows an email or the list of its updates. Readers may share it."""

    UPDATES = "updates"
    """A link to the list of an email's updates, with buttons to mute and to unfollow."""

    UNDO = "undo"
    KEEP = "keep"
    """A link in the last digests of an inactive reader, to keep getting them."""

    APP = "app"
    """A link to the preference page that an app requests for a reader who is logged in."""

    @property
    def lifetime(self) -> timedelta:
        """The time for which a link works: two years for unsubscribing, one day for a link that an
        app requests, otherwise 90 days.

        The unsubscribe link must still work in old emails that readers have kept.
        """
        return timedelta(days={Purpose.UNSUBSCRIBE: 730, Purpose.APP: 1}.get(self, 90))


APP_RUN = "app"
"""The schedule name in the tokens of links that an app requests. No run has it."""


NEW_LINK = "new-link"
"""The category of the event that sends a reader a new link to their preferences.

Services can neither publish such an event nor add to its email, because categories and entity types
in the contract never contain a hyphen (identity.CATEGORY_NAME).
"""


class ScopeKind(StrEnum):
    """The kinds of email to which a link can apply.

    Tokens contain these values, so they are short and never change.
    """

    EVERYTHING = "all"
    """All emails to the address."""

    DIGESTS = "d"
    """All digests."""

    IMMEDIATE = "i"
    """Immediate emails of some or all categories."""

    CATEGORY = "c"
    """One category, in digests and immediate emails."""

    ENTITY = "e"
    """The emails about one followed entity."""

    THING = "m"
    """All emails about one entity, however they reach the reader."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The emails that a link concerns."""

    kind: ScopeKind
    names: tuple[str, ...] = ()
    """The names of the categories, the marks of the entities (`entity_mark`), or the entity and
    its title (`thing_scope`)."""


EVERYTHING = Scope(ScopeKind.EVERYTHING)
"""The scope of a link that applies to all emails to its recipient."""

DIGESTS = Scope(ScopeKind.DIGESTS)

_SCOPE = re.compile(
    r"all|d|i|(?:i|c):[a-z][a-z0-9_]{0,31}(?:,[a-z][a-z0-9_]{0,31})*|e:[\w-]{12}(?:,[\w-]{12})?"
    r"|m:[\w-]{1,1000}",
    re.ASCII,
)

MOST_NAMED = 8
"""The maximum number of categories in a link. More would not fit in an email header."""


def entity_mark(entity: str) -> str:
    """Return the short form of an entity key for links: 12 characters of its encoded SHA-256."""
    return _encode(hashlib.sha256(entity.encode()).digest()[:9])


_LONGEST_THING = 600
"""The maximum size of an entity's key and title in a link, in bytes. Every key of the contract
fits, and the link stays shorter than LONGEST_URL."""


def thing_scope(entity: str, title: str) -> Scope | None:
    """Return the scope of a link that mutes an entity; None if the key is too long for a link.

    The link contains the key and the title, so that it also works after the events are deleted.
    """
    content = entity.encode()
    if len(content) > _LONGEST_THING:
        return None
    titled = content + b"\n" + title.encode()
    return Scope(ScopeKind.THING, (_encode(titled if len(titled) <= _LONGEST_THING else content),))


def thing_in(scope: Scope) -> tuple[str, str]:
    """Return the entity's key and title in a scope of the kind THING."""
    entity, _, title = _decode(scope.names[0]).decode().partition("\n")
    return entity, title


def immediate_of(categories: Sequence[str]) -> Scope:
    """Return the scope for the immediate emails of these categories.

    Return the scope for all immediate emails if there are too many categories.
    """
    return Scope(ScopeKind.IMMEDIATE, tuple(categories) if len(categories) <= MOST_NAMED else ())


_HASH_DIGITS = 64
"""The length of a SHA-256 in hex digits."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class LinkToken:
    """The content of a link's token, which identifies an email and the address it was sent to."""

    run: RunKey
    """The run that sent the email."""

    address: str
    """The hash of the recipient's address (identity.address_hash)."""

    since: datetime | None
    """The reader's `addressed_after` when the email was sent."""

    issued_on: date
    """The UTC date on which the email's run was due."""

    scope: Scope = EVERYTHING
    """The emails that the link concerns.

    Code that does not know a scope must not treat it as EVERYTHING.
    """

    @classmethod
    def of(cls, run: RunKey, due_at: datetime, reader: Subscriber) -> "LinkToken":
        """Return the token for an email to this reader from a run that is due at `due_at`."""
        issued_on = due_at.astimezone(UTC).date()
        return cls(run, address_hash(reader.email), reader.addressed_after, issued_on)

    def is_for(self, reader: Reader) -> bool:
        """Return True if this reader still has the address that the email was sent to.

        `since` differs after an erasure or a change of address, unless services report several such
        changes with the same time.
        """
        return (
            isinstance(reader, Subscriber)
            and self.since == reader.addressed_after
            and self.address == address_hash(reader.email)
        )

    def is_for_registration_of(self, reader: Subscriber) -> bool:
        """Return True if the user id was not erased after the email was sent. The address may have
        changed."""
        if reader.erased_at is None:
            return True
        return self.since is not None and self.since >= reader.erased_at

    def has_expired(self, purpose: Purpose, today: date) -> bool:
        """Return True if a link with this token is too old for `purpose`."""
        return today - self.issued_on > purpose.lifetime

    def expires_at(self, purpose: Purpose) -> datetime:
        """Return the time from which a link with this token is too old for `purpose`."""
        last = self.issued_on + purpose.lifetime
        return datetime.combine(last + timedelta(days=1), time(), UTC)

    def to_text(self) -> str:
        """Return the token's payload, which `read_link` parses."""
        since = "" if self.since is None else str((self.since - _EPOCH) // _MICROSECOND)
        address = _encode(bytes.fromhex(self.address))
        issued_on = self.issued_on.toordinal()
        scope = ":".join(filter(None, (self.scope.kind.value, ",".join(self.scope.names))))
        return f"{run_id(self.run)}.{scope}.{since}.{issued_on}.{address}"


def read_link(text: str) -> LinkToken:
    """Parse the payload of a link's token. Raises InvalidToken if the payload is invalid."""
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
        raise InvalidToken("This link was made by a different version.")
    return link


UNDO_FOR = timedelta(days=1)
"""The time for which the undo button on the unsubscribe page works."""


def undo_text(link: LinkToken, act: str, at: datetime) -> str:
    """Return the payload of a token that undoes an action.

    The reader took the action `act` through `link` at the time `at`. `read_undo` parses the
    payload.
    """
    return f"{link.to_text()}@{act}@{(at - _EPOCH) // _MICROSECOND}"


def read_undo(text: str) -> tuple[LinkToken, str, datetime]:
    """Parse the payload of an undo token into the link, the action and its time.

    Raises InvalidToken if the payload is invalid.
    """
    try:
        link, act, at = text.split("@")
        return read_link(link), act, _EPOCH + int(at) * _MICROSECOND
    except (ValueError, OverflowError) as err:
        raise InvalidToken("This action cannot be undone.") from err


def _scope(text: str) -> Scope:
    """Parse the scope in a token.

    Raises ValueError for a scope that this version does not know.
    """
    if not _SCOPE.fullmatch(text):
        raise ValueError(f"{text!r} is not a scope")
    kind, _, names = text.partition(":")
    scope = Scope(ScopeKind(kind), tuple(names.split(",")) if names else ())
    if scope.kind is ScopeKind.THING:
        thing_in(scope)  # raises ValueError for a scope that is not from `thing_scope`
    return scope


def sign(payload: str, *, purpose: str, keys: LinkKeys) -> str:
    """Return a signed token, which contains only `[A-Za-z0-9_.-]`.

    The format is `<key id>.<payload>.<signature>`, signed with the newest key. The signature is an
    HMAC-SHA-256 (RFC 2104) truncated to 128 bits, which cannot be guessed and fits in a header.
    """
    return _token(payload, purpose, keys.newest, keys.by_id[keys.newest])


def verify(token: str, *, purpose: str, keys: LinkKeys) -> str:
    """Return the payload of a signed token.

    Raises InvalidToken if the token is not valid for `purpose`.
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


def for_purpose(
    token: str, purpose: Purpose, *, of: Purpose, keys: LinkKeys, scope: Scope | None = None
) -> str:
    """Convert a token to a different purpose, from `of` to `purpose`.

    The new token has the same content, except for `scope`, if it is given. It is signed with the
    same key, so that it becomes invalid if a leaked key is removed. Raises InvalidToken.
    """
    payload = verify(token, purpose=of, keys=keys)
    if scope is not None:
        payload = replace(read_link(payload), scope=scope).to_text()
    key_id = token.partition(".")[0]
    return _token(payload, purpose, key_id, keys.by_id[key_id])


def _token(payload: str, purpose: str, key_id: str, key: bytes) -> str:
    message = f"{purpose}\n{payload}".encode()
    signature = hmac.new(key, message, hashlib.sha256).digest()[:_SIGNATURE_BYTES]
    return f"{key_id}.{_encode(payload.encode())}.{_encode(signature)}"


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    padded = text.encode("ascii") + b"=" * (-len(text) % 4)
    return base64.b64decode(padded, altchars=b"-_", validate=True)
