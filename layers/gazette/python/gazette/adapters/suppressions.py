"""Suppressed addresses in DynamoDB, as hashes."""

from gazette.adapters.dynamo import bind, translated, written
from gazette.adapters.tables import SuppressionRow
from gazette.domain.ports import Clock


class DynamoSuppressions:
    """The port `Suppressions` on the table `suppressions`."""

    def __init__(self, table_name: str, *, clock: Clock) -> None:
        bind(SuppressionRow, table_name)
        self._clock = clock

    def add(self, address_hash: str, reason: str) -> None:
        """One conditional PutItem."""
        row = SuppressionRow(address_hash, reason=reason, since=self._clock())
        written(row.save, SuppressionRow.address_hash.does_not_exist())

    def holds(self, address_hash: str) -> bool:
        """One strongly consistent GetItem."""
        with translated():
            try:
                SuppressionRow.get(address_hash, consistent_read=True)
            except SuppressionRow.DoesNotExist:
                return False
        return True

    def lift(self, address_hash: str, reason: str) -> None:
        """One conditional DeleteItem."""
        written(SuppressionRow(address_hash).delete, SuppressionRow.reason == reason)
