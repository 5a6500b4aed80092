"""What a refusal of a stream, or of the whole account, does to the runs of all workers."""

from dataclasses import replace
from datetime import timedelta
from heapq import heapify, heappop, heappush
from itertools import count

import pytest
from gazette.domain.delivery.circuit_breaker import tripped
from gazette.domain.delivery.pace import PacePlan, Quota
from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import (
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)
from gazette.domain.errors import Unavailable
from gazette.domain.identity import parse_run_id
from gazette.domain.model import DAILY, Mail, RunKey
from gazette.domain.scheduling.kinds import immediate_schedule

from tests.builders import KEY, NOW, SettableClock, a_run, an_event
from tests.fake_stores import FakeRateLimiter
from tests.fakes import FakeMailer
from tests.unit.delivery.test_deliver import Worker
from tests.world import World as Town

MINUTE = timedelta(minutes=1)
AT_ONCE = RunKey("ann", immediate_schedule("post#post1"), int(NOW.timestamp()))


@pytest.fixture
def ready(clock: SettableClock) -> Worker:
    """One event has been stored and the lag has passed."""
    world = Worker(clock)
    world.events.store(an_event(), DAILY)
    world.clock.pass_time(minutes=5)
    return world


def refuse_once(world: Worker) -> None:
    world.mailer.script.append(RefusedAccount(1, "SendingPausedException"))
    world.work()
    assert [queued.delay for queued in world.generate_queue.sent] == [MINUTE]
    world.generate_queue.sent.clear()


def test_account_rejection_stops_all_workers_without_using_attempts(ready: Worker) -> None:
    refuse_once(ready)
    breaker = ready.rate_limiter.row.pace.breaker
    assert breaker
    assert (breaker.why, breaker.until) == ("SendingPausedException", ready.clock() + MINUTE)
    before = ready.runs.rows[KEY]
    assert (before.status, before.refusals) == (Status.RETRYING, 0)
    assert ready.work() == before
    assert ready.mailer.calls == 1


def test_trace_q_digest_is_requeued_while_breaker_is_open(ready: Worker) -> None:
    """For ten to fifteen minutes; the one that is given back would spend its receives."""
    ready.rate_limiter.trip("paused", ready.clock())
    assert ready.work() == a_run()
    (queued,) = ready.generate_queue.sent
    assert (queued.key, queued.delay) == (KEY, timedelta(seconds=750))


def test_digest_is_requeued_for_open_breaker_despite_exhausted_quota(ready: Worker) -> None:
    ready.rate_limiter.row.set_quota(Quota(rate=14, daily=200, left=0), ready.clock())
    ready.rate_limiter.trip("paused", ready.clock())
    assert ready.work().status is Status.PENDING
    assert ready.generate_queue.sent


def test_open_breaker_requeues_immediate_email_for_1_to_5_minutes(
    clock: SettableClock,
) -> None:
    world = Worker(clock)
    world.events.store(an_event(), AT_ONCE.schedule)
    world.runs.create(replace(a_run(), key=AT_ONCE, due_at=NOW))
    world.clock.pass_time(minutes=5)
    world.immediate_rate_limiter.trip("paused", world.clock())
    assert world.work(AT_ONCE).status is Status.PENDING
    assert [queued.delay for queued in world.generate_queue.sent] == [timedelta(seconds=180)]


def test_accepted_probe_closes_breaker(ready: Worker) -> None:
    refuse_once(ready)
    ready.clock.pass_time(minutes=1)
    assert ready.work().status is Status.SENT
    assert ready.rate_limiter.row.pace.breaker is None


def test_probe_rejected_for_its_own_message_closes_breaker(ready: Worker) -> None:
    refuse_once(ready)
    ready.clock.pass_time(minutes=1)
    ready.mailer.script.append(RefusedForGood(2, "rejected"))
    ready.work()
    assert ready.rate_limiter.row.pace.breaker is None


