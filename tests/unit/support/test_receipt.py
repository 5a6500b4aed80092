"""Receipts: what became of an event, read from the tables that the real steps wrote."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Certainty, Reason, Run, Status, name_of
from gazette.domain.delivery.signals import Policy, Uncertain
from gazette.domain.errors import InvalidEvent
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import DAILY, Retracted, StoredEvent, Window
from gazette.domain.receipts.receipt import Because, FoundEvent, State
from gazette.domain.receipts.rule import standing_of
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.subscribers.frequency import Frequency

from proofs.receipts import IN_NO_EMAIL
from tests.builders import NOW, RETENTION, a_run, a_stored_event, a_subscriber, an_event
from tests.receipt_stories import (
    EVENT,
    MINUTE,
    STORIES,
    a_world,
    happen,
    is_delivered,
    retract,
    told,
)
from tests.receipts import receipt_of
from tests.world import World

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WINDOW = Window(NOW - DAY, NOW)


# Each state.


def test_there_is_a_story_of_each_state() -> None:
    assert set(STORIES) == set(State)


@pytest.mark.parametrize("state", STORIES)
def test_story_ends_in_its_state(state: State) -> None:
    _, receipt = told(state)
    assert (receipt.user_id, receipt.id, receipt.state) == ("ann", EVENT, state)


@pytest.mark.parametrize("state", STORIES)
def test_receipt_lists_emails_only_if_one_may_contain_the_event(state: State) -> None:
    world, receipt = told(state)
    with_emails = state not in IN_NO_EMAIL | {State.NOT_STORED}
    assert bool(receipt.emails) is with_emails
    assert receipt.known_since == world.clock() - RETENTION


def test_emailed_event_names_its_email_with_delivery_events() -> None:
    world, receipt = told(State.EMAILED)
    (email,) = receipt.emails
    assert (email.email, email.certainty, email.events) == ("ann-daily-1", Certainty.ACCEPTED, 1)
    assert receipt.at == email.sent_at
    assert email.outcomes == {
        EngagementEvent.SENT: world.clock(),
        EngagementEvent.DELIVERED: world.clock(),
    }


def test_waiting_event_names_its_digest_and_its_due_time() -> None:
    world, receipt = told(State.WAITING)
    schedule = world.schedules.rows["ann", DAILY]
    assert (receipt.schedule, receipt.next_digest) == (DAILY, schedule.next_due_at)
    assert (receipt.is_held, receipt.because, receipt.category) == (False, None, "comment")


def test_event_of_a_started_digest_names_the_due_time_of_its_run() -> None:
    world = a_world()
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.now = due + MINUTE
    world.fan_out(slot_of(due))
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.next_digest) == (State.WAITING, due)
    happen(world, "later")
    assert receipt_of(world, "later").next_digest == due  # the window ends with the claim


def test_event_of_a_held_category_waits_and_says_so() -> None:
    world = a_world()
    world.category_holds.add(category_hold("comment", "too many complaints", NOW))
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.is_held) == (State.WAITING, True)


def test_event_of_a_reader_who_left_waits_without_a_digest() -> None:
    world = a_world()
    world.unsubscribe()
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.next_digest) == (State.WAITING, None)
    assert receipt.because is Because.READER_GETS_NO_EMAIL


@pytest.mark.parametrize("often", [Frequency.DAILY, Frequency.IMMEDIATE])
def test_waiting_event_of_a_muted_entity_states_the_mute_until_it_is_undone(
    often: Frequency,
) -> None:
    world = a_world(often)
    world.mute(f"post#{EVENT}")
    receipt = receipt_of(world, EVENT)
    assert (receipt.because, receipt.next_digest) == (Because.ENTITY_MUTED, None)
    world.unmute(f"post#{EVENT}")
    receipt = receipt_of(world, EVENT)
    assert receipt.because is None
    assert receipt.next_digest


def test_mute_does_not_concern_critical_events() -> None:
    world = World(critical=frozenset({"comment"}))
    world.choose()
    happen(world)
    world.mute(f"post#{EVENT}")
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.because) == (State.COLLECTING, None)


@pytest.mark.parametrize(
    ("often", "age", "because"),
    [
        (Frequency.IMMEDIATE, 2 * DAY, Because.LATE),
        (Frequency.DAILY, 2 * DAY, None),
        (Frequency.IMMEDIATE, HOUR, None),
    ],
)
@pytest.mark.parametrize("is_followed", [False, True])
def test_late_event_states_why_it_waits_for_the_digest(
    often: Frequency, age: timedelta, because: Because | None, *, is_followed: bool
) -> None:
    world = World()
    world.choose(at=NOW - 9 * DAY, comment=Frequency.DAILY if is_followed else often)
    if is_followed:
        world.follow(entity="blog#b1", at=NOW - 9 * DAY, often=often)
    via = ("blog#b1",) if is_followed else ()
    world.create(replace(an_event(EVENT, occurred_at=NOW - age), via=via))
    assert receipt_of(world, EVENT).because is because


@pytest.mark.parametrize("age", [HOUR, 2 * DAY])
def test_event_over_the_limit_states_why_it_waits_for_the_digest(age: timedelta) -> None:
    """Also once it is a day old. A reader who chose the digest meanwhile gets no reason."""
    world = World(limit=ImmediateLimit(per_hour=1, per_day=1))
    world.choose(at=NOW - 9 * DAY, comment=Frequency.IMMEDIATE)
    world.create(an_event("first"), an_event(EVENT, entity_id="other"))
    world.clock.now += age
    receipt = receipt_of(world, EVENT)
    assert (receipt.schedule, receipt.because) == (DAILY, Because.OVER_LIMIT)
    assert receipt.why == ""
    world.choose(comment=Frequency.DAILY)
    assert receipt_of(world, EVENT).because is None


def test_event_of_a_pause_is_not_late() -> None:
    world = World()
    times = DigestTimes(minute=0, paused_until=NOW.date())
    reader = a_subscriber(times=times, comment=Frequency.IMMEDIATE)
    world.say(ChangeSubscriber(reader))
    world.create(an_event(EVENT, occurred_at=NOW - 2 * DAY))
    receipt = receipt_of(world, EVENT)
    assert (receipt.schedule, receipt.because) == (DAILY, None)


def test_immediate_event_whose_run_ended_waits_for_the_next_email() -> None:
    world = a_world(Frequency.IMMEDIATE)
    (run,) = world.runs.rows.values()
    ended = replace(run, status=Status.SKIPPED, reason=Reason.CATEGORY_HELD)
    world.runs.rows[run.key] = ended
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.because) == (State.WAITING, Because.NO_EMAIL_STARTED)


def test_excluded_event_states_the_stored_reason() -> None:
    _, receipt = told(State.EXCLUDED)
    assert receipt.why == "cannot show 'Well said.'"


def test_event_being_sent_may_have_been_emailed() -> None:
    world = a_world()
    during: list[State] = []
    with world.meanwhile(
        "mailer.send", lambda: during.append(receipt_of(world, EVENT).state), before=True
    ):
        world.send_digest()
    assert during == [State.MAY_HAVE_BEEN_EMAILED]
    assert receipt_of(world, EVENT).state is State.EMAILED


def test_evidence_turns_an_unknown_email_into_a_sent_one() -> None:
    world = STORIES[State.MAY_HAVE_BEEN_EMAILED]()
    is_delivered(world)
    receipt = receipt_of(world, EVENT)
    assert receipt.state is State.EMAILED
    assert [each.certainty for each in receipt.emails] == [Certainty.EVIDENCE]


def test_event_in_two_emails_names_both() -> None:
    world = a_world()
    world.policy = Policy.CARRY_OVER
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.send_digest()
    world.clock.now += 23 * HOUR
    world.sweep("ann")
    world.send_digest()
    receipt = receipt_of(world, EVENT)
    assert receipt.state is State.EMAILED
    assert [(each.email, each.certainty) for each in receipt.emails] == [
        ("ann-daily-1", Certainty.UNKNOWN),
        ("ann-daily-2", Certainty.ACCEPTED),
    ]


def test_lapsed_event_that_may_have_been_sent_is_given_up() -> None:
    world = World(policy=Policy.CARRY_OVER)
    world.choose(comment=Frequency.DAILY)
    happen(world, expires_in=2 * DAY)
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.send_digest()
    world.clock.now += 23 * HOUR
    world.sweep("ann")
    world.clock.now += DAY
    happen(world, "later")
    world.send_digest()
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.because) == (State.GIVEN_UP, Because.EMAILS_UNKNOWN)


def test_emailed_event_stays_emailed_after_it_can_no_longer_be_sent() -> None:
    world = STORIES[State.EMAILED]()
    world.clock.now = NOW + RETENTION + DAY
    assert receipt_of(world, EVENT).state is State.EMAILED
    world.clock.now += 3 * DAY
    assert receipt_of(world, EVENT).state is State.NOT_STORED


def test_event_that_was_written_too_late_for_an_email_is_not_in_it() -> None:
    """Its time is in the window of the email, but its row was written after the read."""
    run = sent_run(newest=(name_of("other"),))
    stored = a_stored_event(an_event(EVENT), DAILY, NOW - MINUTE)
    standing = standing_of(FoundEvent(stored), [run], NOW)
    assert (standing.state, standing.emails) == (State.WAITING, ())
    old = replace(stored, stored_at=NOW - DAY / 2)
    left_out = replace(run, left_out=(name_of(EVENT),))
    assert standing_of(FoundEvent(old), [run], NOW).state is State.EMAILED
    assert standing_of(FoundEvent(old), [left_out], NOW).state is State.WAITING


# Retractions.


def test_event_retracted_before_the_digest_is_in_no_email() -> None:
    world = a_world()
    happen(world, "other")
    retract(world)
    world.send_digest()
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.emails, receipt.because) == (State.RETRACTED, (), None)
    assert receipt.at == NOW + HOUR


def test_event_retracted_before_it_arrives_was_not_stored() -> None:
    world = World()
    world.choose()
    retract(world)
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.because) == (State.RETRACTED, Because.WAS_NOT_STORED)


def test_retraction_after_an_erasure_makes_no_statement_about_earlier_emails() -> None:
    world = STORIES[State.EMAILED]()
    world.clock.now += HOUR
    world.erase()
    world.clock.now += HOUR
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock())))
    retract(world)
    receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.because) == (State.RETRACTED, Because.WAS_NOT_STORED)


def test_event_retracted_after_an_unknown_outcome_may_be_in_the_email() -> None:
    world = STORIES[State.MAY_HAVE_BEEN_EMAILED]()
    retract(world)
    (email,) = receipt_of(world, EVENT).emails
    assert email.certainty is Certainty.UNKNOWN
    is_delivered(world)
    (email,) = receipt_of(world, EVENT).emails
    assert email.certainty is Certainty.EVIDENCE


def test_retraction_of_an_expired_event_keeps_its_emails() -> None:
    world = STORIES[State.EMAILED]()
    world.clock.now = NOW + RETENTION + DAY
    retract(world)
    receipt = receipt_of(world, EVENT)
    assert [each.certainty for each in receipt.emails] == [Certainty.ACCEPTED]


def test_retraction_by_an_older_version_makes_no_statement_about_emails() -> None:
    world = STORIES[State.RETRACTED]()
    world.events.traces.clear()
    receipt = receipt_of(world, EVENT)
    assert (receipt.emails, receipt.because) == ((), Because.EMAILS_UNKNOWN)


def sent_run(**fields: object) -> Run:
    """Return a run that was sent at NOW and has the event of `retracted` in its window."""
    run = replace(
        a_run(),
        status=Status.SENT,
        reason=Reason.ACCEPTED,
        attempt=1,
        window=WINDOW,
        created_at=NOW,
        claimed_at=NOW,
    )
    return replace(run, **fields)  # type: ignore[arg-type]


def retracted(after_the_claim: timedelta) -> FoundEvent:
    """Return an event that was stored half a day before NOW, and retracted at this time."""
    return FoundEvent(
        Retracted(EVENT, DAILY),
        was_schedule=DAILY,
        was_stored_at=NOW - DAY / 2,
        retracted_at=NOW + after_the_claim,
    )


@pytest.mark.parametrize(
    ("after_the_claim", "certainty"),
    [
        (DAY, Certainty.ACCEPTED),
        (MINUTE, Certainty.ACCEPTED),
        (MINUTE / 2, Certainty.UNKNOWN),
        (-MINUTE / 2, Certainty.UNKNOWN),
        (-4 * MINUTE, None),
        (-DAY, None),
    ],
)
def test_retracted_event_is_in_emails_that_were_claimed_before(
    after_the_claim: timedelta, certainty: Certainty | None
) -> None:
    emails = standing_of(retracted(after_the_claim), [sent_run()], NOW + 2 * DAY).emails
    assert [each for _, each in emails] == ([certainty] if certainty else [])


@pytest.mark.parametrize(
    ("minutes", "certainty"), [(17, Certainty.UNKNOWN), (18, None), (19, None)]
)
def test_run_that_was_created_before_the_retraction_is_clear_after_an_invocation(
    minutes: int, certainty: Certainty | None
) -> None:
    run = sent_run(created_at=NOW - HOUR)
    emails = standing_of(retracted(-minutes * MINUTE), [run], NOW + 2 * DAY).emails
    assert [each for _, each in emails] == ([certainty] if certainty else [])


def test_earlier_attempt_with_unknown_outcome_may_contain_a_retracted_event() -> None:
    run = sent_run(attempt=2, uncertain=frozenset({1}))
    emails = standing_of(retracted(-DAY), [run], NOW + 2 * DAY).emails
    assert [each for _, each in emails] == [Certainty.UNKNOWN]


# Events that are not stored.


def test_mute_is_recognised_by_category_and_time() -> None:
    world = a_world(Frequency.NEVER)
    asked: list[dict[str, object]] = [
        {},
        {"category": "comment"},
        {"category": "like", "occurred_at": NOW},
        {"category": "comment", "occurred_at": NOW},
    ]
    told = [receipt_of(world, EVENT, **each).because for each in asked]  # type: ignore[arg-type]
    assert told == [*[Because.NEVER_OR_GONE] * 3, Because.MUTED]
    world.critical = frozenset({"comment"})
    assert receipt_of(world, EVENT, **asked[3]).because is Because.NEVER_OR_GONE  # type: ignore[arg-type]


def test_event_in_quarantine_looks_like_one_that_was_never_published() -> None:
    world = a_world()
    world.say(InvalidEvent("the field `id` is missing"))
    invalid, unpublished = receipt_of(world, "invalid"), receipt_of(world, "unpublished")
    assert invalid.because is unpublished.because is Because.NEVER_OR_GONE


def test_mute_that_ended_before_the_event_is_no_reason() -> None:
    world = a_world(Frequency.NEVER)
    world.clock.now += HOUR
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), comment=Frequency.DAILY)))
    during = receipt_of(world, EVENT, category="comment", occurred_at=NOW)
    after = receipt_of(world, EVENT, category="comment", occurred_at=world.clock() + MINUTE)
    assert (during.because, after.because) == (Because.MUTED, Because.NEVER_OR_GONE)


def test_event_of_an_erased_reader_says_so_even_after_their_return() -> None:
    world = a_world()
    world.clock.now += HOUR
    world.erase()
    receipt = receipt_of(world, EVENT)
    assert (receipt.because, receipt.at) == (Because.ERASED, world.clock())
    world.clock.now += HOUR
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock())))
    assert receipt_of(world, EVENT).because is Because.NEVER_OR_GONE
    again = receipt_of(world, EVENT, category="comment", occurred_at=NOW)
    assert (again.because, again.at) == (Because.ERASED, world.clock() - HOUR)


# Calls, and concurrent changes.


@pytest.mark.parametrize(
    ("state", "calls"),
    [
        (State.EMAILED, ["events.find", "runs.chain", "engagements.of_runs"]),
        (
            State.WAITING,
            [
                "events.find",
                "runs.chain",
                "subscribers.get",
                "schedules.get",
                "category_holds.names",
            ],
        ),
        (
            State.COLLECTING,
            ["events.find", "runs.chain", "subscribers.get", "category_holds.names"],
        ),
        (State.WAITS_FOR_PROFILE, ["events.find"]),
        (State.NOT_STORED, ["events.find", "subscribers.get"]),
        (State.RETRACTED, ["events.find", "runs.chain", "engagements.of_runs"]),
        (State.EXCLUDED, ["events.find"]),
    ],
)
def test_receipt_makes_few_calls(state: State, calls: list[str]) -> None:
    world = STORIES[state]()
    world.clock.now += 3 * MINUTE  # later than a claim just now
    with world.calls() as called:
        receipt_of(world, EVENT)
    assert called == calls


def leave_and_send(world: World) -> None:
    """Move the event to another digest, and send the first one with another event."""
    happen(world, "other")
    stored = world.events.rows["ann", EVENT]
    assert isinstance(stored, StoredEvent)
    world.events.rows["ann", EVENT] = replace(stored, schedule="weekly", stored_at=world.clock())
    world.send_digest()


def test_event_that_moves_between_the_two_reads_is_read_again() -> None:
    world = a_world()
    world.clock.now += HOUR
    with world.meanwhile("events.find", lambda: leave_and_send(world)):
        receipt = receipt_of(world, EVENT)
    assert (receipt.state, receipt.schedule) == (State.WAITING, "weekly")


@pytest.mark.parametrize("policy", Policy)
def test_event_is_never_in_no_email_while_an_attempt_may_have_sent_it(policy: Policy) -> None:
    world = a_world()
    world.policy = policy
    for number in range(4):
        happen(world, f"another{number}")
        world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
        world.send_digest()
        for _ in range(5):
            world.clock.now += 4 * HOUR
            world.sweep("ann")
            assert receipt_of(world, EVENT).state not in IN_NO_EMAIL
