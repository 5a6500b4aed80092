"""Deliver: the order of its calls, and the outcome of each refusal, race and crash."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.delivery.pace import NoPermit, Outlook, PacePlan, Permit, Quota
from gazette.domain.delivery.run import Reason, Run, Status, why_not_sent
from gazette.domain.delivery.signals import (
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Stop,
    Uncertain,
)
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.links import LinkToken
from gazette.domain.model import DAILY, Mail, RunKey, StoredEvent, Window
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import QueuedRun
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.subscriber import Erased, SubscriberStatus
from gazette.steps.runs import apply

from tests.builders import KEY, NOW, SettableClock, a_run, a_subscriber, an_event
from tests.fake_stores import (
    FakeRateLimiter,
)
from tests.fakes import FakeLinks
from tests.world import GRACE, World

SECOND = timedelta(seconds=1)


@dataclass
class Worker(World):
    """A worker with a run of Ann to deliver; `left` is what remains of its invocation."""

    left: timedelta = timedelta(seconds=60)
    max_lateness: timedelta = timedelta(hours=6)
    rate_limiter: FakeRateLimiter = field(
        default_factory=lambda: FakeRateLimiter(PacePlan(rate=10))
    )
    immediate_rate_limiter: FakeRateLimiter = field(
        default_factory=lambda: FakeRateLimiter(PacePlan(rate=10))
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.time_left = lambda: self.left
        self.subscribers.put(a_subscriber(), replacing=None)
        self.runs.create(a_run())

    def work(self, key: RunKey = KEY, *, time_left: TimeLeft | None = None) -> Run:
        """One message on the generate queue; the run as it is stored then."""
        self.time_left = time_left or (lambda: self.left)
        run = self.generate(key)
        assert run is not None
        assert run == self.runs.rows[key]
        return run

    def texts(self) -> list[str]:
        return [mail.edition.text for mail, _ in self.mailer.accepted]


@pytest.fixture
def world(clock: SettableClock) -> Worker:
    return Worker(clock)


@pytest.fixture
def ready(world: Worker) -> Worker:
    """One event has been stored and the lag has passed."""
    world.events.store(an_event(), DAILY)
    world.clock.pass_time(minutes=5)
    return world


def test_a_due_run_becomes_one_email(ready: Worker) -> None:
    run = ready.work()
    assert (run.status, run.reason, run.attempt) == (Status.SENT, Reason.ACCEPTED, 1)
    assert run.message_id == "message1"
    assert len(ready.mailer.accepted) == 1


def test_the_email_carries_what_its_readers_need(ready: Worker) -> None:
    ready.work()
    mail, _ = ready.mailer.accepted[0]
    headers = dict(mail.headers)
    assert mail.to == "ann@example.com"
    assert headers["List-Unsubscribe"].startswith("<https://example.com/unsubscribe/")
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert headers["List-Id"] == "<digest.example.com>"
    assert re.fullmatch(r"<[0-9a-f]{32}@digest\.example\.com>", headers["References"])
    assert headers["Auto-Submitted"] == "auto-generated"
    assert dict(mail.tags) == {"run": "ann-daily-1", "attempt": "1", "installation": "here"}


def test_a_message_that_comes_again_sends_nothing(ready: Worker) -> None:
    first = ready.work()
    assert ready.work() == first
    assert ready.mailer.calls == 1


def test_a_message_that_names_no_run_creates_none(world: Worker) -> None:
    with pytest.raises(AssertionError):
        world.work(RunKey("ann", DAILY, 2))
    assert list(world.runs.rows) == [KEY]


def test_a_run_without_events_is_skipped_with_its_reason(world: Worker) -> None:
    run = world.work()
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.EMPTY)
    assert world.mailer.calls == 0


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (SubscriberStatus.UNSUBSCRIBED, Reason.UNSUBSCRIBED),
        (SubscriberStatus.SUPPRESSED, Reason.SUPPRESSED),
    ],
)
def test_a_reader_who_is_not_written_to_gets_nothing(
    ready: Worker, status: SubscriberStatus, reason: Reason
) -> None:
    ready.subscribers.set_status("ann", status)
    run = ready.work()
    assert (run.status, run.reason) == (Status.SKIPPED, reason)
    assert ready.mailer.calls == 0


def test_a_reader_who_was_erased_gets_nothing(ready: Worker) -> None:
    ready.subscribers.rows["ann"] = Erased("ann", NOW)
    assert ready.work().reason is Reason.ERASED
    assert ready.mailer.calls == 0


def test_an_unknown_reader_gets_no_email(ready: Worker) -> None:
    del ready.subscribers.rows["ann"]
    assert ready.work().reason is Reason.UNKNOWN_SUBSCRIBER
    assert ready.mailer.calls == 0


@pytest.mark.parametrize(
    "status", [SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED, None]
)
def test_a_run_not_sent_because_of_its_reader_closes_no_window(
    ready: Worker, status: SubscriberStatus | None
) -> None:
    if status:
        ready.subscribers.set_status("ann", status)
    else:
        del ready.subscribers.rows["ann"]
    ready.work()
    ready.subscribers.rows["ann"] = a_subscriber()
    ready.runs.create(a_run(2))
    ready.work(RunKey("ann", DAILY, 2))
    assert "post1: 1" in ready.texts()[0]


def test_trace_l_an_event_younger_than_the_lag_waits_for_the_next_digest(ready: Worker) -> None:
    ready.events.store(an_event("young", entity_id="young"), DAILY)
    ready.work()
    assert "young" not in ready.texts()[0]
    ready.clock.pass_time(days=1)
    ready.runs.create(replace(a_run(2), due_at=ready.clock.now))
    ready.work(RunKey("ann", DAILY, 2))
    assert "young: 1" in ready.texts()[1]
    assert "post1" not in ready.texts()[1]


def test_trace_h_an_event_that_is_stored_between_read_and_claim_is_in_the_next_digest(
    ready: Worker,
) -> None:
    """Nobody has read it: so the window must not end behind it."""
    original = ready.events.read

    def read(*given: object) -> list[StoredEvent]:
        found = list(original(*given))  # type: ignore[arg-type]
        ready.clock.pass_time(seconds=1)
        ready.events.store(an_event("between", entity_id="between"), DAILY)
        ready.clock.pass_time(minutes=1)
        ready.events.read = original  # type: ignore[method-assign]
        return found

    ready.events.read = read  # type: ignore[method-assign,assignment]
    ready.work()
    ready.clock.pass_time(days=1)
    ready.runs.create(replace(a_run(2), due_at=ready.clock.now))
    ready.work(RunKey("ann", DAILY, 2))
    assert ["between: 1" in text for text in ready.texts()] == [False, True]


# Too late, and cancelled.


LATENESS = timedelta(hours=6)


@pytest.mark.parametrize(("late", "sent"), [(LATENESS, True), (LATENESS + SECOND, False)])
def test_a_digest_that_was_queued_for_too_long_goes_with_the_next(
    world: Worker, late: timedelta, sent: bool
) -> None:
    """A backlog, an outage of the provider, or a redrive in the night."""
    world.events.store(an_event(), DAILY)
    world.clock.now = NOW + late
    run = world.work()
    assert run.reason is (Reason.ACCEPTED if sent else Reason.TOO_LATE)
    assert world.mailer.calls == sent
    world.runs.create(replace(a_run(2), due_at=world.clock.now))
    world.work(replace(KEY, sequence=2))
    assert world.mailer.calls == 1


@pytest.mark.parametrize("name", ["weekly", "custom", immediate_schedule("post#post1")])
def test_a_run_without_a_soon_successor_is_never_too_late(world: Worker, name: str) -> None:
    key = RunKey("ann", name, 1)
    world.runs.create(replace(a_run(), key=key))
    world.events.store(an_event(), name)
    world.clock.pass_time(days=3)
    assert world.work(key).status is Status.SENT


TO_RESEND = replace(
    a_run(),
    status=Status.RETRYING,
    reason=Reason.POLICY_RESEND,
    attempt=1,
    uncertain=frozenset({1}),
    resent=True,
)
"""It may have gone out, and its policy said to send it once more."""


def test_what_would_be_sent_once_more_heeds_a_stop_and_its_hour_like_any_other(
    ready: Worker,
) -> None:
    """It stays one that may have gone out: its successor takes that into account."""
    ready.runs.rows[KEY] = TO_RESEND
    ready.batches.cancel(slot_of(NOW))
    run = ready.work()
    assert (run.reason, run.uncertain) == (Reason.BATCH_CANCELLED, TO_RESEND.uncertain)
    ready.runs.rows[KEY] = TO_RESEND
    ready.clock.pass_time(hours=7)
    assert ready.work().reason is Reason.TOO_LATE
    assert ready.mailer.calls == 0


def test_the_batch_is_looked_at_after_the_wait_for_a_permit(ready: Worker) -> None:
    """Whoever cancels goes through an index that may not show the run yet."""
    original = ready.rate_limiter.reserve

    def cancelled_meanwhile(
        now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        ready.batches.cancel(slot_of(NOW))
        return original(now, latest, critical=critical)

    ready.rate_limiter.reserve = cancelled_meanwhile  # type: ignore[method-assign]
    assert ready.work().reason is Reason.BATCH_CANCELLED
    assert ready.mailer.calls == 0


def test_the_next_run_contains_the_events_of_a_failed_run(ready: Worker) -> None:
    ready.mailer.script.append(RefusedForGood(1, "rejected"))
    assert ready.work().status is Status.FAILED
    ready.runs.create(a_run(2))
    ready.work(RunKey("ann", DAILY, 2))
    assert "post1: 1" in ready.texts()[0]


def test_what_is_refused_for_now_goes_on_away_from_here(ready: Worker) -> None:
    ready.mailer.script.append(RefusedForNow(1, "slow"))
    run = ready.work()
    assert (run.status, run.refusals) == (Status.RETRYING, 1)
    assert ready.resend_queue.sent == [QueuedRun(KEY, timedelta(minutes=1))]
    assert not ready.generate_queue.sent


def test_a_temporarily_rejected_run_is_not_sent_before_its_pause_ends(ready: Worker) -> None:
    """By whatever message comes: a second one must not use up its attempts."""
    ready.mailer.script.append(RefusedForNow(1, "slow"))
    ready.work()
    ready.clock.pass_time(seconds=59)
    ready.work()
    assert ready.mailer.calls == 1
    ready.clock.pass_time(seconds=1)
    assert ready.work().attempt == 2


def test_a_refusal_of_the_whole_account_is_no_attempt_and_comes_again_here(ready: Worker) -> None:
    ready.mailer.script.append(RefusedAccount(1, "paused"))
    run = ready.work()
    assert (run.status, run.reason, run.refusals) == (
        Status.RETRYING,
        Reason.REFUSED_ACCOUNT,
        0,
    )
    assert ready.generate_queue.sent == [QueuedRun(KEY, timedelta(minutes=1))]
    assert not ready.resend_queue.sent


def test_a_run_says_when_it_was_claimed_and_when_it_was_accepted(
    ready: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by the clock of its own moment: the provider may take seconds."""
    claimed, send = ready.clock.now, ready.mailer.send

    def slowly(mail: Mail, attempt: int) -> SendOutcome:
        ready.clock.pass_time(seconds=3)
        return send(mail, attempt)

    monkeypatch.setattr(ready.mailer, "send", slowly)
    run = ready.work()
    assert (run.claimed_at, run.sent_at) == (claimed, claimed + 3 * SECOND)


