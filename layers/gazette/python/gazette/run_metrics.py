"""Metrics and log lines about runs. docs/metrics.md lists all metrics."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from time import thread_time
from typing import TYPE_CHECKING, Any

from gazette.domain.delivery.redrive import Redriven
from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import RefusedAccount, Uncertain
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.delivery_events import DeliveryEventType
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.identity import run_id
from gazette.domain.stored import is_known
from gazette.observability import count, logger, measure_milliseconds, measure_seconds
from gazette.steps.delivery.types import Delivery, Postponed, WaitingFor

if TYPE_CHECKING:
    from gazette.domain.delivery.standing import Standing
    from gazette.domain.model import RunKey
    from gazette.domain.ports.rendering import CacheCount
    from gazette.steps.feedback.feedback import Feedback
    from gazette.steps.sweep.audit import Audited
    from gazette.steps.sweep.unknown import Swept


def record_unreadable_rows(rows: Sequence[str]) -> None:
    """Count `unreadable_rows`. Log the table, the key and the error of each row."""
    if rows:
        count("unreadable_rows", len(rows))
    for row in rows:
        logger().warning("row cannot be read", row=row)


def record_fragments(shared: "CacheCount") -> None:
    """Count the groups that were found in the cache (`fragments_found`) or rendered
    (`fragments_made`).

    The hit rate is `fragments_found` divided by the sum of both.
    """
    if shared.hits:
        count("fragments_found", shared.hits)
    if shared.misses:
        count("fragments_made", shared.misses)


@contextmanager
def measured_rendering() -> Iterator[None]:
    """Measure `render_time` in milliseconds of CPU time. Record no value if rendering fails.

    Elapsed time would be wrong, because it includes waiting for other threads to release the
    interpreter.
    """
    began = thread_time()
    yield
    measure_milliseconds("render_time", timedelta(seconds=thread_time() - began))


def record_version_unusable(number: int, why: Exception) -> None:
    """Count `templates_unusable`, and log the template version and the reason."""
    count("templates_unusable")
    logger().error("version of the templates cannot be used", version=number, why=str(why))


def record_category_held(hold: CategoryHold) -> None:
    """Count `category_held`, and log the reason for the hold."""
    count("category_held")
    logger().warning("category held", category=hold.category, why=hold.why)


def record_skipped(reason: str, number: int = 1) -> None:
    """Count runs that ended without an email, in `run_skipped` and in `skipped_<reason>`."""
    if number:
        count("run_skipped", number)
        count(f"skipped_{reason}", number)


def record_delivery(delivery: Delivery | Postponed | None, message_id: str) -> None:
    """Count the outcome of a message, and log it in one line. Pass None if the message names no
    run.

    A run that had been sent before its message, such as a redriven one, is not counted again.

    Counts of attempts:
    - `run_unknown` (the outcome is unknown)
    - `breaker_opened` (the provider rejected the whole stream)
    - `permits_unused` (a permit lapsed because no email was sent with it)
    - `sent_without_content` (the email stopped waiting for a content source)

    Counts of events:
    - `events_excluded` (no template can show them)
    - `events_deferred` (their category is on hold)
    - `events_expired` (they expired before they were included in an email)
    - `events_lapsed` (their `expires_at` passed before they were included in an email)
    - `events_seen` (the reader had seen their entity before they were included in an email)
    - `events_withdrawn` (an operator withdrew their actor or entity)

    Durations in seconds:
    - `slot_to_accepted`: from a digest's due time until the provider accepted the email.
    - `collected_to_accepted`: from the end of collecting events for an immediate email until the
      provider accepted the email.
    """
    if delivery is None:
        logger().warning("message names no run", message_id=message_id)
        return
    if isinstance(delivery, Postponed):
        count("run_requeued")
        count("requeued_unread")
        logger().info(
            "run requeued",
            correlation_id=run_id(delivery.key),
            waiting_for=WaitingFor.PERMIT,
            again_at=delivery.again_at,
        )
        return
    run = delivery.run
    had_been_sent = delivery.had_ended and run.status is Status.SENT
    if run.status is Status.SKIPPED and is_known(run.reason):
        record_skipped(run.reason)
    elif not had_been_sent:
        count(f"run_{run.status}" if run.status.is_final else "run_requeued")
    if delivery.accepted_at and run.slot:
        measure_seconds("slot_to_accepted", delivery.accepted_at - run.due_at)
    if delivery.accepted_at and run.key.is_immediate:
        measure_seconds("collected_to_accepted", delivery.accepted_at - run.due_at)
    if delivery.accepted_at and run.without:
        count("sent_without_content")
    if isinstance(delivery.outcome, Uncertain):
        count("run_unknown")
    if isinstance(delivery.outcome, RefusedAccount):
        count("breaker_opened")
    if delivery.permit_unused:
        count("permits_unused")
    unsent = asdict(delivery.unsent)
    for reason, number in unsent.items():
        if number:
            count(f"events_{reason}", number)
    logger().info(
        _what_became_of(delivery),
        correlation_id=run_id(run.key),
        status=run.status,
        reason=run.reason,
        attempt=run.attempt,
        **_with_values(
            detail=run.detail,
            waiting_for=delivery.waiting_for,
            again_at=delivery.again_at,
            overtaken=run.overtaken,
            **unsent,
        ),
    )


def _with_values(**fields: object) -> dict[str, Any]:
    """Return the fields that are not empty. Each log line costs as much as its length."""
    return {name: value for name, value in fields.items() if value}


def _what_became_of(delivery: Delivery) -> str:
    if delivery.had_ended:
        return "run had already ended"
    return "run ended" if delivery.run.status.is_final else "run requeued"


def record_resend(outcome: Delivery | Redriven | None, message_id: str) -> None:
    """Count and log the outcome of a resend.

    Includes the counts of `record_delivery`, and logs the run that takes over a redriven run's
    events.
    """
    if not isinstance(outcome, Redriven):
        record_delivery(outcome, message_id)
        return
    count(f"redriven_{outcome.result}")
    logger().info(
        "run redriven",
        correlation_id=run_id(outcome.failed.key),
        result=outcome.result,
        run=run_id(outcome.run.key) if outcome.run else None,
        reason=outcome.reason,
    )


class FeedbackLog:
    """The log lines of an invocation of feedback.

    Almost all delivery events of SES confirm that an email was sent, as its run says. Those of an
    invocation share one line, which has the provider's ids of the emails by type of event. All
    others have a line of their own, with the id of the run.
    """

    def __init__(self) -> None:
        self._confirming: dict[str, list[str]] = {}

    def record(self, feedback: "Feedback | str | None", message_id: str) -> None:
        """Count and log a delivery event.

        Pass None if it does not belong to an email of Gazette, and the reason if it was
        quarantined.
        """
        if isinstance(feedback, str | None) or not _is_confirming(feedback):
            _record_feedback(feedback, message_id)
            return
        event = feedback.event
        count(f"mail_{event.type}")
        self._confirming.setdefault(event.type, []).append(event.message_id)

    def write(self) -> None:
        """Log the line that confirming events share, if there are any."""
        if self._confirming:
            logger().info("emails confirmed", extra=self._confirming)


_EXPECTED = frozenset(
    {
        DeliveryEventType.SENT,
        DeliveryEventType.DELIVERED,
        DeliveryEventType.OPENED,
        DeliveryEventType.CLICKED,
    }
)
"""The types of delivery events that usual emails have."""


def _is_confirming(feedback: "Feedback") -> bool:
    """Return True for an expected event of the one message that is known to have been sent for its
    run.
    """
    event, recorded = feedback.event, feedback.recorded
    return (
        event.type in _EXPECTED
        and recorded.was_sent
        and recorded.run is not None
        and recorded.run.message_id == event.message_id
    )


def _record_feedback(feedback: "Feedback | str | None", message_id: str) -> None:
    if feedback is None:
        logger().info("not an event of one of our emails", message_id=message_id)
        return
    if isinstance(feedback, str):
        logger().warning("delivery event quarantined", message_id=message_id, why=feedback)
        return
    event, run = feedback.event, feedback.recorded.run
    correlation_id = run_id(event.run) if event.run else ""
    count(f"mail_{event.type}")
    if feedback.recorded.is_of_unknown_attempt:
        count("unknown_attempt_events")
        logger().warning("delivery event of an unknown attempt", correlation_id=correlation_id)
    if event.is_by_policy:
        count("mail_refused_by_policy")
    if feedback.suppressed:
        count(f"suppressed_{feedback.suppressed}")
    logger().info(
        "delivery event processed",
        correlation_id=correlation_id,
        type=event.type,
        attempt=event.attempt,
        provider_message_id=event.message_id,
        **_with_values(
            status=run.status if run else None,
            reason=run.reason if run else None,
            fault=event.fault,
            cause=event.cause,
            by_policy=event.is_by_policy,
            suppressed=feedback.suppressed,
        ),
    )


def record_swept(
    results: Iterable[tuple["RunKey | UnreadableRow", "Swept"]],
) -> Counter[str]:
    """Count the results of a sweep as `swept_<result>`, and return the counts.

    Log decisions about unknown outcomes.
    """
    swept: Counter[str] = Counter()
    unreadable: list[str] = []
    for key, what in results:
        swept[what.value] += 1
        if isinstance(key, UnreadableRow):
            unreadable.append(str(key))
        elif what.is_decision:
            logger().warning("unknown outcome decided", correlation_id=run_id(key), decision=what)
    for name, number in swept.items():
        count(f"swept_{name}", number)
    record_unreadable_rows(unreadable)
    return swept


def record_standing(standing: "Standing", partition: str) -> None:
    """Measure `oldest_due_age`, and count `held_by_day`."""
    measure_seconds("oldest_due_age", standing.age)
    count("held_by_day", standing.held_by_day)
    if standing.is_cut_off:
        logger().warning("too many open runs to read all", partition=partition)


def record_audit(audited: "Audited") -> None:
    """Count `audited` and `audit_armed`, and log each schedule that had to be armed."""
    count("audited", audited.idle)
    count("audit_armed", len(audited.armed))
    record_unreadable_rows(audited.unreadable)
    for schedule in audited.armed:
        logger().error(
            "events waited in an idle schedule",
            user_id=schedule.user_id,
            schedule=schedule.name,
            next_due_at=schedule.next_due_at.isoformat(),
        )
