"""The last read of a worker in DynamoDB between its claim and the call of the provider."""

from typing import cast

from gazette.adapters.dynamodb.client import RowsReader, decoded
from gazette.adapters.dynamodb.feedback.suppressions import suppresses
from gazette.adapters.dynamodb.subscribers import reader_of
from gazette.adapters.dynamodb.tables import SubscriberRow, SuppressionRow
from gazette.domain.identity import keyed_hash
from gazette.domain.subscribers.subscriber import Reader


class DynamoLastLook:
    """The port `LastLook` on the tables `subscribers` and `suppressions`.

    The adapters that write the tables bind them. `key`: the key of the suppressions.
    """

    def __init__(self, *, key: bytes, read: RowsReader) -> None:
        self._key = key
        self._read = read

    def __call__(
        self, user_id: str, address_hash: str, *, critical: bool = False
    ) -> tuple[Reader, bool]:
        """One part of a strongly consistent BatchGetItem of both tables."""
        reader, suppression = self._read(
            (SubscriberRow, (user_id,)),
            (SuppressionRow, (keyed_hash(address_hash, self._key),)),
        )
        return (
            decoded(cast("SubscriberRow", reader), reader_of) if reader else None,
            suppresses(cast("SuppressionRow | None", suppression), critical=critical),
        )
