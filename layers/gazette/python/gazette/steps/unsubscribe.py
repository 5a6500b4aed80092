"""A reader leaves: the stop is written, and then made known to whoever is about to send."""

from gazette.domain.identity import address_hash
from gazette.domain.ledgers import Runs, Schedules
from gazette.domain.run import Reason
from gazette.domain.stores import Subscribers, Suppressions
from gazette.domain.subscriber import Subscriber, SubscriberStatus
from gazette.steps.applying import make_known
from gazette.steps.scheduling import withdraw


def unsubscribe(
    user_id: str,
    *,
    subscribers: Subscribers,
    suppressions: Suppressions,
    schedules: Schedules,
    runs: Runs,
) -> bool:
    """Stop all email to `user_id`. Safe to repeat. False where there is no such subscriber.

    Status and suppression of the address, then due index, then the epoch of the open runs: a
    worker that read the status before it changed fails at its claim (rule 11).
    """
    reader = subscribers.get(user_id)
    if not isinstance(reader, Subscriber):
        return False
    suppressions.add(address_hash(reader.email), Reason.UNSUBSCRIBED)
    if not subscribers.set_status(user_id, SubscriberStatus.UNSUBSCRIBED):
        return False
    withdraw(user_id, subscribers=subscribers, schedules=schedules)
    make_known(runs.of_user(user_id), runs=runs)
    return True
