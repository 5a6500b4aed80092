"""The things that a reader has seen in a service's product. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from gazette.domain.links import NEW_LINK
from gazette.domain.window.briefs import Brief
from gazette.domain.window.folded import Folded, counts_at, earliest_in

Seen = Mapping[str, datetime]
"""The latest time at which the reader saw each thing, by entity key."""

NOTHING_SEEN: Seen = MappingProxyType({})
"""No marks."""


@dataclass(frozen=True, slots=True)
class SeenMark:
    """A service's statement that a reader has seen an entity."""

    user_id: str
    entity: str
    """The key of the entity, as in follows and activities."""

    seen_at: datetime
    """The time at which the reader saw the entity, by the service's clock."""


def seen_at(brief: Brief, seen: Seen) -> datetime | None:
    """Return the time at which the reader saw the event's entity, unless the event is later.

    A link that a reader requested is never left out.
    """
    at = seen.get(brief.thing)
    return at if at and counts_at(brief) <= at and brief.category != NEW_LINK else None


def concerning(folded: Folded, seen: Seen) -> Seen:
    """Return the marks that are not before all events of their entity."""
    return {thing: at for thing, at in seen.items() if earliest_in(folded.things[thing]) <= at}
