"""The batches of changes that Lambda could not publish."""

from collections.abc import Iterator
from typing import Any, Protocol


class UnreadableBatch(Exception):
    """A batch that is not a record of a failed invocation."""


class UnpublishedBatches(Protocol):
    """The batches that Lambda gave up, by name."""

    def names(self) -> Iterator[str]:
        """Yield the names of the batches, oldest first."""

    def records(self, name: str) -> list[dict[str, Any]]:
        """Return the records of a batch. Raise UnreadableBatch."""

    def delete(self, name: str) -> None:
        """Delete a batch."""
