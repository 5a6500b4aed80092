"""Neither stream waits for the other, no worker sleeps long, and permits do not stay unused."""

from datetime import timedelta

import pytest
from gazette.steps.delivery import pacing

from gazette_cli.cost.assumptions import AN_EMAIL, AN_INVOCATION, REQUEUED_ALONE
from proofs.pacing.scenarios import BEFORE, DIGESTS, Scenario, play


def test_the_bill_assumes_what_sending_takes() -> None:
    """The difference is at most 30 % for an account with 14 emails a second."""
    found = play(Scenario(quota=14, digests=5_000))
    assert found.gb_s_per_million == pytest.approx((AN_INVOCATION + AN_EMAIL) * 1e6, rel=0.3)
    assert found.requeues_per_email == pytest.approx(REQUEUED_ALONE, rel=0.5)


@pytest.mark.parametrize("slower", [0.5, 1.5])
def test_immediate_email_is_sent_beside_a_backlog_of_digests_at_almost_the_full_rate(
    slower: float,
) -> None:
    found = play(Scenario(quota=14, slower=slower))
    assert found.digests == DIGESTS
    assert found.immediate_p99 < 60
    assert found.longest_wait_ms <= 100
    assert found.rate_used >= 0.95
    assert found.requeues_per_email < 4.5


def test_without_a_queue_of_its_own_immediate_email_waited_for_digests() -> None:
    """The simulation shows the problem of the earlier design, with one message at a time (decision
    49)."""
    old = BEFORE["one queue, 20 workers of one message, 5 s"]
    found = play(Scenario(quota=14), old=old)
    assert found.immediate_p99 > 600
    assert found.longest_wait_ms > 1000


def test_a_delay_that_does_not_know_the_backlog_turns_in_circles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pacing, "delay_among", lambda *_, **__: timedelta(seconds=1))
    assert play(Scenario(quota=14, slower=0.5, digests=8_000)).requeues_per_email > 5


def test_a_fixed_delay_of_minutes_leaves_permits_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        pacing, "delay_among", lambda *_, random, **__: timedelta(seconds=60 + 840 * random)
    )
    assert play(Scenario(quota=14, slower=0.5, digests=8_000)).rate_used < 0.95
