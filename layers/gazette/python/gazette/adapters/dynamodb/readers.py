"""Every reader of the table `subscribers`: for the command line, read by scanning."""

from collections.abc import Iterator

from gazette.adapters.dynamodb.client import bind, each_decoded, translated
from gazette.adapters.dynamodb.subscribers import reader_of
from gazette.adapters.dynamodb.tables import SubscriberRow
from gazette.domain.errors import UnreadableRow
from gazette.domain.subscribers.subscriber import Reader


class DynamoReaders:
    """The port `Readers` on the table `subscribers`."""

    def __init__(self, table_name: str) -> None:
        bind(SubscriberRow, table_name, read_timeout=5.0)

    def each(self) -> Iterator[Reader | UnreadableRow]:
        """One eventually consistent Scan per megabyte."""
        with translated():
            yield from each_decoded(SubscriberRow.scan(), reader_of)