def test_a_retry_sends_the_window_of_the_first_claim(ready: Worker) -> None:
    ready.mailer.script.append(RefusedForNow(1, "slow"))
    ready.work()
    ready.events.store(an_event("later", entity_id="later"), DAILY)
    ready.clock.pass_time(minutes=10)
    ready.work()
    assert "later" not in ready.texts()[0]


def test_an_uncertain_send_is_not_repeated(ready: Worker) -> None:
    ready.mailer.script.append(Uncertain(1, "read timeout"))
    for _ in range(3):
        run = ready.work()
    assert ready.mailer.calls == 1
    assert run.status is Status.UNKNOWN
    assert run.deadline
    assert run.check_at == run.deadline + GRACE
    assert not ready.generate_queue.sent + ready.resend_queue.sent


def test_a_second_worker_never_sends(ready: Worker) -> None:
    """It finds the claim of the first, whatever it had read before."""
    claimed = replace(
        a_run(), status=Status.SENDING, attempt=1, nonce="other", deadline=NOW + timedelta(hours=1)
    )
    ready.runs.rows[KEY] = claimed
    assert ready.work() == claimed
    assert ready.mailer.calls == 0


def test_a_claim_made_by_another_between_read_and_claim_wins(ready: Worker) -> None:
    original = ready.runs.swap

    def raced(before: Run, after: Run) -> Run:
        original(before, replace(after, nonce="other"))
        return original(before, after)

    ready.runs.swap = raced  # type: ignore[method-assign]
    assert ready.work().nonce == "other"
    assert ready.mailer.calls == 0


