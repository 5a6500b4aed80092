"""The port that reads the rows of a person as they are stored."""

from collections.abc import Sequence
from typing import Protocol

from gazette.domain.export import Part, StoredRow


class PersonalRows(Protocol):
    """The rows of a person in all tables, with every stored attribute, even of other versions."""

    def profile(self, user_id: str) -> StoredRow | None:
        """Return the row of a user id in `subscribers`, which may contain only an erasure."""

    def of_address(self, address_hash: str) -> Sequence[StoredRow]:
        """Return the suppression and the bounces of an address (identity.address_hash)."""

    def page(
        self, user_id: str, part: Part, *, after: str, limit: int
    ) -> tuple[Sequence[StoredRow], str]:
        """Return up to `limit` rows of a table, and the key after which the next page begins.

        The key is empty after the last row. A page of runs also has their delivery events. A page
        has at most a megabyte, excluding the delivery events.
        """
