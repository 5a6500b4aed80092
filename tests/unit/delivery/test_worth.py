"""A daily digest with a low score waits for more events, but not for long."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.arrangement import WEIGHTS, Arrangement
from gazette.domain.delivery.retries import PAUSES
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import Policy, RefusedForNow, Uncertain
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import DAILY, Event, RunKey, Window
from gazette.domain.scheduling.calendar import DigestTimes, next_occurrence
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.window.folded import fold
from gazette.domain.window.worth import Worth, reaches
from gazette.steps.subscribers.reschedule import stop_pending
from gazette.steps.support.dry_run import dry_run

from tests.builders import KEY, NOW, a_schedule, a_subscriber, an_event
from tests.fakes import FakeRenderer
from tests.world import GRACE, World, crashes, interleavings

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
WORTH = Worth(score=2.0, longest_wait=3 * DAY, weights=WEIGHTS)


def a_like(number: int = 0, **changes: object) -> Event:
    """A like of a post of its own, with a score of 1 while it is new."""
    fields = {"category": "like", "entity_id": f"p{number}", "occurred_at": NOW} | changes
    expires_at = fields.pop("expires_at", None)
    event = an_event(f"l{number}", **fields)  # type: ignore[arg-type]
    return replace(event, expires_at=expires_at)  # type: ignore[arg-type]


def a_world(
    *events: Event, worth: Worth | None = WORTH, schedule: str = DAILY, **fields: object
) -> World:
    """Ann's digest is due, with these events."""
    world = World(worth=worth, max_lateness=6 * HOUR, **fields)  # type: ignore[arg-type]
    world.subscribers.put(a_subscriber(), replacing=None)
    for event in events:
        world.events.store(event, schedule)
    world.clock.pass_time(minutes=1)
    start(world, schedule=schedule)
    return world


def start(world: World, sequence: int = 1, schedule: str = DAILY) -> RunKey:
    """Fan-out starts a run."""
    key = RunKey("ann", schedule, sequence)
    world.runs.create(Run(key, world.clock(), world.clock() + HOUR))
    return key


def next_digest(world: World, sequence: int, *, after: timedelta = DAY) -> Run:
    """The digest of a later day."""
    world.clock.now += after
    run = world.generate(start(world, sequence))
    assert run
    return run


def ending(run: Run | None) -> tuple[Status, Reason]:
    assert run
    return run.status, run.reason


WAITS = (Status.SKIPPED, Reason.WAITS_FOR_MORE)
SENT = (Status.SENT, Reason.ACCEPTED)


def test_digest_with_low_score_is_skipped_and_closes_no_window() -> None:
    world = a_world(a_like())
    before = dict(world.events.rows)
    run = world.generate(KEY)
    assert ending(run) == WAITS
    assert run
    assert (run.window, run.attempt) == (None, 0)
    assert world.events.rows == before
    assert world.emails() == []


def test_events_of_skipped_digest_are_in_next_digest_that_reaches_the_score() -> None:
    world = a_world(a_like(0))
    world.generate(KEY)
    world.clock.now += DAY - timedelta(minutes=2)
    world.events.store(an_event("c1", entity_id="q", occurred_at=world.clock()), DAILY)
    assert ending(next_digest(world, 2, after=timedelta(minutes=2))) == SENT
    assert [email.lines for email in world.emails()] == [("q: 1", "p0: 1")]
    assert ending(next_digest(world, 3)) == (Status.SKIPPED, Reason.EMPTY)


def test_digest_that_reaches_the_score_is_sent() -> None:
    assert ending(a_world(an_event()).generate(KEY)) == SENT


def test_scores_of_groups_are_added() -> None:
    assert ending(a_world(a_like(0), a_like(1)).generate(KEY)) == WAITS
    assert ending(a_world(*map(a_like, range(3))).generate(KEY)) == SENT


def test_stage_without_minimum_sends_each_digest() -> None:
    assert ending(a_world(a_like(), worth=None).generate(KEY)) == SENT


@pytest.mark.parametrize("schedule", [Frequency.WEEKLY, Frequency.CUSTOM])
def test_less_frequent_digest_is_never_skipped(schedule: str) -> None:
    world = a_world(a_like(), schedule=schedule)
    assert ending(world.generate(RunKey("ann", schedule, 1))) == SENT


def test_immediate_email_is_never_skipped() -> None:
    world = World(worth=WORTH)
    world.choose(like=Frequency.IMMEDIATE)
    world.create(a_like(occurred_at=world.clock()))
    (run,) = world.deliver_queued()
    assert ending(run) == SENT