def test_a_claim_whose_answer_was_lost_is_recognised(ready: Worker) -> None:
    """botocore repeats the write; its second answer is a failed condition with our own row."""
    original = ready.runs.swap

    def repeated(before: Run, after: Run) -> Run:
        original(before, after)
        return original(before, after)

    ready.runs.swap = repeated  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.mailer.calls == 1


def test_trace_g_a_claim_that_nobody_answered_is_asked_for_again(ready: Worker) -> None:
    original = ready.runs.swap

    def lost(before: Run, after: Run) -> Run:
        original(before, after)
        ready.runs.swap = original  # type: ignore[method-assign]
        raise Unavailable("no answer")

    ready.runs.swap = lost  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.mailer.calls == 1


def test_a_claim_stands_where_a_stop_came_before_its_answer_was_asked_for_again(
    ready: Worker,
) -> None:
    """Else it loses against itself, and a run that nobody sent is `unknown` in the end."""
    original = ready.runs.swap

    def lost(before: Run, after: Run) -> Run:
        ready.runs.swap = original  # type: ignore[method-assign]
        apply(original(before, after), Stop(), runs=ready.runs)
        raise Unavailable("no answer")

    ready.runs.swap = lost  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.mailer.calls == 1


def test_a_stop_between_read_and_claim_wins(ready: Worker) -> None:
    """An unsubscribe raises the epoch: the claim on what was read fails, and it is read anew."""
    original = ready.runs.swap

    def stopped(before: Run, after: Run) -> Run:
        ready.runs.swap = original  # type: ignore[method-assign]
        ready.subscribers.set_status("ann", SubscriberStatus.UNSUBSCRIBED)
        ready.runs.rows[KEY] = replace(ready.runs.rows[KEY], epoch=1)
        return original(before, after)

    ready.runs.swap = stopped  # type: ignore[method-assign]
    assert ready.work().reason is Reason.UNSUBSCRIBED
    assert ready.mailer.calls == 0


