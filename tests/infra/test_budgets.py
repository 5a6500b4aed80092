"""Time-outs that must fit into one another: email, invocation, queue."""

from datetime import timedelta

import pytest
from gazette.bootstrap.parts.smtp import smtp_times
from gazette.domain.delivery.pace import PacePlan, Permit
from gazette.domain.delivery.streams import Streams
from gazette.domain.scheduling.limits import COMMIT_MARGIN
from gazette.settings.budgets import PREPARING
from gazette.settings.delivery import GenerateSettings, ResendSettings, SendingSettings
from gazette.steps.delivery.pacing import Pacing, StreamPacing, wait_for_permit
from gazette.steps.delivery.types import Ending, WaitingFor

from gazette_cdk.topology import STEPS
from tests.builders import SettableClock, a_run
from tests.fake_stores import FakeRateLimiter
from tests.infra.synthesis import Properties, Synthesis

_KINDS: dict[str, type[SendingSettings]] = {"generate": GenerateSettings, "resend": ResendSettings}
_LONGEST_HIDDEN = 12 * 3600


def settings(synthesis: Synthesis, step: str) -> SendingSettings:
    _, function = synthesis.function(step)
    return _KINDS[step].from_env(function["Environment"]["Variables"])


def batch_size(synthesis: Synthesis, step: str) -> int:
    return max(
        int(mapping["BatchSize"])
        for mapping in synthesis.service.of_type("AWS::Lambda::EventSourceMapping").values()
        if mapping["FunctionName"] == synthesis.mapped(step)
    )


def timeout(synthesis: Synthesis, step: str) -> timedelta:
    return timedelta(seconds=synthesis.function(step)[1]["Timeout"])


@pytest.fixture(params=["ses", "smtp"])
def synthesis(request: pytest.FixtureRequest) -> Synthesis:
    found: Synthesis = request.getfixturevalue({"ses": "prod", "smtp": "by_smtp"}[request.param])
    return found


@pytest.mark.parametrize("step", _KINDS)
def test_complete_batch_fits_an_invocation(synthesis: Synthesis, step: str) -> None:
    limits = settings(synthesis, step).limits
    batch = batch_size(synthesis, step)
    assert batch * limits.send_timeout + COMMIT_MARGIN <= timeout(synthesis, step)


@pytest.mark.parametrize("step", _KINDS)
def test_smtp_email_time_budget_is_the_sum_of_all_stages(by_smtp: Synthesis, step: str) -> None:
    given = settings(by_smtp, step)
    assert given.limits.send_timeout == smtp_times(given).whole == timedelta(seconds=780)
    assert smtp_times(given).reply == timedelta(minutes=10)


@pytest.mark.parametrize("step", _KINDS)
def test_smtp_messages_are_not_returned_because_time_ran_out(by_smtp: Synthesis, step: str) -> None:
    """One at a time; and where there is no permit, it is requeued by a message of its own."""
    limits = settings(by_smtp, step).limits
    assert batch_size(by_smtp, step) == 1
    left = timeout(by_smtp, step) - PREPARING
    clock = SettableClock()
    rate_limiter = FakeRateLimiter(PacePlan(rate=1))
    while isinstance(rate_limiter.reserve(clock(), clock() + timedelta(minutes=1)), Permit):
        pass
    stream = StreamPacing(rate_limiter=rate_limiter, breaker=rate_limiter, waiting=lambda: 0)
    pacing = Pacing(
        streams=Streams(digest=stream, immediate=stream),
        clock=clock,
        sleep=clock.sleep,
        random=lambda: 0.5,
    )
    spare = left - limits.send_timeout - COMMIT_MARGIN
    ending = wait_for_permit(a_run(), pacing=pacing, spare=spare)
    assert isinstance(ending, Ending)
    assert ending.delivery.waiting_for is WaitingFor.PERMIT


@pytest.mark.parametrize("step", _KINDS)
def test_timeouts_are_within_lambda_and_sqs_limits(synthesis: Synthesis, step: str) -> None:
    """https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
    """
    _, queue = synthesis.queue(step)
    hidden = timedelta(seconds=queue["VisibilityTimeout"])
    assert timeout(synthesis, step) <= timedelta(seconds=900)
    assert 6 * timeout(synthesis, step) <= hidden <= timedelta(seconds=_LONGEST_HIDDEN)


def test_smtp_changes_only_the_size_of_sending_functions(
    prod: Synthesis, by_smtp: Synthesis
) -> None:
    def size(of: Synthesis, step: str) -> Properties:
        _, function = of.function(step)
        return {name: function[name] for name in ("Timeout", "MemorySize")}

    other = {step.name for step in STEPS if size(prod, step.name) != size(by_smtp, step.name)}
    assert other == set(_KINDS)
