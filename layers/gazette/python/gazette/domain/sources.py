"""The sources that may publish each detail type."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

DELIVERY_REPORTED = "delivery.reported"
"""The detail type of a mail provider's delivery events. A stage processes only those of the sources
that its `sources` setting lists for this type."""

DETAIL_TYPES = (
    "activity.created",
    DELIVERY_REPORTED,
    "entity.seen",
    "event.created",
    "event.retracted",
    "follow.created",
    "follow.deleted",
    "preferences.chosen",
    "subscriber.active",
    "subscriber.changed",
    "subscriber.deleted",
)
"""All detail types in the event contract."""

PREFERENCES = "gazette.preferences"
"""The source of choices that readers make on the preference page."""

FEEDBACK = "gazette.feedback"
"""The source of reader activity that is derived from delivery events."""

SERVICES = "gazette.services"
"""The source of delivery events that services report through the API. No setting needs to list it,
because these messages do not come from the bus."""

_OWN: Mapping[str, str] = MappingProxyType(
    {
        "preferences.chosen": PREFERENCES,
        "follow.created": PREFERENCES,
        "follow.deleted": PREFERENCES,
        "subscriber.active": FEEDBACK,
    }
)
"""The source of each detail type that Gazette itself publishes. No setting can forbid these
types."""

_SHOWN = 40
"""The maximum number of ASCII characters of an unknown source that an error text shows."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources that may publish each detail type. Any source may publish a type that is not
    listed, except `delivery.reported`."""

    by_detail_type: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, listed: Mapping[str, Iterable[str]]) -> "Sources":
        """Create the sources from the lists in the `sources` setting."""
        return cls({detail_type: frozenset(names) for detail_type, names in listed.items()})

    def refusal(self, detail_type: str, source: str) -> str:
        """Return an error text if `source` may not publish `detail_type`, else an empty string.

        Source names are case-sensitive: `Shop.accounts` and `shop.accounts` are different sources.
        """
        allowed = self.by_detail_type.get(detail_type)
        if allowed is None and detail_type == DELIVERY_REPORTED:
            return (
                f"The setting sources lists no source for {DELIVERY_REPORTED}, so the stage does "
                f"not process delivery events from {source[:_SHOWN]!a}. To process them, add "
                f'{{"{DELIVERY_REPORTED}": [the source]}} to the setting, deploy, and redrive.'
            )
        if allowed is None or source in allowed or _OWN.get(detail_type) == source:
            return ""
        return (
            f"{detail_type} came from the source {source[:_SHOWN]!a}, which the setting sources "
            "does not allow. To allow it, add the source to the setting, deploy, and redrive. "
            f"Allowed sources: {', '.join(sorted(allowed))}."
        )
