"""A reader's pending events, which have not been included in an email yet, by schedule."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gazette.domain.delivery.run import Run, settled_until
from gazette.domain.explanation import EventHistory
from gazette.domain.model import Event, StoredEvent
from gazette.domain.muting.muted import is_muted
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import CurrentWithdrawals
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.stores import Subscribers
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.withdrawing.withdrawn import Withdrawn


@dataclass(frozen=True, slots=True)
class Waiting:
    """A reader, and the events that the next email of each schedule would show now."""

    subscriber: Subscriber
    by_schedule: Mapping[str, tuple[Event, ...]]


def read_pending(
    user_id: str,
    *,
    subscribers: Subscribers,
    runs: Runs,
    events: EventHistory,
    withdrawals: CurrentWithdrawals,
    clock: Clock,
    critical: Collection[str],
) -> Waiting | None:
    """Read a reader's waiting events without making writes. Return None if the reader has no
    profile.

    Events stored within the settle lag are included, although the next email may not show them yet.
    """
    subscriber = subscribers.get(user_id)
    if not isinstance(subscriber, Subscriber):
        return None
    now = clock()
    withdrawn = Withdrawn(withdrawals(), now)
    stored = by_schedule(readable(events.of_user(user_id)))
    waiting: dict[str, list[Event]] = defaultdict(list)
    for each in unsent(stored, list(readable(runs.of_user(user_id)))):
        if each.is_over(now) or is_muted(each.event, subscriber.mutes, critical):
            continue
        if not withdrawn.at(each.event):
            waiting[each.schedule].append(each.event)
    return Waiting(subscriber, {schedule: tuple(some) for schedule, some in waiting.items()})


def by_schedule(events: Iterable[StoredEvent]) -> Mapping[str, Sequence[StoredEvent]]:
    """Return the events of each schedule in their original order."""
    groups: dict[str, list[StoredEvent]] = defaultdict(list)
    for each in events:
        groups[each.schedule].append(each)
    return groups


def runs_by_schedule(runs: Iterable[Run]) -> Mapping[str, Sequence[Run]]:
    """Return the runs of each schedule in their original order."""
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.key.schedule].append(run)
    return groups


def unsent(
    stored: Mapping[str, Sequence[StoredEvent]], runs: Sequence[Run]
) -> Iterator[StoredEvent]:
    """Yield the events that no run has sent or given up, including expired events."""
    chains = runs_by_schedule(runs)
    for schedule, events in stored.items():
        until = settled_until(chains.get(schedule, ()))
        yield from (each for each in events if each.stored_at > until)
