"""The types of events out, and their contents. All instants are UTC."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from gazette.domain.delivery.run import Certainty
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from gazette.domain.muting.mutes import Mutes
from gazette.domain.subscribers.choices import Preferences
from gazette.domain.subscribers.frequency import Frequencies


class EventType(StrEnum):
    """The type of an event out, which is the detail type on the bus."""

    SUBSCRIBER_LEFT = "subscriber.left"
    SUBSCRIBER_RETURNED = "subscriber.returned"
    SUBSCRIBER_SUPPRESSED = "subscriber.suppressed"
    PREFERENCES_CHANGED = "preferences.changed"
    EMAIL_SENT = "email.sent"
    EMAIL_DELIVERED = "email.delivered"
    EMAIL_BOUNCED = "email.bounced"
    EMAIL_COMPLAINED = "email.complained"
    EMAIL_CLICKED = "email.clicked"
    EMAIL_SKIPPED = "email.skipped"
    EMAIL_FAILED = "email.failed"


class By(StrEnum):
    """The party that caused a change of a reader."""

    READER = "reader"
    SERVICE = "service"
    """A service, which published a profile or stated a consent."""

    GAZETTE = "gazette"
    """Gazette, after a bounce, a complaint, or a suppression by an operator."""


class Setting(StrEnum):
    """A part of a reader's preferences that is not a frequency."""

    CLOCK = "clock"
    WEEKLY_ON = "weekly_on"
    CUSTOM_ON = "custom_on"
    PAUSED_UNTIL = "paused_until"
    TIME_ZONE = "time_zone"
    QUIET_HOURS = "quiet_hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfReader:
    """The fields of every event about a reader."""

    user_id: str
    revision: int
    """The revision of the profile. Later changes have higher revisions."""

    erased_at: datetime | None
    """The time of the last erasure of the user id. Revisions begin anew after an erasure."""

    at: datetime
    by: By | None
    """The party that caused the change; None if the event describes the present state."""

    is_retold: bool = False
    """True if the event describes the present state instead of a change."""

    def id_of(self, kind: str) -> str:
        """Return the id of an event of this kind.

        The same change always has the same id. The erasure is part of the id, because revisions
        begin anew after an erasure.
        """
        erased = f"{self.erased_at.astimezone(UTC):%Y%m%dT%H%M%S%fZ}" if self.erased_at else ""
        return f"{self.user_id}:{erased}:{self.revision}:{kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberEvent(OfReader):
    """An event about a reader who left, returned or was suppressed."""

    type: EventType
    address: str
    """The reader's address at that time."""

    @property
    def id(self) -> str:
        """The id of the event."""
        return self.id_of("status")


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferencesChanged(OfReader):
    """An event about preferences of a reader that are in force differently."""

    frequencies: Frequencies
    """The frequencies that changed, by category. EVERYTHING stands for all categories without an
    entry, and DEFAULT for a frequency that is no longer chosen."""

    settings: frozenset[Setting]
    """The other preferences that changed."""

    mutes: Mutes = ()
    """The mutes that began or ended. A mute that ended is not in force (`is_muted`)."""

    preferences: Preferences
    """All preferences in force. Only those in `settings` are published."""

    @property
    def type(self) -> EventType:
        """The type of the event."""
        return EventType.PREFERENCES_CHANGED

    @property
    def id(self) -> str:
        """The id of the event.

        An event with all preferences has a different id from the event about the last change, whose
        content is only a part of it.
        """
        return self.id_of("state" if self.is_retold else "preferences")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailEvent:
    """An event about an email, which is a run."""

    type: EventType
    run: RunKey
    slot: datetime
    """The slot in which the email was due, by which statistics group emails."""

    at: datetime
    categories: tuple[str, ...] = ()
    certainty: Certainty | None = None
    """The reason for which the email counts as sent; None for other events, and for a reason that
    this version does not know."""

    events: int | None = None
    """The number of events in an email that was sent; None for other events, and for a run of an
    earlier release."""

    reason: str = ""
    """The reason for which no email was sent; empty for other events, and for a reason that this
    version does not know."""

    @property
    def id(self) -> str:
        """The id of the event. The same change always has the same id."""
        return f"{run_id(self.run)}:{self.type.removeprefix('email.')}"


EventOut = SubscriberEvent | PreferencesChanged | EmailEvent
"""An event that Gazette publishes."""
