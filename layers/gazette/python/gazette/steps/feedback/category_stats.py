"""What readers make of the emails of a category: counted, and braked where that is too bad."""

from collections.abc import Callable
from dataclasses import dataclass

from gazette.domain.feedback.delivery_events import MailReport
from gazette.domain.feedback.reputation import (
    SPAN,
    CategoryBrake,
    Mark,
    category_brake,
    mark_of,
    too_bad,
)
from gazette.domain.ports.ledgers import CategoryBrakes, Tallies
from gazette.domain.ports.outside import Clock
from gazette.steps.feedback.feedback import Noted


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """The counts, and the brakes that they pull, each of which is told.

    At once: a report that fails later on comes again as known, and then pulls nothing.
    """

    tallies: Tallies
    brakes: CategoryBrakes
    tell: Callable[[CategoryBrake], None]
    clock: Clock


def watch(report: MailReport, noted: Noted, *, by: Watching) -> None:
    """Count the report for each category that its email showed, and pull the brakes it takes.

    Only what was not known before is counted, so a report that comes twice counts once. A crash
    on the way loses a count, and adds none; the next bounce or complaint looks at them again.
    """
    mark = mark_of(report)
    if mark is None or noted.run is None or not noted.is_news:
        return
    for category in noted.run.categories:
        by.tallies.add(category, mark, report.sent_at)
    if mark is Mark.SENT:
        return
    now = by.clock()
    for category in noted.run.categories:
        if why := too_bad(by.tallies.since(category, now - SPAN)):
            brake = category_brake(category, why, now)
            if by.brakes.pull(brake):
                by.tell(brake)