@pytest.mark.parametrize(
    "outcome", [Uncertain(2, "reset"), RefusedForNow(2, "EndpointConnectionError")]
)
def test_inconclusive_probe_keeps_breaker_open(ready: Worker, outcome: SendOutcome) -> None:
    """Nobody knows what became of it, or it never reached the provider."""
    refuse_once(ready)
    ready.clock.pass_time(minutes=1)
    ready.mailer.script.append(outcome)
    ready.work()
    breaker = ready.rate_limiter.row.pace.breaker
    assert breaker
    assert (breaker.step, breaker.until) == (MINUTE, ready.clock() + MINUTE)


def test_rejected_probe_doubles_breaker_open_time(ready: Worker) -> None:
    refuse_once(ready)
    ready.clock.pass_time(minutes=1)
    ready.mailer.script.append(RefusedAccount(2, "SendingPausedException"))
    ready.work()
    breaker = ready.rate_limiter.row.pace.breaker
    assert breaker
    assert breaker.until == ready.clock() + 2 * MINUTE


def test_email_with_earlier_permit_does_not_close_breaker(ready: Worker) -> None:
    original = ready.mailer.send

    def refused_elsewhere(mail: Mail, attempt: int) -> SendOutcome:
        ready.rate_limiter.trip("paused", ready.clock())
        return original(mail, attempt)

    ready.mailer.send = refused_elsewhere  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.rate_limiter.row.pace.breaker


def test_probe_does_not_close_manually_reopened_breaker(
    ready: Worker,
) -> None:
    refuse_once(ready)
    ready.clock.pass_time(minutes=1)
    original = ready.mailer.send

    def stopped(mail: Mail, attempt: int) -> SendOutcome:
        ready.rate_limiter.open_by_hand("wrong template", ready.clock())
        return original(mail, attempt)

    ready.mailer.send = stopped  # type: ignore[method-assign]
    assert ready.work().status is Status.SENT
    assert ready.rate_limiter.row.pace.breaker
    assert ready.rate_limiter.row.pace.breaker.why == "wrong template"


