"""How readers and mailbox providers take the emails of a category, and when that is too bad. Pure.

From these rates on SES reviews an account, and may pause it at 10 % and 0.5 %:
https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType, Fault

MOST_BOUNCES = 0.05
MOST_COMPLAINTS = 0.001

LEAST_BOUNCES = 20
LEAST_COMPLAINTS = 10
"""Fewer may be chance: at half the rate so many come together in one of thirty weeks at most."""

SPAN = timedelta(days=7)
"""For which a category is judged: long enough for complaints, which come after days."""

_LONGEST_WHY = 200


class Mark(StrEnum):
    """What is counted of an email. `BOUNCED`: for good."""

    SENT = "sent"
    BOUNCED = "bounced"
    COMPLAINED = "complained"


@dataclass(frozen=True, slots=True)
class CategoryCounts:
    """How many emails that showed a category were sent, and what became of those."""

    sent: int = 0
    bounced: int = 0
    complained: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryHold:
    """Nothing of the category is sent, since when and why, until somebody releases it.

    `by_hand`: a person pulled it, and no rate.
    """

    category: str
    why: str
    since: datetime
    by_hand: bool = False


def category_hold(
    category: str, why: str, since: datetime, *, by_hand: bool = False
) -> CategoryHold:
    """`why` is cut where it is too long to be read at a glance."""
    return CategoryHold(category=category, why=why[:_LONGEST_WHY], since=since, by_hand=by_hand)


def mark_of(event: DeliveryEvent) -> Mark | None:
    """What a delivery event is counted as; None where it says nothing of this.

    A bounce or complaint because of the account's own suppression list is none: SES did not try,
    and does not count it either.
    https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list.html

    Nor is what was refused by policy: that is about the sender's domain, which all categories
    share. To hold one of them would mend nothing, and hide it; it has an alarm of its own.
    """
    if event.type is DeliveryEventType.SENT:
        return Mark.SENT
    if event.unsent:
        return None
    match event.fault:
        case Fault.HARD:
            return Mark.BOUNCED
        case Fault.COMPLAINT:
            return Mark.COMPLAINED
        case _:
            return None


def hold_reason(counts: CategoryCounts) -> str:
    """Why the category is to be on hold, in words; nothing where it is not."""
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
