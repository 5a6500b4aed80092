"""What the port `Engagements` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import timedelta
from typing import Protocol

import pytest
from gazette.adapters.dynamodb.tables import EngagementRow
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent
from gazette.domain.feedback.experiment import DEFAULT_VARIANT, Variant
from gazette.domain.model import RunKey
from gazette.domain.ports.ledgers import Engagements
from gazette.domain.ports.receipts import EmailOutcomes
from gazette.domain.scheduling.calendar import slot_of

from tests.builders import NOW, a_run
from tests.contract.conftest import RUN_RETENTION, SECOND

RUN = a_run()
SLOT = slot_of(RUN.due_at)


def test_engagement_of_a_slot_without_reports_is_empty(engagements: Engagements) -> None:
    assert list(engagements.of_slot(SLOT)) == []


@pytest.mark.parametrize("event", EngagementEvent)
def test_earliest_time_of_an_engagement_event_is_kept(
    engagements: Engagements, event: EngagementEvent
) -> None:
    for seconds in (5, 3, 9, 3):
        engagements.record(RUN, event, NOW + seconds * SECOND)
    assert list(engagements.of_slot(SLOT)) == [
        Engagement(RUN.key, SLOT, "", DEFAULT_VARIANT, (), {event: NOW + 3 * SECOND})
    ]


def test_recording_reports_whether_the_event_is_new(engagements: Engagements) -> None:
    for event in (EngagementEvent.SENT, EngagementEvent.BOUNCED):
        assert engagements.record(RUN, event, NOW)
        for seconds in (0, 5, -5):
            assert not engagements.record(RUN, event, NOW + seconds * SECOND)


def test_all_events_of_an_email_are_returned_with_the_sent_data(
    engagements: Engagements,
) -> None:
    variant, categories = Variant(2, "subject"), ("mention", "comment")
    run = replace(RUN, variant=variant, locale="de-AT", categories=categories)
    first = {event: NOW + number * SECOND for number, event in enumerate(EngagementEvent)}
    for event, at in first.items():
        engagements.record(run, event, at)
    assert list(engagements.of_slot(SLOT)) == [
        Engagement(run.key, SLOT, "de-AT", variant, categories, first)
    ]


def test_slot_contains_its_digests_and_immediate_emails_only(
    engagements: Engagements,
) -> None:
    keys = [RunKey(f"user {number}", "daily", 1) for number in range(20)]
    keys.append(RunKey("ann", "now5f1c", 7))
    for key in keys:
        engagements.record(replace(RUN, key=key), EngagementEvent.DELIVERED, NOW)
    later = replace(RUN, due_at=RUN.due_at + timedelta(minutes=10))
    engagements.record(later, EngagementEvent.DELIVERED, NOW)
    assert {each.key for each in engagements.of_slot(SLOT)} == set(keys)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_engagement_row_expires_like_a_run(engagements: Engagements) -> None:
    engagements.record(RUN, EngagementEvent.DELIVERED, NOW)
    (row,) = EngagementRow.scan()
    assert row.expires_at == SLOT + RUN_RETENTION


class Both(Engagements, EmailOutcomes, Protocol):
    """The port that writes and the port that reads."""


def test_engagement_of_runs_is_read_together(engagements: Both) -> None:
    runs = [
        replace(RUN, key=RunKey(f"user {number}", "daily", 1), due_at=RUN.due_at + number * SECOND)
        for number in range(101)
    ]
    for run in runs:
        engagements.record(run, EngagementEvent.DELIVERED, NOW)
    found = engagements.of_runs([*runs, RUN])
    assert {key: each.first for key, each in found.items()} == {
        run.key: {EngagementEvent.DELIVERED: NOW} for run in runs
    }
    assert engagements.of_runs([]) == {}
