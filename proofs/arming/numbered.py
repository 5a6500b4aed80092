"""Schedule rows and runs as small numbers, moved by the domain's own functions.

Occurrence n is the n-th at which the digest is due, from 1. Revisions and epochs only show whether
a row is unchanged since it was read. Each write therefore drops both, and marks older reads as
stale.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

from gazette.domain.delivery.lifecycle import Ignored, transition
from gazette.domain.delivery.run import (
    BEGINNING,
    Reason,
    Run,
    Status,
    given_up_until,
    possibly_sent_until,
    settled_until,
)
from gazette.domain.delivery.signals import Signal
from gazette.domain.model import RunKey, Schedule, ScheduleState, Window
from gazette.domain.scheduling.calendar import (
    Recurrence,
    last_instant_of_slot,
    next_after_change,
    next_occurrence,
)

ABSENT = -1
"""The row of a schedule that does not exist."""

NO_RUN = -1
"""The run of an unused sequence."""

INSTANTS = tuple(BEGINNING + timedelta(days=day) for day in range(20))
"""Storage times. The time 0 precedes all others."""

_WANTED = Recurrence(hour=8, minute=0, time_zone="UTC")
_BEGINNING = datetime(2024, 1, 1, 12, tzinfo=UTC)
_ROWS: list[Schedule] = []
_ROW_NUMBERS: dict[Schedule, int] = {}
_RUNS: list[Run] = []
_RUN_NUMBERS: dict[Run, int] = {}


@cache
def instant_of(occurrence: int) -> datetime:
    """Return the due time of an occurrence; 0 is the time before the first."""
    if not occurrence:
        return _BEGINNING
    return next_occurrence(_WANTED, after=instant_of(occurrence - 1))


@cache
def occurrence_of(instant: datetime) -> int:
    """Return the occurrence that is due at this time."""
    occurrence = 1
    while instant_of(occurrence) != instant:
        occurrence += 1
    return occurrence


def row_of(number: int) -> Schedule:
    """Return the row with that number."""
    return _ROWS[number]


def _numbered(row: Schedule) -> int:
    """Number a row without its revision and its last occurrence, which every
    computed one follows.
    """
    row = replace(row, revision=0, last_due_at=None)
    number = _ROW_NUMBERS.setdefault(row, len(_ROWS))
    if number == len(_ROWS):
        _ROWS.append(row)
    return number


def _written(before: Schedule, after: Schedule) -> int:
    assert after.revision > before.revision, "writers with an older read must fail"
    return _numbered(after)


@cache
def created(state: ScheduleState, *, now: int, sequence: int) -> int:
    """Return a new row, due at the next occurrence."""
    return _numbered(
        Schedule(
            user_id="ann",
            name="daily",
            recurrence=_WANTED,
            next_due_at=instant_of(now + 1),
            sequence=sequence,
            revision=0,
            changed_at=_BEGINNING,
            state=state,
        )
    )


@cache
def armed(number: int, *, now: int) -> int:
    """Return the armed row: at its own occurrence if the index has it, else at
    the next from now.
    """
    row = _ROWS[number]
    next_due_at = row.next_due_at
    if not row.listed:
        next_due_at = next_after_change(
            row.recurrence,
            after=last_instant_of_slot(instant_of(now)),
            last=row.last_due_at,
            pending=None,
        )
    return _written(row, row.armed(next_due_at))


@cache
def advanced(number: int) -> int:
    """Return the row after its occurrence was started."""
    row = _ROWS[number]
    return _written(row, row.advanced(next_occurrence(row.recurrence, after=row.next_due_at)))


@cache
def renumbered(number: int) -> int:
    """Return the row with its occurrence under the next sequence."""
    return _written(_ROWS[number], _ROWS[number].renumbered())


@cache
def leaving(number: int) -> int:
    """Return the flagged row."""
    return _written(_ROWS[number], _ROWS[number].leaving())


@cache
def idle(number: int, *, keeps_sequence: bool) -> int:
    """Return the idle row. With `keeps_sequence` it breaks the rule that raises the sequence."""
    row = _ROWS[number]
    after = row.idle()
    return _written(row, replace(after, sequence=row.sequence) if keeps_sequence else after)


@cache
def withdrawn(number: int) -> int:
    """Return the row out of the index, because its reader is no longer visited."""
    return _written(_ROWS[number], _ROWS[number].withdrawn())


@cache
def state_of(number: int) -> ScheduleState | None:
    """Return the state of a row, or None if it is absent."""
    return None if number == ABSENT else _ROWS[number].state


@cache
def next_of(number: int) -> int:
    """Return the occurrence at which a row is due next, or was due when it left the index."""
    return occurrence_of(_ROWS[number].next_due_at)


@cache
def listed_at(number: int) -> int:
    """Return the occurrence under which the due index holds a row, or 0 if it does not."""
    return next_of(number) if number != ABSENT and _ROWS[number].listed else 0


@cache
def sequence_of(number: int) -> int:
    """Return the sequence of the next run; 1 if the row is absent."""
    return 1 if number == ABSENT else _ROWS[number].sequence


def run_of(number: int) -> Run:
    """Return the run with that number."""
    return _RUNS[number]


def _run_number(run: Run) -> int:
    """Number a run without unused details. Runs that ended without an email are all equal."""
    run = replace(run, epoch=0, overtaken=False)
    if run.window:
        run = replace(run, window=Window(BEGINNING, run.window.until))
    if run.status.is_final and run.status is not Status.SENT and not run.uncertain:
        reason = run.reason if run.reason is Reason.NOTHING_WAITED else Reason.EMPTY
        run = _run(run.key.sequence, run.due_at, Status.SKIPPED, reason)
    number = _RUN_NUMBERS.setdefault(run, len(_RUNS))
    if number == len(_RUNS):
        _RUNS.append(run)
    return number


def _run(sequence: int, due_at: datetime, status: Status, reason: Reason) -> Run:
    key = RunKey("ann", "daily", sequence)
    return Run(key, due_at=due_at, check_at=due_at, status=status, reason=reason)


@cache
def started(sequence: int, occurrence: int, status: Status, reason: Reason) -> int:
    """Return a run as fan-out creates it."""
    return _run_number(_run(sequence, instant_of(occurrence), status, reason))


@cache
def moved(number: int, signal: Signal) -> int | None:
    """Return the run that `transition` produces, or None if the run ignores the signal."""
    after = transition(_RUNS[number], signal)
    return None if isinstance(after, Ignored) else _run_number(after)


@cache
def occurrence_of_run(number: int) -> int:
    """Return the occurrence of a run."""
    return occurrence_of(_RUNS[number].due_at)


@cache
def is_spent(number: int) -> bool:
    """Return True if the run only uses up the sequence of an occurrence without waiting events."""
    return _RUNS[number].reason is Reason.NOTHING_WAITED


def _known(chain: tuple[int, ...]) -> list[Run]:
    return [_RUNS[number] for number in chain if number != NO_RUN]


@cache
def has_open(chain: tuple[int, ...]) -> bool:
    """Return True if some run has not ended."""
    return any(not run.status.is_final for run in _known(chain))


@cache
def is_to_be_delivered(chain: tuple[int, ...]) -> bool:
    """Return True if the sweep or a message still starts a worker for some run."""
    return any(run.is_open for run in _known(chain))


@cache
def settled_up_to(chain: tuple[int, ...]) -> int:
    """Return the instant up to which all events were sent or given up, as the
    domain computes it.
    """
    return INSTANTS.index(settled_until(_known(chain)))


@cache
def given_up_to(chain: tuple[int, ...]) -> int:
    """Return the instant up to which all events were in two unknown attempts (rule 9)."""
    return INSTANTS.index(given_up_until(_known(chain)))


@cache
def possibly_sent_up_to(chain: tuple[int, ...]) -> int:
    """Return the instant up to which all events are sent, being sent or possibly sent."""
    return INSTANTS.index(possibly_sent_until(_known(chain)))


@cache
def window_end(number: int) -> int:
    """Return the end of the window of a run, or 0 without one."""
    run = _RUNS[number] if number != NO_RUN else None
    return INSTANTS.index(run.window.until) if run and run.window else 0


@cache
def restamped(number: int, ranks: tuple[int, ...]) -> int:
    """Return the run with the end of its window renumbered."""
    end = window_end(number)
    if not end:
        return number
    return _run_number(replace(_RUNS[number], window=Window(BEGINNING, INSTANTS[ranks[end]])))


@cache
def window(since: int, until: int) -> Window:
    """Return the window between two instants."""
    return Window(INSTANTS[since], INSTANTS[until])
