"""Compose a digest from a reader's events: group, rank, cap. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from gazette.domain.model import Actor, Event

_CATEGORIES = 10
"""The most categories that a run stores: its row must stay below one write unit."""


@dataclass(frozen=True, slots=True)
class Group:
    """Events that share (category, entity type, entity id), shown as one line.

    `actors` are distinct, the most recent first; none if nobody made it happen. `latest` is the
    latest event, which represents the group.
    """

    category: str
    count: int
    actors: tuple[Actor, ...]
    latest: Event


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of one email: the groups shown, and the exact count of what it leaves out."""

    groups: tuple[Group, ...]
    events: int
    more_groups: int
    more_events: int

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of the groups shown, each once, in their order; ten at most."""
        return tuple(dict.fromkeys(group.category for group in self.groups))[:_CATEGORIES]

    def shortened(self, groups: int) -> "Digest":
        """Return the digest with its first `groups` groups; the others count as left out."""
        dropped = self.groups[groups:]
        return replace(
            self,
            groups=self.groups[:groups],
            more_groups=self.more_groups + len(dropped),
            more_events=self.more_events + sum(group.count for group in dropped),
        )


class Ranking(StrEnum):
    """Which group comes first: the one with the most events, or the one with the latest event."""

    MOST_ACTIVE = "most_active"
    LATEST = "latest"


def compose(
    events: Iterable[Event], *, max_groups: int, ranking: Ranking = Ranking.MOST_ACTIVE
) -> Digest:
    """Group, rank and cap `events`, whose order does not matter.

    The latest event breaks ties of `ranking`, and then the key does, so that the same events always
    make the same email. Event ids are unique: they are the key of the table.
    """
    members: dict[tuple[str, str, str], list[Event]] = {}
    for event in events:
        key = (event.category, event.entity.type, event.entity.id)
        members.setdefault(key, []).append(event)
    ranked = sorted(
        (_group(found) for found in members.values()),
        key=lambda group: (
            -group.count if ranking is Ranking.MOST_ACTIVE else 0,
            -group.latest.occurred_at.timestamp(),
            group.category,
            group.latest.entity.type,
            group.latest.entity.id,
        ),
    )
    everything = Digest(tuple(ranked), sum(group.count for group in ranked), 0, 0)
    return everything.shortened(max_groups)


def _group(events: list[Event]) -> Group:
    newest_first = sorted(events, key=lambda event: (event.occurred_at, event.id), reverse=True)
    acted = [event.actor for event in newest_first if event.actor]
    actors = {actor.id: actor for actor in reversed(acted)}
    latest = newest_first[0]
    ordered = dict.fromkeys(actor.id for actor in acted)
    return Group(
        category=latest.category,
        count=len(events),
        actors=tuple(actors[actor_id] for actor_id in ordered),
        latest=latest,
    )
