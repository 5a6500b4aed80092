"""Bounce and complaint rates of a category, and the limits for a hold. Pure.

At these rates SES reviews an account; it may pause it at 10 % and 0.5 %:
https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

MOST_BOUNCES = 0.05
MOST_COMPLAINTS = 0.001

LEAST_BOUNCES = 20
LEAST_COMPLAINTS = 10
"""The smallest numbers that are not chance.

At half the rate, this many occur in at most one of thirty weeks.
"""

SPAN = timedelta(days=7)
"""The period of the rates. It is long enough for complaints, which arrive days later."""

_LONGEST_WHY = 200


@dataclass(frozen=True, slots=True)
class CategoryCounts:
    """The numbers of sent, bounced and reported emails that showed a category."""

    sent: int = 0
    bounced: int = 0
    complained: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryHold:
    """A held category. None of its events are sent until an operator releases it."""

    category: str
    why: str
    since: datetime
    by_hand: bool = False
    """An operator set the hold, not a rate."""


def category_hold(
    category: str, why: str, since: datetime, *, by_hand: bool = False
) -> CategoryHold:
    """Return a hold, with `why` cut to 200 characters."""
    return CategoryHold(category=category, why=why[:_LONGEST_WHY], since=since, by_hand=by_hand)


def hold_reason(counts: CategoryCounts) -> str:
    """Return the reason to hold the category; empty if its rates are fine."""
    days = f"within {SPAN.days} days"
    if _reaches(counts.complained, counts.sent, LEAST_COMPLAINTS, MOST_COMPLAINTS):
        rate = counts.complained / counts.sent
        return f"{counts.complained} complaints about {counts.sent} emails {days}: {rate:.2%}"
    if _reaches(counts.bounced, counts.sent, LEAST_BOUNCES, MOST_BOUNCES):
        rate = counts.bounced / counts.sent
        return f"{counts.bounced} of {counts.sent} emails bounced for good {days}: {rate:.1%}"
    return ""


def _reaches(faults: int, sent: int, least: int, most: float) -> bool:
    return faults >= least and sent > 0 and faults >= most * sent
