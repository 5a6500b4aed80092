"""Signals to a run are applied even if another writer changes it at the same time."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.lifecycle import transition
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Claim,
    Evidence,
    NotAttempted,
    Signal,
    Skip,
    Stop,
)
from gazette.domain.model import Window
from gazette.steps.runs import apply, raise_epochs

from tests.builders import KEY, NOW, a_claimed_run, a_run
from tests.fake_stores import FakeRuns

CLAIM = Claim(Window(BEGINNING, NOW), NOW + timedelta(minutes=1), "mine")
SENDING = a_claimed_run(status=Status.SENDING, reason=Reason.CLAIMED)


def runs_with(*stored: Run) -> FakeRuns:
    """Runs as they are stored now."""
    return FakeRuns({run.key: run for run in stored})


@pytest.mark.parametrize("signal", [Stop(), Skip(Reason.EMPTY), Cancel(Reason.ERASED), CLAIM])
def test_run_is_stored_and_returned_after_signal(signal: Signal) -> None:
    runs = runs_with(a_run())
    after = apply(a_run(), signal, runs=runs)
    assert after == runs.rows[KEY] == transition(a_run(), signal)


@pytest.mark.parametrize("signal", [Stop(), Skip(Reason.EMPTY), NotAttempted(1), CLAIM])
def test_ignored_signal_writes_nothing(signal: Signal) -> None:
    sent = replace(a_run(), status=Status.SENT)
    runs = runs_with(sent)
    runs.swap = lambda *_: pytest.fail("written")  # type: ignore[method-assign]
    assert apply(sent, signal, runs=runs) == sent


@pytest.mark.parametrize(
    ("signal", "status"),
    [
        (Stop(), Status.SENDING),
        (Accepted(1, "m"), Status.SENT),
        (Evidence(1, "m"), Status.SENT),
        (Cancel(Reason.ERASED), Status.SENDING),
    ],
)
def test_signal_is_reapplied_after_concurrent_change(signal: Signal, status: Status) -> None:
    runs = runs_with(replace(SENDING, epoch=3))
    read = SENDING if status is Status.SENT else a_run()
    after = apply(read, signal, runs=runs)
    assert after == runs.rows[KEY]
    assert after.status is status
    assert after.epoch == (4 if isinstance(signal, Stop) else 3)


def test_claim_is_not_applied_to_concurrently_changed_run() -> None:
    stopped = replace(a_run(), epoch=1)
    runs = runs_with(stopped)
    assert apply(a_run(), CLAIM, runs=runs) == stopped
    assert runs.rows[KEY] == stopped


def test_stop_raises_epoch_of_every_unfinished_run() -> None:
    stored = [
        replace(a_run(number), status=status) for number, status in enumerate(Status, start=1)
    ]
    runs = runs_with(*stored)
    raise_epochs(stored, runs=runs)
    for before in stored:
        assert runs.rows[before.key].epoch == (0 if before.status.is_final else 1)
        assert runs.rows[before.key].status is before.status