@pytest.mark.parametrize("act", ["trip", "reset"])
def test_breaker_update_failure_does_not_change_run_outcome(
    ready: Worker, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """It is spoken to after the commit, so that an email is never sent again for it."""
    if act == "reset":
        refuse_once(ready)
        ready.clock.pass_time(minutes=1)
    else:
        ready.mailer.script.append(RefusedAccount(1, "SendingPausedException"))

    def unavailable(*_: object) -> None:
        raise Unavailable("DynamoDB did not answer")

    monkeypatch.setattr(ready.rate_limiter, act, unavailable)
    with pytest.raises(Unavailable):
        ready.work()
    expected = Status.SENT if act == "reset" else Status.RETRYING
    assert ready.runs.rows[KEY].status is expected


def test_accepted_email_does_not_update_closed_breaker(
    ready: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object) -> None:
        raise AssertionError

    for act in ("trip", "reset"):
        monkeypatch.setattr(ready.rate_limiter, act, asked)
    assert ready.work().status is Status.SENT


def test_sending_resumes_at_configured_rate_after_breaker_closes(ready: Worker) -> None:
    ready.rate_limiter.plan = PacePlan(rate=10)
    ready.rate_limiter.open_by_hand("wrong template", ready.clock())
    assert ready.work().status is Status.PENDING
    ready.rate_limiter.close_by_hand()
    ready.clock.now += ready.generate_queue.sent[0].delay
    assert ready.work().status is Status.SENT


# The other stream.


@pytest.fixture
def both(ready: Worker) -> Worker:
    """A digest and an immediate email are to go out."""
    ready.events.store(an_event("e2"), AT_ONCE.schedule)
    ready.runs.create(replace(a_run(), key=AT_ONCE, due_at=NOW))
    ready.clock.pass_time(minutes=5)
    return ready


OF_ITS_STREAM = RefusedAccount(1, "NotFoundException")
OF_ALL = RefusedAccount(1, "SendingPausedException", every_stream=True)


@pytest.mark.parametrize(("key", "other"), [(KEY, AT_ONCE), (AT_ONCE, KEY)])
def test_trace_s_stream_rejection_does_not_stop_other_stream(
    both: Worker, key: RunKey, other: RunKey
) -> None:
    both.mailer.script.append(OF_ITS_STREAM)
    assert both.work(key).status is Status.RETRYING
    assert both.work(other).status is Status.SENT


@pytest.mark.parametrize(("key", "other"), [(KEY, AT_ONCE), (AT_ONCE, KEY)])
def test_trace_s_account_rejection_stops_both_streams(
    both: Worker, key: RunKey, other: RunKey
) -> None:
    both.mailer.script.append(OF_ALL)
    both.work(key)
    assert both.work(other).status is Status.PENDING
    assert both.mailer.calls == 1
    breakers = {
        rate_limiter.row.pace.breaker
        for rate_limiter in (both.rate_limiter, both.immediate_rate_limiter)
    }
    assert breakers == {tripped(None, "SendingPausedException", both.clock())}


@pytest.mark.parametrize("by_hand", [True, False])
def test_trace_s_open_breaker_of_other_stream_is_unchanged(both: Worker, by_hand: bool) -> None:
    """Also where its own probe is due: what that finds out is its own."""
    trip = both.immediate_rate_limiter.open_by_hand if by_hand else both.immediate_rate_limiter.trip
    before = trip("not verified", both.clock())
    both.clock.pass_time(minutes=1)
    both.mailer.script.append(OF_ALL)
    both.work()
    assert both.immediate_rate_limiter.row.pace.breaker == before
    assert both.rate_limiter.row.pace.breaker


def test_probe_of_stream_does_not_close_breaker_of_other_stream(both: Worker) -> None:
    both.mailer.script.append(OF_ALL)
    both.work()
    both.clock.pass_time(minutes=1)
    assert both.work().status is Status.SENT
    assert both.rate_limiter.row.pace.breaker is None
    assert both.immediate_rate_limiter.row.pace.breaker
    assert both.work(AT_ONCE).status is Status.SENT
    assert both.immediate_rate_limiter.row.pace.breaker is None


class RefusesAtOnce(FakeMailer):
    """A provider without the configuration set of what goes out at once."""

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        if parse_run_id(dict(mail.tags)["run"]).is_immediate:
            return RefusedAccount(attempt, "NotFoundException")
        return super().send(mail, attempt)


LATENESS = timedelta(hours=2)


def digests_of(town: Town) -> set[Status]:
    """What becomes of forty digests where forty immediate emails are refused for hours."""
    readers = [f"reader{number}" for number in range(40)]
    due = NOW + timedelta(minutes=10)
    numbers = count()
    messages = []
    for reader in readers:
        town.choose(reader)
        at_once = replace(AT_ONCE, user_id=reader)
        for number, key in enumerate((RunKey(reader, DAILY, 1), at_once)):
            town.events.store(an_event(f"e{number}", user_id=reader), key.schedule)
            run = replace(a_run(), key=key, due_at=NOW if key == at_once else due)
            messages.append((town.runs.create(run).due_at, next(numbers), key))
    heapify(messages)
    while messages[0][0] <= due + 2 * LATENESS:
        town.clock.now, _, key = heappop(messages)
        town.generate(key)
        for queue in (town.generate_queue, town.resend_queue):
            while queue.sent:
                queued = queue.sent.pop()
                heappush(messages, (town.clock.now + queued.delay, next(numbers), queued.key))
    return {town.runs.rows[RunKey(reader, DAILY, 1)].status for reader in readers}


def test_trace_s_immediate_email_rejections_do_not_delay_digests() -> None:
    assert digests_of(Town(max_lateness=LATENESS, mailer=RefusesAtOnce())) == {Status.SENT}


def test_shared_breaker_row_would_starve_digests_of_probes() -> None:
    """They ask four times as often: so this is what a row for each stream prevents."""
    row = FakeRateLimiter(PacePlan(rate=500))
    town = Town(
        max_lateness=LATENESS, mailer=RefusesAtOnce(), rate_limiter=row, immediate_rate_limiter=row
    )
    assert digests_of(town) == {Status.SKIPPED}
