"""The brake as the row of the pace holds it: up to six attributes, none while it is off."""

from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import MICROSECOND, instant_number, numbered_instant
from gazette.adapters.dynamodb.tables import PaceRow
from gazette.domain.delivery.circuit_breaker import Brake


def brake_in(row: PaceRow) -> Brake | None:
    """None: it is off."""
    if row.brake_until is None:
        return None
    return Brake(
        why=row.brake_why or "",
        since=numbered_instant(row.brake_since or 0),
        until=numbered_instant(row.brake_until),
        step=int(row.brake_step or 0) * MICROSECOND,
        by_hand=bool(row.brake_by_hand),
        is_tried=bool(row.brake_is_tried),
    )


def changes_to(brake: Brake | None) -> list[Action]:
    """What to write, whatever it was before."""
    values: tuple[tuple[Attribute[Any], object], ...] = (
        (PaceRow.brake_why, brake and brake.why),
        (PaceRow.brake_since, brake and instant_number(brake.since)),
        (PaceRow.brake_until, brake and instant_number(brake.until)),
        (PaceRow.brake_step, brake and brake.step // MICROSECOND),
        (PaceRow.brake_by_hand, brake and brake.by_hand),
        (PaceRow.brake_is_tried, brake and brake.is_tried),
    )
    return [attribute.set(value) if value else attribute.remove() for attribute, value in values]


def is_still(brake: Brake | None) -> Condition:
    """It is as it was: whatever else changes it moves `until`."""
    condition: Condition
    if brake is None:
        condition = PaceRow.brake_until.does_not_exist()
    else:
        condition = PaceRow.brake_until == instant_number(brake.until)
    return condition


def is_not_by_hand() -> Condition:
    """It is off, or nobody pulled it by hand."""
    condition: Condition = PaceRow.brake_by_hand.does_not_exist()
    return condition
