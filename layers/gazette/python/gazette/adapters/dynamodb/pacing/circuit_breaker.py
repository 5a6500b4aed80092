"""Encoding of a circuit breaker as up to six attributes of a pace row. They are absent while the
breaker is closed.
"""

from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.tables import PaceRow
from gazette.adapters.dynamodb.values import MICROSECOND, instant_number, numbered_instant
from gazette.domain.delivery.circuit_breaker import OpenBreaker


def breaker_in(row: PaceRow) -> OpenBreaker | None:
    """Return the open circuit breaker in the row, or None if it is closed."""
    if row.breaker_until is None:
        return None
    return OpenBreaker(
        why=row.breaker_why or "",
        since=numbered_instant(row.breaker_since or 0),
        until=numbered_instant(row.breaker_until),
        step=int(row.breaker_step or 0) * MICROSECOND,
        by_hand=bool(row.breaker_by_hand),
        is_probed=bool(row.breaker_is_probed),
    )


def changes_to(breaker: OpenBreaker | None) -> list[Action]:
    """Return the updates that write a state of the breaker, regardless of the previous state."""
    values: tuple[tuple[Attribute[Any], object], ...] = (
        (PaceRow.breaker_why, breaker and breaker.why),
        (PaceRow.breaker_since, breaker and instant_number(breaker.since)),
        (PaceRow.breaker_until, breaker and instant_number(breaker.until)),
        (PaceRow.breaker_step, breaker and breaker.step // MICROSECOND),
        (PaceRow.breaker_by_hand, breaker and breaker.by_hand),
        (PaceRow.breaker_is_probed, breaker and breaker.is_probed),
    )
    return [attribute.set(value) if value else attribute.remove() for attribute, value in values]


def is_still(breaker: OpenBreaker | None) -> Condition:
    """Return the condition that the breaker has not changed. Every change increases `until`."""
    condition: Condition
    if breaker is None:
        condition = PaceRow.breaker_until.does_not_exist()
    else:
        condition = PaceRow.breaker_until == instant_number(breaker.until)
    return condition


def is_not_by_hand() -> Condition:
    """Return the condition that the breaker is closed, or was opened automatically."""
    condition: Condition = PaceRow.breaker_by_hand.does_not_exist()
    return condition
