"""The sentences of a digest, shared by subject, text and HTML, so that they say the same.

They are plain text: a template escapes them like any other value. As Jinja macros they would
come back marked as safe, whatever name they contain.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gazette.domain.compose import Digest, Group
from gazette.domain.model import Actor

_WHY = {
    "daily": "asked for one digest a day",
    "weekly": "asked for one digest a week",
    "custom": "asked for a digest on certain days",
}


@dataclass(frozen=True, slots=True)
class Words:
    """`nouns` are (one, many) by category; a category without a noun speaks for itself."""

    nouns: Mapping[str, tuple[str, str]]

    def line(self, group: Group) -> str:
        """What happened in a group: `3 new comments from Ann, Bo and 2 others`."""
        plain = group.category.replace("_", " ")
        one, many = self.nouns.get(group.category, (plain, plain))
        return f"{group.count} new {one if group.count == 1 else many} from {_people(group.actors)}"

    def why(self, schedule: str) -> str:
        """How often the reader asked for this: `asked for one digest a day`."""
        return _WHY.get(schedule, "asked to hear of them at once")

    def updates(self, count: int) -> str:
        """`1 update`, `7 updates`."""
        return f"{count} {'update' if count == 1 else 'updates'}"

    def more_updates(self, count: int) -> str:
        """`1 more update`, `7 more updates`."""
        return f"{count} more {'update' if count == 1 else 'updates'}"

    def more(self, digest: Digest) -> str:
        """What is not shown, exactly: `+12 more in 3 other places`."""
        places = "place" if digest.more_groups == 1 else "places"
        return f"+{digest.more_events} more in {digest.more_groups} other {places}"


def _people(actors: tuple[Actor, ...]) -> str:
    names = [actor.name for actor in actors]
    match len(names):
        case 1:
            return names[0]
        case 2:
            return f"{names[0]} and {names[1]}"
        case 3:
            return f"{names[0]}, {names[1]} and {names[2]}"
        case many:
            return f"{names[0]}, {names[1]} and {many - 2} others"
