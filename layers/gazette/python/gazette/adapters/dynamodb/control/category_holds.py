"""Which categories are braked: rows that all workers look at now and then."""

from collections.abc import Collection, Sequence

from gazette.adapters.cached import Kept
from gazette.adapters.dynamodb.client import bind, translated, written
from gazette.adapters.dynamodb.tables import BatchRow
from gazette.domain.delivery.run import BEGINNING
from gazette.domain.feedback.reputation import CategoryBrake
from gazette.domain.ports.ledgers import CategoryBrakes
from gazette.domain.ports.outside import Clock

_KIND = "brake"


class DynamoCategoryBrakes:
    """The port `CategoryBrakes`: rows of the table `batches`."""

    def __init__(self, table_name: str) -> None:
        bind(BatchRow, table_name)

    def pulled(self) -> Sequence[CategoryBrake]:
        """One strongly consistent Query. Whatever else a row says, its category is braked."""
        with translated():
            return [_brake(row) for row in BatchRow.query(_KIND, consistent_read=True)]

    def pull(self, brake: CategoryBrake) -> bool:
        """One conditional UpdateItem."""
        actions = [BatchRow.slot.set(brake.since), BatchRow.why.set(brake.why)]
        if brake.by_hand:
            actions.append(BatchRow.by_hand.set(True))
        return written(
            BatchRow(_KIND, brake.category).update,
            actions=actions,
            condition=BatchRow.slot.does_not_exist(),
        )

    def release(self, category: str) -> bool:
        """One conditional DeleteItem."""
        return written(BatchRow(_KIND, category).delete, BatchRow.slot.exists())


def _brake(row: BatchRow) -> CategoryBrake:
    return CategoryBrake(
        category=row.id, why=row.why or "", since=row.slot or BEGINNING, by_hand=bool(row.by_hand)
    )


class KeptBrakes:
    """The port `BrakedCategories`: what a worker knows of them."""

    def __init__(self, brakes: CategoryBrakes, *, clock: Clock) -> None:
        self._kept: Kept[frozenset[str]] = Kept(
            lambda: frozenset(brake.category for brake in brakes.pulled()),
            unknown=frozenset(),
            clock=clock,
        )

    def names(self) -> Collection[str]:
        """As it was a minute ago at most; older where the table does not answer."""
        return self._kept.known()
