"""Soft bounces in DynamoDB, by the keyed hash of the address."""

from collections.abc import Collection
from datetime import datetime, timedelta

from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import bind, decoded, instant_text, translated
from gazette.adapters.dynamodb.tables import BounceRow
from gazette.adapters.dynamodb.values import in_years, instant
from gazette.domain.identity import keyed_hash
from gazette.domain.ports.clock import Clock


class DynamoBounces:
    """The port `Bounces` on the table `bounces`. A row's key is identity.keyed_hash.

    It expires `retention` after its last bounce. Each bounce adds some ninety bytes to the row,
    until the address is suppressed.
    """

    def __init__(self, table_name: str, *, key: bytes, retention: timedelta, clock: Clock) -> None:
        bind(BounceRow, table_name)
        self._key = key
        self._retention = retention
        self._clock = clock

    def remember(
        self, address_hash: str, message_id: str, sent_at: datetime
    ) -> Collection[datetime]:
        """One UpdateItem, which adds to a set: a message is in it only once.

        A row past its TTL that DynamoDB has not deleted is reused; its old times do not count.
        """
        row = BounceRow(keyed_hash(address_hash, self._key))
        actions: list[Action] = [
            BounceRow.messages.add({f"{instant_text(sent_at)} {message_id}"}),
            BounceRow.expires_at.set(self._clock() + self._retention),
        ]
        with translated():
            row.update(actions=actions)
        return decoded(row, _sent_at)

    def forget(self, address_hash: str) -> None:
        """One DeleteItem."""
        with translated():
            BounceRow(keyed_hash(address_hash, self._key)).delete()


def _sent_at(row: BounceRow) -> Collection[datetime]:
    return [in_years(instant(each.partition(" ")[0])) for each in row.messages]
