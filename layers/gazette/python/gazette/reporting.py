"""What `generate` and `resend` say of a delivery, in the log and in metrics."""

from gazette.domain.identity import run_id
from gazette.domain.run import Reason, Run, Status
from gazette.observability import count, logger


def report_delivery(run: Run | None, message_id: str) -> None:
    """One line and one counter; `run` as it is stored now, None where the message names none.

    `run_unknown` is the rate of those of which nobody knows whether they went out; `brake_pulled`
    that of those that wait because the provider refused the whole account.
    """
    if run is None:
        logger().warning("message names no run", message_id=message_id)
        return
    is_over = run.status.is_final or run.status is Status.UNKNOWN
    count(f"run_{run.status}" if is_over else "run_put_off")
    if run.reason is Reason.REFUSED_ACCOUNT:
        count("brake_pulled")
    logger().info(
        "run ended" if is_over else "run put off",
        correlation_id=run_id(run.key),
        status=run.status,
        reason=run.reason,
        detail=run.detail,
        attempt=run.attempt,
        overtaken=run.overtaken,
    )
