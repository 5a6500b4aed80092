"""The settings of `outbox`, which publishes events out."""

import json
from dataclasses import dataclass

from gazette.domain.events_out.events import EventType
from gazette.settings.environment import InvalidSetting, Settings

ADDRESS = "address"
"""The entry of `events_out` that adds the reader's address to events about subscribers."""


@dataclass(frozen=True, kw_only=True)
class OutboxSettings(Settings):
    """The settings of `outbox`."""

    subscribers_table: str
    runs_table: str
    engagement_table: str
    events_out_bus: str
    events_out_source: str
    """The `source` field of the published events."""

    unpublished_bucket: str
    """The bucket with the batches that could not be published, for `gazette events-out`."""

    events_out: str
    """The types of events that the stage publishes, and optionally ADDRESS, as JSON."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for an entry that is not a type of event."""
        Settings.__post_init__(self)
        for each in json.loads(self.events_out or "[]"):
            if each not in (*EventType, ADDRESS):
                raise InvalidSetting(
                    f"GAZETTE_EVENTS_OUT contains {each!r}; each entry must be one of "
                    f"{', '.join(EventType)} or {ADDRESS}."
                )

    @property
    def types(self) -> frozenset[EventType]:
        """The types of events that the stage publishes."""
        entries = json.loads(self.events_out or "[]")
        return frozenset(EventType(each) for each in entries if each != ADDRESS)

    @property
    def with_address(self) -> bool:
        """True if events about subscribers contain the reader's address."""
        return ADDRESS in json.loads(self.events_out or "[]")
