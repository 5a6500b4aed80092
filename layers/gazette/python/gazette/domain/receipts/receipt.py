"""The data of a receipt, which states what became of an event or of an activity."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.delivery.run import Certainty, Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.identity import run_id
from gazette.domain.model import Event, Retracted, StoredEvent


class State(StrEnum):
    """The state of an event for one reader.

    `emails` of a receipt lists the emails that contain the event. It may list emails in the states
    `emailed`, `assumed_emailed`, `may_have_been_emailed`, `given_up` and `retracted`. The other
    states mean that no email contains the event, except `not_stored`, which makes no statement.
    """

    WAITS_FOR_PROFILE = "waits_for_profile"
    """The event waits for the reader's profile."""

    WAITING = "waiting"
    """The event waits for the next digest, or for the next immediate email about its entity."""

    COLLECTING = "collecting"
    """The event waits for an immediate email that has been started and collects events."""

    EMAILED = "emailed"
    """The provider accepted an email that contains the event."""

    ASSUMED_EMAILED = "assumed_emailed"
    """The outcome of the email remained unknown, and the stage's policy is to assume that the email
    was sent."""

    MAY_HAVE_BEEN_EMAILED = "may_have_been_emailed"
    """An email with the event is being sent, or its outcome is unknown."""

    GIVEN_UP = "given_up"
    """The event may have been in an email with an unknown outcome, and is not sent again."""

    EXCLUDED = "excluded"
    """The templates could not show the event."""

    EXPIRED = "expired"
    """The event was stored for so long that it can no longer be sent."""

    LAPSED = "lapsed"
    """The event's `expires_at` passed before an email was sent."""

    SEEN = "seen"
    """The reader had seen the event's entity (`entity.seen`) before an email was sent."""

    WITHDRAWN = "withdrawn"
    """An operator withdrew the event's actor or entity before an email was sent."""

    RETRACTED = "retracted"
    """A service retracted the event. `emails` lists the emails that were claimed before."""

    NOT_STORED = "not_stored"
    """No row of the event is stored."""


class Because(StrEnum):
    """A further reason for the state of an event."""

    ERASED = "erased"
    """The reader was erased."""

    MUTED = "muted"
    """The reader had muted the category when the event occurred, or muted it afterwards."""

    ENTITY_MUTED = "entity_muted"
    """The reader has muted the event's entity, or an entity whose follow led to the event. Unless
    the reader undoes the mute before, the next run of the schedule removes the event."""

    WITHDRAWN = "withdrawn"
    """An operator withdrew the event's actor or entity. Unless the withdrawal is removed before,
    the next run of the schedule leaves the event out."""

    LATE = "late"
    """The event occurred more than a day ago, so the digest sends it instead of an immediate
    email."""

    OVER_LIMIT = "over_limit"
    """The reader had reached the limit of immediate emails (`immediate_limit`) when the event
    arrived, so the digest sends it instead of an immediate email."""

    NEVER_OR_GONE = "never_or_gone"
    """The event never arrived, was quarantined, was muted or not followed, or its reader had left.
    Or its row was deleted after its retention period. The tables cannot distinguish these cases."""

    READER_GETS_NO_EMAIL = "reader_gets_no_email"
    """The reader unsubscribed, is suppressed or is dormant, so no digest is scheduled."""

    NO_EMAIL_STARTED = "no_email_started"
    """The email ended without being sent. The next email about the entity includes the event."""

    NOT_STARTED = "not_started"
    """The digest has not been scheduled yet."""

    WAS_NOT_STORED = "was_not_stored"
    """The event was not stored when it was retracted. It had not arrived, or its row had been
    deleted, for example because the reader was erased. Earlier emails are then unknown."""

    EMAILS_UNKNOWN = "emails_unknown"
    """A version of Gazette without receipts retracted the event. Earlier emails are unknown."""


@dataclass(frozen=True, slots=True)
class ReceiptEmail:
    """An email that contains the event, or may contain it."""

    run: Run
    certainty: Certainty
    outcomes: Mapping[EngagementEvent, datetime]
    """The first time of each delivery event of the email."""

    @property
    def email(self) -> str:
        """The id of the email's run, as in the email's headers and links."""
        return run_id(self.run.key)

    @property
    def sent_at(self) -> datetime | None:
        """The time at which the provider accepted the email; None if unknown."""
        return self.run.sent_at

    @property
    def events(self) -> int | None:
        """The number of events in the email; None if an older version sent the email."""
        return self.run.events


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to the question what became of an event."""

    user_id: str
    id: str
    state: State
    known_since: datetime
    """The time since which the answer is complete. Rows of events that could no longer be sent
    before this time may have been deleted, so their emails may be missing."""

    at: datetime | None = None
    """The time at which the event got into this state; None if unknown."""

    emails: tuple[ReceiptEmail, ...] = ()
    """The emails that contain the event or may contain it, oldest first."""

    schedule: str = ""
    """The schedule whose emails send the event; empty if there is none."""

    category: str = ""
    """The category of the event; empty if the event is not stored."""

    next_digest: datetime | None = None
    """The time at which the next email that can include a waiting event is due; None if no email
    is scheduled, or if the event is muted or withdrawn."""

    is_held: bool = False
    """True if the event's category is on hold. The event then waits until the hold ends."""

    because: Because | None = None
    why: str = ""
    """The stored reason of an exclusion, such as a template error; empty if there is none."""

    shown_as: str = ""
    """The id of the event of the same happening (`part_of`) that emails show instead of this one;
    empty if there is none."""


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """The stored row of an event or of its retraction, with the attributes that receipts need."""

    row: StoredEvent | Retracted
    why: str = ""
    """The stored reason of an exclusion."""

    was_schedule: str = ""
    """The schedule of a retracted event; empty if the event was retracted before it arrived."""

    was_stored_at: datetime | None = None
    """The storage time of a retracted event; None if the event was retracted before it arrived, or
    by a version without receipts."""

    retracted_at: datetime | None = None
    """The time of the retraction; None if a version without receipts retracted the event."""

    own_id: str = ""
    """The own id of the event, if it is part of an activity whose id is the id of the row."""

    shares_row: bool = False
    """True if other events of the same happening can be in the row of a retracted event."""

    @property
    def event(self) -> Event | None:
        """The event; None if it was retracted."""
        bodies = self.row.bodies if isinstance(self.row, StoredEvent) else ()
        return next((each for each in bodies if each.own_id == self.own_id), None)

    @property
    def shown_as(self) -> str:
        """The id of the event of the same happening that emails show instead; otherwise empty."""
        if not isinstance(self.row, StoredEvent) or self.row.event.own_id == self.own_id:
            return ""
        return self.row.event.own_id or self.row.event.id


Found = FoundEvent | UnreadableRow


@dataclass(frozen=True, slots=True)
class ActivityReceipt:
    """The answer to the question what became of an activity."""

    entity: str
    id: str
    stored: bool
    """True if the activity's row is stored."""

    retracted: bool
    distributed: bool
    """True if all followers have the activity or are queued to get it."""

    expires_at: datetime | None
    """The time from which emails no longer show the activity; None if there is none."""


@dataclass(frozen=True, slots=True)
class FollowerOutcomes:
    """The followers of an activity by outcome, for one part of the followers."""

    outcomes: Mapping[State, int]
    """The number of followers in each state."""

    others: int
    """The number of follows that do not count, because they began after the activity, or because
    the follower is the activity's actor or was already counted for the activity's entity."""

    unreadable: int
    """The number of followers with a row that cannot be read."""

    next: tuple[str, str] | None
    """The entity and the user id after which the next part begins; None at the end."""
