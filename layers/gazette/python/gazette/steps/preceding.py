"""The older runs of a schedule: what they leave open decides what the next one sends, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.ledgers import Runs
from gazette.domain.lifecycle import Ignored, transition
from gazette.domain.model import Window
from gazette.domain.ports import Clock
from gazette.domain.run import Reason, Run, Status, sent_until
from gazette.domain.signals import Cancel, Carry, DeadlinePassed
from gazette.steps.applying import apply


@dataclass(frozen=True, slots=True)
class Preceding:
    """`sent_until`: up to where the older runs were sent, so where a window begins.

    `carried`: those that may have gone out although nobody knows of it, each as it is and as it
    is once the next run has taken its events over (rule 5). `unsettled`: one that has to be
    settled first, because nobody knows what it sends or sent.
    """

    sent_until: datetime
    carried: tuple[tuple[Run, Run], ...] = ()
    unsettled: Run | None = None


def settle_older(
    older: Sequence[Run], *, runs: Runs, clock: Clock, evidence_grace: timedelta
) -> Preceding:
    """End what nobody has claimed, and say what the others leave to the next run (rule 3).

    They are looked at as they are stored now: one may have been sent since it was read.
    """
    ended: list[Run] = []
    carried: list[tuple[Run, Run]] = []
    for each in older:
        run = settle_if_overdue(each, runs=runs, clock=clock, evidence_grace=evidence_grace)
        if run.status in {Status.PENDING, Status.RETRYING} and not run.uncertain:
            run = apply(run, Cancel(Reason.SUPERSEDED), runs=runs)
        if run.is_open and not (run.status is Status.RETRYING and run.uncertain):
            return Preceding(sent_until(ended), unsettled=run)
        if run.may_have_gone:
            closed = transition(run, Carry())
            carried.append((run, run if isinstance(closed, Ignored) else closed))
        ended.append(run)
    return Preceding(sent_until(ended), tuple(carried))


def settle_if_overdue(run: Run, *, runs: Runs, clock: Clock, evidence_grace: timedelta) -> Run:
    """A claimant whose deadline has passed is gone: what became of its call is unknown.

    The grace period for evidence begins with the deadline.
    """
    if run.status is Status.SENDING and run.deadline is not None and clock() > run.deadline:
        overdue = DeadlinePassed(run.attempt, run.deadline + evidence_grace)
        return apply(run, overdue, runs=runs)
    return run


def window_of(run: Run, since: datetime, *, until: datetime) -> Window:
    """From the end of the last sent window; up to `until`, or as the first claim fixed it
    (rule 2).
    """
    if run.window is not None:
        return Window(since, run.window.until)
    return Window(since, max(since, until))
