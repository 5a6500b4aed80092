"""Neither stream waits for the other, no worker sleeps long, and permits do not stay unused."""

from datetime import timedelta

import pytest
from gazette.steps.delivery import pacing

from gazette_cli.cost.assumptions import REQUEUED_ALONE
from gazette_cli.cost.command import digests_of
from proofs.pacing.scenarios import BEFORE, DIGESTS, Scenario, play, stage_of


@pytest.mark.parametrize(("quota", "digests"), [(14, DIGESTS), (50, 40_000), (250, 150_000)])
def test_bill_assumes_what_a_full_slot_takes(quota: int, digests: int) -> None:
    """The difference is at most 20 % in time, and a tenth of a requeue."""
    scenario = Scenario(quota=quota, digests=digests)
    found, assumed = play(scenario), digests_of(stage_of(scenario))
    assert found.digest_seconds == pytest.approx(assumed.seconds, rel=0.2)
    assert found.digests_per_invocation == pytest.approx(assumed.together, rel=0.1)
    assert found.requeues_per_digest == pytest.approx(assumed.requeues, abs=0.1)


def test_bill_assumes_requeues_at_a_low_rate() -> None:
    found = play(Scenario(quota=2, digests=1_200))
    assert found.digests_per_invocation == 1
    assert found.requeues_per_digest == pytest.approx(REQUEUED_ALONE, rel=0.5)


@pytest.mark.parametrize("digests", [300, 1_000, 3_000])
def test_invocation_sends_several_digests_in_a_slot_that_is_not_full(digests: int) -> None:
    """Because Lambda collects digests for twenty seconds, even if they come one by one."""
    found = play(Scenario(quota=14, digests=digests))
    assert found.digests == digests
    assert found.digests_per_invocation > min(9, digests / 150)


@pytest.mark.parametrize("slower", [0.5, 1.5])
def test_immediate_email_is_sent_beside_a_backlog_of_digests_at_almost_the_full_rate(
    slower: float,
) -> None:
    found = play(Scenario(quota=14, slower=slower))
    assert found.digests == DIGESTS
    assert found.immediate_p99 < 60
    assert found.longest_wait_ms <= 8_000  # twenty permits of immediate emails
    assert found.rate_used >= 0.95
    assert found.requeues_per_email < 0.1


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
    assert play(Scenario(quota=2, digests=1_200)).requeues_per_digest > 20


def test_a_fixed_delay_of_minutes_leaves_permits_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        pacing, "delay_among", lambda *_, random, **__: timedelta(seconds=60 + 840 * random)
    )
    assert play(Scenario(quota=2, digests=1_200)).rate_used < 0.6