def test_a_run_that_keeps_changing_before_its_claim_comes_again(ready: Worker) -> None:
    original = ready.runs.swap

    def changed(before: Run, after: Run) -> Run:
        ready.runs.rows[KEY] = replace(ready.runs.rows[KEY], epoch=before.epoch + 1)
        return original(before, after)

    ready.runs.swap = changed  # type: ignore[method-assign]
    with pytest.raises(NotYet, match="kept changing"):
        ready.work()
    assert ready.mailer.calls == 0
    ready.runs.swap = original  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT


def test_no_claim_is_made_without_the_time_to_finish(ready: Worker) -> None:
    ready.left = timedelta(seconds=14)
    with pytest.raises(NotYet):
        ready.work()
    assert ready.runs.rows[KEY] == a_run()


def test_trace_i_a_worker_without_time_after_its_claim_does_not_send(ready: Worker) -> None:
    """The time is looked at again right before the call, and the run is given back."""
    remaining = iter([timedelta(seconds=60), timedelta(seconds=60), timedelta(seconds=3)])
    with pytest.raises(NotYet):
        ready.work(time_left=lambda: next(remaining))
    assert ready.mailer.calls == 0
    run = ready.runs.rows[KEY]
    assert (run.status, run.reason) == (Status.RETRYING, Reason.NOT_ATTEMPTED)


def test_trace_i_a_worker_that_stalled_past_its_deadline_does_not_send(ready: Worker) -> None:
    """Also one that nobody has ended, although its invocation is over."""
    original = ready.runs.swap

    def stalled(before: Run, after: Run) -> Run:
        stored = original(before, after)
        ready.clock.pass_time(minutes=2)
        return stored

    ready.runs.swap = stalled  # type: ignore[method-assign]
    with pytest.raises(NotYet, match="ran out of time"):
        ready.work()
    assert ready.mailer.calls == 0


