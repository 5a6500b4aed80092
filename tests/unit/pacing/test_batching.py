"""The number of emails of an invocation, and its wait for their permits."""

from datetime import timedelta

import pytest
from gazette.domain.delivery.batching import MOST_TOGETHER, emails_together, longest_wait
from gazette.domain.delivery.pace import Outlook, Pace, PacePlan, Quota, outlook
from gazette.domain.delivery.streams import divided

from gazette_cdk.concurrency import Size, senders, sending
from tests.builders import NOW


@pytest.mark.parametrize(("rate", "together"), [(0.72, 1), (1.99, 1), (2, 10), (10, 10), (360, 10)])
def test_invocation_sends_ten_emails_from_two_a_second_on(rate: float, together: int) -> None:
    assert emails_together(rate) == together
    assert sending(rate).batch == together
    assert emails_together(rate, most=1) == sending(rate, by_smtp=True).batch == 1


@pytest.mark.parametrize(
    ("rate", "seconds"),
    [(0.2, 10), (1.9, 10), (3, 20 / 3), (10, 2), (100, 0.2), (200, 0.1), (5000, 0.1)],
)
def test_worker_waits_for_the_permits_of_two_invocations(rate: float, seconds: float) -> None:
    assert longest_wait(rate, 10) == timedelta(seconds=seconds)
    assert longest_wait(rate, 1) == timedelta(milliseconds=100)


@pytest.mark.parametrize("rate", [0.7, 2.52, 3, 5, 10.08, 20, 36, 72, 100, 180, 360, 1000])
def test_concurrency_reaches_the_rate_although_invocations_wait(rate: float) -> None:
    """An invocation takes its work, and then the time in which its own permits begin."""
    size = sending(rate)
    works = 0.22 + (size.batch - 1) * 0.015
    assert size.concurrency * size.batch / (works + (size.batch - 1) / rate) >= rate


@pytest.mark.parametrize("rate", [3, 5, 10.08, 20, 36, 72, 100, 180, 360, 1000])
def test_permits_of_all_workers_begin_within_the_longest_wait(rate: float) -> None:
    """In a backlog, all workers wait for each other, and one batch needs the last permits."""
    size = sending(rate)
    works = 0.22 + (size.batch - 1) * 0.015
    last = size.concurrency * size.batch / rate - works
    assert last <= longest_wait(rate, size.batch).total_seconds() + size.batch / rate


def _known(quota: float | None, plan: PacePlan) -> Outlook:
    pace = Pace(quota=Quota(rate=quota), quota_at=NOW) if quota else Pace()
    return outlook(pace, plan, NOW)


@pytest.mark.parametrize(
    ("quota", "rate", "seconds"),
    [
        (None, None, 20 / 10.08),  # not read yet: 14 a second are assumed
        (14, None, 20 / 10.08),
        (1, None, 10),  # the sandbox: permits for half a minute would be too many
        (500, None, 0.1),
        (None, 50, 0.5),
        (500, 50, 0.5),
    ],
)
def test_wait_follows_the_rate_of_the_account(
    quota: float | None, rate: float | None, seconds: float
) -> None:
    plan = PacePlan(rate=rate, batch=MOST_TOGETHER, share=divided(20).digest)
    assert _known(quota, plan).longest_wait.total_seconds() == pytest.approx(seconds, abs=1e-5)


def test_lambda_collects_digests_only_where_an_invocation_sends_several() -> None:
    twenty = timedelta(seconds=20)
    assert Size(2).window == sending(10).window == timedelta(0)
    assert senders(12.6, immediate_share=20)["generate"].window == twenty
    assert senders(12.6, immediate_share=20)["immediate"].window == timedelta(0)
    assert senders(12.6, immediate_share=20)["resend"].window == timedelta(0)
    assert senders(0.9, immediate_share=20)["generate"].window == timedelta(0)
    assert senders(50, immediate_share=20, by_smtp=True)["generate"].window == timedelta(0)
