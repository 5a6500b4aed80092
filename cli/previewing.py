"""How events will read: the lines of the digest that they would make, in its order."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from gazette.adapters.words import Words
from gazette.domain.commands import Command, CreateActivity, CreateEvents
from gazette.domain.compose import Group, compose
from gazette.domain.model import Event

from cli.console import NotPossible
from cli.wording import instant

FOLLOWER = "a follower"
"""Who an activity is shown to. No user id has a space: this is nobody else."""


def words(nouns: Path) -> Words:
    """The sentences of the emails, with the nouns of the templates. Raises NotPossible."""
    try:
        given = json.loads(nouns.read_text(encoding="utf-8"))
        return Words({category: (one, many) for category, (one, many) in given.items()})
    except (OSError, ValueError, AttributeError, TypeError) as err:
        raise NotPossible(
            f"{nouns} cannot be read ({err}): it must hold [one, many] for each category."
        ) from err


def events_in(commands: Iterable[Command]) -> list[Event]:
    """The events that readers get; of one id the latest amendment, as it would be stored."""
    kept: dict[tuple[str, str], Event] = {}
    for command in commands:
        for event in _events(command):
            earlier = kept.get((event.user_id, event.id))
            if earlier is None or event.amends(earlier):
                kept[event.user_id, event.id] = event
    return list(kept.values())


def preview(events: Iterable[Event], words: Words) -> Iterator[str]:
    """The lines to show: by reader, each group as one digest of all of them would show it."""
    by_reader: dict[str, list[Event]] = {}
    for event in events:
        by_reader.setdefault(event.user_id, []).append(event)
    for place, (reader, theirs) in enumerate(by_reader.items()):
        if place:
            yield ""
        yield f"To {reader}:"
        for group in compose(theirs, max_groups=len(theirs)).groups:
            yield from _group(group, words)


def _events(command: Command) -> tuple[Event, ...]:
    match command:
        case CreateEvents(events):
            return events
        case CreateActivity(activity):
            return (activity.event_for(FOLLOWER),)
        case _:
            return ()


def _group(group: Group, words: Words) -> Iterator[str]:
    latest = group.latest
    yield ""
    yield f"  {latest.entity.title}"
    yield f"    {words.line(group)}"
    if latest.excerpt:
        yield f'    "{" ".join(latest.excerpt.split())}"'
    yield f"    {instant(latest.occurred_at)}"
    yield f"    {latest.entity.url}"
    yield f"    group: {group.category}, {latest.entity.type}, {latest.entity.id}"
