"""The words for a run whose message failed, and for a run of a reader who gets no email."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.dead_letters import KNOWN, DeadLetter
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.explanation import DeadRun
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.steps.support.dead_runs import LettersRead, oldest_by_run, with_dead_letters
from gazette.steps.support.reasons import REASON, words_for
from gazette.steps.support.words.runs import words_of
from gazette.steps.support.words.sections import RUN, sections
from gazette.steps.support.words.summary import verdict

from tests.builders import NOW, a_run, an_event
from tests.explained import explained
from tests.world import World

GENERATE = next(dead for dead in KNOWN if dead.name == "generate-dead")


def a_letter(key: RunKey, *, hours: int = 1, message: str = "m1") -> DeadLetter:
    return DeadLetter(GENERATE, "", NOW - timedelta(hours=hours), 16, key, id=message)


def ending(reason: Reason, status: Status = Status.SKIPPED) -> Run:
    return replace(a_run(), status=status, reason=reason)


@pytest.fixture
def world() -> World:
    """A daily digest of ann is due, and its message was not processed."""
    world = World()
    world.choose()
    world.arm()
    world.create(an_event())
    world.runs.create(a_run())
    world.clock.pass_time(minutes=5)
    return world


def test_run_with_a_dead_letter_is_not_said_to_be_queued() -> None:
    words = words_of(a_run(), dead=DeadRun("generate-dead", NOW), is_off=False)
    assert "failed and is in generate-dead" in words.why
    assert "its message is queued" not in words.why
    assert words.todo.startswith("The email is not sent until the message is redriven, or until")


@pytest.mark.parametrize("status", [Status.SENT, Status.UNKNOWN, Status.SENDING, Status.SKIPPED])
def test_dead_letter_does_not_change_the_words_of_other_runs(status: Status) -> None:
    run = replace(a_run(), status=status)
    assert words_of(run, dead=DeadRun("generate-dead", NOW), is_off=False) == words_for(run)


@pytest.mark.parametrize("reason", Reason)
def test_reader_without_email_is_not_promised_a_next_digest(reason: Reason) -> None:
    todo = words_of(ending(reason), dead=None, is_off=True).todo
    if reason not in {Reason.UNKNOWN_SUBSCRIBER, Reason.NOT_ALLOWED, Reason.DORMANT}:
        assert "next digest" not in todo
        assert "digest at the new hour" not in todo
    assert todo


@pytest.mark.parametrize("reason", [Reason.TOO_LATE, Reason.DAILY_CAP, Reason.REFUSED_FOR_GOOD])
def test_reader_with_email_is_promised_the_next_digest(reason: Reason) -> None:
    assert words_of(ending(reason), dead=None, is_off=False).todo == REASON[reason].todo
    assert "next digest" in REASON[reason].todo.lower()


def test_retrying_run_states_its_next_attempt() -> None:
    run = replace(ending(Reason.REFUSED_FOR_NOW, Status.RETRYING), retry_at=NOW)
    assert words_for(run).why.endswith("the next attempt is due at 2026-11-22 07:03 UTC")


def test_explanation_names_the_dead_letter_of_its_run(world: World) -> None:
    found = explained(world)
    key = found.runs[0].run.key
    read = LettersRead(oldest_by_run([a_letter(key), a_letter(key, hours=5, message="m2")]))
    explanation = with_dead_letters(found, read)
    assert explanation.runs[0].dead == DeadRun("generate-dead", NOW - timedelta(hours=5))
    text = " ".join(verdict(explanation))
    assert "failed and is in generate-dead. The email is not sent until" in text
    (runs,) = (each for each in sections(explanation) if each.name == "run")
    assert "generate-dead" in runs.rows[0][RUN.index("meaning")]
    other = with_dead_letters(found, LettersRead(oldest_by_run([a_letter(RunKey("bo", DAILY, 1))])))
    assert other == found


def test_open_run_of_an_unsubscribed_reader_ends_without_an_email(world: World) -> None:
    found = replace(explained(world), status=SubscriberStatus.UNSUBSCRIBED)
    (runs,) = (each for each in sections(found) if each.name == "run")
    todo = runs.rows[0][RUN.index("what to do")]
    assert "ends without an email" in todo
    assert "sweep" not in todo


def test_next_email_waits_for_the_outcome_of_the_earlier_run(world: World) -> None:
    found = explained(world)
    assert "It replaces the earlier run, if that has not been sent." in " ".join(verdict(found))
    (entry,) = found.runs
    unknown = replace(entry.run, status=Status.UNKNOWN, reason=Reason.UNCERTAIN)
    text = " ".join(verdict(replace(found, runs=(replace(entry, run=unknown),))))
    assert "Next planned email" in text
    assert "It waits until the outcome of the earlier run is known." in text
    sent = replace(entry.run, status=Status.SENT, reason=Reason.ACCEPTED)
    assert "Next email: " in " ".join(verdict(replace(found, runs=(replace(entry, run=sent),))))


def test_queues_that_were_read_in_part_are_named() -> None:
    read = LettersRead({}, [("generate-dead", 5000, 50), ("failed", None, 0)])
    assert read.unread().endswith(
        "of the 5,000 messages in generate-dead, 50 were read; failed cannot be read."
    )
    assert LettersRead({}).unread() == ""


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.SENDING])
def test_run_that_may_have_been_sent_is_not_reported_as_unsent_after_a_leave(
    status: Status,
) -> None:
    run = replace(a_run(), status=status, uncertain=frozenset({1}))
    assert words_of(run, dead=None, is_off=True).todo == words_for(run).todo
    retrying = replace(a_run(), status=Status.RETRYING, uncertain=frozenset({1}))
    assert words_of(retrying, dead=None, is_off=True).todo == words_for(retrying).todo
    assert words_of(a_run(), dead=None, is_off=True).todo != words_for(a_run()).todo
