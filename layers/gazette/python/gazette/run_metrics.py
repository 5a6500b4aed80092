"""What is said of a run, in the log and in metrics: docs/metrics.md has them all."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from time import perf_counter

from gazette.domain.delivery.batch import batch_of
from gazette.domain.delivery.redrive import Redriven
from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import RefusedAccount, Uncertain
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.identity import run_id
from gazette.domain.ports.rendering import CacheCount
from gazette.domain.stored import is_known
from gazette.observability import count, logger, measure_milliseconds, measure_seconds
from gazette.steps.delivery.types import Delivery


def record_unreadable_rows(rows: Sequence[str]) -> None:
    """`unreadable_rows`, and a line for each: its table, its key, and what is wrong with it."""
    if rows:
        count("unreadable_rows", len(rows))
    for row in rows:
        logger().warning("row cannot be read", row=row)


def record_fragments(shared: CacheCount) -> None:
    """Of the groups in emails: `fragments_found` were made for another reader before, and
    `fragments_made` were not. The first by their sum is the hit rate.
    """
    if shared.found:
        count("fragments_found", shared.found)
    if shared.made:
        count("fragments_made", shared.made)


@contextmanager
def measured_rendering() -> Iterator[None]:
    """`render_time`: how long it took to make an email, in milliseconds; not where it failed."""
    began = perf_counter()
    yield
    measure_milliseconds("render_time", timedelta(seconds=perf_counter() - began))


def record_category_held(hold: CategoryHold) -> None:
    """`category_held`, and why: too many of its emails bounced or were complained of."""
    count("category_held")
    logger().warning("category held", category=hold.category, why=hold.why)


def record_skipped(reason: str, number: int = 1) -> None:
    """Runs that ended without an email: `run_skipped`, and the same again by the reason."""
    if number:
        count("run_skipped", number)
        count(f"skipped_{reason}", number)


def record_delivery(done: Delivery | None, message_id: str) -> None:
    """One line and one counter; None where the message names no run.

    Of attempts: `run_unknown`, of which nobody knows what came of them, and `breaker_opened`, for
    which the provider refused the whole stream. `events_excluded`: which no template can show;
    `events_deferred`: whose category is on hold; `events_expired`: which no email showed in time.
    `slot_to_accepted`: of digests, how long after it was due the provider had taken it.
    """
    if done is None:
        logger().warning("message names no run", message_id=message_id)
        return
    run = done.run
    if run.status is Status.SKIPPED and is_known(run.reason):
        record_skipped(run.reason)
    else:
        count(f"run_{run.status}" if run.status.is_final else "run_requeued")
    if done.accepted_at and batch_of(run):
        measure_seconds("slot_to_accepted", done.accepted_at - run.due_at)
    if isinstance(done.outcome, Uncertain):
        count("run_unknown")
    if isinstance(done.outcome, RefusedAccount):
        count("breaker_opened")
    if done.excluded:
        count("events_excluded", done.excluded)
    if done.deferred:
        count("events_deferred", done.deferred)
    if done.expired:
        count("events_expired", done.expired)
    logger().info(
        "run ended" if run.status.is_final else "run requeued",
        correlation_id=run_id(run.key),
        status=run.status,
        reason=run.reason,
        detail=run.detail,
        attempt=run.attempt,
        waiting_for=done.waiting_for,
        again_at=done.again_at,
        overtaken=run.overtaken,
        excluded=done.excluded,
        deferred=done.deferred,
        expired=done.expired,
    )


def record_resend(done: Delivery | Redriven | None, message_id: str) -> None:
    """As a delivery; or, of a run that failed and was redriven, which run it goes with."""
    if not isinstance(done, Redriven):
        record_delivery(done, message_id)
        return
    count(f"redriven_{done.result}")
    logger().info(
        "run redriven",
        correlation_id=run_id(done.failed.key),
        result=done.result,
        run=run_id(done.run.key) if done.run else None,
        reason=done.reason,
    )
