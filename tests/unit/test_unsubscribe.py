"""Unsubscribe: what was asked holds from the moment that it is acknowledged."""

from dataclasses import replace

from gazette.domain.model import DAILY, SubscriberStatus
from gazette.domain.run import Run, Status
from gazette.steps.unsubscribe import unsubscribe

from tests.builders import KEY, a_run, a_schedule, a_subscriber
from tests.fakes import FakeRuns, FakeSchedules, FakeSubscribers


def ports() -> tuple[FakeSubscribers, FakeSchedules, FakeRuns]:
    subscribers, schedules, runs = FakeSubscribers(), FakeSchedules(), FakeRuns()
    subscribers.save(a_subscriber())
    schedules.put(a_schedule(sequence=2), replacing=None)
    return subscribers, schedules, runs


def test_a_reader_who_leaves_is_no_longer_due() -> None:
    subscribers, schedules, runs = ports()
    for _ in range(2):
        assert unsubscribe("ann", subscribers=subscribers, schedules=schedules, runs=runs)
    assert subscribers.rows["ann"].status is SubscriberStatus.UNSUBSCRIBED
    assert ("ann", DAILY) in schedules.withdrawn


def test_open_runs_learn_of_it_and_ended_ones_stay() -> None:
    subscribers, schedules, runs = ports()
    runs.create(replace(a_run(1), status=Status.SENT))
    runs.create(a_run(2))
    unsubscribe("ann", subscribers=subscribers, schedules=schedules, runs=runs)
    assert runs.rows[KEY].epoch == 0
    assert runs.rows[a_run(2).key].epoch == 1


def test_a_run_that_moves_meanwhile_is_stopped_where_it_then_stands() -> None:
    subscribers, schedules, runs = ports()
    runs.create(a_run(2))
    original = runs.swap
    moved = False

    def raced(before: Run, after: Run) -> Run:
        nonlocal moved
        if not moved:
            moved = True
            runs.rows[before.key] = replace(before, status=Status.SENDING, attempt=1)
        return original(before, after)

    runs.swap = raced  # type: ignore[method-assign]
    unsubscribe("ann", subscribers=subscribers, schedules=schedules, runs=runs)
    run = runs.rows[a_run(2).key]
    assert (run.status, run.epoch) == (Status.SENDING, 1)


def test_somebody_unknown_is_answered_without_a_trace() -> None:
    _, schedules, runs = ports()
    subscribers = FakeSubscribers()
    assert not unsubscribe("ann", subscribers=subscribers, schedules=schedules, runs=runs)
