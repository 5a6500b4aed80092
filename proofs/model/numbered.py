"""Runs as small numbers, for fast hashing; `transition` moves the runs behind them.

Instants are numbers too. Event i is stamped i, and 0 precedes all events.
"""

from datetime import timedelta
from functools import cache

from gazette.domain.delivery.lifecycle import Ignored, transition
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status, given_up_until, sent_until
from gazette.domain.delivery.signals import Carry, Signal
from gazette.domain.model import RunKey

INSTANTS = tuple(BEGINNING + timedelta(days=day) for day in range(9))
_RUNS: list[Run] = []
_NUMBERS: dict[Run, int] = {}


def number_of(run: Run) -> int:
    """Return the number of a run; equal runs have one number."""
    number = _NUMBERS.setdefault(run, len(_RUNS))
    if number == len(_RUNS):
        _RUNS.append(run)
    return number


def run_of(number: int) -> Run:
    """Return the run with that number."""
    return _RUNS[number]


@cache
def due(index: int) -> int:
    """Return the run of the occurrence `index`, counted from 0, as fan-out creates it."""
    key = RunKey("ann", "daily", index + 1)
    return number_of(Run(key, due_at=INSTANTS[0], check_at=INSTANTS[0]))


@cache
def moved(number: int, signal: Signal) -> int | None:
    """Return the run that `transition` produces, or None if the run ignores the signal."""
    after = transition(_RUNS[number], signal)
    return None if isinstance(after, Ignored) else number_of(after)


@cache
def is_as_read(read: int, stored: int) -> bool:
    """Return True if status, reason, attempt and epoch are unchanged, the
    condition of every write.
    """
    before, now = _RUNS[read], _RUNS[stored]
    return (before.status, before.reason, before.attempt, before.epoch) == (
        now.status,
        now.reason,
        now.attempt,
        now.epoch,
    )


def decided(read: int, stored: int, signal: Signal) -> int | None:
    """Return the row that `store` of steps/runs.py leaves, or None for Overtaken.

    A run that ignored the signal when it was read is not written.
    """
    after = moved(read, signal)
    if after is None:
        return read
    return after if is_as_read(read, stored) or stored == after else None


def applied(read: int, stored: int, signal: Signal) -> tuple[int, int]:
    """Return the row that `apply` of steps/runs.py leaves, and its result for the caller.

    The retries after a conflict are one step, because reads in between change no state.
    """
    after = moved(read, signal)
    if after is None:
        return stored, read
    if not is_as_read(read, stored):
        after = moved(stored, signal)
        if after is None:
            return stored, stored
    return after, after


@cache
def is_final(number: int) -> bool:
    """Return True if only evidence still moves the run."""
    return _RUNS[number].status.is_final


@cache
def is_carried(number: int) -> bool:
    """Return True if the run waits for its successor."""
    run = _RUNS[number]
    return run.status is Status.UNKNOWN and run.reason is Reason.CARRIED


@cache
def is_to_be_carried(number: int, since: int) -> bool:
    """Return True if a successor must close the run or check that it was not reopened.

    That is not so if the successor's window begins at `since`, after the run's window.
    """
    run = _RUNS[number]
    if run.status is Status.SENT or not run.uncertain:
        return False
    if run.window is None or run.window.until <= INSTANTS[since]:
        return False
    return run.reason is Reason.CARRIED_INTO or moved(number, Carry()) is not None


@cache
def sent_up_to(chain: tuple[int, ...]) -> int:
    """Return the instant up to which the runs were sent, as the domain computes it."""
    return INSTANTS.index(sent_until([_RUNS[number] for number in chain]))


@cache
def given_up_to(chain: tuple[int, ...]) -> int:
    """Return the instant up to which all events were in two unknown attempts, as the domain
    computes it.
    """
    return INSTANTS.index(given_up_until([_RUNS[number] for number in chain]))


@cache
def claimed_up_to(chain: tuple[int, ...]) -> int:
    """Return the greatest end of any window, sent or not. Rule 2 forbids using it."""
    ends = [run.window.until for run in (_RUNS[number] for number in chain) if run.window]
    return INSTANTS.index(max(ends, default=BEGINNING))


@cache
def until_of(number: int) -> int | None:
    """Return the end of the run's window, or None before a claim sets it."""
    window = _RUNS[number].window
    return INSTANTS.index(window.until) if window else None


@cache
def since_of(number: int) -> int | None:
    """Return the beginning of the run's window as the last claim wrote it."""
    window = _RUNS[number].window
    return INSTANTS.index(window.since) if window else None


def events_in(since: int, until: int) -> int:
    """Return the events stamped in (since, until], as bits."""
    return (1 << max(until, since)) - (1 << since)
