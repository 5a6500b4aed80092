"""The source is protected: permits, a retry budget, a circuit breaker that every worker sees."""

from datetime import timedelta

import pytest
from gazette.domain.content.items import Answer
from gazette.domain.content.ports import Question
from gazette.domain.delivery.circuit_breaker import FIRST_STEP, LONGEST_STEP
from gazette.domain.delivery.pace import NoPermit, PacePlan, Permit
from gazette.domain.errors import SourceFailed, Unavailable
from gazette.steps.content.ask import (
    AskContext,
    ProcessHealth,
    again_after,
    again_after_failure,
    ask,
    wait_for_permit,
)
from gazette.steps.content.health import DOWN_AFTER, SourceHealth
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, SettableClock
from tests.fake_stores import FakePaceRow, FakeRateLimiter
from tests.fakes import FakeSource
from tests.unit.content.asking import DOWN, an_answer

QUESTION = Question(
    user_id="ann",
    schedule="daily",
    since=None,
    until=NOW,
    limit=5,
    locale="en",
    time_zone="Europe/Berlin",
)


def a_process(
    row: FakePaceRow, clock: SettableClock, *, rate: float = 10, ramp_from: float = 0
) -> AskContext:
    """A worker; those with the same row share the rate limiter and its breaker."""
    permits = FakeRateLimiter(PacePlan(rate=rate, ramp_from=ramp_from), row)
    return AskContext(
        source=FakeSource(),
        rate_limiter=permits,
        breaker=permits,
        health=ProcessHealth(),
        waiting=lambda: 0,
        clock=clock,
        sleep=clock.sleep,
        random=lambda: 0.5,
    )


def request(process: AskContext, *answers: Answer | SourceFailed) -> NoPermit | Answer | str:
    """One fetch: what it was told, why there was no permit, or how it failed."""
    source = process.source
    assert isinstance(source, FakeSource)
    source.answers.extend(answers)
    permit = wait_for_permit(process)
    if isinstance(permit, NoPermit):
        return permit
    try:
        return ask(QUESTION, permit, context=process)
    except SourceFailed as err:
        return str(err)
    finally:
        source.answers.clear()


def asked(process: AskContext) -> int:
    """How many requests the process has made."""
    source = process.source
    assert isinstance(source, FakeSource)
    return len(source.asked)


def test_five_consecutive_failures_open_breaker_for_all_workers() -> None:
    row, clock = FakePaceRow(), SettableClock()
    one, other = a_process(row, clock), a_process(row, clock)
    for _ in range(3):
        request(one, DOWN, DOWN)
        clock.pass_time(seconds=1)
    assert asked(one) == DOWN_AFTER
    assert request(other, an_answer("a")) is NoPermit.BREAKER_OPEN
    assert asked(other) == 0


def test_success_between_failures_keeps_breaker_closed() -> None:
    row, clock = FakePaceRow(), SettableClock()
    process = a_process(row, clock)
    for _ in range(10):
        for answers in ([DOWN, DOWN], [an_answer("a")]):
            request(process, *answers)
            clock.pass_time(seconds=1)
    assert row.pace.breaker is None


@pytest.mark.parametrize(
    ("asks_for", "waits"),
    [
        (timedelta(0), FIRST_STEP),
        (timedelta(minutes=7), timedelta(minutes=7)),
        (timedelta(days=1), LONGEST_STEP),
    ],
)
def test_rejection_opens_breaker_for_time_requested_by_source(
    asks_for: timedelta, waits: timedelta
) -> None:
    row, clock = FakePaceRow(), SettableClock()
    process = a_process(row, clock)
    request(process, SourceFailed("429", refuses=True, retry_after=asks_for))
    assert asked(process) == 1
    assert row.pace.breaker is not None
    assert row.pace.breaker.until == clock() + waits


def test_successful_probe_closes_half_open_breaker() -> None:
    row, clock = FakePaceRow(), SettableClock()
    one, other = a_process(row, clock), a_process(row, clock)
    request(one, SourceFailed("503", refuses=True))
    clock.pass_time(seconds=61)
    probe = wait_for_permit(one)
    assert isinstance(probe, Permit)
    assert probe.is_probe
    assert request(other) is NoPermit.BREAKER_OPEN
    ask(QUESTION, probe, context=one)
    assert row.pace.breaker is None
    assert request(other, an_answer("a")) == an_answer("a")


def test_response_to_earlier_request_does_not_close_breaker() -> None:
    """It was asked before the source refused."""
    row, clock = FakePaceRow(), SettableClock()
    one, other = a_process(row, clock), a_process(row, clock)
    permit = wait_for_permit(one)
    assert isinstance(permit, Permit)
    request(other, SourceFailed("503", refuses=True))
    assert ask(QUESTION, permit, context=one) == Answer()
    assert row.pace.breaker is not None


def test_failed_probe_is_not_retried_and_doubles_open_time() -> None:
    row, clock = FakePaceRow(), SettableClock()
    process = a_process(row, clock)
    request(process, SourceFailed("503", refuses=True))
    clock.pass_time(seconds=61)
    request(process, DOWN, an_answer("a"))
    assert asked(process) == 2
    assert row.pace.breaker is not None
    assert row.pace.breaker.step == 2 * FIRST_STEP


