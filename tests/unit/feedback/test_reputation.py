"""What counts against a category, and when too many of its emails bounce or draw complaints."""

from dataclasses import replace

import pytest
from gazette.domain.feedback.delivery_events import (
    DeliveryEvent,
    DeliveryEventType,
    Fault,
    Mark,
    mark_of,
)
from gazette.domain.feedback.reputation import CategoryCounts, category_hold, hold_reason

from tests.builders import KEY, NOW, a_bounce, a_complaint

SENT = DeliveryEvent(DeliveryEventType.SENT, KEY, 1, "m1", NOW)


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        (
            CategoryCounts(10_000, complained=10),
            "10 complaints about 10000 emails within 7 days: 0.10%",
        ),
        (CategoryCounts(50, complained=10), "10 complaints about 50 emails within 7 days: 20.00%"),
        (CategoryCounts(400, bounced=20), "20 of 400 emails bounced for good within 7 days: 5.0%"),
        (CategoryCounts(20, bounced=20), "20 of 20 emails bounced for good within 7 days: 100.0%"),
        (CategoryCounts(20, 20, 10), "10 complaints about 20 emails within 7 days: 50.00%"),
    ],
)
def test_category_is_held_at_ses_review_thresholds(counts: CategoryCounts, why: str) -> None:
    assert hold_reason(counts) == why


@pytest.mark.parametrize(
    "counts",
    [
        CategoryCounts(),
        CategoryCounts(10_001, complained=10),
        CategoryCounts(401, bounced=20),
        CategoryCounts(1_000_000, bounced=49_999, complained=999),
    ],
)
def test_category_is_not_held_below_thresholds(counts: CategoryCounts) -> None:
    assert hold_reason(counts) == ""


@pytest.mark.parametrize(
    "counts",
    [CategoryCounts(100, complained=9), CategoryCounts(19, bounced=19), CategoryCounts(0, 99, 99)],
)
def test_few_bounces_do_not_hold_category(counts: CategoryCounts) -> None:
    assert hold_reason(counts) == ""


@pytest.mark.parametrize(
    ("delivery_event", "mark"),
    [
        (SENT, Mark.SENT),
        (a_bounce(), Mark.BOUNCED),
        (a_complaint(), Mark.COMPLAINED),
        *[(a_bounce(fault), None) for fault in (Fault.SOFT, Fault.UNDETERMINED, Fault.OF_MESSAGE)],
        *[
            (replace(SENT, type=kind), None)
            for kind in set(DeliveryEventType) - {DeliveryEventType.SENT}
        ],
    ],
)
def test_delivery_events_are_counted_by_type(
    delivery_event: DeliveryEvent, mark: Mark | None
) -> None:
    assert mark_of(delivery_event) is mark


@pytest.mark.parametrize("delivery_event", [a_bounce(), a_complaint()])
def test_account_suppression_list_bounces_are_not_counted(
    delivery_event: DeliveryEvent,
) -> None:
    """SES did not try, and does not count it."""
    assert mark_of(replace(delivery_event, unsent=True)) is None


def test_long_hold_reason_is_truncated() -> None:
    assert len(category_hold("comment", "x" * 1000, NOW).why) == 200
