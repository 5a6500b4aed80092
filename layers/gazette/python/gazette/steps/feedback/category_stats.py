"""What readers make of the emails of a category: counted, and held where that is too bad."""

from collections.abc import Callable
from dataclasses import dataclass

from gazette.domain.feedback.delivery_events import DeliveryEvent
from gazette.domain.feedback.reputation import (
    SPAN,
    CategoryHold,
    Mark,
    category_hold,
    hold_reason,
    mark_of,
)
from gazette.domain.ports.ledgers import CategoryHolds, CategoryStats
from gazette.domain.ports.outside import Clock
from gazette.steps.feedback.feedback import Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryStatsContext:
    """The counts, and the holds that they pull, each of which is told.

    At once: a report that fails later on comes again as known, and then pulls nothing.
    """

    category_stats: CategoryStats
    holds: CategoryHolds
    tell: Callable[[CategoryHold], None]
    clock: Clock


def watch(report: DeliveryEvent, recorded: Recorded, *, by: CategoryStatsContext) -> None:
    """Count the report for each category that its email showed, and pull the holds it takes.

    Only what was not known before is counted, so a report that comes twice counts once. A crash
    on the way loses a count, and adds none; the next bounce or complaint looks at them again.
    """
    mark = mark_of(report)
    if mark is None or recorded.run is None or not recorded.is_news:
        return
    for category in recorded.run.categories:
        by.category_stats.add(category, mark, report.sent_at)
    if mark is Mark.SENT:
        return
    now = by.clock()
    for category in recorded.run.categories:
        if why := hold_reason(by.category_stats.since(category, now - SPAN)):
            hold = category_hold(category, why, now)
            if by.holds.add(hold):
                by.tell(hold)
