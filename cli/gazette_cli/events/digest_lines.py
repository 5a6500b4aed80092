"""A preview of the lines that show events in a digest."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from gazette.domain.commands import (
    ChangeSubscriber,
    Command,
    CommandList,
    CreateActivity,
    CreateEvents,
)
from gazette.domain.delivery.compose import Group, compose
from gazette.domain.feedback.reports import DeliveryReport
from gazette.domain.model import Event
from gazette.domain.subscribers.subscriber import Subscriber

from gazette_cli.preview.sample import READER
from gazette_cli.shared.descriptions import instant
from gazette_support.steps.replay import Side

FOLLOWER = "a follower"
"""The user id in previews of activities. The space prevents a conflict with a real user id."""

ReaderOf = Callable[[str], Subscriber]
"""A function that returns a reader by user id."""


def readers_in(commands: Iterable[Command | DeliveryReport], locale: str | None) -> ReaderOf:
    """Return a function that returns a reader, based on the reader's latest profile in the
    commands.

    Readers without a profile get the sample profile. `locale` overrides the language of every
    reader.
    """
    known: dict[str, Subscriber] = {}
    for command in chain.from_iterable(map(_items, commands)):
        if isinstance(command, ChangeSubscriber):
            before, after = known.get(command.subscriber.user_id), command.subscriber
            if before is None or after.changed_at > before.changed_at:
                known[after.user_id] = after

    def reader_of(user_id: str) -> Subscriber:
        reader = known.get(user_id, replace(READER, user_id=user_id))
        return reader if locale is None else replace(reader, locale=locale)

    return reader_of


def events_in(commands: Iterable[Command | DeliveryReport]) -> list[Event]:
    """Return the events in the commands. If an event has several versions, return only the
    latest.
    """
    latest: dict[tuple[str, str], Event] = {}
    for command in commands:
        for event in _events(command):
            earlier = latest.get((event.user_id, event.id))
            if earlier is None or event.amends(earlier):
                latest[event.user_id, event.id] = event
    return list(latest.values())


def preview(events: Iterable[Event], *, side: Side, reader_of: ReaderOf) -> Iterator[str]:
    """Yield the lines for each reader, as shown in a single digest with all of the reader's events.

    Raises RenderingFailed if a template fails.
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
        texts = side.renderer.said(digest, reader_of(user_id), variation=variation)
        for block, lines in zip(digest.blocks, texts, strict=True):
            for group, line in zip(block.groups, lines, strict=True):
                yield from _group(group, line)


def _items(command: Command | DeliveryReport) -> Iterable[Command | DeliveryReport]:
    """Return the commands in a list, or the command itself."""
    return command.commands if isinstance(command, CommandList) else (command,)


def _events(command: Command | DeliveryReport) -> tuple[Event, ...]:
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
