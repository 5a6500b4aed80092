"""The domain values in the answers of the API for services."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.api.choices import EffectiveChoice
from gazette.domain.delivery.run import CERTAINTIES, Certainty, Run, Status
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.identity import run_id
from gazette.domain.subscribers.overview import Overview


@dataclass(frozen=True, slots=True)
class WaitingEvents:
    """The events of one category that wait for a digest."""

    schedule: str
    category: str
    events: int
    oldest: datetime
    """The time at which the oldest event was stored."""


@dataclass(frozen=True, slots=True)
class ReaderState:
    """The present state of a reader."""

    overview: Overview
    choices: Sequence[EffectiveChoice]
    waiting: Sequence[WaitingEvents]
    has_more_waiting: bool
    """True if more events wait than were counted."""


@dataclass(frozen=True, slots=True)
class ReaderEmail:
    """An email of a reader, whether it was sent or not."""

    run: Run
    outcomes: Mapping[EngagementEvent, datetime]
    """The first time of each delivery event of the email."""

    @property
    def email(self) -> str:
        """The id of the email's run."""
        return run_id(self.run.key)

    @property
    def certainty(self) -> Certainty | None:
        """The proof that the email was sent; None if it was not sent."""
        if self.run.status is not Status.SENT:
            return None
        return CERTAINTIES.get(self.run.reason, Certainty.ASSUMED)


@dataclass(frozen=True, slots=True)
class EmailPage:
    """A page of a reader's emails."""

    emails: Sequence[ReaderEmail]
    next: str
    """The place at which the next page begins; empty on the last page."""


@dataclass(frozen=True, slots=True)
class AppLink:
    """A link to a reader's preference page, for a reader who is logged in to an app."""

    url: str
    expires_at: datetime


class Chosen(StrEnum):
    """The outcome of a choice that a service submits for a reader."""

    IN_FORCE = "in_force"
    """The choice is in force, also for waiting events."""

    ACCEPTED = "accepted"
    """The choice is on the event bus. Ingest applies it."""

    NOT_ACCEPTED = "not_accepted"
    """The event bus rejected the choice. No change was made."""

    IN_THE_FUTURE = "in_the_future"
    """The choice is dated more than an hour in the future. No change was made."""

    TOO_MANY_MUTED = "too_many_muted"
    """The reader has muted too many things to mute another one."""

    UNKNOWN_READER = "unknown_reader"
    """The user id is unknown or was erased. No change was made."""


class Submitted(StrEnum):
    """The outcome of a delivery event that a service submits."""

    STORED = "stored"
    """The event is on the feedback queue. Feedback checks and processes it."""

    NOT_STORED = "not_stored"
    """The queue rejected the event. No change was made."""

    IN_THE_FUTURE = "in_the_future"
    """The event is dated more than an hour in the future. No change was made."""
