"""Publish the profiles and the events of an acceptance, and one invalid event."""

from datetime import datetime, timedelta

from gazette.domain.receipts.receipt import Receipt, State
from gazette.domain.subscribers.subscriber import Subscriber

from gazette_support.domain.acceptance.readers import (
    CATEGORY,
    Role,
    SyntheticReader,
    event,
    event_id,
    invalid_event,
    profile,
)
from gazette_support.domain.acceptance.rows import Failed
from gazette_support.steps.acceptance.context import AcceptanceContext, Work, wait_for

INGESTED = timedelta(minutes=3)
"""The maximum time in which ingest stores a message or moves it to the quarantine."""

_WAITS = {State.WAITING, State.COLLECTING}


def show_profiles(work: Work, context: AcceptanceContext) -> str:
    """Publish the profiles. Raises Failed if a reader is not stored."""
    now = context.clock()
    context.publish(
        "subscriber.changed",
        [profile(each, due_at=work.due_at, now=now) for each in work.readers.values()],
    )
    until = context.waiting.now() + INGESTED
    for reader in work.readers.values():

        def stored(reader: SyntheticReader = reader) -> Subscriber | None:
            subscriber = context.subscribers.get(reader.user_id)
            return subscriber if isinstance(subscriber, Subscriber) else None

        if wait_for(stored, until=until, waiting=context.waiting) is None:
            raise Failed(
                f"{reader.user_id} is not stored. Check the bus, the ingest queue, and `gazette "
                "quarantine list`."
            )
    return f"{len(work.readers)} readers are stored; their digest is due at {work.due_at:%H:%M} UTC"


def show_events(work: Work, context: AcceptanceContext) -> str:
    """Publish an event for each reader in one list. Raises Failed if an event does not wait."""
    identity = event_id(work.acceptance, "digest")
    now = context.clock()
    context.publish(
        "event.created",
        [
            event(each, identity, category=CATEGORY, url=context.url, now=now)
            for each in work.in_digest
        ],
    )
    until = context.waiting.now() + INGESTED
    for reader in work.in_digest:

        def waits(reader: SyntheticReader = reader) -> Receipt | None:
            receipt = context.receipt(reader.user_id, identity)
            return receipt if receipt.state in _WAITS and receipt.next_digest else None

        receipt = wait_for(waits, until=until, waiting=context.waiting)
        if receipt is None:
            state = context.receipt(reader.user_id, identity).state
            raise Failed(f"The event for {reader.user_id} does not wait for a digest: {state}.")
        _check_due(receipt.next_digest, work.due_at, reader)
    return f"{len(work.in_digest)} events wait for the digest of {work.due_at:%H:%M} UTC"


def _check_due(due: datetime | None, expected: datetime, reader: SyntheticReader) -> None:
    if due != expected:
        when = f"{due:%Y-%m-%d %H:%M} UTC" if due else "no time"
        raise Failed(
            f"The digest of {reader.user_id} is due at {when} instead of {expected:%H:%M} UTC."
        )


def show_quarantine(work: Work, context: AcceptanceContext) -> str:
    """Publish an invalid event, and delete it from the quarantine. Raises Failed."""
    identity = event_id(work.acceptance, "invalid")
    detail = invalid_event(work.readers[Role.OK], identity, now=context.clock())
    context.publish("event.created", [detail])
    reason = wait_for(
        lambda: context.quarantine.take(identity),
        until=context.waiting.now() + INGESTED,
        waiting=context.waiting,
    )
    if not reason:
        raise Failed(
            "The invalid event is not in the quarantine, or has no reason. Check the ingest queue "
            "and the log of ingest."
        )
    return f"the reason is: {reason}; the event is deleted"
