"""Soft bounces in DynamoDB, stored by the keyed hash of the address."""

from collections.abc import Collection
from datetime import timedelta

from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import bind, decoded, translated
from gazette.adapters.dynamodb.tables import BounceRow
from gazette.adapters.dynamodb.values import instant, instant_text
from gazette.domain.identity import keyed_hash
from gazette.domain.ports.clock import Clock
from gazette.domain.subscribers.suppression import SoftBounce


class DynamoBounces:
    """Implementation of the `Bounces` port backed by the `bounces` table.

    The partition key is the address's identity.keyed_hash. A row expires `retention` after its last
    bounce. Each bounce adds about ninety bytes to the row, until the address is suppressed.
    """

    def __init__(self, table_name: str, *, key: bytes, retention: timedelta, clock: Clock) -> None:
        bind(BounceRow, table_name)
        self._key = key
        self._retention = retention
        self._clock = clock

    def remember(self, address_hash: str, bounce: SoftBounce) -> Collection[SoftBounce]:
        """Record that a message bounced, with one UpdateItem. Each message is counted once.

        If the row's TTL has passed and DynamoDB has not deleted the row yet, the row is reused. Its
        bounces are too old to count.
        """
        row = BounceRow(keyed_hash(address_hash, self._key))
        actions: list[Action] = [
            BounceRow.messages.add({f"{instant_text(bounce.sent_at)} {bounce.message_id}"}),
            BounceRow.expires_at.set(self._clock() + self._retention),
        ]
        with translated():
            row.update(actions=actions)
        return decoded(row, _bounces)

    def forget(self, address_hash: str) -> None:
        """Delete the bounces of an address with one DeleteItem."""
        with translated():
            BounceRow(keyed_hash(address_hash, self._key)).delete()


def _bounces(row: BounceRow) -> Collection[SoftBounce]:
    return [_bounce(*each.partition(" ")) for each in row.messages]


def _bounce(at: str, _: str, message_id: str) -> SoftBounce:
    return SoftBounce(instant(at), message_id)
