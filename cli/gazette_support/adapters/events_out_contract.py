"""Models of the details of events out, from which their JSON Schemas and examples are generated.

The functions build the details without these models, so that they import no pydantic. A test
validates the details of all events against the schemas.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from gazette.adapters.aws.events_out import VERSION
from gazette.domain.delivery.run import Certainty
from gazette.domain.events_out.events import By, EventType
from gazette.domain.subscribers.frequency import DEFAULT, Frequency
from pydantic import BaseModel, Field

_MISSING: Any = None
"""The default of an optional field, which the schemas omit."""

_INSTANT = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"

ChosenFrequency = StrEnum("ChosenFrequency", {each: each for each in (*Frequency, DEFAULT)})  # type: ignore[misc]
Instant = Annotated[str, Field(pattern=_INSTANT, json_schema_extra={"format": "date-time"})]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class _Out(BaseModel):
    version: Literal[VERSION] = Field(  # type: ignore[valid-type]
        description="The version of this schema. Within a version, fields are only added.",
        examples=[VERSION],
    )
    id: str = Field(
        description="The id of the event. If an event is published again, it has the same id.",
        examples=["ann::3:status"],
    )
    user_id: str = Field(
        description="Your id for the subscriber.", examples=["ann"], min_length=1, max_length=64
    )
    at: Instant = Field(
        description="The time of the change, in UTC.", examples=["2026-11-21T09:00:00.000Z"]
    )


class _OfReader(_Out):
    revision: int = Field(
        description="The revision of the profile. A later change has a higher revision. Revisions "
        "begin anew after an erasure.",
        examples=[3],
        ge=1,
    )
    erased_at: Instant = Field(
        default=_MISSING,
        description="The time of the last erasure of this user id. Missing if the id was never "
        "erased. Compare `erased_at` before `revision`.",
        examples=["2026-01-07T12:00:00.000Z"],
    )
    by: By = Field(
        default=_MISSING,
        description="The party that caused the change. `service` means a service that published a "
        "profile or stated a consent. `gazette` means a bounce, a complaint, or an operator. "
        "Missing if `retold`.",
        examples=["reader"],
    )
    retold: Literal[True] = Field(
        default=_MISSING,
        description="Present if the event describes the present state of the reader instead of a "
        "change.",
        examples=[True],
    )


class SubscriberOut(_OfReader):
    """A change of the status of a subscriber."""

    email: str = Field(
        default=_MISSING,
        description="The subscriber's address. Missing, unless the stage publishes addresses.",
        examples=["ann@example.com"],
    )


class WeeklyOut(BaseModel):
    """The day of the weekly digest."""

    day: Weekday = Field(description="The day of the week.", examples=["friday"])


class CustomOut(BaseModel):
    """The days of the custom digest: days of the week, or one day of each month."""

    days: list[Weekday] = Field(
        default=_MISSING, description="The days of the week.", examples=[["tuesday", "friday"]]
    )
    every_weeks: int = Field(default=_MISSING, description="The interval in weeks.", examples=[2])
    starting: str = Field(
        default=_MISSING,
        description="A date in a week that has a digest.",
        examples=["2026-01-05"],
        json_schema_extra={"format": "date"},
    )
    day_of_month: int = Field(
        default=_MISSING,
        description="The day of each month, instead of days of the week.",
        examples=[31],
    )


class DigestOut(BaseModel):
    """The digest times that are in force differently."""

    hour: int = Field(
        default=_MISSING,
        description="The hour in the reader's time zone.",
        examples=[7],
        ge=0,
        le=23,
    )
    minute: int | None = Field(
        default=None,
        description="The minute. null: Gazette assigns the minute. Present with `hour`.",
        examples=[30],
        ge=0,
        le=59,
    )
    weekly: WeeklyOut = Field(default=_MISSING, description="The day of `weekly` digests.")
    custom: CustomOut = Field(default=_MISSING, description="The days of `custom` digests.")
    paused_until: str | None = Field(
        default=None,
        description="The date until which email is paused. A past date or null: no pause.",
        examples=["2026-12-14"],
        json_schema_extra={"format": "date"},
    )


class EntityOut(BaseModel):
    """The identity of an entity."""

    type: str = Field(description="The kind of entity.", examples=["post"])
    id: str = Field(description="The id of the entity.", examples=["p1"])


class PreferencesOut(_OfReader):
    """Preferences of a reader that are in force differently. Missing fields have not changed.

    If `retold`, the event contains all preferences. Categories that it does not name have no
    frequency of their own.
    """

    frequency: ChosenFrequency = Field(
        default=_MISSING,
        description="The frequency of all categories without their own frequency.",
        examples=["weekly"],
    )
    frequencies: dict[str, ChosenFrequency] = Field(
        default=_MISSING,
        description="The frequencies by category. `default`: the category no longer has its own "
        "frequency.",
        examples=[{"article": "never", "like": "default"}],
    )
    time_zone: str = Field(
        default=_MISSING, description="The IANA time zone in force.", examples=["Europe/Berlin"]
    )
    quiet_hours: str = Field(
        default=_MISSING,
        description="The hours without immediate emails that are in force. `none`: no quiet hours. "
        "`default`: the installation's quiet hours.",
        examples=["22:00-07:00"],
    )
    digest: DigestOut = Field(default=_MISSING, description="The digest times that changed.")
    mute: list[EntityOut] = Field(
        default=_MISSING,
        description="The entities that the reader muted. If `retold`, all muted entities.",
        examples=[[{"type": "post", "id": "p1"}]],
    )
    unmute: list[EntityOut] = Field(
        default=_MISSING,
        description="The entities whose mute ended.",
        examples=[[{"type": "post", "id": "p2"}]],
    )


class EmailOut(_Out):
    """An event of an email."""

    email: str = Field(
        description="The id of the email, which is also in its headers and in `gazette explain`.",
        examples=["ann-daily-17"],
    )
    schedule: str = Field(
        description="The schedule: `daily`, `weekly`, `custom`, or that of an immediate email.",
        examples=["daily"],
    )
    slot: Instant = Field(
        description="The start of the ten minutes in which the email was due. `gazette statistics` "
        "groups emails by this time.",
        examples=["2026-11-21T06:10:00.000Z"],
    )
    categories: list[str] = Field(
        default=_MISSING,
        description="The categories of the events in the email.",
        examples=[["comment", "like"]],
    )


class EmailSentOut(EmailOut):
    """The email was sent."""

    events: int = Field(
        default=_MISSING,
        ge=0,
        description="The number of events in the email. Missing for an email that an earlier "
        "release prepared.",
        examples=[12],
    )
    certainty: Literal[Certainty.ACCEPTED, Certainty.EVIDENCE, Certainty.ASSUMED] = Field(
        default=_MISSING,
        description="`accepted`: the provider accepted the email. `evidence`: a delivery event "
        "proves it. `assumed`: the outcome is unknown, and the stage assumes it.",
        examples=["accepted"],
    )


class EmailEndedOut(EmailOut):
    """The email was not sent."""

    reason: str = Field(
        default=_MISSING,
        description="The reason, as in `gazette explain`. Later versions may add reasons.",
        examples=["unsubscribed"],
    )


MODELS: Mapping[EventType, tuple[type[_Out], str]] = {
    EventType.SUBSCRIBER_LEFT: (SubscriberOut, "The reader unsubscribed from all email."),
    EventType.SUBSCRIBER_RETURNED: (SubscriberOut, "The reader gets email again."),
    EventType.SUBSCRIBER_SUPPRESSED: (
        SubscriberOut,
        "The reader gets no more email, because of a bounce, a complaint or an operator.",
    ),
    EventType.PREFERENCES_CHANGED: (
        PreferencesOut,
        "Other preferences of the reader are in force. An event with `retold` replaces all others.",
    ),
    EventType.EMAIL_SENT: (EmailSentOut, "The email was sent."),
    EventType.EMAIL_DELIVERED: (
        EmailOut,
        "The receiving server accepted the email, or the reader acted on it.",
    ),
    EventType.EMAIL_BOUNCED: (EmailOut, "The email bounced."),
    EventType.EMAIL_COMPLAINED: (EmailOut, "The reader marked the email as spam."),
    EventType.EMAIL_CLICKED: (EmailOut, "The reader clicked a link in the email."),
    EventType.EMAIL_SKIPPED: (EmailEndedOut, "No email was sent."),
    EventType.EMAIL_FAILED: (
        EmailEndedOut,
        "The email could not be sent. If evidence arrives later, `email.sent` follows.",
    ),
}
"""The model and the description of each type."""
