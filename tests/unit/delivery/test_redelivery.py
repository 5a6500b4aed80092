"""How long a message that failed stays hidden, and how long it is tried."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from gazette.domain.redelivery import FEW, MANY, pause_before
from hypothesis import given
from hypothesis import strategies as st

from gazette_cdk.topology import FEEDBACK, GENERATE, MAX_RECEIVES, STEPS, VISIBILITY_FACTOR, Step

_PAUSES = st.sampled_from((MANY, FEW))
_RANDOM = st.floats(0, 1)
_DEFAULT_GRACE = 900


def until_the_last_receive(pauses: Sequence[timedelta], receives: int, random: float) -> float:
    """Seconds from the first receive of a message that always fails to its last one."""
    drawn = (pause_before(n, pauses=pauses, random=random) for n in range(1, receives))
    return sum(drawn, timedelta()).total_seconds()


@given(_PAUSES, _RANDOM)
def test_first_failure_is_retried_after_10_to_60_seconds(
    pauses: Sequence[timedelta], random: float
) -> None:
    first = pause_before(1, pauses=pauses, random=random)
    assert timedelta(seconds=10) <= first <= timedelta(seconds=60)


@given(st.integers(-1, 2000), _PAUSES, _RANDOM)
def test_retry_delay_is_between_10_seconds_and_10_minutes(
    receives: int, pauses: Sequence[timedelta], random: float
) -> None:
    pause = pause_before(receives, pauses=pauses, random=random)
    assert timedelta(seconds=10) <= pause <= timedelta(minutes=10)


@given(st.integers(1, 2000), _RANDOM)
def test_retry_delays_never_decrease(receives: int, random: float) -> None:
    pause, after = (pause_before(receives + n, pauses=MANY, random=random) for n in (0, 1))
    assert pause <= after


@given(st.integers(1, 30), _PAUSES)
def test_simultaneously_failed_messages_are_retried_at_different_times(
    receives: int, pauses: Sequence[timedelta]
) -> None:
    """The longest pause is twice the shortest, or longer."""
    drawn = [pause_before(receives, pauses=pauses, random=random) for random in (0, 1)]
    assert drawn[1] >= 2 * drawn[0]


@pytest.mark.parametrize("step", [step for step in STEPS if step.queue and step is not FEEDBACK])
def test_retry_period_covers_five_receives_with_full_timeouts(
    step: Step,
) -> None:
    five = 4 * VISIBILITY_FACTOR * GENERATE.timeout
    assert step.max_receives >= MAX_RECEIVES
    assert until_the_last_receive(MANY, MAX_RECEIVES, 0) == 3150 >= five


def test_failing_message_reaches_dead_letter_queue_within_two_hours() -> None:
    assert until_the_last_receive(MANY, MAX_RECEIVES + 1, 1) <= 2 * 3600


def test_failing_delivery_event_reaches_dead_letter_queue_within_grace_period() -> None:
    """Also where its worker dies in between; then the visibility time-out passes, and no pause."""
    hidden = [FEEDBACK.timeout * VISIBILITY_FACTOR + 20] * FEEDBACK.max_receives
    longest = [pause.total_seconds() for pause in FEW]
    assert len(FEW) == FEEDBACK.max_receives == 3
    assert sum(map(max, longest, hidden)) < _DEFAULT_GRACE
    assert until_the_last_receive(FEW, 3, 0) == 180
    assert until_the_last_receive(FEW, 3, 1) == 400
