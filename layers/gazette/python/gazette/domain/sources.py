"""The sources that may publish each detail type."""

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
"""All detail types of the contract."""

PREFERENCES = "gazette.preferences"
"""The source of readers' choices on the preference page."""

FEEDBACK = "gazette.feedback"
"""The source of reader activity that delivery events show."""

_OWN: Mapping[str, str] = MappingProxyType(
    {
        "preferences.chosen": PREFERENCES,
        "follow.created": PREFERENCES,
        "follow.deleted": PREFERENCES,
        "subscriber.active": FEEDBACK,
    }
)
"""The detail types that Gazette itself publishes, by source. No setting can forbid them."""

_SHOWN = 40
"""The number of characters of an unknown source that an error shows, in ASCII."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources that may publish each detail type. A type that is not listed is open to all."""

    by_detail_type: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, listed: Mapping[str, Iterable[str]]) -> "Sources":
        """Return the sources for the lists in the setting `sources`."""
        return cls({detail_type: frozenset(names) for detail_type, names in listed.items()})

    def refusal(self, detail_type: str, source: str) -> str:
        """Return an error text if `source` may not publish `detail_type`; empty if it may.

        Names are compared exactly: `Shop.accounts` and `shop.accounts` are two sources.
        """
        allowed = self.by_detail_type.get(detail_type)
        if allowed is None or source in allowed or _OWN.get(detail_type) == source:
            return ""
        return (
            f"{detail_type} came from the source {source[:_SHOWN]!a}, and the setting sources "
            "does not let that source publish it. If it should, add it there, deploy, and redrive. "
            f"Sources that may: {', '.join(sorted(allowed))}."
        )
