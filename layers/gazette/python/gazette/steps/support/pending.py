"""What waits for a reader: the events of each schedule that no email has shown yet."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from gazette.domain.delivery.run import settled_until
from gazette.domain.explanation import EventHistory
from gazette.domain.model import Event, Placed
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.stores import Subscribers
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber


@dataclass(frozen=True, slots=True)
class Waiting:
    """A reader, and by schedule what the next email of it would show, as it is now."""

    subscriber: Subscriber
    by_schedule: Mapping[str, tuple[Event, ...]]


def look_at_waiting(
    user_id: str, *, subscribers: Subscribers, runs: Runs, events: EventHistory, clock: Clock
) -> Waiting | None:
    """Read it, and write nothing. None where there is no profile.

    What came within the settle lag is among it: it waits too, if only for the email after next.
    """
    subscriber = subscribers.get(user_id)
    if not isinstance(subscriber, Subscriber):
        return None
    stored: dict[str, list[Placed]] = defaultdict(list)
    now = clock()
    for placed in readable(events.of_user(user_id)):
        if placed.has_expired(now):
            continue
        stored[placed.schedule].append(placed)
    chains = list(readable(runs.of_user(user_id)))
    waiting: dict[str, tuple[Event, ...]] = {}
    for schedule, theirs in stored.items():
        until = settled_until(run for run in chains if run.key.schedule == schedule)
        if left := tuple(each.event for each in theirs if each.stored_at > until):
            waiting[schedule] = left
    return Waiting(subscriber, waiting)
