"""How events will read: the lines of the digest that they would make, in its order."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from pathlib import Path

from gazette.adapters.rendering.brand import read_brand
from gazette.adapters.rendering.environment import Press, environment
from gazette.adapters.rendering.fragments import Lines
from gazette.adapters.rendering.language import SOURCE, Languages
from gazette.adapters.rendering.view_models import show
from gazette.domain.commands import Command, CreateActivity, CreateEvents
from gazette.domain.delivery.compose import Group, compose
from gazette.domain.model import Event
from jinja2 import TemplateError

from cli.shared.console import NotPossible
from cli.shared.descriptions import instant

FOLLOWER = "a follower"
"""Who an activity is shown to. No user id has a space: this is nobody else."""


LineOf = Callable[[Group], str]
"""Says what happened in a group."""


def lines_by(templates: Path) -> LineOf:
    """The sentences of the emails, in English. It raises NotPossible where a template fails."""
    language = Languages(templates).of(SOURCE)
    values = {**language.values(), "brand": read_brand(templates / "brand.json")}
    lines = Lines(Press(environment(templates), values))

    def line(group: Group) -> str:
        try:
            return lines.of(show(group, language, UTC))
        except TemplateError as err:
            raise NotPossible(
                f"{templates}: the line of {group.category} cannot be written: {err}"
            ) from err

    return line


def events_in(commands: Iterable[Command]) -> list[Event]:
    """The events that readers get; of one id the latest amendment, as it would be stored."""
    kept: dict[tuple[str, str], Event] = {}
    for command in commands:
        for event in _events(command):
            earlier = kept.get((event.user_id, event.id))
            if earlier is None or event.amends(earlier):
                kept[event.user_id, event.id] = event
    return list(kept.values())


def preview(events: Iterable[Event], line: LineOf) -> Iterator[str]:
    """The lines to show: by reader, each group as one digest of all of them would show it."""
    by_reader: dict[str, list[Event]] = {}
    for event in events:
        by_reader.setdefault(event.user_id, []).append(event)
    for place, (reader, theirs) in enumerate(by_reader.items()):
        if place:
            yield ""
        yield f"To {reader}:"
        for group in compose(theirs, max_blocks=len(theirs), max_lines=len(theirs)).groups:
            yield from _group(group, line)


def _events(command: Command) -> tuple[Event, ...]:
    match command:
        case CreateEvents(events):
            return events
        case CreateActivity(activity):
            return (activity.event_for(FOLLOWER),)
        case _:
            return ()


def _group(group: Group, line: LineOf) -> Iterator[str]:
    latest = group.latest
    yield ""
    yield f"  {latest.entity.title}"
    yield f"    {line(group)}"
    if latest.excerpt:
        yield f'    "{" ".join(latest.excerpt.split())}"'
    yield f"    {instant(latest.occurred_at)}"
    yield f"    {latest.entity.url}"
    yield f"    group: {group.category}, {latest.entity.type}, {latest.entity.id}"
