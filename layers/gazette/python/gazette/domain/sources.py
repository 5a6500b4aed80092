"""Which sources may put which detail types on the bus."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

DETAIL_TYPES = (
    "activity.created",
    "event.created",
    "event.retracted",
    "follow.created",
    "follow.deleted",
    "preferences.chosen",
    "subscriber.active",
    "subscriber.changed",
    "subscriber.deleted",
)
"""All that the contract knows."""

PREFERENCES = "gazette.preferences"
"""The source of what readers choose on the preference page."""

FEEDBACK = "gazette.feedback"
"""The source of signs of life that delivery events show."""

_OWN: Mapping[str, str] = MappingProxyType(
    {
        "preferences.chosen": PREFERENCES,
        "follow.created": PREFERENCES,
        "follow.deleted": PREFERENCES,
        "subscriber.active": FEEDBACK,
    }
)
"""What Gazette puts itself, by which of its functions. No list takes that away."""

_SHOWN = 40
"""So many characters of a source that nobody knows are shown, in ASCII."""


@dataclass(frozen=True, slots=True)
class Sources:
    """By detail type, the sources that may put it; one that is not named is open to all."""

    by_detail_type: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, listed: Mapping[str, Iterable[str]]) -> "Sources":
        """The sources by their lists in the setting `sources`."""
        return cls({detail_type: frozenset(names) for detail_type, names in listed.items()})

    def refusal(self, detail_type: str, source: str) -> str:
        """In words, that `source` may not put `detail_type`; empty if it may.

        Names are compared as they are: `Shop.accounts` is another source than `shop.accounts`.
        """
        allowed = self.by_detail_type.get(detail_type)
        if allowed is None or source in allowed or _OWN.get(detail_type) == source:
            return ""
        return (
            f"{detail_type} came from the source {source[:_SHOWN]!a}, and the setting sources "
            "does not let that source put it. If it should, add it there, deploy, and redrive. "
            f"Sources that may: {', '.join(sorted(allowed))}."
        )
