"""The events out of a run: total over all statuses, and only of what ended."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest
from gazette.domain.delivery.run import Certainty, Reason, Run, Status
from gazette.domain.events_out.events import EventType
from gazette.domain.events_out.runs import run_events
from gazette.domain.stored import as_stored

from tests.builders import NOW, a_run

LATER = NOW + timedelta(minutes=1)
NEW_STATUS, NEW_REASON = as_stored(Status, "paused"), as_stored(Reason, "solar_flare")
STATUSES = (*Status, NEW_STATUS)
REASONS = (*Reason, NEW_REASON)
TYPES = {
    Status.SENT: EventType.EMAIL_SENT,
    Status.SKIPPED: EventType.EMAIL_SKIPPED,
    Status.FAILED: EventType.EMAIL_FAILED,
}
QUIET = {Reason.NOTHING_WAITED, Reason.NOTHING_NEW, Reason.EMPTY, Reason.SUPERSEDED}


def run_with(status: Status, reason: Reason) -> Run:
    return replace(a_run(), status=status, reason=reason, categories=("comment",))


def test_every_pair_of_rows_has_an_answer() -> None:
    befores = [None, *(run_with(status, Reason.DUE) for status in STATUSES)]
    afters = [None, *(run_with(*each) for each in product(STATUSES, REASONS))]
    published = 0
    for before, after in product(befores, afters):
        events = [*run_events(before, after, NOW)]
        expected = TYPES.get(after.status) if after else None
        is_quiet = after and after.status is Status.SKIPPED and after.reason in QUIET
        is_known = before and after and before.status is after.status
        types = [] if expected is None or is_quiet or is_known else [expected]
        assert [event.type for event in events] == types
        published += len(events)
    assert published == sum(
        len(STATUSES) * (len(REASONS) - (len(QUIET) if status is Status.SKIPPED else 0))
        for status in TYPES
    )


@pytest.mark.parametrize(
    ("reason", "certainty"),
    [
        (Reason.ACCEPTED, Certainty.ACCEPTED),
        (Reason.EVIDENCE, Certainty.EVIDENCE),
        (Reason.ASSUMED, Certainty.ASSUMED),
        (NEW_REASON, None),
    ],
)
def test_sent_email_has_certainty(reason: Reason, certainty: Certainty | None) -> None:
    (event,) = run_events(a_run(), run_with(Status.SENT, reason), NOW)
    assert (event.certainty, event.reason) == (certainty, "")


def test_time_of_sent_email_is_that_of_the_provider() -> None:
    sent = replace(run_with(Status.SENT, Reason.ACCEPTED), sent_at=LATER)
    (event,) = run_events(a_run(), sent, NOW)
    assert event.at == LATER
    (event,) = run_events(a_run(), replace(sent, sent_at=None), NOW)
    assert event.at == NOW


def test_failed_email_is_published_as_sent_after_evidence() -> None:
    failed = run_with(Status.FAILED, Reason.GIVEN_UP)
    (first,) = run_events(run_with(Status.UNKNOWN, Reason.UNCERTAIN), failed, NOW)
    (second,) = run_events(failed, run_with(Status.SENT, Reason.EVIDENCE), LATER)
    assert (first.type, first.reason) == (EventType.EMAIL_FAILED, "given_up")
    assert (second.type, second.id) == (EventType.EMAIL_SENT, "ann-daily-1:sent")
    assert first.id == "ann-daily-1:failed"


def test_reason_of_a_newer_version_is_omitted() -> None:
    (event,) = run_events(a_run(), run_with(Status.FAILED, NEW_REASON), NOW)
    assert event.reason == ""


def test_later_reason_of_ended_run_is_not_published() -> None:
    refused = run_with(Status.FAILED, Reason.REFUSED_FOR_GOOD)
    assert not [*run_events(refused, run_with(Status.FAILED, Reason.CARRIED_INTO), NOW)]


def test_deleted_run_is_not_published() -> None:
    assert not [*run_events(run_with(Status.SENT, Reason.ACCEPTED), None, NOW)]


@pytest.mark.parametrize("events", [None, 0, 1, 4711])
def test_only_a_sent_email_has_the_number_of_its_events(events: int | None) -> None:
    for status, number in ((Status.SENT, events), (Status.FAILED, None), (Status.SKIPPED, None)):
        run = replace(run_with(status, Reason.ACCEPTED), events=events)
        (event,) = run_events(a_run(), run, NOW)
        assert event.events == number
