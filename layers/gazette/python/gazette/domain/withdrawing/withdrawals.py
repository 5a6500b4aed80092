"""The list of an operator's withdrawals. Pure.

A withdrawal concerns one actor or one entity. It applies to the events up to its time, for all
readers.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.errors import GazetteError

MOST_WITHDRAWN = 100
"""The maximum number of withdrawals. The list is one row, which every worker reads once a
minute."""


class WithdrawalKind(StrEnum):
    """The kind of a withdrawal."""

    ACTOR = "actor"
    """An actor. The withdrawal applies to events that the actor caused."""

    ENTITY = "entity"
    """An entity. The withdrawal applies to events about the entity, and to events that reach
    followers of the entity, such as those about its children."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An operator's decision that no email shows the events of an actor or an entity up to `at`."""

    kind: WithdrawalKind
    """A kind that this version does not know applies to no event."""

    id: str
    """The id of the actor, or the key of the entity."""

    at: datetime
    until: datetime
    """The time from which the withdrawal no longer applies, because no such event is stored."""


Withdrawals = tuple[Withdrawal, ...]
"""All withdrawals of a stage, oldest first."""


class WithdrawalsFull(GazetteError):
    """No withdrawal can be added, because the list has MOST_WITHDRAWN withdrawals in force."""


@dataclass(frozen=True, slots=True)
class WithdrawalList:
    """The withdrawals of a stage as stored."""

    withdrawals: Withdrawals = ()
    revision: int = 0
    """A counter that each write increments; 0 if the list was never stored."""

    def find(self, kind: WithdrawalKind, of: str) -> Withdrawal | None:
        """Return the withdrawal of an actor or an entity, or None."""
        matches = (each for each in self.withdrawals if (each.kind, each.id) == (kind, of))
        return next(matches, None)

    def with_added(self, withdrawal: Withdrawal, now: datetime) -> "WithdrawalList":
        """Return the list with a withdrawal.

        The withdrawal replaces an earlier one of the same actor or entity. Withdrawals that no
        longer apply are removed. Raises WithdrawalsFull instead of removing one that applies.
        """
        others = tuple(
            each
            for each in in_force(self.withdrawals, now)
            if (each.kind, each.id) != (withdrawal.kind, withdrawal.id)
        )
        if len(others) >= MOST_WITHDRAWN:
            raise WithdrawalsFull
        return WithdrawalList((*others, withdrawal), self.revision + 1)

    def without(self, withdrawal: Withdrawal) -> "WithdrawalList":
        """Return the list without a withdrawal."""
        others = tuple(each for each in self.withdrawals if each != withdrawal)
        return WithdrawalList(others, self.revision + 1)


def in_force(withdrawals: Withdrawals, now: datetime) -> Withdrawals:
    """Return the withdrawals that apply at `now`."""
    return tuple(each for each in withdrawals if now < each.until)
