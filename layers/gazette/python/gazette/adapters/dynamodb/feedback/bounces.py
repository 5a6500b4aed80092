"""Soft bounces in DynamoDB, by the keyed hash of the address."""

from collections.abc import Collection
from datetime import timedelta

from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import bind, decoded, instant_text, translated
from gazette.adapters.dynamodb.tables import BounceRow
from gazette.adapters.dynamodb.values import in_years, instant
from gazette.domain.identity import keyed_hash
from gazette.domain.ports.clock import Clock
from gazette.domain.subscribers.suppression import SoftBounce


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

    def remember(self, address_hash: str, bounce: SoftBounce) -> Collection[SoftBounce]:
        """One UpdateItem, which adds to a set, so that a message counts once.

        A row past its TTL that DynamoDB has not deleted is reused. Its bounces are too old to
        count.
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
        """One DeleteItem."""
        with translated():
            BounceRow(keyed_hash(address_hash, self._key)).delete()


def _bounces(row: BounceRow) -> Collection[SoftBounce]:
    return [_bounce(*each.partition(" ")) for each in row.messages]


def _bounce(at: str, _: str, message_id: str) -> SoftBounce:
    return SoftBounce(in_years(instant(at)), message_id)
