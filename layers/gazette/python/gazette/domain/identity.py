"""Stable identifiers that are derived from data: run ids, shards and hashes of addresses."""

import hashlib
import hmac
import re
import zlib
from urllib.parse import unquote

from gazette.domain.model import RunKey
from gazette.domain.subscribers.addresses import canonical

USER_ID = re.compile(r"[\x21-\x7e]{1,64}")
SCHEDULE_NAME = re.compile(r"[a-z0-9]{1,24}")
CATEGORY_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
"""The pattern of the names of categories and entity types."""

KEYED_HASH = re.compile(r"h[0-9a-f]{64}")
"""The pattern of a keyed hash of an address.

An unkeyed hash has 64 digits and no `h`, so it never matches.
"""

LAST_SEQUENCE = 9_999_999_999
"""A number greater than the sequence of any run."""


def run_id(key: RunKey) -> str:
    """Return the id of a run for tags, logs and headers, such as `1899-daily-17`.

    The id contains only `[A-Za-z0-9_-]`, the alphabet of SES message tags, and stays under their
    limit of 256 characters. Any other byte of the user id is replaced by `_` and two hex digits, so
    that ids never collide and can be parsed.
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_MessageTag.html
    """
    return f"{_escape(key.user_id)}-{key.schedule}-{key.sequence}"


def parse_run_id(text: str) -> RunKey:
    """Return the run that a run id identifies.

    Raises ValueError if `text` is not a run id.
    """
    escaped, schedule, sequence = text.split("-")
    key = RunKey(_unescape(escaped), schedule, int(sequence))
    if run_id(key) != text or not SCHEDULE_NAME.fullmatch(schedule):
        raise ValueError(f"{text!r} is not a run id")
    return key


def address_hash(address: str) -> str:
    """Return the unkeyed SHA-256 of an address in its canonical spelling, in hex."""
    return hashlib.sha256(canonical(address).encode(errors="surrogatepass")).hexdigest()


def keyed_hash(hashed: str, key: bytes) -> str:
    """Return the value that tables store for an address: `h` and an HMAC-SHA-256 in hex.

    `hashed` is the unkeyed hash of the address. Only a process that has the installation's key can
    compute the value. A value that is already keyed came from a table and is returned unchanged.
    """
    if KEYED_HASH.fullmatch(hashed):
        return hashed
    return f"h{hmac.new(key, hashed.encode(), hashlib.sha256).hexdigest()}"


def latest_run(user_id: str, schedule: str) -> RunKey:
    """Return a key that sorts after every run of a schedule.

    A chain that is read from this key begins with the newest run.
    """
    return RunKey(user_id, schedule, LAST_SEQUENCE)


def shard_of(user_id: str, shards: int) -> int:
    """Return the shard of a subscriber's schedules in the due index, from 0 to `shards` - 1."""
    return zlib.crc32(user_id.encode()) % shards


def _escape(user_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", lambda found: f"_{ord(found[0]):02x}", user_id)


def _unescape(escaped: str) -> str:
    return unquote(re.sub(r"_([0-9a-f]{2})", r"%\1", escaped))