def test_the_deadline_lies_after_the_end_of_the_invocation(ready: Worker) -> None:
    run = ready.work()
    assert run.deadline == ready.clock() + timedelta(seconds=60 + 5)


def test_a_claimant_past_its_deadline_leaves_the_outcome_unknown(ready: Worker) -> None:
    ready.runs.rows[KEY] = replace(
        a_run(), status=Status.SENDING, attempt=1, nonce="gone", deadline=NOW
    )
    run = ready.work()
    assert (run.status, run.reason) == (Status.UNKNOWN, Reason.DEADLINE_PASSED)
    assert run.uncertain == {1}
    assert run.check_at == NOW + GRACE


@pytest.mark.parametrize("status", [Status.PENDING, Status.RETRYING])
def test_an_older_run_that_nobody_sent_is_superseded(ready: Worker, status: Status) -> None:
    ready.runs.rows[KEY] = replace(a_run(), status=status)
    ready.runs.create(a_run(2))
    assert ready.work(RunKey("ann", DAILY, 2)).status is Status.SENT
    older = ready.runs.rows[KEY]
    assert (older.status, older.reason) == (Status.CANCELLED, Reason.SUPERSEDED)
    assert ready.work().status is Status.CANCELLED
    assert ready.mailer.calls == 1


@pytest.mark.parametrize("status", [Status.SENDING, Status.UNKNOWN])
def test_trace_a_a_run_waits_for_an_older_one_that_may_have_been_sent(
    ready: Worker, status: Status
) -> None:
    """Else the same events would go out twice."""
    ready.runs.rows[KEY] = replace(
        a_run(),
        status=status,
        attempt=1,
        deadline=NOW + timedelta(hours=1),
        uncertain=frozenset({1}) if status is Status.UNKNOWN else frozenset(),
    )
    ready.runs.create(a_run(2))
    assert ready.work(RunKey("ann", DAILY, 2)) == a_run(2)
    assert ready.mailer.calls == 0
    assert [queued.key.sequence for queued in ready.generate_queue.sent] == [2]


def test_an_older_run_that_is_sent_while_it_is_being_settled_closes_its_window(
    ready: Worker,
) -> None:
    """Read as pending, sent by another worker before it could be cancelled."""
    ready.runs.create(a_run(2))
    original = ready.runs.swap

    def raced(before: Run, after: Run) -> Run:
        if after.reason is Reason.SUPERSEDED:
            ready.runs.swap = original  # type: ignore[method-assign]
            ready.work()
        return original(before, after)

    ready.runs.swap = raced  # type: ignore[method-assign]
    assert ready.work(RunKey("ann", DAILY, 2)).reason is Reason.EMPTY
    assert ready.mailer.calls == 1


def test_a_skip_that_loses_to_a_claim_leaves_the_run_to_the_claimant(world: Worker) -> None:
    original = world.runs.swap

    def raced(before: Run, after: Run) -> Run:
        claimed = replace(before, status=Status.SENDING, reason=Reason.CLAIMED, attempt=1)
        world.runs.rows[KEY] = claimed
        return original(before, after)

    world.runs.swap = raced  # type: ignore[method-assign]
    assert world.work().status is Status.SENDING


def test_why_the_provider_refused_is_kept(ready: Worker) -> None:
    ready.mailer.script.append(RefusedForGood(1, "MessageRejected"))
    assert ready.work().detail == "MessageRejected"


def test_a_window_begins_where_the_greatest_sent_window_ended(ready: Worker) -> None:
    ready.runs.rows[KEY] = replace(
        a_run(), status=Status.SENT, window=Window(datetime(2026, 1, 1, tzinfo=UTC), NOW)
    )
    ready.runs.create(a_run(2))
    assert ready.work(RunKey("ann", DAILY, 2)).reason is Reason.EMPTY


def test_a_clock_that_runs_behind_never_makes_a_window_run_backwards(ready: Worker) -> None:
    later = NOW + timedelta(hours=2)
    ready.runs.rows[KEY] = replace(a_run(), status=Status.SENT, window=Window(NOW, later))
    ready.runs.create(a_run(2))
    assert ready.work(RunKey("ann", DAILY, 2)).reason is Reason.EMPTY


