"""Unsubscribe a reader: store the new status, then take the schedules out of the due index."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.identity import address_hash
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Engagements, Runs, Schedules
from gazette.domain.ports.stores import Subscribers, Suppressions
from gazette.domain.subscribers.subscriber import (
    Reader,
    Subscriber,
    SubscriberStatus,
    just_after,
)
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.subscribers.schedules import withdraw


def unsubscribe(
    user_id: str,
    address: str,
    *,
    subscribers: Subscribers,
    suppressions: Suppressions,
    schedules: Schedules,
    at: datetime,
) -> Subscriber | None:
    """Stop all email to a hashed address, and to the reader `user_id` if it is their address.

    Safe to repeat. `at` is the time of the unsubscription, which identifies it for an undo. A
    repetition does not change that time. The time of the latest repetition is stored too. Returns
    the unsubscribed reader, or None if the reader is unknown, was erased, or now has another
    address. In that case, only the address is suppressed, without a reader's name, because the
    owner of a mailbox cannot act for other readers. The suppression and the status are written
    first, which cancels every email whose last read takes place afterwards (rule 11); the schedules
    follow. Raises NotYet if the profile keeps changing.
    """
    for _ in ATTEMPTS:
        reader = subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or not is_at(reader, address):
            suppressions.add(address, Cause.UNSUBSCRIBED, at)
            return None
        suppressions.unsubscribe(address, user_id, at)
        unsubscribed = replace(reader.left(at), revision=reader.revision + 1)
        if subscribers.put(unsubscribed, replacing=reader):
            break
    else:
        raise kept_changing(f"The profile of {user_id}")
    withdraw(user_id, subscribers=subscribers, schedules=schedules)
    settle_suppression(
        user_id,
        address,
        subscribers=subscribers,
        suppressions=suppressions,
        before=just_after(unsubscribed.last_left_at or at),
    )
    return unsubscribed


def is_at(reader: Subscriber, address: str) -> bool:
    """Return True if the hash matches the reader's address."""
    return address_hash(reader.email) == address


def record_unsubscribed(
    email: RunKey, *, runs: Runs, engagements: Engagements, clock: Clock
) -> None:
    """Record that a reader unsubscribed through a link in this email.

    A failure to record does not prevent the unsubscription.
    """
    with suppress(Unavailable):
        run = runs.get(email)
        if run:
            engagements.record(run, EngagementEvent.UNSUBSCRIBED, clock())


def settle_suppression(
    user_id: str,
    address: str,
    *,
    subscribers: Subscribers,
    suppressions: Suppressions,
    before: datetime | None,
) -> Reader:
    """Suppress the address if the reader has unsubscribed; otherwise lift the suppression.

    Called after unsubscribing and after resubscribing, so that the last writer sees the final
    status. A reader with another address does not affect this address. Only an unsubscription
    before `before` is lifted, or one that this function wrote, because a later one may be by a
    former id, which the address alone shows. None lifts every unsubscription. Returns the reader.
    Raises NotYet if the status keeps changing.
    """
    reader = subscribers.get(user_id)
    for _ in ATTEMPTS:
        if not isinstance(reader, Subscriber) or not is_at(reader, address):
            return reader
        status = reader.status
        if status is SubscriberStatus.UNSUBSCRIBED:
            suppressions.unsubscribe(address, user_id, reader.last_left_at)
            before = _also_lifting(reader.last_left_at, before)
        elif not reader.has_left:
            suppressions.resubscribe(address, user_id, before=before)
        reader = subscribers.get(user_id)
        if isinstance(reader, Subscriber) and reader.status is status:
            return reader
    raise kept_changing(f"The status of {user_id}")


def _also_lifting(written_at: datetime | None, before: datetime | None) -> datetime | None:
    """Return the time before which unsubscriptions are lifted, including one at `written_at`.

    Rows of an earlier release do not contain the time of the unsubscription.
    """
    if written_at is None or before is None:
        return None
    return max(before, just_after(written_at))
