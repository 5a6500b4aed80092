"""Stop email to readers whose address is suppressed."""

from dataclasses import replace

from gazette.domain.identity import address_hash
from gazette.domain.ports.ledgers import Schedules
from gazette.domain.ports.stores import Subscribers, Suppressions
from gazette.domain.subscribers.subscriber import Reader, Subscriber, SubscriberStatus
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.subscribers.schedules import withdraw
from gazette.steps.subscribers.unsubscribe import is_at


def stop_if_suppressed(
    reader: Reader,
    *,
    suppressions: Suppressions,
    subscribers: Subscribers,
    schedules: Schedules,
) -> bool:
    """Stop email to a reader and return True if the reader's address is suppressed.

    `reader` was just read. The process that suppressed the address may not have found this reader,
    because an operator specifies only an address, and a complaint may be about another reader of
    the address. A reader who was already stopped is stopped again, because a crash may have left
    schedules in the due index.
    """
    if not isinstance(reader, Subscriber) or reader.status is SubscriberStatus.UNSUBSCRIBED:
        return False
    address = address_hash(reader.email)
    if not suppressions.holds(address):
        return False
    stop_reader(reader.user_id, address, subscribers=subscribers, schedules=schedules)
    return True


def stop_reader(
    user_id: str, address: str, *, subscribers: Subscribers, schedules: Schedules
) -> None:
    """Stop all email to a reader whose address is suppressed, if the reader still has this address.

    The status is written first, then the schedules, as for a reader who unsubscribes (rule 11). An
    unsubscribed reader stays unsubscribed, so that a change of address does not resume email. After
    a crash, the next suppression of the address completes this step. Raises NotYet if the profile
    keeps changing.
    """
    for _ in ATTEMPTS:
        reader = subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or not is_at(reader, address):
            return
        if reader.has_left:
            break
        stopped = replace(reader, status=SubscriberStatus.SUPPRESSED, revision=reader.revision + 1)
        if subscribers.put(stopped, replacing=reader):
            break
    else:
        raise kept_changing(f"The profile of {user_id}")
    withdraw(user_id, subscribers=subscribers, schedules=schedules)
