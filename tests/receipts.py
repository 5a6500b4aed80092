"""Receipts of the events of a world."""

from datetime import datetime

from gazette.domain.receipts.receipt import Receipt
from gazette.steps.support.activity_receipt import ActivityContext
from gazette.steps.support.receipt import ReceiptContext, receipt

from tests.builders import RETENTION
from tests.world import World


def receipt_of(
    world: World,
    event_id: str,
    user_id: str = "ann",
    *,
    category: str = "",
    occurred_at: datetime | None = None,
) -> Receipt:
    """Return what became of an event in this world."""
    return receipt(
        user_id,
        event_id,
        category=category,
        occurred_at=occurred_at,
        context=receipt_context(world),
    )


def receipt_context(world: World) -> ReceiptContext:
    """Return the dependencies of receipts, with the ports of this world."""
    return ReceiptContext(
        events=world.events,
        runs=world.runs,
        engagements=world.engagements,
        schedules=world.schedules,
        subscribers=world.subscribers,
        follows=world.follows,
        held_categories=world.category_holds.names,
        withdrawals=world.withdrawals.current,
        clock=world.clock,
        retention=RETENTION,
        defaults=world.defaults,
        critical=world.critical,
        sunset=world.sunset,
    )


def activity_context(world: World) -> ActivityContext:
    """Return the dependencies of receipts of activities, with the ports of this world."""
    return ActivityContext(
        activities=world.activities, follows=world.follows, receipts=receipt_context(world)
    )
