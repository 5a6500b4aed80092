"""Add and remove withdrawals."""

from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import WithdrawalStore
from gazette.domain.withdrawing.withdrawals import (
    Withdrawal,
    WithdrawalKind,
    Withdrawals,
    in_force,
)
from gazette.steps.conflicts import ATTEMPTS, kept_changing


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawalContext:
    """The list of withdrawals of a stage, and the time for which a new one applies."""

    store: WithdrawalStore
    applies_for: timedelta
    clock: Clock


def list_withdrawals(*, context: WithdrawalContext) -> Withdrawals:
    """Return the withdrawals in force, oldest first."""
    return in_force(context.store.read().withdrawals, context.clock())


def add_withdrawal(
    kind: WithdrawalKind, of: str, *, context: WithdrawalContext
) -> tuple[Withdrawal, Withdrawal | None]:
    """Withdraw the events of an actor or an entity up to now.

    Returns the new withdrawal, and the one that it replaces, if any. Raises WithdrawalsFull if the
    list is full.
    """
    for _ in ATTEMPTS:
        now, stored = context.clock(), context.store.read()
        added = Withdrawal(kind, of, now, now + context.applies_for)
        if context.store.change(stored.with_added(added, now)):
            return added, stored.find(kind, of)
    raise kept_changing("The list of withdrawals")


def remove_withdrawal(
    kind: WithdrawalKind, of: str, *, context: WithdrawalContext
) -> Withdrawal | None:
    """Remove the withdrawal of an actor or an entity. Return it, or None if there was none."""
    for _ in ATTEMPTS:
        stored = context.store.read()
        removed = stored.find(kind, of)
        if removed is None or context.store.change(stored.without(removed)):
            return removed
    raise kept_changing("The list of withdrawals")
