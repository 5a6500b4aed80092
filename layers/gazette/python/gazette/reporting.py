"""What `generate` and `resend` say of a delivery, in the log and in metrics."""

from gazette.domain.identity import run_id
from gazette.domain.run import Status
from gazette.domain.signals import RefusedAccount
from gazette.observability import count, logger
from gazette.steps.deliver import Delivery


def report_delivery(done: Delivery | None, message_id: str) -> None:
    """One line and one counter; None where the message names no run.

    `run_unknown` is the rate of those of which nobody knows whether they went out; `brake_pulled`
    that of attempts for which the provider refused the whole account; `events_set_aside` that of
    events which no template can show.
    """
    if done is None:
        logger().warning("message names no run", message_id=message_id)
        return
    run = done.run
    is_over = run.status.is_final or run.status is Status.UNKNOWN
    count(f"run_{run.status}" if is_over else "run_put_off")
    if isinstance(done.outcome, RefusedAccount):
        count("brake_pulled")
    if done.set_aside:
        count("events_set_aside", done.set_aside)
    logger().info(
        "run ended" if is_over else "run put off",
        correlation_id=run_id(run.key),
        status=run.status,
        reason=run.reason,
        detail=run.detail,
        attempt=run.attempt,
        overtaken=run.overtaken,
        set_aside=done.set_aside,
    )