# Its turn.


def reserve_all(rate_limiter: FakeRateLimiter, now: datetime, seconds: float) -> None:
    """Let other workers take every permit for a while."""
    rate_limiter.row.pace = replace(
        rate_limiter.row.pace,
        next_at=now + timedelta(seconds=seconds),
        stretch_at=now,
        day=now.date(),
    )


def use_up_the_day(rate_limiter: FakeRateLimiter, now: datetime) -> None:
    """A new domain that may send two emails today, and has."""
    rate_limiter.plan = PacePlan(rate=10, warmup_from=now.date(), warmup_daily=2)
    for _ in range(2):
        rate_limiter.reserve(now, now + timedelta(seconds=5))


def test_a_run_takes_no_permit_of_the_other_stream(collecting: Worker) -> None:
    collecting.clock.pass_time(seconds=80)
    reserve_all(collecting.rate_limiter, collecting.clock(), 60)
    use_up_the_day(collecting.rate_limiter, collecting.clock())
    assert collecting.work(AT_ONCE).status is Status.SENT


@pytest.mark.parametrize("seconds", [0, 0.03, 0.1])
def test_an_email_waits_for_its_permit(ready: Worker, seconds: float) -> None:
    reserve_all(ready.rate_limiter, ready.clock(), seconds)
    turn = ready.clock() + timedelta(seconds=seconds)
    assert ready.work().status is Status.SENT
    assert ready.clock() == turn
    assert not ready.generate_queue.sent


@pytest.mark.parametrize("status", [Status.PENDING, Status.RETRYING])
def test_a_run_whose_permit_is_too_far_off_is_requeued_by_a_message_of_its_own(
    ready: Worker, status: Status
) -> None:
    """It stays as it is; nobody slept, and no permit was taken. 600 runs of ten a second wait."""
    ready.waiting_runs = 600
    run = replace(a_run(), status=status)
    ready.runs.rows[KEY] = run
    reserve_all(ready.rate_limiter, ready.clock(), 0.101)
    before, pace = ready.clock(), ready.rate_limiter.row.pace
    assert ready.work() == run
    (queued,) = ready.generate_queue.sent
    assert (queued.key, queued.delay) == (KEY, timedelta(seconds=15))
    assert (ready.clock(), ready.rate_limiter.row.pace) == (before, pace)
    assert ready.mailer.calls == 0


def test_a_run_that_was_requeued_is_sent_when_its_message_comes(ready: Worker) -> None:
    reserve_all(ready.rate_limiter, ready.clock(), 1.1)
    ready.work()
    ready.clock.now += ready.generate_queue.sent[0].delay
    assert ready.work().status is Status.SENT
    assert ready.mailer.calls == 1


def test_nobody_waits_so_long_that_too_little_time_is_left_to_send(ready: Worker) -> None:
    """Eighteen seconds are needed, and a twentieth of one is left for waiting.

    Another invocation has more: the run is not requeued.
    """
    ready.left = timedelta(seconds=18.05)
    reserve_all(ready.rate_limiter, ready.clock(), 0.08)
    with pytest.raises(NotYet, match="Too little time"):
        ready.work()
    assert not ready.generate_queue.sent
    assert ready.runs.rows[KEY] == a_run()
    reserve_all(ready.rate_limiter, ready.clock(), 0.05)
    assert ready.work().status is Status.SENT


def test_with_no_time_to_wait_a_permit_that_is_free_now_is_taken(ready: Worker) -> None:
    ready.left = timedelta(seconds=18)
    assert ready.work().status is Status.SENT
    assert ready.rate_limiter.row.pace.taken == 1


