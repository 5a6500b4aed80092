"""An address must not be written to: the row is written, then the reader is stopped."""

from dataclasses import replace

from gazette.domain.identity import address_hash
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Subscribers, Suppressions
from gazette.domain.subscribers.subscriber import Reader, Subscriber, SubscriberStatus
from gazette.steps.subscribers.unsubscribe import put_out


def stop_if_suppressed(
    reader: Reader,
    *,
    suppressions: Suppressions,
    subscribers: Subscribers,
    schedules: Schedules,
    runs: Runs,
) -> bool:
    """Stop a reader, as they were just read, whose address is suppressed all the same; says if so.

    Whoever suppressed it looked for its reader, and may have found another address or nobody, as
    where an operator names an address, or a complaint comes of who reads there under another id.
    Who is stopped already is so once more: a crash may have left them in the due index.
    """
    if not isinstance(reader, Subscriber) or reader.status is SubscriberStatus.UNSUBSCRIBED:
        return False
    address = address_hash(reader.email)
    if not suppressions.holds(address):
        return False
    stop_reader(reader.user_id, address, subscribers=subscribers, schedules=schedules, runs=runs)
    return True


def stop_reader(
    user_id: str, address: str, *, subscribers: Subscribers, schedules: Schedules, runs: Runs
) -> None:
    """Stop all email to a reader whose address is suppressed, if it still is theirs.

    Status first, then as for who leaves (rule 11). Who has unsubscribed stays so: no other address
    brings them back. After a crash, done again by whoever suppresses again.
    """
    while True:
        reader = subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or address_hash(reader.email) != address:
            return
        if reader.has_left:
            break
        stopped = replace(reader, status=SubscriberStatus.SUPPRESSED, revision=reader.revision + 1)
        if subscribers.put(stopped, replacing=reader):
            break
    put_out(user_id, subscribers=subscribers, schedules=schedules, runs=runs)
