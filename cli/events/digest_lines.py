"""How events will read: the lines of the digest that they would make, in its order."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from gazette.domain.commands import ChangeSubscriber, Command, CreateActivity, CreateEvents
from gazette.domain.delivery.compose import Group, compose
from gazette.domain.model import Event
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.support.replay import Side

from cli.preview.sample import READER
from cli.shared.descriptions import instant

FOLLOWER = "a follower"
"""Who an activity is shown to. No user id has a space: this is nobody else."""

ReaderOf = Callable[[str], Subscriber]
"""Returns a reader by the user id."""


def readers_in(commands: Iterable[Command], locale: str | None) -> ReaderOf:
    """Readers as their latest profile among the commands has them, or else as the sample.

    `locale`: in the place of theirs.
    """
    known: dict[str, Subscriber] = {}
    for command in commands:
        if isinstance(command, ChangeSubscriber):
            before, after = known.get(command.subscriber.user_id), command.subscriber
            if before is None or after.changed_at > before.changed_at:
                known[after.user_id] = after

    def reader_of(user_id: str) -> Subscriber:
        reader = known.get(user_id, replace(READER, user_id=user_id))
        return reader if locale is None else replace(reader, locale=locale)

    return reader_of


def events_in(commands: Iterable[Command]) -> list[Event]:
    """The events that readers get; of one id the latest amendment, as it would be stored."""
    kept: dict[tuple[str, str], Event] = {}
    for command in commands:
        for event in _events(command):
            earlier = kept.get((event.user_id, event.id))
            if earlier is None or event.amends(earlier):
                kept[event.user_id, event.id] = event
    return list(kept.values())


def preview(events: Iterable[Event], *, side: Side, reader_of: ReaderOf) -> Iterator[str]:
    """The lines to show: by reader, each group as one digest of all of them would show it.

    Raises RenderingFailed if a template cannot write a line.
    """
    variation = side.variation or 1
    arrangement = side.renderer.arrangement(variation, side.arrangement)
    by_reader: dict[str, list[Event]] = {}
    for event in events:
        by_reader.setdefault(event.user_id, []).append(event)
    for place, (user_id, theirs) in enumerate(by_reader.items()):
        if place:
            yield ""
        yield f"To {user_id}:"
        digest = compose(
            theirs, max_blocks=len(theirs), max_lines=len(theirs), arrangement=arrangement
        )
        said = side.renderer.said(digest, reader_of(user_id), variation=variation)
        for block, lines in zip(digest.blocks, said, strict=True):
            for group, line in zip(block.groups, lines, strict=True):
                yield from _group(group, line)


def _events(command: Command) -> tuple[Event, ...]:
    match command:
        case CreateEvents(events):
            return events
        case CreateActivity(activity):
            return (activity.event_for(FOLLOWER),)
        case _:
            return ()


def _group(group: Group, line: str) -> Iterator[str]:
    latest = group.latest
    yield ""
    yield f"  {latest.entity.title}"
    yield f"    {line}"
    if latest.excerpt:
        yield f'    "{" ".join(latest.excerpt.split())}"'
    yield f"    {instant(latest.occurred_at)}"
    yield f"    {latest.entity.url}"
    yield f"    group: {group.category}, {latest.entity.type}, {latest.entity.id}"