def test_a_message_that_cannot_be_requeued_is_kept(
    ready: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise Unavailable("SQS did not answer")

    monkeypatch.setattr(ready.generate_queue, "send", refuse)
    reserve_all(ready.rate_limiter, ready.clock(), 8)
    with pytest.raises(Unavailable):
        ready.work()
    assert ready.runs.rows[KEY] == a_run()


def test_a_run_for_which_there_is_nothing_to_send_takes_no_permit(world: Worker) -> None:
    reserve_all(world.rate_limiter, world.clock(), 0.1)
    before = world.rate_limiter.row.pace
    assert world.work().reason is Reason.EMPTY
    assert not world.generate_queue.sent
    assert world.rate_limiter.row.pace == before


def test_while_no_permit_is_near_a_run_is_requeued_unread(
    ready: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is read, rendered or written for it; the permit comes first."""
    reserve_all(ready.rate_limiter, ready.clock(), 0.101)
    ready.waiting_runs = 600
    monkeypatch.setattr(ready.runs, "chain", None)
    before = ready.rate_limiter.row.pace
    ready.work()
    assert ready.generate_queue.sent == [QueuedRun(KEY, timedelta(seconds=15))]
    assert (ready.rate_limiter.row.pace, ready.runs.rows[KEY]) == (before, a_run())


def _free_at_once(now: datetime) -> Outlook:
    return Outlook(free_at=now, rate=10)


def test_a_permit_that_others_take_while_a_run_is_read_requeues_it(ready: Worker) -> None:
    ready.waiting_runs = 600
    ready.rate_limiter.outlook = _free_at_once  # type: ignore[method-assign]
    reserve_all(ready.rate_limiter, ready.clock(), 0.101)
    assert ready.work() == a_run()
    assert ready.generate_queue.sent == [QueuedRun(KEY, timedelta(seconds=15))]


@pytest.mark.parametrize(("free_in", "delay"), [(0.101, 0), (0.999, 0), (1, 1), (5.5, 5)])
def test_an_immediate_run_comes_again_for_the_next_permit(
    collecting: Worker, free_in: float, delay: int
) -> None:
    """By whole seconds, as SQS delays; a backlog of digests does not concern it."""
    collecting.waiting_runs = 16_667
    collecting.clock.pass_time(seconds=80)
    reserve_all(collecting.immediate_rate_limiter, collecting.clock(), free_in)
    collecting.work(AT_ONCE)
    assert collecting.generate_queue.sent == [QueuedRun(AT_ONCE, timedelta(seconds=delay))]


def test_a_digest_that_became_too_late_in_the_queue_is_skipped_once_it_is_read(
    ready: Worker,
) -> None:
    ready.clock.pass_time(hours=7)
    reserve_all(ready.rate_limiter, ready.clock(), 1)
    assert ready.work().status is Status.PENDING
    ready.clock.pass_time(seconds=1)
    assert ready.work().reason is Reason.TOO_LATE


def test_a_worker_overtaken_before_its_claim_keeps_its_permit(ready: Worker) -> None:
    original = ready.runs.swap

    def stopped(before: Run, after: Run) -> Run:
        ready.runs.swap = original  # type: ignore[method-assign]
        ready.runs.rows[KEY] = replace(ready.runs.rows[KEY], epoch=1)
        return original(before, after)

    ready.runs.swap = stopped  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.rate_limiter.row.pace.taken == 1


def test_a_digest_for_which_the_day_has_no_permit_left_is_skipped_with_its_reason(
    ready: Worker,
) -> None:
    """Its events go with the next one, which is not a day late."""
    use_up_the_day(ready.rate_limiter, ready.clock())
    ready.clock.pass_time(seconds=1)
    run = ready.work()
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.DAILY_CAP)
    assert not ready.generate_queue.sent
    ready.clock.pass_time(days=1)
    ready.runs.create(replace(a_run(2), due_at=ready.clock.now))
    assert ready.work(RunKey("ann", DAILY, 2)).status is Status.SENT
    assert "post1: 1" in ready.texts()[0]


def test_a_digest_beyond_the_quota_of_the_account_is_skipped_until_there_is_room_again(
    ready: Worker,
) -> None:
    ready.rate_limiter.row.set_quota(Quota(rate=14, daily=200, left=0), ready.clock())
    run = ready.work()
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.DAILY_CAP)
    ready.rate_limiter.row.set_quota(Quota(rate=14, daily=200, left=1), ready.clock())
    ready.runs.create(replace(a_run(2), due_at=ready.clock.now))
    assert ready.work(RunKey("ann", DAILY, 2)).status is Status.SENT


def test_an_email_waits_for_its_permit_no_more_than_a_tenth_of_a_second(ready: Worker) -> None:
    asked: list[timedelta] = []

    def reserve(now: datetime, latest: datetime, *, critical: bool = False) -> NoPermit:
        asked.append(latest - now)
        return NoPermit.BUSY

    ready.rate_limiter.reserve = reserve  # type: ignore[method-assign]
    ready.work()
    assert asked == [timedelta(milliseconds=100)]


# At once.

AT_ONCE = RunKey("ann", immediate_schedule("post#post1"), int(NOW.timestamp()))


@pytest.fixture
def collecting(world: Worker) -> Worker:
    """A run that collects for twenty seconds, with one event."""
    world.events.store(an_event(), AT_ONCE.schedule)
    world.runs.create(replace(a_run(), key=AT_ONCE, due_at=NOW + timedelta(seconds=20)))
    return world


@pytest.mark.parametrize("seconds", [0, 20, 34.999])
def test_an_immediate_run_waits_until_all_that_it_collects_can_be_read(
    collecting: Worker, seconds: float
) -> None:
    collecting.clock.pass_time(seconds=seconds)
    assert collecting.work(AT_ONCE).status is Status.PENDING
    assert collecting.mailer.calls == 0
    assert collecting.generate_queue.sent == [QueuedRun(AT_ONCE, (35 - seconds) * SECOND)]


def test_an_immediate_run_is_sent_from_then_on(collecting: Worker) -> None:
    collecting.clock.pass_time(seconds=35)
    assert collecting.work(AT_ONCE).status is Status.SENT
    assert "post1: 1" in collecting.texts()[0]


def test_a_digest_does_not_wait_for_its_hour_to_settle(ready: Worker) -> None:
    """Only immediate runs collect: a digest takes what there is."""
    ready.runs.rows[KEY] = replace(a_run(), due_at=ready.clock() + timedelta(hours=1))
    assert ready.work().status is Status.SENT


def test_an_immediate_run_for_which_the_day_has_no_permit_left_is_requeued(
    collecting: Worker,
) -> None:
    collecting.clock.pass_time(seconds=80)
    use_up_the_day(collecting.immediate_rate_limiter, collecting.clock())
    collecting.clock.pass_time(seconds=1)
    run = collecting.work(AT_ONCE)
    assert run.status is Status.PENDING
    assert [queued.delay for queued in collecting.generate_queue.sent] == [timedelta(seconds=900)]
    collecting.clock.pass_time(days=1)
    assert collecting.work(AT_ONCE).status is Status.SENT


def test_the_renderer_is_told_of_which_schedule_the_run_is(collecting: Worker) -> None:
    collecting.clock.pass_time(seconds=80)
    collecting.work(AT_ONCE)
    assert AT_ONCE.schedule in collecting.texts()[0]


def test_a_run_reads_only_the_events_of_its_own_schedule(ready: Worker) -> None:
    other = an_event("e2", entity_id="post2")
    ready.events.store(other, "weekly")
    ready.clock.pass_time(minutes=5)
    ready.work()
    assert "post2" not in ready.texts()[0]


@pytest.mark.parametrize("status", sorted(set(SubscriberStatus) - {SubscriberStatus.ACTIVE}))
def test_every_status_but_active_is_a_reason_of_the_same_name(status: SubscriberStatus) -> None:
    assert why_not_sent(replace(a_subscriber(), status=status)).value == status.value


def test_the_links_of_a_run_are_those_of_the_date_on_which_it_was_due(
    ready: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that each attempt makes the same, also after midnight."""
    made: list[LinkToken] = []
    links = FakeLinks.links

    def noted(maker: FakeLinks, link: LinkToken) -> Links:
        made.append(link)
        return links(maker, link)

    monkeypatch.setattr(FakeLinks, "links", noted)
    run = ready.runs.rows[KEY]
    for due_at in (run.due_at, run.due_at - timedelta(hours=4)):
        ready.runs.rows[KEY] = replace(run, due_at=due_at)
        ready.clock.now = run.due_at.replace(hour=1) + timedelta(days=1)
        ready.max_lateness = timedelta(days=1)
        ready.work()
    assert made
    assert {link.issued_on for link in made} == {run.due_at.date()}
