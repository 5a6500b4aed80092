"""Metrics and log lines about runs. docs/metrics.md lists all metrics."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import thread_time

from gazette.domain.delivery.redrive import Redriven
from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import RefusedAccount, Uncertain
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.identity import run_id
from gazette.domain.ports.rendering import CacheCount
from gazette.domain.stored import is_known
from gazette.observability import count, logger, measure_milliseconds, measure_seconds
from gazette.steps.delivery.types import Delivery, Postponed, WaitingFor


def record_unreadable_rows(rows: Sequence[str]) -> None:
    """Count `unreadable_rows`, and log each row: its table, its key and what is wrong with it."""
    if rows:
        count("unreadable_rows", len(rows))
    for row in rows:
        logger().warning("row cannot be read", row=row)


def record_fragments(shared: CacheCount) -> None:
    """Count the groups that came from the cache (`fragments_found`) or were rendered
    (`fragments_made`). The hit rate is the first divided by the sum of both.
    """
    if shared.hits:
        count("fragments_found", shared.hits)
    if shared.misses:
        count("fragments_made", shared.misses)


@contextmanager
def measured_rendering() -> Iterator[None]:
    """Measure `render_time`, in milliseconds of CPU; nothing if rendering fails.

    Not in passed time: while one thread renders, the others wait for the interpreter.
    """
    began = thread_time()
    yield
    measure_milliseconds("render_time", timedelta(seconds=thread_time() - began))


def record_version_unusable(number: int, why: Exception) -> None:
    """Count `templates_unusable`, and log which version of the templates it is, and why."""
    count("templates_unusable")
    logger().error("version of the templates cannot be used", version=number, why=str(why))


def record_category_held(hold: CategoryHold) -> None:
    """Count `category_held`, and log why the category is held."""
    count("category_held")
    logger().warning("category held", category=hold.category, why=hold.why)


def record_skipped(reason: str, number: int = 1) -> None:
    """Count runs that ended without an email: `run_skipped` and `skipped_<reason>`."""
    if number:
        count("run_skipped", number)
        count(f"skipped_{reason}", number)


def record_delivery(done: Delivery | Postponed | None, message_id: str) -> None:
    """Log one line and count the result of a message. None: the message names no run.

    Of attempts, count `run_unknown` (unknown outcome), `breaker_opened` (the provider refused the
    whole stream) and `permits_unused` (a permit lapsed because no email was sent with it). Of
    events, count `events_excluded` (no template can show them), `events_deferred` (their category
    is held), `events_expired` (no email showed them in time) and `events_lapsed` (no email showed
    them before their service no longer wanted it). Count `sent_without_content`: emails that
    did not wait for a content source any longer.
    Measure `slot_to_accepted`: how long after its due time the provider accepted a digest. Measure
    `stored_to_accepted`: how long after its first event was stored it accepted an immediate email,
    of which the sequence is that second (decision 11).
    """
    if done is None:
        logger().warning("message names no run", message_id=message_id)
        return
    if isinstance(done, Postponed):
        count("run_requeued")
        count("requeued_unread")
        logger().info(
            "run requeued",
            correlation_id=run_id(done.key),
            waiting_for=WaitingFor.PERMIT,
            again_at=done.again_at,
        )
        return
    run = done.run
    if run.status is Status.SKIPPED and is_known(run.reason):
        record_skipped(run.reason)
    else:
        count(f"run_{run.status}" if run.status.is_final else "run_requeued")
    if done.accepted_at and run.slot:
        measure_seconds("slot_to_accepted", done.accepted_at - run.due_at)
    if done.accepted_at and run.key.is_immediate:
        began = datetime.fromtimestamp(run.key.sequence, UTC)
        measure_seconds("stored_to_accepted", done.accepted_at - began)
    if done.accepted_at and run.without:
        count("sent_without_content")
    if isinstance(done.outcome, Uncertain):
        count("run_unknown")
    if isinstance(done.outcome, RefusedAccount):
        count("breaker_opened")
    if done.permit_unused:
        count("permits_unused")
    if done.excluded:
        count("events_excluded", done.excluded)
    if done.deferred:
        count("events_deferred", done.deferred)
    if done.expired:
        count("events_expired", done.expired)
    if done.lapsed:
        count("events_lapsed", done.lapsed)
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
        lapsed=done.lapsed,
    )


def record_resend(done: Delivery | Redriven | None, message_id: str) -> None:
    """As `record_delivery`; of a failed run that was redriven, log which run its events go with."""
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
