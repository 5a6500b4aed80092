"""Category holds in DynamoDB, with one row per category on hold."""

from collections.abc import Collection, Sequence

from gazette.adapters.cached import Cached
from gazette.adapters.dynamodb.client import bind, translated, written
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.delivery.run import BEGINNING
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import HeldCategories

_KIND = "hold"


class DynamoCategoryHolds:
    """Implementation of the `CategoryHolds` port backed by rows of the `control` table."""

    def __init__(self, table_name: str) -> None:
        bind(ControlRow, table_name)

    def active(self) -> Sequence[CategoryHold]:
        """Read all category holds with one strongly consistent Query.

        A row puts its category on hold even if other attributes are malformed.
        """
        with translated():
            return [_hold(row) for row in ControlRow.query(_KIND, consistent_read=True)]

    def add(self, hold: CategoryHold) -> bool:
        """Put a category on hold with one conditional UpdateItem."""
        actions = [ControlRow.since.set(hold.since), ControlRow.why.set(hold.why)]
        if hold.by_hand:
            actions.append(ControlRow.by_hand.set(True))
        return written(
            ControlRow(_KIND, hold.category).update,
            actions=actions,
            condition=ControlRow.since.does_not_exist(),
        )

    def names(self) -> Collection[str]:
        """Read the names of the categories on hold, without a cache. Raises Unavailable."""
        return frozenset(hold.category for hold in self.active())

    def release(self, category: str) -> bool:
        """End the hold of a category with one conditional DeleteItem."""
        return written(ControlRow(_KIND, category).delete, ControlRow.since.exists())


def _hold(row: ControlRow) -> CategoryHold:
    return CategoryHold(
        category=row.id, why=row.why or "", since=row.since or BEGINNING, by_hand=bool(row.by_hand)
    )


def held_categories(table_name: str, *, clock: Clock) -> HeldCategories:
    """Return an implementation of the `HeldCategories` port for workers, which caches the names of
    the categories on hold.

    The result is empty until the first successful read.
    """
    holds = DynamoCategoryHolds(table_name)
    cached: Cached[frozenset[str]] = Cached(
        lambda: frozenset(hold.category for hold in holds.active()),
        clock=clock,
        default=frozenset(),
    )
    return cached.get
