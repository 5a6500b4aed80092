"""Deliver: the order of its calls, and the outcome of each refusal, race and crash."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.delivery.batching import LONGEST_WAIT_FOR_A_PERMIT
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


def test_due_run_sends_one_email(ready: Worker) -> None:
    run = ready.work()
    assert (run.status, run.reason, run.attempt) == (Status.SENT, Reason.ACCEPTED, 1)
    assert run.message_id == "message1"
    assert len(ready.mailer.accepted) == 1


def test_email_contains_required_content_and_headers(ready: Worker) -> None:
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


def test_duplicate_message_sends_no_email(ready: Worker) -> None:
    first = ready.work()
    assert ready.work() == first
    assert ready.mailer.calls == 1


def test_message_for_missing_run_creates_no_run(world: Worker) -> None:
    with pytest.raises(AssertionError):
        world.work(RunKey("ann", DAILY, 2))
    assert list(world.runs.rows) == [KEY]


def test_run_without_events_is_skipped_with_reason(world: Worker) -> None:
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
def test_inactive_reader_gets_no_email(
    ready: Worker, status: SubscriberStatus, reason: Reason
) -> None:
    ready.subscribers.set_status("ann", status)
    run = ready.work()
    assert (run.status, run.reason) == (Status.SKIPPED, reason)
    assert ready.mailer.calls == 0


def test_erased_reader_gets_no_email(ready: Worker) -> None:
    ready.subscribers.rows["ann"] = Erased("ann", NOW)
    assert ready.work().reason is Reason.ERASED
    assert ready.mailer.calls == 0


def test_unknown_reader_gets_no_email(ready: Worker) -> None:
    del ready.subscribers.rows["ann"]
    assert ready.work().reason is Reason.UNKNOWN_SUBSCRIBER
    assert ready.mailer.calls == 0


@pytest.mark.parametrize(
    "status", [SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED, None]
)
def test_run_skipped_because_of_reader_closes_no_window(
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


def test_trace_l_event_within_read_lag_waits_for_next_digest(ready: Worker) -> None:
    ready.events.store(an_event("young", entity_id="young"), DAILY)
    ready.work()
    assert "young" not in ready.texts()[0]
    ready.clock.pass_time(days=1)
    ready.runs.create(replace(a_run(2), due_at=ready.clock.now))
    ready.work(RunKey("ann", DAILY, 2))
    assert "young: 1" in ready.texts()[1]
    assert "post1" not in ready.texts()[1]


def test_trace_h_event_stored_between_read_and_claim_is_in_next_digest(
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
def test_digest_queued_too_long_joins_next_digest(
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
def test_run_without_soon_successor_is_never_too_late(world: Worker, name: str) -> None:
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


def test_resend_respects_cancellation_and_maximum_lateness(
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


def test_batch_cancellation_is_checked_after_waiting_for_permit(ready: Worker) -> None:
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


def test_next_run_contains_events_of_failed_run(ready: Worker) -> None:
    ready.mailer.script.append(RefusedForGood(1, "rejected"))
    assert ready.work().status is Status.FAILED
    ready.runs.create(a_run(2))
    ready.work(RunKey("ann", DAILY, 2))
    assert "post1: 1" in ready.texts()[0]


def test_temporarily_rejected_run_moves_to_resend_queue(ready: Worker) -> None:
    ready.mailer.script.append(RefusedForNow(1, "slow"))
    run = ready.work()
    assert (run.status, run.refusals) == (Status.RETRYING, 1)
    assert ready.resend_queue.sent == [QueuedRun(KEY, timedelta(minutes=1))]
    assert not ready.generate_queue.sent


def test_temporarily_rejected_run_is_not_sent_before_retry_delay_ends(ready: Worker) -> None:
    """By whatever message comes: a second one must not use up its attempts."""
    ready.mailer.script.append(RefusedForNow(1, "slow"))
    ready.work()
    ready.clock.pass_time(seconds=59)
    ready.work()
    assert ready.mailer.calls == 1
    ready.clock.pass_time(seconds=1)
    assert ready.work().attempt == 2


def test_account_wide_rejection_is_requeued_without_counting_an_attempt(ready: Worker) -> None:
    ready.mailer.script.append(RefusedAccount(1, "paused"))
    run = ready.work()
    assert (run.status, run.reason, run.refusals) == (
        Status.RETRYING,
        Reason.REFUSED_ACCOUNT,
        0,
    )
    assert ready.generate_queue.sent == [QueuedRun(KEY, timedelta(minutes=1))]
    assert not ready.resend_queue.sent


def test_run_records_claim_time_and_acceptance_time(
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


def test_retry_sends_window_of_first_claim(ready: Worker) -> None:
    ready.mailer.script.append(RefusedForNow(1, "slow"))
    ready.work()
    ready.events.store(an_event("later", entity_id="later"), DAILY)
    ready.clock.pass_time(minutes=10)
    ready.work()
    assert "later" not in ready.texts()[0]


def test_send_with_unknown_outcome_is_not_retried(ready: Worker) -> None:
    ready.mailer.script.append(Uncertain(1, "read timeout"))
    for _ in range(3):
        run = ready.work()
    assert ready.mailer.calls == 1
    assert run.status is Status.UNKNOWN
    assert run.deadline
    assert run.check_at == run.deadline + GRACE
    assert not ready.generate_queue.sent + ready.resend_queue.sent


def test_second_worker_does_not_send_claimed_run(ready: Worker) -> None:
    """It finds the claim of the first, whatever it had read before."""
    claimed = replace(
        a_run(), status=Status.SENDING, attempt=1, nonce="other", deadline=NOW + timedelta(hours=1)
    )
    ready.runs.rows[KEY] = claimed
    assert ready.work() == claimed
    assert ready.mailer.calls == 0


def test_earlier_claim_by_another_worker_wins(ready: Worker) -> None:
    original = ready.runs.swap

    def raced(before: Run, after: Run) -> Run:
        original(before, replace(after, nonce="other"))
        return original(before, after)

    ready.runs.swap = raced  # type: ignore[method-assign]
    assert ready.work().nonce == "other"
    assert ready.mailer.calls == 0


def test_claim_with_lost_response_is_recognized(ready: Worker) -> None:
    """botocore repeats the write; its second answer is a failed condition with our own row."""
    original = ready.runs.swap

    def repeated(before: Run, after: Run) -> Run:
        original(before, after)
        return original(before, after)

    ready.runs.swap = repeated  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.mailer.calls == 1


def test_trace_g_claim_is_retried_after_lost_response(ready: Worker) -> None:
    original = ready.runs.swap

    def lost(before: Run, after: Run) -> Run:
        original(before, after)
        ready.runs.swap = original  # type: ignore[method-assign]
        raise Unavailable("no answer")

    ready.runs.swap = lost  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.mailer.calls == 1


def test_claim_with_lost_response_survives_concurrent_cancellation(
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


def test_unsubscribe_between_read_and_claim_prevents_sending(ready: Worker) -> None:
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


def test_constantly_changing_run_is_retried(ready: Worker) -> None:
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


def test_run_is_not_claimed_without_enough_time(ready: Worker) -> None:
    ready.left = timedelta(seconds=14)
    with pytest.raises(NotYet):
        ready.work()
    assert ready.runs.rows[KEY] == a_run()


def test_trace_i_worker_without_time_after_claim_does_not_send(ready: Worker) -> None:
    """The time is looked at again right before the call, and the run is given back."""
    remaining = iter([timedelta(seconds=60), timedelta(seconds=60), timedelta(seconds=3)])
    with pytest.raises(NotYet):
        ready.work(time_left=lambda: next(remaining))
    assert ready.mailer.calls == 0
    run = ready.runs.rows[KEY]
    assert (run.status, run.reason) == (Status.RETRYING, Reason.NOT_ATTEMPTED)


def test_trace_i_worker_stalled_past_deadline_does_not_send(ready: Worker) -> None:
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


def test_claim_deadline_is_after_end_of_invocation(ready: Worker) -> None:
    run = ready.work()
    assert run.deadline == ready.clock() + timedelta(seconds=60 + 5)


def test_claim_past_its_deadline_has_unknown_outcome(ready: Worker) -> None:
    ready.runs.rows[KEY] = replace(
        a_run(), status=Status.SENDING, attempt=1, nonce="gone", deadline=NOW
    )
    run = ready.work()
    assert (run.status, run.reason) == (Status.UNKNOWN, Reason.DEADLINE_PASSED)
    assert run.uncertain == {1}
    assert run.check_at == NOW + GRACE


@pytest.mark.parametrize("status", [Status.PENDING, Status.RETRYING])
def test_older_unsent_run_is_superseded(ready: Worker, status: Status) -> None:
    ready.runs.rows[KEY] = replace(a_run(), status=status)
    ready.runs.create(a_run(2))
    assert ready.work(RunKey("ann", DAILY, 2)).status is Status.SENT
    older = ready.runs.rows[KEY]
    assert (older.status, older.reason) == (Status.CANCELLED, Reason.SUPERSEDED)
    assert ready.work().status is Status.CANCELLED
    assert ready.mailer.calls == 1


@pytest.mark.parametrize("status", [Status.SENDING, Status.UNKNOWN])
def test_trace_a_run_waits_for_older_run_with_unknown_outcome(
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


def test_older_run_sent_before_cancellation_closes_its_window(
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


def test_concurrent_claim_prevents_skipping_the_run(world: Worker) -> None:
    original = world.runs.swap

    def raced(before: Run, after: Run) -> Run:
        claimed = replace(before, status=Status.SENDING, reason=Reason.CLAIMED, attempt=1)
        world.runs.rows[KEY] = claimed
        return original(before, after)

    world.runs.swap = raced  # type: ignore[method-assign]
    assert world.work().status is Status.SENDING


def test_rejection_reason_of_provider_is_stored(ready: Worker) -> None:
    ready.mailer.script.append(RefusedForGood(1, "MessageRejected"))
    assert ready.work().detail == "MessageRejected"


def test_window_begins_at_latest_sent_window_end(ready: Worker) -> None:
    ready.runs.rows[KEY] = replace(
        a_run(), status=Status.SENT, window=Window(datetime(2026, 1, 1, tzinfo=UTC), NOW)
    )
    ready.runs.create(a_run(2))
    assert ready.work(RunKey("ann", DAILY, 2)).reason is Reason.EMPTY


def test_slow_clock_never_reverses_a_window(ready: Worker) -> None:
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


def test_run_takes_permits_only_from_its_own_stream(collecting: Worker) -> None:
    collecting.clock.pass_time(seconds=80)
    reserve_all(collecting.rate_limiter, collecting.clock(), 60)
    use_up_the_day(collecting.rate_limiter, collecting.clock())
    assert collecting.work(AT_ONCE).status is Status.SENT


@pytest.mark.parametrize("seconds", [0, 0.03, 0.1])
def test_email_waits_for_its_permit(ready: Worker, seconds: float) -> None:
    reserve_all(ready.rate_limiter, ready.clock(), seconds)
    turn = ready.clock() + timedelta(seconds=seconds)
    assert ready.work().status is Status.SENT
    assert ready.clock() == turn
    assert not ready.generate_queue.sent


@pytest.mark.parametrize("status", [Status.PENDING, Status.RETRYING])
def test_run_with_distant_permit_is_requeued(ready: Worker, status: Status) -> None:
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


def test_requeued_run_is_sent_when_its_message_arrives(ready: Worker) -> None:
    reserve_all(ready.rate_limiter, ready.clock(), 1.1)
    ready.work()
    ready.clock.now += ready.generate_queue.sent[0].delay
    assert ready.work().status is Status.SENT
    assert ready.mailer.calls == 1


def test_permit_wait_leaves_enough_time_to_send(ready: Worker) -> None:
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


def test_available_permit_is_taken_without_time_to_wait(ready: Worker) -> None:
    ready.left = timedelta(seconds=18)
    assert ready.work().status is Status.SENT
    assert ready.rate_limiter.row.pace.taken == 1


def test_message_is_kept_if_requeueing_fails(
    ready: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise Unavailable("SQS did not answer")

    monkeypatch.setattr(ready.generate_queue, "send", refuse)
    reserve_all(ready.rate_limiter, ready.clock(), 8)
    with pytest.raises(Unavailable):
        ready.work()
    assert ready.runs.rows[KEY] == a_run()


def test_empty_run_takes_no_permit(world: Worker) -> None:
    reserve_all(world.rate_limiter, world.clock(), 0.1)
    before = world.rate_limiter.row.pace
    assert world.work().reason is Reason.EMPTY
    assert not world.generate_queue.sent
    assert world.rate_limiter.row.pace == before


def test_run_is_requeued_unread_while_no_permit_is_near(
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
    return Outlook(free_at=now, rate=10, longest_wait=LONGEST_WAIT_FOR_A_PERMIT)


def test_run_is_requeued_if_other_workers_take_its_permit(ready: Worker) -> None:
    ready.waiting_runs = 600
    ready.rate_limiter.outlook = _free_at_once  # type: ignore[method-assign]
    reserve_all(ready.rate_limiter, ready.clock(), 0.101)
    assert ready.work() == a_run()
    assert ready.generate_queue.sent == [QueuedRun(KEY, timedelta(seconds=15))]


@pytest.mark.parametrize(("free_in", "delay"), [(0.101, 0), (0.999, 0), (1, 1), (5.5, 5)])
def test_immediate_run_is_requeued_until_next_permit(
    collecting: Worker, free_in: float, delay: int
) -> None:
    """By whole seconds, as SQS delays; a backlog of digests does not concern it."""
    collecting.waiting_runs = 16_667
    collecting.clock.pass_time(seconds=80)
    reserve_all(collecting.immediate_rate_limiter, collecting.clock(), free_in)
    collecting.work(AT_ONCE)
    assert collecting.generate_queue.sent == [QueuedRun(AT_ONCE, timedelta(seconds=delay))]


def test_digest_overdue_in_queue_is_skipped_after_reading(
    ready: Worker,
) -> None:
    ready.clock.pass_time(hours=7)
    reserve_all(ready.rate_limiter, ready.clock(), 1)
    assert ready.work().status is Status.PENDING
    ready.clock.pass_time(seconds=1)
    assert ready.work().reason is Reason.TOO_LATE


def test_worker_keeps_permit_after_losing_claim_race(ready: Worker) -> None:
    original = ready.runs.swap

    def stopped(before: Run, after: Run) -> Run:
        ready.runs.swap = original  # type: ignore[method-assign]
        ready.runs.rows[KEY] = replace(ready.runs.rows[KEY], epoch=1)
        return original(before, after)

    ready.runs.swap = stopped  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.rate_limiter.row.pace.taken == 1


def test_digest_is_skipped_with_reason_if_daily_permits_are_exhausted(
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


def test_digest_over_account_quota_is_skipped_until_quota_frees_up(
    ready: Worker,
) -> None:
    ready.rate_limiter.row.set_quota(Quota(rate=14, daily=200, left=0), ready.clock())
    run = ready.work()
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.DAILY_CAP)
    ready.rate_limiter.row.set_quota(Quota(rate=14, daily=200, left=1), ready.clock())
    ready.runs.create(replace(a_run(2), due_at=ready.clock.now))
    assert ready.work(RunKey("ann", DAILY, 2)).status is Status.SENT


@pytest.mark.parametrize(
    ("plan", "seconds"),
    [
        (PacePlan(rate=10), 0.1),  # one email per invocation, as with SMTP
        (PacePlan(rate=10, batch=10), 2),
        (PacePlan(rate=1, batch=10), 10),
        (PacePlan(rate=500, batch=10), 0.1),
    ],
)
def test_email_waits_for_permits_of_two_invocations_at_most(
    ready: Worker, plan: PacePlan, seconds: float
) -> None:
    ready.rate_limiter.plan = plan
    asked: list[timedelta] = []

    def reserve(now: datetime, latest: datetime, *, critical: bool = False) -> NoPermit:
        asked.append(latest - now)
        return NoPermit.BUSY

    ready.rate_limiter.reserve = reserve  # type: ignore[method-assign]
    ready.work()
    assert asked == [timedelta(seconds=seconds)]


@pytest.mark.parametrize(("ahead", "is_read"), [(1.9, True), (2.1, False)])
def test_run_is_read_if_a_permit_begins_within_the_longest_wait(
    ready: Worker, monkeypatch: pytest.MonkeyPatch, ahead: float, *, is_read: bool
) -> None:
    ready.rate_limiter.plan = PacePlan(rate=10, batch=10)
    if not is_read:
        monkeypatch.setattr(ready.runs, "chain", None)
    reserve_all(ready.rate_limiter, ready.clock(), ahead)
    ready.work()
    assert bool(ready.mailer.calls) is is_read
    assert bool(ready.generate_queue.sent) is not is_read


# At once.

AT_ONCE = RunKey("ann", immediate_schedule("post#post1"), int(NOW.timestamp()))


@pytest.fixture
def collecting(world: Worker) -> Worker:
    """A run that collects for twenty seconds, with one event."""
    world.events.store(an_event(), AT_ONCE.schedule)
    world.runs.create(replace(a_run(), key=AT_ONCE, due_at=NOW + timedelta(seconds=20)))
    return world


@pytest.mark.parametrize("seconds", [0, 20, 34.999])
def test_immediate_run_waits_until_collected_events_are_readable(
    collecting: Worker, seconds: float
) -> None:
    collecting.clock.pass_time(seconds=seconds)
    assert collecting.work(AT_ONCE).status is Status.PENDING
    assert collecting.mailer.calls == 0
    assert collecting.generate_queue.sent == [QueuedRun(AT_ONCE, (35 - seconds) * SECOND)]


def test_immediate_run_is_sent_once_events_are_readable(collecting: Worker) -> None:
    collecting.clock.pass_time(seconds=35)
    assert collecting.work(AT_ONCE).status is Status.SENT
    assert "post1: 1" in collecting.texts()[0]


def test_digest_does_not_wait_for_read_lag(ready: Worker) -> None:
    """Only immediate runs collect: a digest takes what there is."""
    ready.runs.rows[KEY] = replace(a_run(), due_at=ready.clock() + timedelta(hours=1))
    assert ready.work().status is Status.SENT


def test_immediate_run_is_requeued_if_daily_permits_are_exhausted(
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


def test_renderer_receives_schedule_of_run(collecting: Worker) -> None:
    collecting.clock.pass_time(seconds=80)
    collecting.work(AT_ONCE)
    assert AT_ONCE.schedule in collecting.texts()[0]


def test_run_reads_only_events_of_its_schedule(ready: Worker) -> None:
    other = an_event("e2", entity_id="post2")
    ready.events.store(other, "weekly")
    ready.clock.pass_time(minutes=5)
    ready.work()
    assert "post2" not in ready.texts()[0]


@pytest.mark.parametrize("status", sorted(set(SubscriberStatus) - {SubscriberStatus.ACTIVE}))
def test_every_inactive_reader_status_is_a_skip_reason(status: SubscriberStatus) -> None:
    assert why_not_sent(replace(a_subscriber(), status=status)).value == status.value


def test_links_in_email_use_due_date_of_run(ready: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
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
