"""Publish the events of changed rows."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeVar

from gazette.domain.errors import UnreadableRow
from gazette.domain.events_out.changes import Change, events_of
from gazette.domain.events_out.events import EventOut, EventType
from gazette.domain.ports.events_out import EventsOut

RecordT = TypeVar("RecordT")


@dataclass(frozen=True, slots=True)
class Published:
    """The result of publishing a batch of changes."""

    events: int
    """The number of events that were published."""

    unreadable: tuple[str, ...]
    """The errors of rows that could not be read."""


def publish_changes(
    records: Iterable[RecordT],
    *,
    decode: Callable[[RecordT], Change],
    types: Collection[EventType],
    bus: EventsOut,
) -> Published:
    """Publish the events of a batch of records, if they have one of the types.

    Either all events are published, or an error is raised and the caller repeats the whole batch.
    The step stores no progress, so a crash at any point also repeats the batch. The repetition
    publishes events with the same ids.

    A row that cannot be read is left out, because repeating would not help and would hold up all
    later changes.
    """
    events: list[EventOut] = []
    unreadable: list[str] = []
    for record in records:
        try:
            change = decode(record)
        except UnreadableRow as err:
            unreadable.append(str(err))
            continue
        if isinstance(change.before, UnreadableRow):
            unreadable.append(str(change.before))
        events += (event for event in events_of(change) if event.type in types)
    if events:
        bus.publish(events)
    return Published(len(events), tuple(unreadable))
