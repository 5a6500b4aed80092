"""From a reader's events to the groups of one digest: group, rank, cap. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from gazette.domain.model import Actor, Event


@dataclass(frozen=True, slots=True)
class Group:
    """Events that share (category, entity type, entity id), shown as one line.

    `actors` are distinct, the most recent first; `latest` is the event that speaks for the group.
    """

    category: str
    count: int
    actors: tuple[Actor, ...]
    latest: Event


@dataclass(frozen=True, slots=True)
class Digest:
    """What one email says: the groups shown, and exactly what it leaves out."""

    groups: tuple[Group, ...]
    events: int
    more_groups: int
    more_events: int


def compose(events: Iterable[Event], *, max_groups: int) -> Digest:
    """Group, rank and cap `events`. The order in which they come does not matter.

    The most active group is first; then the one that moved last; then by key, so that the same
    events always make the same email. Event ids are unique: they are the key of the table.
    """
    members: dict[tuple[str, str, str], list[Event]] = {}
    for event in events:
        key = (event.category, event.entity.type, event.entity.id)
        members.setdefault(key, []).append(event)
    ranked = sorted(
        (_group(found) for found in members.values()),
        key=lambda group: (
            -group.count,
            -group.latest.occurred_at.timestamp(),
            group.category,
            group.latest.entity.type,
            group.latest.entity.id,
        ),
    )
    shown, left_out = ranked[:max_groups], ranked[max_groups:]
    return Digest(
        groups=tuple(shown),
        events=sum(group.count for group in ranked),
        more_groups=len(left_out),
        more_events=sum(group.count for group in left_out),
    )


def _group(events: list[Event]) -> Group:
    newest_first = sorted(events, key=lambda event: (event.occurred_at, event.id), reverse=True)
    actors = {event.actor.id: event.actor for event in reversed(newest_first)}
    latest = newest_first[0]
    ordered = dict.fromkeys(event.actor.id for event in newest_first)
    return Group(
        category=latest.category,
        count=len(events),
        actors=tuple(actors[actor_id] for actor_id in ordered),
        latest=latest,
    )
