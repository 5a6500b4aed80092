"""A message from the generate queue: deliver its run, and see who goes on with it."""

from collections.abc import Callable
from datetime import timedelta

from gazette.domain.delivery.run import Reason
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.queues import LONGEST_DELAY, QueuedRun, RunQueue
from gazette.steps.delivery.types import Delivery


def generate(
    key: RunKey,
    *,
    deliver: Callable[[RunKey], Delivery | None],
    stop_suppressed: Callable[[str], object],
    generate_queue: RunQueue,
    resend_queue: RunQueue,
    clock: Clock,
) -> Delivery | None:
    """Deliver the run; what was refused goes on away from here.

    What has to wait gets a fresh message before this one ends: one that is given back would use
    up its receives, and a long wait end among the dead letters. Raises NotYet where this message
    itself must be kept. `stop_suppressed` is told of a reader whose address was found suppressed,
    so that no digest is scheduled for them.
    """
    done = deliver(key)
    if done is None:
        return None
    if done.again_at:
        was_refused = done.run.retry_at is not None
        requeue(done, queue=resend_queue if was_refused else generate_queue, clock=clock)
    elif done.run.reason is Reason.ATTEMPTS_EXHAUSTED:
        resend_queue.send([QueuedRun(key, timedelta(0))])
    elif done.run.reason is Reason.SUPPRESSED:
        stop_suppressed(key.user_id)
    return done


def requeue(done: Delivery, *, queue: RunQueue, clock: Clock) -> None:
    """A fresh message, for when the run should be tried again or as late as a queue allows."""
    if done.again_at:
        delay = max(done.again_at - clock(), timedelta(0))
        queue.send([QueuedRun(done.run.key, min(delay, LONGEST_DELAY))])
