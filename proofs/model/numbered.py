"""Runs as small numbers, so that a state is hashed fast; `transition` moves the runs behind them.

Instants are numbers too: event i is stamped i, and 0 lies before all of them.
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
    """The number of a run; equal runs have one number."""
    number = _NUMBERS.setdefault(run, len(_RUNS))
    if number == len(_RUNS):
        _RUNS.append(run)
    return number


def run_of(number: int) -> Run:
    """The run with that number."""
    return _RUNS[number]


@cache
def due(index: int) -> int:
    """The run of the occurrence `index`, counted from 0, as fan-out creates it."""
    key = RunKey("ann", "daily", index + 1)
    return number_of(Run(key, due_at=INSTANTS[0], check_at=INSTANTS[0]))


@cache
def moved(number: int, signal: Signal) -> int | None:
    """What `transition` makes of a run; None where it ignores the signal."""
    after = transition(_RUNS[number], signal)
    return None if isinstance(after, Ignored) else number_of(after)


@cache
def is_as_read(read: int, stored: int) -> bool:
    """The condition of every write: status, reason, attempt and epoch."""
    before, now = _RUNS[read], _RUNS[stored]
    return (before.status, before.reason, before.attempt, before.epoch) == (
        now.status,
        now.reason,
        now.attempt,
        now.epoch,
    )


def decided(read: int, stored: int, signal: Signal) -> int | None:
    """As `store` of steps/runs.py does it: what is stored then, and None for Overtaken.

    A run that ignores the signal, as it was read, is not written at all.
    """
    after = moved(read, signal)
    if after is None:
        return read
    return after if is_as_read(read, stored) or stored == after else None


def applied(read: int, stored: int, signal: Signal) -> tuple[int, int]:
    """As `apply` of steps/runs.py does it: what is stored then, and what the caller is told.

    The repetitions after a conflict are one step: what is read in between changes nothing.
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
    """True where only evidence still moves the run."""
    return _RUNS[number].status.is_final


@cache
def is_carried(number: int) -> bool:
    """True where the run waits for its successor."""
    run = _RUNS[number]
    return run.status is Status.UNKNOWN and run.reason is Reason.CARRIED


@cache
def is_to_be_carried(number: int, since: int) -> bool:
    """True where a successor has to close the run, or to see that nobody opened it since.

    Not where its own window begins at `since`, behind that of the run.
    """
    run = _RUNS[number]
    if run.status is Status.SENT or not run.uncertain:
        return False
    if run.window is None or run.window.until <= INSTANTS[since]:
        return False
    return run.reason is Reason.CARRIED_INTO or moved(number, Carry()) is not None


@cache
def sent_up_to(chain: tuple[int, ...]) -> int:
    """The instant up to which the runs were sent, by the domain's own word."""
    return INSTANTS.index(sent_until(_RUNS[number] for number in chain))


@cache
def given_up_to(chain: tuple[int, ...]) -> int:
    """The instant up to which all was in two attempts with an unknown outcome, by the domain's own
    word.
    """
    return INSTANTS.index(given_up_until(_RUNS[number] for number in chain))


@cache
def claimed_up_to(chain: tuple[int, ...]) -> int:
    """The greatest end of any window, sent or not: what rule 2 forbids to use."""
    ends = [run.window.until for run in (_RUNS[number] for number in chain) if run.window]
    return INSTANTS.index(max(ends, default=BEGINNING))


@cache
def until_of(number: int) -> int | None:
    """The end of the run's window, if a claim has fixed it."""
    window = _RUNS[number].window
    return INSTANTS.index(window.until) if window else None


@cache
def since_of(number: int) -> int | None:
    """The beginning of the run's window as the last claim wrote it."""
    window = _RUNS[number].window
    return INSTANTS.index(window.since) if window else None


def events_in(since: int, until: int) -> int:
    """The events stamped in (since, until], as bits."""
    return (1 << max(until, since)) - (1 << since)
