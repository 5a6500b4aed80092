"""Suppressed addresses in DynamoDB, as keyed hashes."""

from collections.abc import Iterator
from datetime import datetime
from typing import cast

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import (
    RowReader,
    RowsReader,
    bind,
    decoded,
    each_decoded,
    read_row,
    translated,
    written,
)
from gazette.adapters.dynamodb.subscribers import reader_of
from gazette.adapters.dynamodb.tables import SubscriberRow, SuppressionRow
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import keyed_hash
from gazette.domain.ports.clock import Clock
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.subscriber import Reader
from gazette.domain.subscribers.suppression import Cause, Suppression


class DynamoSuppressionList:
    """A list of all rows in the `suppressions` table. Reading it does not require the suppression
    key.
    """

    def __init__(self, table_name: str) -> None:
        bind(SuppressionRow, table_name)

    def each(self) -> Iterator[Suppression | UnreadableRow]:
        """Yield all suppressions with one Scan per megabyte (about 6,000 addresses)."""
        with translated():
            yield from each_decoded(SuppressionRow.scan(), _suppression)


class DynamoSuppressions(DynamoSuppressionList):
    """Implementation of the `Suppressions` port backed by the `suppressions` table.

    The partition key is the address's identity.keyed_hash.
    """

    def __init__(
        self, table_name: str, *, key: bytes, clock: Clock, read: RowReader = read_row
    ) -> None:
        super().__init__(table_name)
        self._key = key
        self._clock = clock
        self._read = read

    def add(self, address_hash: str, cause: Cause, since: datetime | None = None) -> bool:
        """Suppress an address with one conditional UpdateItem."""
        if cause is Cause.UNSUBSCRIBED:
            return self._add_unsubscription(address_hash, since or self._clock())
        reason = SuppressionRow.reason
        condition = reason.does_not_exist()
        if cause.lesser:
            condition |= reason.is_in(*(each.value for each in cause.lesser))
        actions = [reason.set(cause.value), SuppressionRow.since.set(since or self._clock())]
        return written(self._row_of(address_hash).update, actions=actions, condition=condition)

    def _add_unsubscription(self, address_hash: str, at: datetime) -> bool:
        """Suppress an address, or only store a later time of its unsubscription."""
        row, last = self._row_of(address_hash), SuppressionRow.left_at
        is_later = last.does_not_exist() | (last < at)
        actions = [*_unsubscription(at), last.set(at)]
        if not written(row.update, actions=actions, condition=is_later):
            return False
        return row.reason == Cause.UNSUBSCRIBED.value and row.since == at

    def unsubscribe(self, address_hash: str, user_id: str, at: datetime | None = None) -> None:
        """Suppress an address because a reader unsubscribed, with one conditional UpdateItem.

        If a later unsubscription is stored, one unconditional UpdateItem follows.
        """
        row, last = self._row_of(address_hash), SuppressionRow.left_at
        at = at or self._clock()
        actions = [*_unsubscription(at), SuppressionRow.by.add({user_id})]
        is_latest = last.does_not_exist() | (last <= at)
        if not written(row.update, actions=[*actions, last.set(at)], condition=is_latest):
            with translated():
                row.update(actions=actions)

    def resubscribe(
        self, address_hash: str, user_id: str, *, before: datetime | None = None
    ) -> None:
        """Undo a reader's unsubscription with one conditional DeleteItem.

        If other readers of the address have unsubscribed too, two more writes follow.
        """
        row, by = self._row_of(address_hash), SuppressionRow.by
        unsubscribed = SuppressionRow.reason == Cause.UNSUBSCRIBED.value
        if before:
            unsubscribed &= _left_before(before)
        if written(row.delete, unsubscribed & (by.does_not_exist() | (by == {user_id}))):
            return
        has_unsubscribed = by.contains(user_id)
        if before:
            has_unsubscribed &= _left_before(before)
        if written(row.update, actions=[by.delete({user_id})], condition=has_unsubscribed):
            written(
                row.delete, unsubscribed & by.does_not_exist()
            )  # the other readers have resubscribed in the meantime

    def holds(self, address_hash: str, *, critical: bool = False) -> bool:
        """Return True if the address is suppressed.

        Costs one strongly consistent GetItem, or a part of a BatchGetItem. A malformed row also
        suppresses its address.
        """
        return _suppresses(self._row(address_hash), critical=critical)

    def get(self, address_hash: str) -> Suppression | None:
        """Read the suppression of an address with one strongly consistent GetItem."""
        row = self._row(address_hash)
        return decoded(row, _suppression) if row else None

    def lift(self, address_hash: str, cause: Cause) -> None:
        """Lift a suppression with one conditional DeleteItem.

        If readers have unsubscribed too, two more writes follow.
        """
        row, reason, by = self._row_of(address_hash), SuppressionRow.reason, SuppressionRow.by
        same = reason == cause.value
        if cause is Cause.UNSUBSCRIBED:
            written(row.delete, same)
        elif not written(row.delete, same & by.does_not_exist()):
            actions = [reason.set(Cause.UNSUBSCRIBED.value)]
            if not written(row.update, actions=actions, condition=same & by.exists()):
                written(
                    row.delete, same & by.does_not_exist()
                )  # the readers have resubscribed in the meantime

    def _row(self, address_hash: str) -> SuppressionRow | None:
        return self._read(SuppressionRow, keyed_hash(address_hash, self._key))

    def _row_of(self, address_hash: str) -> SuppressionRow:
        return SuppressionRow(keyed_hash(address_hash, self._key))


class DynamoLastLook:
    """Implementation of the `LastLook` port backed by the `subscribers` and `suppressions` tables.

    The adapters of the two tables must already have bound them. `key` is the suppression key.
    """

    def __init__(self, *, key: bytes, read: RowsReader) -> None:
        self._key = key
        self._read = read

    def __call__(
        self, user_id: str, address_hash: str, *, critical: bool = False
    ) -> tuple[Reader, bool]:
        """Fetch the current reader and suppression as part of one strongly consistent
        BatchGetItem.
        """
        reader, suppression = self._read(
            (SubscriberRow, (user_id,)),
            (SuppressionRow, (keyed_hash(address_hash, self._key),)),
        )
        return (
            decoded(cast("SubscriberRow", reader), reader_of) if reader else None,
            _suppresses(cast("SuppressionRow | None", suppression), critical=critical),
        )


def _suppresses(row: SuppressionRow | None, *, critical: bool) -> bool:
    """Return True if the row suppresses email to its address, even if the cause cannot be
    decoded.
    """
    return row is not None and not (critical and row.reason == Cause.UNSUBSCRIBED.value)


def _unsubscription(at: datetime) -> list[Action]:
    """Return the actions that add an unsubscription to a row. A stronger cause is unchanged."""
    reason, since = SuppressionRow.reason, SuppressionRow.since
    return [
        reason.set(reason | Cause.UNSUBSCRIBED.value),
        since.set(since | at),
    ]


def _left_before(instant: datetime) -> Condition:
    """Return the condition that the latest unsubscription is before `instant`.

    Rows of the previous release contain only `since`, the time of the first one.
    """
    last = SuppressionRow.left_at
    earlier: Condition = (SuppressionRow.since < instant) & (
        last.does_not_exist() | (last < instant)
    )
    return earlier


def _suppression(row: SuppressionRow) -> Suppression:
    return Suppression(
        row.address_hash,
        as_stored(Cause, row.reason),
        row.since,
        row.left_at,
        frozenset(row.by or ()),
    )
