"""Publish the batches that Lambda could not publish, and the present state of a reader."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gazette.domain.errors import Unavailable
from gazette.domain.events_out.events import EventType
from gazette.domain.events_out.subscribers import present_state
from gazette.domain.ports.events_out import EventsOut
from gazette.domain.subscribers.subscriber import Reader
from gazette.steps.outbox.publish import Published

from gazette_support.domain.unpublished import UnpublishedBatches, UnreadableBatch


@dataclass(frozen=True, slots=True)
class Republished:
    """The result of publishing the batches."""

    batches: int
    events: int
    failed: dict[str, str]
    """The reason for each batch that remains, by name."""

    unreadable: tuple[str, ...]
    """The errors of rows that could not be read."""


def republish(
    batches: UnpublishedBatches,
    *,
    publish: Callable[[Iterable[dict[str, Any]]], Published],
) -> Republished:
    """Publish each batch, then delete it. Safe to repeat after a crash at any point.

    A batch that cannot be published remains, and does not delay the others.
    """
    number, events, failed, unreadable = 0, 0, dict[str, str](), list[str]()
    for name in batches.names():
        try:
            published = publish(batches.records(name))
        except (UnreadableBatch, Unavailable, KeyError) as err:
            failed[name] = str(err)
            continue
        batches.delete(name)
        number, events = number + 1, events + published.events
        unreadable += published.unreadable
    return Republished(number, events, failed, tuple(unreadable))


def tell(
    reader: Reader, *, types: Collection[EventType], bus: EventsOut, at: datetime
) -> tuple[EventType, ...]:
    """Publish the present state of a reader. Return the types of the events.

    Events of types that the stage does not publish are left out.
    """
    events = [event for event in present_state(reader, at) if event.type in types]
    if events:
        bus.publish(events)
    return tuple(event.type for event in events)