@pytest.mark.parametrize(("age", "expected"), [(3 * DAY - HOUR, WAITS), (3 * DAY, SENT)])
def test_digest_is_sent_if_oldest_event_occurred_days_ago(
    age: timedelta, expected: tuple[Status, Reason]
) -> None:
    assert ending(a_world(a_like(occurred_at=NOW - age)).generate(KEY)) == expected


def test_score_that_falls_with_age_does_not_prolong_the_wait() -> None:
    world = a_world(a_like(occurred_at=NOW))
    endings = [ending(world.generate(KEY)), *(ending(next_digest(world, n)) for n in (2, 3, 4))]
    assert endings == [WAITS, WAITS, WAITS, SENT]


def test_deferral_by_a_category_hold_does_not_prolong_the_wait() -> None:
    """A deferral renews the storage time. The time of the event counts."""
    world = a_world(a_like(occurred_at=NOW), an_event("m", category="mention", entity_id="m"))
    world.category_holds.add(category_hold("like", "too many complaints", world.clock()))
    assert ending(world.generate(KEY)) == SENT
    world.category_holds.release("like")
    assert ending(next_digest(world, 2)) == WAITS
    assert ending(next_digest(world, 3)) == WAITS
    assert ending(next_digest(world, 4)) == SENT
    assert [email.lines for email in world.emails()] == [("m: 1",), ("p0: 1",)]


def test_digest_is_sent_if_an_event_would_lapse_before_the_next_digest() -> None:
    recurrence = a_subscriber().recurrence(Frequency.DAILY)
    due_next = next_occurrence(recurrence, after=NOW)
    latest = due_next + 6 * HOUR
    assert ending(a_world(a_like(expires_at=latest)).generate(KEY)) == SENT
    later = latest + timedelta(minutes=5)
    assert ending(a_world(a_like(expires_at=later)).generate(KEY)) == WAITS


def test_next_digest_of_a_paused_reader_is_after_the_pause() -> None:
    """The next digest may be weeks away, so an event that would lapse until then is sent now."""
    world = a_world(a_like(expires_at=NOW + 9 * DAY))
    paused = DigestTimes(paused_until=(NOW + 10 * DAY).date())
    ann = world.subscribers.get("ann")
    assert isinstance(ann, Subscriber)
    world.subscribers.rows["ann"] = replace(ann, times=paused)
    assert ending(world.generate(KEY)) == SENT


def test_content_items_do_not_force_a_digest_when_they_expire() -> None:
    item = a_like(source="recommendations", expires_at=NOW + HOUR, amended_at=NOW)
    old = replace(item, id="l1", occurred_at=NOW - 30 * DAY)
    assert ending(a_world(item, old).generate(KEY)) == WAITS


def test_content_items_wait_no_longer_than_events() -> None:
    """An item counts from the time at which it was stored, because it may be of any age."""
    world = a_world(a_like(source="recommendations", amended_at=NOW))
    endings = [ending(world.generate(KEY)), *(ending(next_digest(world, n)) for n in (2, 3, 4))]
    assert endings == [WAITS, WAITS, WAITS, SENT]


@pytest.mark.parametrize("policy", [Policy.RESEND, Policy.CARRY_OVER])
def test_email_that_may_have_been_sent_is_never_held_back(policy: Policy) -> None:
    """The run itself is sent again, or the next digest carries it."""
    world = a_world(*map(a_like, range(3)), policy=policy)
    world.mailer.script.append(Uncertain(1))
    assert ending(world.generate(KEY)) == (Status.UNKNOWN, Reason.UNCERTAIN)
    world.worth = replace(WORTH, score=100.0)
    world.clock.now += 2 * GRACE
    world.evidence_log.record(world.clock())
    world.sweep()
    world.deliver_queued()
    world.clock.now += DAY
    world.events.store(a_like(3, occurred_at=world.clock()), DAILY)
    next_digest(world, 2, after=timedelta(minutes=1))
    ends = [ending(run) for run in world.runs.rows.values()]
    if policy is Policy.RESEND:
        assert ends == [SENT, WAITS]
    else:
        assert ends == [(Status.FAILED, Reason.CARRIED_INTO), SENT]
    assert len(world.emails()) == 1


def test_refused_digest_is_not_held_back_when_it_is_retried() -> None:
    world = a_world(*map(a_like, range(3)))
    world.mailer.script.append(RefusedForNow(1))
    world.generate(KEY)
    world.worth = replace(WORTH, score=100.0)
    world.clock.now += max(PAUSES)
    world.resend(KEY)
    assert ending(world.runs.rows[KEY]) == SENT


