"""The stored readers and follows at each moment of an invocation."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gazette.domain.model import Event, Retracted, StoredEvent
from gazette.domain.subscribers.choices import ReaderChoices
from gazette.domain.subscribers.following import (
    Activity,
    Follow,
    FollowState,
    effective_frequency,
)
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.subscriber import EarlyChoices, Erased, Subscriber

from tests.world import World

_CHANGES = {"subscribers.put", "subscribers.erase", "follows.put", "follows.remove"}
"""The calls that can change which events are wanted."""


@dataclass(frozen=True)
class Moment:
    """The rows of readers and follows at one instant."""

    readers: Mapping[str, Subscriber | Erased]
    follows: Mapping[tuple[str, str], Follow]

    def has_erased(self, user_id: str) -> bool:
        """Return True if the reader is erased and has not returned."""
        return isinstance(self.readers.get(user_id), Erased)

    def wants(self, event: Event) -> bool:
        """Return True if the event's reader gets it, however often."""
        reader = self.readers.get(event.user_id)
        if isinstance(reader, Erased):
            return False
        if reader and reader.erased_at and event.counts_at <= reader.erased_at:
            return False
        often = effective_frequency(
            event,
            choices=reader.choices if reader else (),
            follows=tuple(self.follows.get((entity, event.user_id)) for entity in event.via),
            defaults=(),
        )
        return often not in {None, Frequency.NEVER}


@dataclass
class Invocation:
    """The record of one invocation.

    `moments` are the one before it, and one after each change of a reader or a follow. `activities`
    and `choices` are those before it. `found` has the events that had the id of an event when it
    was to be stored, including the event.
    """

    moments: list[Moment]
    activities: list[Activity | Retracted]
    choices: Mapping[str, ReaderChoices]
    found: list[Event] = field(default_factory=list)


@contextmanager
def watched_invocation(world: World) -> Iterator[Invocation]:
    """Record the world before the invocation, and after each call that may change a decision."""
    seen = Invocation([_moment_of(world)], [*world.activities.rows.values()], choices_in(world))

    def around(name: str, call: Any) -> object:
        answer: Any = call()
        if name in _CHANGES:
            seen.moments.append(_moment_of(world))
        elif name == "events.store" and isinstance(answer[1], StoredEvent):
            seen.found.append(answer[1].event)
        return answer

    with world.watched(around):
        yield seen


def choices_in(world: World) -> dict[str, ReaderChoices]:
    """Return each reader's own choices, whether or not their profile has arrived."""
    known: list[Subscriber | EarlyChoices] = [
        reader for reader in world.subscribers.rows.values() if isinstance(reader, Subscriber)
    ]
    known += world.subscribers.waiting.values()
    return {reader.user_id: reader.reader_choices for reader in known}


def changes_in(follow: Follow | None) -> History[FollowState]:
    """Return the history of a follow; empty if there is none."""
    return follow.changes if follow else ()


def _moment_of(world: World) -> Moment:
    return Moment(dict(world.subscribers.rows), dict(world.follows.rows))