def test_request_rate_starts_low_after_outage() -> None:
    row, clock = FakePaceRow(), SettableClock()
    process = a_process(row, clock, rate=100, ramp_from=1)
    for _ in range(400):
        request(process, an_answer("a"))
        clock.pass_time(milliseconds=400)
    assert process.rate_limiter.outlook(clock()).rate > 1
    request(process, SourceFailed("503", refuses=True))
    clock.pass_time(seconds=61)
    request(process, an_answer("a"))
    assert process.rate_limiter.outlook(clock()).rate == 1


def test_retry_requires_a_permit() -> None:
    row, clock = FakePaceRow(), SettableClock()
    process = a_process(row, clock, rate=1)
    assert request(process, DOWN, an_answer("a")) == str(DOWN)
    assert asked(process) == 1


def test_request_waits_for_its_permit() -> None:
    clock = SettableClock()
    process = a_process(FakePaceRow(), clock, rate=20)
    for nth in range(3):
        request(process, an_answer("a"))
        assert clock() == NOW + nth * timedelta(seconds=1) / 20


@pytest.mark.parametrize(("drawn", "pause"), [(0.0, 50), (1.0, 250)])
def test_request_is_retried_after_random_delay(drawn: float, pause: int) -> None:
    """What fails for all workers at once would else be asked by all of them at once."""
    clock = SettableClock()
    process = a_process(FakePaceRow(), clock, rate=1000)
    object.__setattr__(process, "random", lambda: drawn)
    assert request(process, DOWN, an_answer("a")) == an_answer("a")
    assert clock() == NOW + timedelta(milliseconds=pause)


def test_request_is_not_retried_after_retry_budget_is_exhausted() -> None:
    process = a_process(FakePaceRow(), SettableClock())
    process.health.now = SourceHealth(tokens=6.1)
    assert request(process, DOWN, an_answer("a")) == an_answer("a")
    assert request(process, DOWN, an_answer("a")) == str(DOWN)
    assert asked(process) == 3


@given(st.lists(st.booleans(), max_size=400))
def test_retries_stay_near_a_tenth_of_requests(successes: list[bool]) -> None:
    """Whatever fails: a failure takes ten times what a success gives back."""
    health, retries = SourceHealth(), 0
    for success in successes:
        if not success and health.may_retry:
            retries += 1
        health = health.succeeded() if success else health.failed()
    assert retries <= 5 + 0.1 * sum(successes) + 1


def test_frequently_failing_source_gets_no_retries() -> None:
    health = SourceHealth()
    for _ in range(6):
        health = health.failed()
    assert not health.may_retry
    for _ in range(9):
        health = health.succeeded()
    assert not health.may_retry


def test_response_is_used_if_breaker_update_fails() -> None:
    row, clock = FakePaceRow(), SettableClock()
    process = a_process(row, clock)
    request(process, SourceFailed("503", refuses=True))
    clock.pass_time(seconds=61)
    probe = wait_for_permit(process)
    assert isinstance(probe, Permit)
    limiter = process.breaker

    class Silent:
        """A table that does not answer."""

        def reset(self) -> None:
            raise Unavailable("no answer")

    object.__setattr__(process, "breaker", Silent())
    assert ask(QUESTION, probe, context=process) == Answer()
    object.__setattr__(process, "breaker", limiter)
    assert row.pace.breaker is not None


@given(st.floats(0, 1), st.integers(1, 100))
def test_failed_fetch_is_retried_within_maximum_queue_delay(drawn: float, tries: int) -> None:
    process = a_process(FakePaceRow(), SettableClock())
    object.__setattr__(process, "random", lambda: drawn)
    assert timedelta(0) < again_after_failure(tries, process) <= timedelta(seconds=900)


def test_fetches_delayed_by_open_breaker_return_at_random_times() -> None:
    process = a_process(FakePaceRow(), SettableClock())
    delays = []
    for drawn in (0.0, 0.5, 1.0):
        object.__setattr__(process, "random", lambda drawn=drawn: drawn)
        delays.append(again_after(NoPermit.BREAKER_OPEN, process).total_seconds())
    assert delays == [60, 120, 180]


def test_waiting_fetches_are_spread_according_to_request_rate() -> None:
    process = a_process(FakePaceRow(), SettableClock(), rate=10)
    object.__setattr__(process, "waiting", lambda: 1000)
    assert again_after(NoPermit.BUSY, process) > timedelta(seconds=20)


def test_fetch_without_permit_is_retried_within_a_minute() -> None:
    process = a_process(FakePaceRow(), SettableClock())
    assert again_after(NoPermit.BUSY, process) < timedelta(seconds=60)


def test_fetches_waiting_for_open_breaker_respect_request_rate() -> None:
    process = a_process(FakePaceRow(), SettableClock(), rate=10)
    object.__setattr__(process, "waiting", lambda: 8000)
    in_turn = again_after(NoPermit.BUSY, process)
    assert again_after(NoPermit.BREAKER_OPEN, process) == in_turn > timedelta(seconds=180)
