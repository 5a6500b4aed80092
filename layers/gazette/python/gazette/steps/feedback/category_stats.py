"""What becomes of the emails of each category: counted, and the category held from a threshold."""

from collections.abc import Callable
from dataclasses import dataclass

from gazette.domain.delivery.run import Run
from gazette.domain.feedback.delivery_events import DeliveryEvent, Mark, mark_of
from gazette.domain.feedback.reputation import SPAN, CategoryHold, category_hold, hold_reason
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import CategoryHolds, CategoryStats


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryStatsContext:
    """The counts, and the holds that they lead to. `tell` is called for each new hold, at once:
    after a crash the event is no longer the first of its kind, and counts nothing.
    """

    category_stats: CategoryStats
    holds: CategoryHolds
    tell: Callable[[CategoryHold], None]
    clock: Clock


def count_event(event: DeliveryEvent, run: Run, *, context: CategoryStatsContext) -> None:
    """Count the event for each category that its email showed, and hold those at a threshold.

    For the first event of a kind alone, so that an email counts once. A crash loses a count; a lost
    answer may count the email twice, because AWS's client repeats the call. The next bounce or
    complaint looks at the counts again.
    """
    mark = mark_of(event)
    if mark is None:
        return
    for category in run.categories:
        context.category_stats.add(category, mark, event.sent_at)
    if mark is Mark.SENT:
        return
    now = context.clock()
    for category in run.categories:
        if why := hold_reason(context.category_stats.since(category, now - SPAN)):
            hold = category_hold(category, why, now)
            if context.holds.add(hold):
                context.tell(hold)
