"""Handle a message from the resend queue: retry a refused run with increasing delays."""

from collections.abc import Callable
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


def resend(
    key: RunKey,
    *,
    was_given_up: bool,
    hide: Callable[[timedelta], None],
    deliver: Callable[[RunKey], Delivery | None],
    redrive: Callable[[Run], Redriven],
    resend_queue: RunQueue,
    failed_runs: FailedRuns,
    clock: Clock,
) -> Delivery | Redriven | None:
    """Deliver the run. A refused run keeps its message, which is hidden until the next attempt.

    A run that has exhausted its attempts goes to the dead-letter queue, where operators can see it;
    a redrive starts the schedule's next run (rule 22). A run that waits for a permit or an older
    run gets a new message, because waiting does not count as an attempt. `was_given_up` is True if
    the message was redriven from the dead-letter queue of failed runs. `hide` sets the message's
    visibility time-out. Raises Hidden if the message is kept.
    """
    delivery = deliver(key)
    if delivery is None:
        return None
    if delivery.again_at and delivery.run.retry_at and delivery.run.retry_at > clock():
        hide(delivery.run.retry_at - clock())
        raise Hidden(
            f"Run {run_id(delivery.run.key)} was refused {delivery.run.refusals} times "
            f"({delivery.run.detail}). The next attempt is at {delivery.run.retry_at}."
        )
    requeue(delivery, queue=resend_queue, clock=clock)
    if is_exhausted(delivery.run):
        if was_given_up:
            return redrive(delivery.run)
        failed_runs.send([key])
    return delivery
