"""The order in which the messages of an invocation are applied."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from gazette.domain.commands import (
    Command,
    CommandList,
    CreateEvents,
    SingleCommand,
    reader_of,
)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A command of a message: the whole message, or an item of its list."""

    message: int
    command: SingleCommand


@dataclass(frozen=True, slots=True)
class Events:
    """The events of several messages, which are routed together."""

    lists: dict[int, CreateEvents] = field(default_factory=dict)
    readers: set[str | None] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands of several messages, by reader.

    The commands of a reader are applied in order, and different readers are independent. The key of
    an activity is None, because an activity may concern any reader.
    """

    by_reader: dict[str | None, list[Part]] = field(default_factory=dict)

    @property
    def readers(self) -> Collection[str | None]:
        """The readers whom the commands affect."""
        return self.by_reader.keys()


Step = Events | Commands


def in_order(commands: Mapping[int, Command]) -> list[Step]:
    """Return the steps in order. Each step applies events, or commands of readers.

    Messages are identified by their number in the order of arrival. A message or an item of a list
    joins an earlier step, and so overtakes messages about other readers, because the queue does not
    guarantee an order either. Events join the first step if they can. No message overtakes one
    about its own readers, or an activity, which may concern any reader.
    """
    steps: list[Step] = [Events()]  # the first, so that events do not wait for an import
    for number, command in commands.items():
        match command:
            case CreateEvents(events):
                _add_events(steps, number, command, {event.user_id for event in events})
            case CommandList(items):
                for item in items:
                    _add_command(steps, Part(number, item))
            case _:
                _add_command(steps, Part(number, command))
    return [step for step in steps if not isinstance(step, Events) or step.lists]


def _add_events(
    steps: list[Step], number: int, command: CreateEvents, readers: set[str | None]
) -> None:
    step = _joinable(steps, Events, readers)
    if not isinstance(step, Events):
        step = Events()
        steps.append(step)
    step.lists[number] = command
    step.readers.update(readers)


def _add_command(steps: list[Step], part: Part) -> None:
    reader = reader_of(part.command)
    step = _joinable(steps, Commands, {reader})
    if not isinstance(step, Commands):
        step = Commands()
        steps.append(step)
    step.by_reader.setdefault(reader, []).append(part)


def _joinable(steps: list[Step], kind: type[Step], readers: set[str | None]) -> Step | None:
    """Return the last step of this kind, unless a step that concerns one of the readers is
    between.
    """
    for step in reversed(steps[-2:]):
        if None in readers or None in step.readers:
            return None
        if isinstance(step, kind):
            return step
        if not readers.isdisjoint(step.readers):
            return None
    return None
