"""The delivery events of one invocation, whose runs are read together."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Never

import pytest
from gazette.adapters.aws.queues import PATIENCE
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import ForeignEvent, NotYet, Unavailable, UnreadableRow
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.model import RunKey
from gazette.steps.feedback.feedback import (
    LEAST_TIME,
    Feedback,
    Result,
    process_delivery_events,
)
from gazette.steps.time_budget import unlimited

from gazette_cdk.topology import FEEDBACK
from tests.builders import KEY, NOW, a_claimed_run
from tests.fake_stores import FakeRuns
from tests.world import World

_KEYS = [replace(KEY, user_id=user_id) for user_id in ("ann", "ben", "cy")]


def _sent(key: RunKey) -> DeliveryEvent:
    return DeliveryEvent(DeliveryEventType.SENT, key, 1, f"message-{key.user_id}", NOW)


def _world(status: Status = Status.UNKNOWN) -> World:
    world = World()
    for key in _KEYS:
        world.runs.create(replace(a_claimed_run(status=status), key=key))
    return world


def _process(
    world: World,
    events: Sequence[DeliveryEvent | None],
    time_left: Callable[[], timedelta] = unlimited,
) -> Sequence[Result]:
    """Process a message for each event. None is an event that a service published."""

    def decode(body: str) -> DeliveryEvent:
        if event := events[int(body)]:
            return event
        raise ForeignEvent(f"message {body}")

    bodies = [str(number) for number in range(len(events))]
    return list(
        process_delivery_events(bodies, time_left, decode=decode, context=world.feedback_context())
    )


def _statuses(results: Sequence[Result]) -> list[Status | None]:
    return [
        each.recorded.run.status if isinstance(each, Feedback) and each.recorded.run else None
        for each in results
    ]


def test_runs_are_read_once_and_each_is_settled_once() -> None:
    world = _world()
    delivered = [replace(_sent(key), type=DeliveryEventType.DELIVERED) for key in _KEYS]
    with world.calls() as called:
        results = _process(world, [*map(_sent, _KEYS), *delivered])
    assert _statuses(results) == [Status.SENT] * 6
    assert called.count("runs.get_many") == 1
    assert called.count("runs.swap") == 3
    assert not [each for each in called if each in {"runs.get", "runs.chain"}]


def test_event_without_run_reads_none() -> None:
    world = World()
    with world.calls() as called:
        _process(world, [replace(_sent(KEY), run=None)])
    assert called == ["evidence_log.record"]


def test_run_that_changes_after_it_was_read_keeps_its_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By another worker, while this one processes the events before."""
    world = _world()
    real = FakeRuns.get_many
    stopped = replace(world.runs.rows[_KEYS[1]], epoch=7)

    def read_then_changed(
        runs: FakeRuns, keys: Collection[RunKey]
    ) -> Mapping[RunKey, Run | UnreadableRow]:
        read = real(runs, keys)
        runs.rows[_KEYS[1]] = stopped
        return read

    monkeypatch.setattr(FakeRuns, "get_many", read_then_changed)
    _process(world, [*map(_sent, _KEYS)])
    after = world.runs.rows[_KEYS[1]]
    assert (after.status, after.reason, after.epoch) == (Status.SENT, Reason.EVIDENCE, 7)


def test_unreadable_run_fails_only_its_own_events() -> None:
    world = _world()
    world.runs.unreadable.add(_KEYS[1])
    results = _process(world, [*map(_sent, _KEYS)])
    assert isinstance(results[1], UnreadableRow)
    assert _statuses(results) == [Status.SENT, None, Status.SENT]


def _unavailable(*_: object) -> Never:
    raise Unavailable("The table did not respond.")


def test_runs_are_read_alone_if_they_cannot_be_read_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One key that DynamoDB rejects or does not process fails only its own events."""
    world = _world()
    world.runs.unreadable.add(_KEYS[1])
    monkeypatch.setattr(FakeRuns, "get_many", _unavailable)
    with world.calls() as called:
        results = _process(world, [*map(_sent, _KEYS), _sent(KEY)])
    assert isinstance(results[1], UnreadableRow)
    assert _statuses(results) == [Status.SENT, None, Status.SENT, Status.SENT]
    assert called.count("runs.get") == 3


def test_unavailable_runs_fail_only_events_that_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    world = _world()
    monkeypatch.setattr(FakeRuns, "get_many", _unavailable)
    monkeypatch.setattr(FakeRuns, "get", _unavailable)
    canary = replace(_sent(KEY), run=None)
    results = _process(world, [_sent(KEY), None, canary])
    assert isinstance(results[0], Unavailable)
    assert results[1] is None
    assert isinstance(results[2], Feedback)
    assert world.quarantine.kept == [("1", "message 1")]
    assert world.evidence_log.latest() == NOW


def test_result_is_available_before_the_next_event_is_processed() -> None:
    """So the log has it if the invocation is cut off later."""
    world = _world()
    results = process_delivery_events(
        ["0", "1"],
        unlimited,
        decode=lambda body: _sent(_KEYS[int(body)]),
        context=world.feedback_context(),
    )
    assert isinstance(next(results), Feedback)
    assert world.runs.rows[_KEYS[0]].status is Status.SENT
    assert world.runs.rows[_KEYS[1]].status is Status.UNKNOWN


@pytest.mark.parametrize("late", range(4))
def test_events_that_would_take_too_long_are_retried(late: int) -> None:
    """Two are decoded, then processed. Neither begins too late to hide the failed messages."""
    world = _world()
    times = [LEAST_TIME - timedelta(milliseconds=number == late) for number in range(4)]
    left = iter(times)
    events = [*map(_sent, _KEYS[:2])]
    results = _process(world, events, lambda: next(left, LEAST_TIME))
    assert [isinstance(each, NotYet) for each in results] == [late % 2 == 0, late % 2 == 1]


def test_time_that_must_be_left_is_enough_to_hide_failed_messages() -> None:
    assert timedelta(seconds=PATIENCE.longest + 2) < LEAST_TIME
    assert LEAST_TIME + timedelta(seconds=FEEDBACK.batch_size) <= timedelta(
        seconds=FEEDBACK.timeout
    )


@pytest.mark.parametrize("status", Status)
def test_result_says_whether_the_run_had_been_sent(status: Status) -> None:
    (result,) = _process(_world(status), [_sent(KEY)])
    assert isinstance(result, Feedback)
    assert result.recorded.was_sent is (status is Status.SENT)
