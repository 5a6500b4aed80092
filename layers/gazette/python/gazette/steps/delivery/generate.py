"""Handle a message from the generate queue: deliver the run, and queue the next step."""

from collections.abc import Callable
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Reason
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.queues import LONGEST_DELAY, QueuedRun, RunQueue
from gazette.steps.delivery.types import Delivery, Postponed


def generate(
    body: str,
    time_left: TimeLeft,
    *,
    decode: Callable[[str], RunKey],
    postponed_until: Callable[[RunKey], datetime | None],
    deliver: Callable[[RunKey, TimeLeft], Delivery | None],
    stop_suppressed: Callable[[str], object],
    generate_queue: RunQueue,
    resend_queue: RunQueue,
    clock: Clock,
) -> Delivery | Postponed | None:
    """Deliver the run. If the provider refuses the email, the run continues on the resend queue.

    A run that must wait gets a new message before this message is deleted. Otherwise, each wait
    would count as a receive, and a long wait would end in the dead-letter queue. Raises NotYet if
    this message itself must be retried, and InvalidEvent if `decode` does. If no permit is
    available soon, `postponed_until` returns the time of the next try, and the run is not read.
    `stop_suppressed` is called with the user id of a reader whose address is suppressed, so that no
    digest is scheduled for them.
    """
    key = decode(body)
    if again_at := postponed_until(key):
        generate_queue.send([QueuedRun(key, max(again_at - clock(), timedelta(0)))])
        return Postponed(key, again_at)
    delivery = deliver(key, time_left)
    if delivery is None:
        return None
    if delivery.again_at:
        was_refused = delivery.run.retry_at is not None
        requeue(delivery, queue=resend_queue if was_refused else generate_queue, clock=clock)
    elif delivery.run.reason is Reason.ATTEMPTS_EXHAUSTED:
        resend_queue.send([QueuedRun(key, timedelta(0))])
    elif delivery.run.reason is Reason.SUPPRESSED:
        stop_suppressed(key.user_id)
    return delivery


def requeue(done: Delivery, *, queue: RunQueue, clock: Clock) -> None:
    """Queue a new message that becomes visible at the next try, or after the longest possible
    delay. A run that the sweep queues gets no message.
    """
    if done.again_at and not done.queued_by_sweep:
        delay = max(done.again_at - clock(), timedelta(0))
        queue.send([QueuedRun(done.run.key, min(delay, LONGEST_DELAY))])
