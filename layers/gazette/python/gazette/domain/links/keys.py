"""The keys that sign the readers' links: all of them verify, the newest signs. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gazette.domain.errors import InvalidKeys

KEY_ID = re.compile(r"k[1-9][0-9]{0,5}")
"""`k1`, `k2`, …: the highest number is the newest."""

SHORTEST_KEY = 32
"""Characters. A key that can be guessed lets anybody unsubscribe anybody."""


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """The keys by id, one at least. Never shown by repr."""

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
        """These, and `key` with the next number, which signs from now on.

        Raises InvalidKeys where there is none that could be read again.
        """
        key_id = f"k{_number(self.newest) + 1}"
        if not KEY_ID.fullmatch(key_id):
            raise InvalidKeys(f"there is no number after {self.newest}")
        return LinkKeys({**self.by_id, key_id: key.encode()})

    def without(self, key_id: str) -> "LinkKeys":
        """These but for one: what it signed is no longer accepted. Never the newest."""
        if key_id == self.newest:
            raise ValueError(f"{key_id} is the key that signs")
        return LinkKeys({name: key for name, key in self.by_id.items() if name != key_id})

    def to_json(self) -> str:
        """As the secret holds them; `read_keys` reads it."""
        return json.dumps({key_id: self.by_id[key_id].decode() for key_id in self.ids})


def read_keys(content: str) -> LinkKeys:
    """The keys in the content of a secret, such as `{"k1": "…"}`.

    Raises InvalidKeys, which says what is wrong and never what the content is.
    """
    try:
        found: Any = json.loads(content)
    except ValueError:
        raise InvalidKeys("it is no JSON") from None  # whose message would quote the content
    if not isinstance(found, dict) or not found:
        raise InvalidKeys("it is no JSON object with a key in it")
    for key_id, key in found.items():
        if not KEY_ID.fullmatch(key_id):
            raise InvalidKeys("one of its names is not k1, k2, … up to k999999")
        if not isinstance(key, str) or len(key) < SHORTEST_KEY:
            raise InvalidKeys(f"{key_id} is no text of at least {SHORTEST_KEY} characters")
    try:
        return LinkKeys({key_id: key.encode() for key_id, key in found.items()})
    except UnicodeError:
        raise InvalidKeys("a key holds half a surrogate, which is no text") from None


def _number(key_id: str) -> int:
    return int(key_id[1:])
