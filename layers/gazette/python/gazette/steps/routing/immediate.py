"""What goes out at once: a run for what happens on an entity within the collapse window."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Reason, Run, settled_until
from gazette.domain.identity import latest_run
from gazette.domain.model import Placed, RunKey
from gazette.domain.ports.outside import QueuedRun
from gazette.domain.stored import is_known
from gazette.steps.context import RoutingContext


def start_immediate(placed: Placed, *, context: RoutingContext) -> Run | None:
    """See that a run takes the event. Safe to repeat. None where it has gone out, or was given up.

    Queued also when the run was there already: a crash between row and message must not lose
    the message (rule 16). The run of its second may be one that ended before the event was there,
    or that was due at once and takes nothing so late: then one more is started, but not for an
    event that had a run.
    """
    user_id, schedule = placed.event.user_id, placed.schedule
    chain = context.runs.chain(latest_run(user_id, schedule))
    if placed.stored_at <= settled_until(chain):
        return None
    run = collecting(chain, placed.stored_at)
    if run is None:
        run = context.runs.create(_new(user_id, schedule, placed.stored_at, context))
        if run.due_at < placed.stored_at or run.reason in _NOT_ITS_END:
            if any(_was_for(each, placed) for each in chain):
                return None
            run = start_next_collecting(user_id, schedule, [run, *chain], context=context)
    if not run.status.is_final:
        queue_run(run, context=context)
    return run


_NOT_ITS_END = {Reason.EMPTY, Reason.SUPERSEDED}
"""Of a run for which the event was not there yet."""


def _was_for(run: Run, placed: Placed) -> bool:
    """Whether it was the event's own run, and failed or was skipped: that is its reason."""
    return run.due_at >= placed.stored_at and run.reason not in _NOT_ITS_END


def start_next_collecting(
    user_id: str, schedule: str, chain: Sequence[Run], *, context: RoutingContext
) -> Run:
    """Start one more run of a thread behind the newest of `chain`.

    It collects from now on, and takes what waits already. Returns it as it is stored: somebody else
    may have started it.
    """
    run = _new(user_id, schedule, context.clock(), context)
    behind = max([run.key.sequence, *(each.key.sequence + 1 for each in chain)])
    return context.runs.create(replace(run, key=replace(run.key, sequence=behind)))


def queue_run(run: Run, *, context: RoutingContext) -> None:
    """Give a run a message, visible once everything that it takes can be read."""
    delay = max(run.due_at + context.hold - context.clock(), timedelta(0))
    context.generate_queue.send([QueuedRun(run.key, delay=delay)])


def _new(user_id: str, schedule: str, at: datetime, context: RoutingContext) -> Run:
    due_at = at + context.collapse
    return Run(
        key=RunKey(user_id, schedule, int(at.timestamp())),
        due_at=due_at,
        check_at=due_at + context.hold + context.check_after,
    )


def collecting(chain: Sequence[Run], at: datetime) -> Run | None:
    """The oldest run that takes what is stored at `at`: one that has ended takes nothing.

    Nor does one of which nobody here knows whether it has.
    """
    taking = [
        run
        for run in chain
        if at <= run.due_at and not run.status.is_final and is_known(run.status)
    ]
    return taking[-1] if taking else None
