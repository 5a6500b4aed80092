"""The sentences of `gazette receipt`, for facts that docs/receipts.md does not show."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Certainty
from gazette.domain.receipts.receipt import (
    ActivityReceipt,
    Because,
    FollowerOutcomes,
    Receipt,
    ReceiptEmail,
    State,
)
from gazette.steps.support.words.receipts import OUTCOMES, of_activity, of_followers, sentences

from tests.builders import NOW, a_run

RECEIPT = Receipt("ann", "e1", State.WAITING, NOW - timedelta(days=35), schedule="daily")
ACTIVITY = ActivityReceipt("post#p1", "a1", True, False, True, None)


def text(**fields: object) -> str:
    return " ".join(sentences(replace(RECEIPT, **fields)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("because", "said"),
    [
        (Because.READER_GETS_NO_EMAIL, "Run `gazette explain ann`."),
        (Because.NO_EMAIL_STARTED, "the next event about the entity starts the next email."),
        (Because.NOT_STARTED, "which is not scheduled yet."),
        (Because.ENTITY_MUTED, "No email will contain the event, because the reader muted its"),
    ],
)
def test_waiting_event_without_a_digest_states_the_reason(because: Because, said: str) -> None:
    assert said in text(because=because)


def test_event_of_a_muted_entity_does_not_wait_for_an_email_that_has_been_started() -> None:
    said = text(state=State.COLLECTING, because=Because.ENTITY_MUTED, schedule="now")
    assert "because the reader muted its entity" in said
    assert "waits" not in said


def test_late_event_states_its_digest_and_why_it_was_not_sent_immediately() -> None:
    said = text(because=Because.LATE, next_digest=NOW)
    assert "The event waits for the daily digest, which is due at" in said
    assert "because it occurred more than a day before" in said


def test_event_over_the_limit_states_its_digest_and_the_setting() -> None:
    said = text(because=Because.OVER_LIMIT, next_digest=NOW)
    assert "The event waits for the daily digest, which is due at" in said
    assert "limit of immediate emails when it arrived (immediate_limit)" in said


def test_event_on_hold_names_the_category_and_the_command() -> None:
    said = text(is_held=True, category="comment", next_digest=NOW)
    assert "The category comment is on hold" in said
    assert "`gazette sending status`" in said


@pytest.mark.parametrize(
    ("because", "certainty", "said"),
    [
        (None, None, "No email contains it."),
        (Because.WAS_NOT_STORED, None, "If it had not arrived, no email contains it."),
        (Because.EMAILS_UNKNOWN, None, "It is not known whether an email contains it."),
        (None, Certainty.ACCEPTED, "An email contains it."),
        (None, Certainty.UNKNOWN, "An email may contain it."),
    ],
)
def test_retracted_event_states_whether_an_email_contains_it(
    because: Because | None, certainty: Certainty | None, said: str
) -> None:
    emails = (ReceiptEmail(a_run(), certainty, {}),) if certainty else ()
    assert said in text(state=State.RETRACTED, because=because, emails=emails, at=NOW)


@pytest.mark.parametrize("certainty", Certainty)
def test_each_certainty_has_words(certainty: Certainty) -> None:
    said = text(state=State.EMAILED, emails=(ReceiptEmail(a_run(), certainty, {}),))
    assert "The email ann-daily-1 " in said


@pytest.mark.parametrize(
    ("because", "said"),
    [
        (Because.ERASED, "because the reader was erased at 2026-11-22 07:03:00 UTC."),
        (
            Because.NEVER_OR_GONE,
            "Events that arrived after 2026-10-18 07:03:00 UTC are not deleted",
        ),
    ],
)
def test_event_that_is_not_stored_states_what_is_known(because: Because, said: str) -> None:
    assert said in text(state=State.NOT_STORED, because=because, at=NOW)


def test_each_state_is_counted_under_words_of_its_own() -> None:
    assert set(OUTCOMES) == set(State)
    assert len(set(OUTCOMES.values())) == len(State)


def test_only_outcomes_with_followers_are_listed() -> None:
    found = FollowerOutcomes({State.EMAILED: 2, State.WAITING: 0}, 1, 3, None)
    assert [number for _, number in of_followers(found)] == [2, 1, 3]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "was delivered to its followers"),
        ({"distributed": False}, "is being delivered"),
        ({"retracted": True}, "A service retracted the activity."),
        ({"stored": False}, "`gazette quarantine list`"),
    ],
)
def test_activity_is_described_by_its_row(changes: dict[str, bool], said: str) -> None:
    assert said in of_activity(replace(ACTIVITY, **changes))  # type: ignore[arg-type]
