"""Bounce and complaint rates of a category, and the limits for a hold. Pure.

SES reviews an account that reaches these rates, and may pause it at 10 % bounces and 0.5 %
complaints:
https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

MOST_BOUNCES = 0.05
MOST_COMPLAINTS = 0.001

LEAST_BOUNCES = 20
LEAST_COMPLAINTS = 10
"""The minimum numbers of bounces and complaints for statistical significance.

If the true rate is half the limit, these numbers are reached in at most one of thirty weeks.
"""

SPAN = timedelta(days=7)
"""The period over which rates are measured. Complaints can arrive several days after the email."""

_LONGEST_WHY = 200


@dataclass(frozen=True, slots=True)
class CategoryCounts:
    """The numbers of emails that showed a category: sent emails, bounces and complaints."""

    sent: int = 0
    bounced: int = 0
    complained: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryHold:
    """A hold on a category. No events of the category are sent until an operator releases the
    hold."""

    category: str
    why: str
    since: datetime
    by_hand: bool = False
    """True if an operator set the hold; False if a rate exceeded its limit."""


def category_hold(
    category: str, why: str, since: datetime, *, by_hand: bool = False
) -> CategoryHold:
    """Create a hold on a category. The reason `why` is truncated to 200 characters."""
    return CategoryHold(category=category, why=why[:_LONGEST_WHY], since=since, by_hand=by_hand)


def hold_reason(counts: CategoryCounts) -> str:
    """Return the reason to hold the category; empty if its rates are acceptable."""
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
