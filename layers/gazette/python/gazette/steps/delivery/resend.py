"""Handle a message from the resend queue: retry a refused run, with growing pauses."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.delivery.redrive import Redriven
from gazette.domain.delivery.run import Run
from gazette.domain.errors import Hidden
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.queues import FailedRuns, RunQueue
from gazette.steps.delivery.generate import requeue
from gazette.steps.delivery.types import Delivery
from gazette.steps.occurrences.redrive import is_exhausted


@dataclass(frozen=True, slots=True)
class ResendMessage:
    """A message. `was_given_up`: it was redriven from the dead letters of failed runs.

    `hide` sets the message's visibility time-out.
    """

    key: RunKey
    was_given_up: bool
    hide: Callable[[timedelta], None]


def resend(
    message: ResendMessage,
    *,
    deliver: Callable[[RunKey], Delivery | None],
    redrive: Callable[[Run], Redriven],
    resend_queue: RunQueue,
    failed_runs: FailedRuns,
    clock: Clock,
) -> Delivery | Redriven | None:
    """Deliver the run. A refused run keeps its message, hidden until the next attempt.

    A run that has exhausted its attempts goes to the dead letters, where a person sees it; its
    redrive starts the next run (rule 22). A run that waits for a permit or an older run gets a new
    message: waiting is no attempt. Raises Hidden if the message is kept.
    """
    done = deliver(message.key)
    if done is None:
        return None
    if done.again_at and done.run.retry_at and done.run.retry_at > clock():
        message.hide(done.run.retry_at - clock())
        raise Hidden(
            f"Run {run_id(done.run.key)} was refused {done.run.refusals} times "
            f"({done.run.detail}). The next attempt is at {done.run.retry_at}."
        )
    requeue(done, queue=resend_queue, clock=clock)
    if is_exhausted(done.run):
        if message.was_given_up:
            return redrive(done.run)
        failed_runs.send([message.key])
    return done
