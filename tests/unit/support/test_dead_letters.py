"""The forecast of a redrive is what the redrive does, and changes nothing."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.delivery.batching import LONGEST_WAIT_FOR_A_PERMIT
from gazette.domain.delivery.circuit_breaker import tripped
from gazette.domain.delivery.pace import Outlook, Pace, PacePlan
from gazette.domain.delivery.redrive import Redriven, RedriveResult
from gazette.domain.delivery.run import Reason, Run, Status, name_of
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY, RunKey, Window
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.scheduling.kinds import ScheduleKind, immediate_schedule, kind_of
from gazette.domain.subscribers.subscriber import Erased, Reader, SubscriberStatus
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.support.dead_letters import Forecast, Redrive, forecast
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.builders import KEY, NOW, a_schedule, a_subscriber, an_event
from tests.fake_stores import FakeRateLimiter
from tests.world import FANOUT, SETTLE_LAG, World

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
AT_ONCE = immediate_schedule("post#post1")
ENDED = {Status.FAILED, Status.SKIPPED, Status.CANCELLED}
READS = {
    "category_holds.active",
    "runs.chain",
    "runs.first_sent",
    "runs.get",
    "schedules.get",
    "subscribers.get",
    "suppressions.holds",
    "events.skim",
    "batches.get",
    "rate_limiter.forecast",
    "immediate_rate_limiter.forecast",
}

LATENESS = (MINUTE, timedelta(0), FANOUT.max_lateness + MINUTE)
READERS: dict[str, Reader] = {
    "nobody": None,
    "erased": Erased("ann", NOW),
    **{status.value: replace(a_subscriber(), status=status) for status in SubscriberStatus},
    "paused": a_subscriber(times=DigestTimes(8, 0, paused_until=NOW.date() + DAY)),
}
PACES = {
    "free": Pace(),
    "busy": Pace(next_at=NOW + timedelta(seconds=8)),
    "used up": Pace(day=NOW.date(), taken=200),
    "breaker_open": Pace(breaker=tripped(None, "paused", NOW)),
    "tries": Pace(breaker=tripped(None, "paused", NOW - 10 * MINUTE)),
}
PLAN = PacePlan(rate=10, warmup_from=NOW.date(), warmup_daily=200)


@dataclass(frozen=True)
class Case:
    """All that decides what becomes of a dead letter. `older`: the run before it, if any."""

    run: Run | None
    older: Run | None = None
    reader: str = "active"
    has_event: bool = True
    is_cancelled: bool = False
    pace: str = "free"
    has_schedule: bool = True

    def world(self) -> World:
        world = World(
            rate_limiter=FakeRateLimiter(PLAN), immediate_rate_limiter=FakeRateLimiter(PLAN)
        )
        own, other = world.rate_limiter, world.immediate_rate_limiter
        if self.run and self.run.key.is_immediate:
            own, other = other, own
        own.row.pace, other.row.pace = PACES[self.pace], PACES["breaker_open"]
        reader = READERS[self.reader]
        if reader:
            world.subscribers.rows["ann"] = reader
        world.clock.now = NOW - MINUTE
        schedule = self.run.key.schedule if self.run else DAILY
        if self.has_event:
            world.events.store(an_event(), schedule)
        if self.has_schedule and kind_of(schedule) is not ScheduleKind.IMMEDIATE:
            row = replace(a_schedule(next_due_at=NOW + DAY, sequence=3), name=schedule)
            world.schedules.put(row, replacing=None)
        world.clock.now = NOW
        for run in filter(None, (self.older, self.run)):
            world.runs.create(run)
            if self.is_cancelled and run == self.run:
                world.batches.cancel(slot_of(run.due_at))
        return world


def a_dead_run(schedule: str = DAILY, status: Status = Status.PENDING, **changed: object) -> Run:
    """Due a minute ago; at once only what has been collected by now."""
    run = Run(RunKey("ann", schedule, 2), NOW - MINUTE, NOW, status=status)
    return replace(run, **changed)  # type: ignore[arg-type]


REFUSED = a_dead_run(status=Status.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED)
INSTEAD = {
    RedriveResult.SENT_SINCE: Redrive.SENT_SINCE,
    RedriveResult.GOES_WITH: Redrive.GOES_WITH,
    RedriveResult.NO_SCHEDULE: Redrive.NO_SCHEDULE,
    RedriveResult.RECEIVES_NO_EMAIL: Redrive.NOT_WANTED,
    RedriveResult.PAUSED: Redrive.PAUSED,
}


def instants() -> st.SearchStrategy[datetime | None]:
    return st.sampled_from((None, NOW - MINUTE, NOW + MINUTE))


@st.composite
def runs(draw: st.DrawFn, schedule: str, sequence: int) -> Run:
    """Of any status, reason and standing, also such as no delivery leaves behind."""
    attempt = draw(st.integers(0, 2))
    window = Window(NOW - 100 * MINUTE, NOW - draw(st.integers(0, 5)) * MINUTE)
    return Run(
        RunKey("ann", schedule, sequence),
        due_at=NOW - draw(st.sampled_from(LATENESS)),
        check_at=NOW,
        status=draw(st.sampled_from(Status)),
        reason=draw(st.sampled_from(Reason)),
        attempt=attempt,
        uncertain=frozenset(draw(st.sets(st.just(attempt)))),
        resent=draw(st.booleans()),
        retry_at=draw(instants()),
        window=draw(st.sampled_from((None, window))) if attempt else None,
        deadline=draw(instants()),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    schedule = draw(st.sampled_from((DAILY, "custom", AT_ONCE)))
    return Case(
        draw(runs(schedule, 2)),
        draw(st.none() | runs(schedule, 1)),
        reader=draw(st.sampled_from(tuple(READERS))),
        has_event=draw(st.booleans()),
        is_cancelled=draw(st.booleans()),
        pace=draw(st.sampled_from(tuple(PACES))),
        has_schedule=draw(st.booleans()),
    )


def seen(case: Case, *, given_up: bool = False) -> Forecast:
    """What is said; that changes nothing, and asks for nothing that would."""
    world = case.world()
    key = case.run.key if case.run else KEY
    rows = (
        world.runs.rows,
        world.events.rows,
        world.rate_limiter.row,
        world.immediate_rate_limiter.row,
    )
    before = deepcopy(rows)
    with world.calls() as called:
        said = forecast(key, given_up=given_up, context=world.dry_run_context())
    assert rows == before
    assert set(called) <= READS
    assert (world.mailer.calls, world.generate_queue.sent, world.resend_queue.sent) == (0, [], [])
    return said


def _free_at_once(now: datetime) -> Outlook:
    return Outlook(free_at=now, rate=1, longest_wait=LONGEST_WAIT_FOR_A_PERMIT)


def done(world: World, work: Callable[[], Run | None]) -> tuple[Redrive, Run | None]:
    """What a redrive did, told by what is left behind."""
    is_hidden = False
    run: Run | None = None
    try:
        run = work()
    except NotYet:
        is_hidden = True
        run = max(world.runs.rows.values(), key=lambda run: run.key.sequence)
    if run is None:
        return Redrive.NO_SUCH_RUN, None
    is_queued = bool(world.generate_queue.sent or world.resend_queue.sent)
    if world.mailer.calls:
        return Redrive.SENDS, run
    if run.status in ENDED:
        is_late = (run.status, run.reason) == (Status.SKIPPED, Reason.TOO_LATE)
        return (Redrive.TOO_LATE if is_late else Redrive.NOT_WANTED), run
    if run.status in {Status.PENDING, Status.RETRYING}:
        assert is_queued or is_hidden
        return Redrive.WAITS, run
    assert not is_hidden
    return {
        Status.SENT: Redrive.ALREADY_SENT,
        Status.UNKNOWN: Redrive.UNKNOWN,
        Status.SENDING: Redrive.BEING_SENT,
    }[run.status], run


def redriven(world: World, key: RunKey) -> tuple[Redrive, Run | None]:
    """What a redrive from `failed` did: of a run that had failed, with the run that it starts."""
    answers: list[Redriven] = []

    def work() -> Run | None:
        answer = world.resend_message(key, given_up=True)
        if isinstance(answer, Redriven):
            answers.append(answer)
            if answer.result is not RedriveResult.STARTED:
                return answer.run or answer.failed
            assert answer.run
            return world.resend(answer.run.key)
        return answer.run if answer else None

    did, run = done(world, work)
    if not answers:
        return did, run
    if answers[0].result is not RedriveResult.STARTED:
        return INSTEAD[answers[0].result], run
    return (Redrive.STARTS_NEXT if did in {Redrive.SENDS, Redrive.WAITS} else did), run


@settings(max_examples=100)
@given(cases(), st.sampled_from(("generate", "resend", "failed")))
@example(Case(a_dead_run()), "generate")
@example(Case(a_dead_run(AT_ONCE), pace="tries"), "generate")
@example(Case(a_dead_run(status=Status.RETRYING, retry_at=NOW + MINUTE)), "resend")
@example(Case(a_dead_run(due_at=NOW - LATENESS[2])), "generate")
@example(Case(REFUSED), "failed")
@example(Case(REFUSED, has_event=False), "failed")
@example(Case(REFUSED, has_schedule=False), "failed")
@example(Case(REFUSED, reader="unsubscribed"), "failed")
@example(Case(REFUSED, reader="paused"), "failed")
def test_dead_letter_forecast_matches_the_redrive_result(case: Case, queue: str) -> None:
    """Once a worker reads it: while no permit is near, generate requeues it unread."""
    said = seen(case, given_up=queue == "failed")
    world = case.world()
    for limiter in (world.rate_limiter, world.immediate_rate_limiter):
        limiter.outlook = _free_at_once  # type: ignore[method-assign]
    key = case.run.key if case.run else KEY
    if queue == "failed":
        did, run = redriven(world, key)
    else:
        deliver = world.generate if queue == "generate" else world.resend
        did, run = done(world, lambda: deliver(key))
    assert said.redrive is did
    if run and said.run:
        assert said.run.key == run.key
    if run and said.run and not world.mailer.calls:
        assert (said.run.status, said.run.reason) == (run.status, run.reason)
    if said.redrive is not Redrive.STARTS_NEXT:
        assert (said.redrive is Redrive.WAITS) == (said.waiting_for is not None)
    assert (said.waiting_for is None) == (said.again_at is None)


def test_expired_run_is_reported_as_missing() -> None:
    assert seen(Case(None)) == Forecast(Redrive.NO_SUCH_RUN)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (Case(a_dead_run()), Redrive.SENDS),
        (Case(a_dead_run("custom", due_at=NOW - LATENESS[2])), Redrive.SENDS),
        (Case(a_dead_run(), reader="dormant"), Redrive.SENDS),
        (Case(a_dead_run(due_at=NOW - LATENESS[2])), Redrive.TOO_LATE),
        (Case(a_dead_run(), has_event=False), Redrive.NOT_WANTED),
        (Case(a_dead_run(), is_cancelled=True), Redrive.NOT_WANTED),
        (Case(a_dead_run(), pace="used up"), Redrive.NOT_WANTED),
        (Case(a_dead_run(), reader="unsubscribed"), Redrive.NOT_WANTED),
        (Case(a_dead_run(), reader="suppressed"), Redrive.NOT_WANTED),
        (Case(a_dead_run(), reader="erased"), Redrive.NOT_WANTED),
        (Case(a_dead_run(status=Status.SENT)), Redrive.ALREADY_SENT),
        (Case(a_dead_run(status=Status.SENDING, deadline=NOW + MINUTE)), Redrive.BEING_SENT),
        (Case(a_dead_run(status=Status.SENDING, deadline=NOW - MINUTE)), Redrive.UNKNOWN),
        (Case(a_dead_run(status=Status.UNKNOWN)), Redrive.UNKNOWN),
        (
            Case(a_dead_run(status=Status.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED)),
            Redrive.NOT_WANTED,
        ),
    ],
)
def test_every_redrive_forecast_is_tested(case: Case, said: Redrive) -> None:
    assert seen(case).redrive is said


@pytest.mark.parametrize(
    ("case", "waiting_for", "again_in"),
    [
        (
            Case(a_dead_run(status=Status.RETRYING, retry_at=NOW + MINUTE)),
            WaitingFor.PAUSE_OVER,
            MINUTE,
        ),
        (Case(a_dead_run(AT_ONCE, due_at=NOW)), WaitingFor.COLLECTED, SETTLE_LAG),
        (
            Case(
                a_dead_run(),
                replace(
                    a_dead_run(status=Status.SENDING, deadline=NOW + MINUTE),
                    key=RunKey("ann", DAILY, 1),
                ),
            ),
            WaitingFor.OLDER_RUN,
            2 * MINUTE,
        ),
        (Case(a_dead_run(), pace="busy"), WaitingFor.PERMIT, timedelta(seconds=1)),
        (Case(a_dead_run(AT_ONCE), pace="used up"), WaitingFor.NEXT_DAY, 15 * MINUTE),
        (Case(a_dead_run(), pace="breaker_open"), WaitingFor.SENDING_RESUMED, 10 * MINUTE),
    ],
)
def test_requeued_run_reports_the_reason_for_waiting(
    case: Case, waiting_for: WaitingFor, again_in: timedelta
) -> None:
    said = seen(case)
    assert (said.redrive, said.waiting_for, said.again_at) == (
        Redrive.WAITS,
        waiting_for,
        NOW + again_in,
    )


def test_unknown_run_is_reported_as_sent_again() -> None:
    """Its policy has decided so: the run is as before its claim."""
    retried = a_dead_run(
        status=Status.RETRYING,
        attempt=1,
        uncertain=frozenset({1}),
        resent=True,
        window=Window(NOW - DAY, NOW),
        newest=(name_of(an_event().id),),
    )
    said = seen(Case(retried))
    assert said.redrive is Redrive.SENDS
    assert said.run
    assert said.run.may_have_been_sent
