"""The ports of the API for services, which read pages of runs and count followers.

Every port may raise `Unavailable`.
"""

from collections.abc import Sequence
from typing import Protocol

from gazette.domain.delivery.run import Run


class RunPages(Protocol):
    """A port that reads the runs of a reader page by page."""

    def page(
        self, user_id: str, *, schedule: str = "", before: str = "", limit: int
    ) -> tuple[Sequence[Run], str]:
        """Return up to `limit` runs in descending order of schedule and sequence.

        Also returns the place at which the next page begins, or an empty string on the last page.
        `before` is such a place. Without `schedule`, the runs of all schedules are included. A run
        that cannot be read is omitted.
        """


class FollowerCounts(Protocol):
    """A port that counts the followers of an entity."""

    def count_followers(self, entity: str) -> tuple[int, bool]:
        """Return the number of active followers, and False if there may be more.

        Reads at most 10 MB of the entity's rows.

        Eventually consistent.
        """
