"""Withdrawals in DynamoDB: one row with the whole list."""

import json

from gazette.adapters.dynamodb.client import bind, decoded, read_row, written
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.adapters.dynamodb.values import instant, text
from gazette.domain.ports.control import CurrentWithdrawals
from gazette.domain.stored import as_stored
from gazette.domain.withdrawing.withdrawals import (
    Withdrawal,
    WithdrawalKind,
    WithdrawalList,
)

WITHDRAWALS = ("withdrawals", "all")


class DynamoWithdrawals:
    """Implementation of the `WithdrawalStore` port backed by a row of the `control` table."""

    def __init__(self, table_name: str) -> None:
        bind(ControlRow, table_name)

    def read(self) -> WithdrawalList:
        """Read the list with one strongly consistent GetItem.

        Raises UnreadableRow for a malformed row.
        """
        return withdrawals_in(read_row(ControlRow, *WITHDRAWALS))

    def change(self, after: WithdrawalList) -> bool:
        """Store the list with one conditional PutItem."""
        row = ControlRow(*WITHDRAWALS, revision=after.revision, withdrawals=_written(after))
        before = after.revision - 1
        unchanged = ControlRow.revision == before
        return written(row.save, unchanged if before else ControlRow.kind.does_not_exist())


def withdrawals_of(table_name: str) -> CurrentWithdrawals:
    """Return an implementation of the `CurrentWithdrawals` port that reads the list at each call.

    Raises Unavailable and UnreadableRow.
    """
    store = DynamoWithdrawals(table_name)
    return lambda: store.read().withdrawals


def withdrawals_in(row: ControlRow | None) -> WithdrawalList:
    """Return the list in its row, or an empty list if there is no row. Raises UnreadableRow."""
    if row is None:
        return WithdrawalList()
    return decoded(row, _list, needs=("withdrawals", "revision"))


def _list(row: ControlRow) -> WithdrawalList:
    return WithdrawalList(
        tuple(
            Withdrawal(as_stored(WithdrawalKind, text(kind)), text(of), instant(at), instant(until))
            for kind, of, at, until in json.loads(row.withdrawals)
        ),
        int(row.revision),
    )


def _written(found: WithdrawalList) -> str:
    entries = [
        [each.kind, each.id, each.at.isoformat(), each.until.isoformat()]
        for each in found.withdrawals
    ]
    return json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
