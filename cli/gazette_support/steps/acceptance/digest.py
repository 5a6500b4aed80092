"""Show that each event is in one email, that a delivery event proves it, and that no email is sent
twice.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Run
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.receipts.receipt import Receipt, State

from gazette_support.domain.acceptance.readers import (
    AT_ONCE,
    Role,
    SyntheticReader,
    event,
    event_id,
    latest_start,
)
from gazette_support.domain.acceptance.rows import Failed
from gazette_support.steps.acceptance.context import (
    AcceptanceContext,
    Work,
    let_pass,
    wait_for,
)

PATIENCE = timedelta(minutes=15)
"""The maximum time from the start of a digest to its delivery event: the longest `spread` (10
minutes), and five minutes for sending, SES, EventBridge and feedback."""

_DELIVERED = timedelta(minutes=5)

_REPORTED = timedelta(seconds=90)
"""The time in which the delivery events of a second message would arrive.

EventBridge takes seconds, and Lambda collects delivery events for up to a minute."""

_ACCEPTED = {EngagementEvent.SENT, EngagementEvent.DELIVERED}


def show_digest(work: Work, context: AcceptanceContext) -> str:
    """Wait for the digests. Raises Failed if an email, its proof, or its uniqueness is missing."""
    context.waiting.until(work.due_at)
    identity = event_id(work.acceptance, "digest")
    until = latest_start(work.due_at) + PATIENCE
    readers = work.in_digest
    runs = [_sent(reader, identity, until, context) for reader in readers]
    check_one_message_each(zip(runs, readers, strict=True), work, context)
    if not context.is_ses:
        return (
            f"the mail server accepted {len(runs)} emails; delivery events are not shown, because "
            "only SES has a simulator: check the mailbox of --to for one digest"
        )
    ids = ", ".join(run.message_id for run in runs)
    return f"{len(runs)} emails, each with a delivery event and one message id: {ids}"


def show_immediate(work: Work, context: AcceptanceContext) -> str:
    """Publish an immediate event. Raises Failed if its email or its proof is missing."""
    identity = event_id(work.acceptance, "immediate")
    reader, now = work.readers[Role.OK], context.clock()
    context.publish(
        "event.created", [event(reader, identity, category=AT_ONCE, url=context.url, now=now)]
    )
    until = context.waiting.now() + context.collapse + context.settle_lag + _DELIVERED
    run = _sent(reader, identity, until, context)
    check_one_message_each([(run, reader)], work, context)
    proof = ", with a delivery event and one message id" if context.is_ses else ""
    return f"1 email{proof}: {run.message_id or 'the mail server gave no id'}"


def _sent(
    reader: SyntheticReader,
    identity: str,
    until: datetime,
    context: AcceptanceContext,
) -> Run:
    """Return the run that sent an event. Raises Failed."""

    def emailed() -> Receipt | None:
        receipt = context.receipt(reader.user_id, identity)
        return receipt if receipt.state is State.EMAILED and _is_proven(receipt, context) else None

    receipt = wait_for(emailed, until=until, waiting=context.waiting)
    if receipt is None:
        raise Failed(_missing(reader, context.receipt(reader.user_id, identity)))
    if len(receipt.emails) != 1:
        raise Failed(f"The event of {reader.user_id} is in {len(receipt.emails)} emails.")
    run = receipt.emails[0].run
    if run.attempt != 1:
        raise Failed(f"The email of {reader.user_id} was claimed {run.attempt} times.")
    return run


def _is_proven(receipt: Receipt, context: AcceptanceContext) -> bool:
    """Return True if a delivery event proves each email. SMTP servers report none to Gazette."""
    return not context.is_ses or all(_ACCEPTED & each.outcomes.keys() for each in receipt.emails)


def _missing(reader: SyntheticReader, receipt: Receipt) -> str:
    if receipt.state is State.EMAILED:
        return (
            f"The email of {reader.user_id} was sent, but no delivery event arrived. Run `gazette "
            "doctor --send`, and see docs/runbook/delivery-events-missing.md."
        )
    return (
        f"The event of {reader.user_id} was not sent: {receipt.state}. Run `gazette explain "
        f"{reader.user_id}`."
    )


def check_one_message_each(
    emails: Iterable[tuple[Run, SyntheticReader]], work: Work, context: AcceptanceContext
) -> None:
    """Check that SES sent one message for each run, after the events of others would have arrived.

    Other mail servers report nothing to Gazette. Raises Failed, and NotShown if the log cannot be
    read.
    """
    if not context.is_ses:
        return
    let_pass(_REPORTED, context.waiting)
    for run, reader in emails:
        _check_one_message(run, reader, work, context)


def _check_one_message(
    run: Run, reader: SyntheticReader, work: Work, context: AcceptanceContext
) -> None:
    """Check that SES sent one message for a run, and that it is the run's message.

    The log of feedback names the message of each delivery event.
    """

    def reported() -> frozenset[str] | None:
        return context.log.message_ids(run, work.began_at) or None

    until = context.waiting.now() + _DELIVERED
    ids = wait_for(reported, until=until, waiting=context.waiting)
    if not ids:
        raise Failed(
            f"The log of feedback has no delivery event of {reader.user_id} with a message id. "
            "Deploy the version of this command."
        )
    if len(ids) > 1:
        raise Failed(
            f"The provider sent {len(ids)} messages for one email of {reader.user_id}: "
            f"{', '.join(sorted(ids))}."
        )
    if run.message_id and run.message_id not in ids:
        raise Failed(
            f"The run of {reader.user_id} has the message id {run.message_id}, but the provider "
            f"sent {', '.join(ids)}."
        )


def outcomes_of(
    reader: SyntheticReader, work: Work, context: AcceptanceContext
) -> Mapping[EngagementEvent, datetime]:
    """Return the delivery events of a reader's digest."""
    emails = context.receipt(reader.user_id, event_id(work.acceptance, "digest")).emails
    return emails[0].outcomes if emails else {}