def test_redrive_of_a_failed_digest_is_not_held_back() -> None:
    """The failed run was worth an email. Its events are older now, and score less."""
    world = a_world(*map(a_like, range(3)))
    failed = replace(
        world.runs.rows[KEY],
        attempt=7,
        refusals=7,
        status=Status.FAILED,
        reason=Reason.ATTEMPTS_EXHAUSTED,
        window=Window(NOW - DAY, world.clock()),
    )
    world.runs.rows[KEY] = failed
    world.schedules.put(a_schedule(sequence=2), replacing=None)
    world.worth = replace(WORTH, score=100.0)
    redriven = world.redrive(failed).run
    assert redriven
    assert ending(world.generate(redriven.key)) == SENT


def test_next_digest_after_a_sent_one_may_be_held_back() -> None:
    world = a_world(an_event())
    assert ending(world.generate(KEY)) == SENT
    world.clock.now += DAY
    world.events.store(a_like(occurred_at=world.clock()), DAILY)
    assert ending(next_digest(world, 2, after=timedelta(minutes=1))) == WAITS


@dataclass
class HeavyLikes(FakeRenderer):
    """A variation that gives likes more weight."""

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        return replace(of_stage, weights={"like": 100})


def test_variation_does_not_change_the_minimum() -> None:
    """Readers of every variation get as many emails, so that an experiment compares the emails."""
    world = a_world(a_like(), renderer=HeavyLikes())
    assert ending(world.generate(KEY)) == WAITS


def test_date_of_a_skipped_digest_may_still_have_a_digest() -> None:
    """The reader chooses a later hour after the digest of the day was skipped."""
    world = a_world(a_like())
    run = world.generate(KEY)
    assert run
    schedule = a_schedule(next_due_at=run.due_at + DAY, sequence=2, last_due_at=run.due_at)
    assert stop_pending(schedule, context=world.context).last_due_at is None


def test_forecast_says_that_the_digest_waits() -> None:
    found = dry_run(KEY, context=a_world(a_like()).dry_run_context())
    assert found
    assert not found.would_send
    assert ending(found.delivery.run) == WAITS


def calls_of(world: World) -> list[str]:
    with world.calls() as made:
        world.generate(KEY)
    return made


def test_minimum_makes_no_additional_call() -> None:
    assert calls_of(a_world(an_event())) == calls_of(a_world(an_event(), worth=None))


def test_skipped_digest_costs_one_write_and_no_permit() -> None:
    made = calls_of(a_world(a_like()))
    assert [call for call in made if call.split(".")[1] in {"swap", "create", "reserve"}] == [
        "runs.swap"
    ]


def test_score_of_many_lines_is_added_until_the_minimum_is_reached() -> None:
    folded = fold([an_event(f"e{n}", entity_id=f"p{n}", occurred_at=NOW) for n in range(5)])
    assert reaches(folded, replace(WORTH, score=20.0), until=NOW)
    assert not reaches(folded, replace(WORTH, score=20.01), until=NOW)


def _later(world: World) -> None:
    """Four days later, everything that waits is sent."""
    for sequence in range(2, 6):
        next_digest(world, sequence)


def _again(world: World) -> None:
    world.generate(KEY)


def _comment(world: World) -> None:
    world.events.store(an_event("c1", entity_id="q", occurred_at=world.clock()), DAILY)


def _mute(world: World) -> None:
    world.choose(like=Frequency.NEVER)


@pytest.mark.parametrize(
    ("other", "expected"), [(_again, ["p0: 1"]), (_comment, ["p0: 1", "q: 1"]), (_mute, [])]
)
def test_each_event_is_sent_once_if_another_process_interrupts_a_skip(
    other: Callable[[World], None], expected: list[str]
) -> None:
    """A second worker, an event and a mute at every call of the delivery."""

    def make() -> World:
        return a_world(a_like())

    for world, where in interleavings(make, lambda world: world.generate(KEY), other):
        _later(world)
        lines = [line for email in world.emails() for line in email.lines]
        assert sorted(lines) == expected, where


def test_each_event_is_sent_once_whenever_a_worker_crashes() -> None:
    def make() -> World:
        return a_world(a_like())

    for world, where in crashes(make, lambda world: world.generate(KEY)):
        _later(world)
        assert [email.lines for email in world.emails()] == [("p0: 1",)], where
