"""An oracle that checks whether each part of a message is stored, or is missing for a reason."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    Command,
    CommandList,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    MarkSeen,
    RetractActivity,
    RetractEvent,
    SingleCommand,
)
from gazette.domain.model import Event, Retracted
from gazette.domain.subscribers.choices import NO_CHOICES
from gazette.domain.subscribers.following import Activity
from gazette.domain.subscribers.history import remember
from gazette.domain.subscribers.subscriber import Erased, Subscriber

from proofs.fuzz.moments import Invocation, changes_in, choices_in
from tests.world import World


class Oracle:
    """A judge of the commands of one invocation, which were applied in this order."""

    def __init__(self, world: World, seen: Invocation, commands: Sequence[Command]) -> None:
        together = [each for command in commands for each in _items(command)]
        self._world, self._seen, self._together = world, seen, together
        created = [each.activity for each in together if isinstance(each, CreateActivity)]
        stored = [each for each in seen.activities if isinstance(each, Activity)]
        self._activities = [*stored, *created]

    def is_accounted_for(self, command: Command) -> bool:
        """Return True if the tables have the command, or show why they need not."""
        match command:
            case CreateEvents(events):
                return all(map(self._has, events))
            case CommandList(commands):
                return all(map(self.is_accounted_for, commands))
            case ChangeSubscriber() | EraseSubscriber() | CreateActivity() | RetractActivity():
                return is_stored(self._world, command)
            case ChoosePreferences(user_id) if self._has_chosen(user_id):
                return True
            case ChangeFollow(user_id, entity) if self._has_followed(user_id, entity):
                return True
            case _:
                return is_stored(self._world, command) or self._was_erased(command.user_id)

    def _has(self, event: Event) -> bool:
        """Return True if the event is stored as it is or newer, or was not wanted at some moment.

        A muted event is not stored when it arrives, even if a later message of the batch unmutes
        it. This is the only case in which the order matters.
        """
        there = self._world.events.get(event.user_id, event.id)
        if isinstance(there, Retracted) or (there and not event.amends(there.event)):
            return True
        return any(
            not moment.wants(version)
            for version in (event, *self._in_its_place(event))
            for moment in self._seen.moments
        )

    def _in_its_place(self, event: Event) -> Iterator[Event]:
        """Yield other events with the reader's id that replace the event.

        A reader gets one event for each id: the last amended one, or else the first. A service that
        uses an id for two events may lose one of them when the other is no longer wanted.
        """
        key = (event.user_id, event.id)
        for found in self._seen.found:
            if (found.user_id, found.id) == key and not event.amends(found):
                yield found
        put = [each for each in self._together if isinstance(each, CreateEvents)]
        others = [other for each in put for other in each.events]
        for other in (*others, *self._brought(event)):
            if (other.user_id, other.id) == key and other.amends(event):
                yield other

    def _brought(self, event: Event) -> Iterator[Event]:
        """Yield activities with the event's id, if its reader follows or followed one of their
        sides."""
        alike = [activity for activity in self._activities if activity.id == event.id]
        sides = {side for each in alike for side in (*each.sides, *each.former)}
        if any(
            (side, event.user_id) in each.follows for side in sides for each in self._seen.moments
        ):
            yield from (activity.event_for(event.user_id) for activity in alike)

    def _has_chosen(self, user_id: str) -> bool:
        """Return True if the reader's choices are stored, one after the other.

        A choice that repeats the one before it may be dropped when a newer one arrives.
        """
        chosen = self._seen.choices.get(user_id, NO_CHOICES)
        for each in self._together:
            if isinstance(each, ChoosePreferences) and each.user_id == user_id:
                chosen = chosen.with_choice(each.at, each.choice)
        return choices_in(self._world).get(user_id) == chosen

    def _has_followed(self, user_id: str, entity: str) -> bool:
        """Return True if the history of the follow is stored, one change after the other."""
        changes = changes_in(self._seen.moments[0].follows.get((entity, user_id)))
        for each in self._together:
            if isinstance(each, ChangeFollow) and (each.user_id, each.entity) == (user_id, entity):
                changes = remember(changes, each.at, each.state)
        return changes_in(self._world.follows.rows.get((entity, user_id))) == changes

    def _was_erased(self, user_id: str) -> bool:
        """Return True if one of the messages finds or leaves the reader erased."""
        return any(moment.has_erased(user_id) for moment in self._seen.moments)


def _items(command: Command) -> Sequence[CreateEvents | SingleCommand]:
    """Return the commands in a list, or the command itself."""
    return command.commands if isinstance(command, CommandList) else (command,)


def is_stored(world: World, command: SingleCommand) -> bool:
    """Return True if the tables have the command, or alone show why they need not."""
    match command:
        case CreateActivity(activity):
            return world.activities.get(activity.entity.key, activity.id) is not None
        case RetractActivity(entity, activity_id):
            found = world.activities.get(entity, activity_id)
            return isinstance(found, Retracted) or (found is not None and found.retracted)
        case RetractEvent(user_id, event_id):
            erased = isinstance(world.subscribers.get(user_id), Erased)
            return erased or isinstance(world.events.get(user_id, event_id), Retracted)
        case ChangeSubscriber(given):
            reader = world.subscribers.get(given.user_id)
            if isinstance(reader, Subscriber):
                return reader.changed_at >= given.changed_at
            return isinstance(reader, Erased) and reader.erased_at >= given.changed_at
        case EraseSubscriber(user_id, at):
            reader = world.subscribers.get(user_id)
            if isinstance(reader, Subscriber):
                return reader.changed_at > at
            return isinstance(reader, Erased) and reader.erased_at >= at
        case ChoosePreferences(user_id, choice, at):
            if _was_erased_since(world, user_id, at):
                return True
            chosen = choices_in(world).get(user_id, NO_CHOICES)
            return chosen == chosen.with_choice(at, choice)
        case MarkSeen(user_id, entity, at):
            if isinstance(world.subscribers.get(user_id), Erased):
                return True
            seen_at = world.events.marks.get((user_id, entity))
            return _was_erased_since(world, user_id, at) or (seen_at is not None and seen_at >= at)
        case MarkActive(user_id, at):
            active_on = world.subscribers.active.get(user_id)
            return active_on is not None and active_on >= at.date()
        case ChangeFollow(user_id, entity, state, at):
            if _was_erased_since(world, user_id, at):
                return True
            changes = changes_in(world.follows.rows.get((entity, user_id)))
            return changes == remember(changes, at, state)


def _was_erased_since(world: World, user_id: str, at: datetime) -> bool:
    """Return True if an erasure deleted, or refused, data dated at this instant."""
    reader = world.subscribers.get(user_id)
    return reader is not None and reader.erased_at is not None and reader.erased_at >= at
