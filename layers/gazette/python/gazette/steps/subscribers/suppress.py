"""Stop the emails of readers whose address is suppressed."""

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
    """Stop a reader, who was just read, if their address is suppressed; return True if it is.

    The process that suppressed the address may not have found this reader, because an operator
    names an address only, and a complaint may be about another reader of the same address. A reader
    who was stopped before is stopped again, because a crash may have left their schedules in the
    due index.
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
    """Stop all email to a reader whose address is suppressed, if it is still their address.

    The status is written first, then the schedules, as for a reader who unsubscribes (rule 11). A
    reader who has unsubscribed stays unsubscribed, so that another address does not bring them
    back. After a crash, the next suppression of the address completes this. Raises NotYet if the
    profile keeps changing.
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
