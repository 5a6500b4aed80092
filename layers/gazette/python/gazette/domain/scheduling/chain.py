"""The chain of a schedule: the runs that can still affect a decision, newest first.

The chain ends at the last run that was sent, or at a stored head: a sequence number up to which all
runs have permanently ended. A long chain without a sent email is therefore not read in full each
time (rule 3).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Head, Run, Status, known_sent_until, sent_until
from gazette.domain.model import RunKey

PAGE = 16
"""The number of runs that one Query reads."""

_CREATED = timedelta(minutes=10)
"""An upper bound for the time that a function takes to create a run (run.STILL_WRITTEN).

A function that read the chain before a run was stored may still create an older run within this
time.
"""

_REFUSED = timedelta(days=1)
"""The time within which a delivery event may prove that a refused attempt was in fact accepted.

SES tries to deliver an email for fourteen hours, and reports the result by then.
https://github.com/mozilla/fxa-auth-server/issues/2304
"""


def back_to_end(
    newest_first: Iterable[Run], *, of: RunKey, holding: datetime | None = None
) -> list[Run]:
    """Return the chain of the run with the key `of`, newest run first.

    Stops reading at the end of the chain (Runs.chain). A head may end the chain only if its events
    were stored before `holding`.
    """
    chain: list[Run] = []
    settled = -1
    for run in newest_first:
        if run.key.sequence <= settled:
            break
        chain.append(run)
        if run.head and (holding is None or run.head.sent_until < holding):
            settled = max(settled, run.head.sequence)
        if run.ends_chain(of, holding) or run.key.sequence == settled + 1:
            break
    return chain


def head_for(chain: Sequence[Run], now: datetime, *, page: int = PAGE) -> Head | None:
    """Return the head to store with the next run of this chain; None if the chain is short.

    A chain is short if fewer than a page of consecutive runs have ended unsent. Runs up to the head
    of an older run have ended permanently, too.
    """
    settled: list[Run] = []
    for run in reversed(chain):
        if not is_settled(run, now):
            break
        settled.append(run)
    if sum(not run.closes_a_window for run in settled) < page:
        return None
    until = max(sent_until(settled), known_sent_until(chain))
    return Head(settled[-1].key.sequence, until)


def is_settled(run: Run, now: datetime) -> bool:
    """Return True if the run can no longer change and no older run can still be stored."""
    if not run.status.is_final or now - (run.created_at or run.due_at) <= _CREATED:
        return False
    if run.status is Status.SENT:
        return True
    if run.uncertain:
        return False
    claimed_at = run.claimed_at or run.deadline or run.check_at
    return run.attempt == 0 or now - claimed_at > _REFUSED


def is_behind_head(run: Run, newer: Iterable[Run]) -> bool:
    """Return True if the head of a newer run covers `run`, so that `run` is never sent."""
    return any(each.head and run.key.sequence <= each.head.sequence for each in newer)
