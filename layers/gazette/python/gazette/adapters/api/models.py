"""Pydantic models of the answers. docs/api/openapi.json is generated from them.

All fields are required, and a value that is missing is null, so that generated clients have one
shape for each answer.
"""

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from gazette.adapters.contract.deliveries import ReportType
from gazette.adapters.contract.fields import Day
from gazette.domain.api.choices import Source
from gazette.domain.delivery.run import Certainty
from gazette.domain.export import NotIncluded
from gazette.domain.receipts.receipt import Because, State
from gazette.domain.subscribers.frequency import Frequency

EmailId = Annotated[
    str,
    Field(
        description="The id of the email, as in events out and in the email's headers.",
        examples=["ann-daily-7"],
    ),
]
Outcomes = Annotated[
    dict[str, datetime],
    Field(
        description="The first time of each delivery event: `sent`, `delivered`, `bounced`, "
        "`complained`, `opened`, `clicked` or `unsubscribed`.",
        examples=[{"delivered": "2026-11-23T07:01:30Z"}],
    ),
]

ReturnRefusal = Literal[
    "bounced",
    "complained",
    "manual",
    "shared_address",
    "newer_unsubscription",
    "other_address",
    "unknown_status",
]
"""The refusals of a consent (`gazette.domain.subscribers.consent`) that are conflicts."""

WEEKDAYS: tuple[Day, ...] = get_args(Day)
"""The days of the week, beginning with Monday."""


class ChosenFrequency(StrEnum):
    """A frequency, or `default` to withdraw an earlier choice."""

    NEVER = "never"
    IMMEDIATE = "immediate"
    DAILY = "daily"
    WEEKLY = "weekly"
    CUSTOM = "custom"
    DEFAULT = "default"


class Answer(BaseModel):
    """The base class of answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Entity(Answer):
    """The identity of an entity."""

    type: str = Field(description="The kind of entity.", examples=["post"])
    id: str = Field(description="The id of the entity.", examples=["p1"])


class CustomDays(Answer):
    """The days of `custom` digests: days of the week, or one day of each month."""

    days: tuple[Day, ...] = Field(description="The days of the week; empty with `day_of_month`.")
    every_weeks: int = Field(description="The interval in weeks, 1 to 4.")
    starting: date | None = Field(
        description="A date in a week that has a digest; null with `day_of_month`."
    )
    day_of_month: int | None = Field(description="The day of each month.")


class DigestTimes(Answer):
    """The times of digests, in the subscriber's time zone."""

    hour: int
    minute: int = Field(description="The minute, which may be the subscriber's default.")
    weekly: Day = Field(description="The day of `weekly` digests.")
    custom: CustomDays


class Choice(Answer):
    """A frequency that is in force, and its reason."""

    frequency: Frequency
    because: Source = Field(
        description="`critical`: the category is critical. `chosen`: the subscriber chose the "
        "frequency. `chosen_for_all`: the subscriber chose it for all categories. `profile`: "
        "your profile contains it. `default`: the stage's default. `daily`: no one specified a "
        "frequency."
    )


class CategoryChoice(Choice):
    """The frequency that is in force for a category."""

    category: str = Field(examples=["comment"])


class Follow(Answer):
    """An active follow."""

    entity: Entity
    title: str | None = Field(description="The title of the entity, if you specified one.")
    frequency: Frequency | None = Field(
        description="The frequency of the follow. Null: the frequency of each event's category."
    )


class MutedEntity(Answer):
    """An entity about which the subscriber gets no email."""

    entity: Entity
    title: str | None = Field(description="The first characters of the title, if it is known.")
    muted_at: datetime


class Waiting(Answer):
    """The events of a category that wait for a digest."""

    schedule: str = Field(examples=["daily"])
    category: str = Field(examples=["comment"])
    events: int
    oldest: datetime = Field(description="The time at which the oldest event was stored.")


class Subscriber(Answer):
    """The present state of a subscriber. It contains neither the address nor the name."""

    user_id: str
    status: str = Field(
        description="`active`, `dormant`, `unsubscribed` or `suppressed`.", examples=["active"]
    )
    paused_until: date | None = Field(
        description="The first date after the pause; null if email is not paused."
    )
    time_zone: str = Field(examples=["Europe/Berlin"])
    quiet_hours: str | None = Field(
        description="The hours without immediate emails, in the subscriber's time zone; null if "
        "there are none.",
        examples=["22:00-07:00"],
    )
    digest: DigestTimes
    everything: Choice = Field(
        description="The frequency of all categories that are not in `categories`."
    )
    categories: tuple[CategoryChoice, ...]
    follows: tuple[Follow, ...] = Field(description="Up to 100 follows, ordered by title.")
    next_follows: str | None = Field(
        description="The `follows_cursor` of the next page of follows; null on the last page."
    )
    muted: tuple[MutedEntity, ...] = Field(
        description="The muted entities, ordered by type and id."
    )
    next_digest: datetime | None = Field(
        description="The due time of the next digest that may show an event."
    )
    waiting: tuple[Waiting, ...] = Field(
        description="The events that wait for a digest, by schedule and category. At most 1,000 "
        "events are counted. Events of immediate emails and events about muted entities are not "
        "included."
    )
    has_more_waiting: bool = Field(description="True if more events wait than were counted.")
    revision: int = Field(
        description="A number that increases with each change of profile, choices or status."
    )


class AcceptedChoice(Answer):
    """A choice that is stored on the event bus and will be applied soon."""

    user_id: str
    chosen_at: datetime


class Link(Answer):
    """A link to the preference page. Anyone who has the link can act as the subscriber."""

    url: str
    expires_at: datetime


class Returned(Answer):
    """The result of a consent."""

    user_id: str
    outcome: Literal["returned", "unchanged"] = Field(
        description="`returned`: an unsubscription was lifted. `unchanged`: there was none."
    )


class AcceptedDeliveryEvent(Answer):
    """A delivery event that is stored and will be checked and processed soon."""

    email: EmailId = Field(
        description="The id of the email in `reference`. It is not yet known whether your stage "
        "sent this email to this recipient.",
        examples=["ann-daily-7"],
    )
    type: ReportType


class Email(Answer):
    """An email, whether it was sent or not."""

    email: EmailId
    schedule: str = Field(
        description="`daily`, `weekly`, `custom`, or a name that begins with `now` for an "
        "immediate email.",
        examples=["daily"],
    )
    due_at: datetime
    status: str = Field(description="The status of the email, such as `sent`.", examples=["sent"])
    reason: str = Field(description="The reason for the status.", examples=["accepted"])
    certainty: Certainty | None = Field(
        description="The proof that the email was sent; null if it was not sent."
    )
    sent_at: datetime | None
    events: int | None = Field(
        description="The number of events in the email; null if it is unknown."
    )
    categories: tuple[str, ...]
    outcomes: Outcomes


class EmailPage(Answer):
    """A page of emails, ordered by schedule, and newest first within a schedule."""

    emails: tuple[Email, ...]
    next: str | None = Field(description="The `cursor` of the next page; null on the last page.")


class ReceiptEmail(Answer):
    """An email that contains the event, or may contain it."""

    email: EmailId
    sent_at: datetime | None
    certainty: Certainty
    events: int | None = Field(description="The number of events in the email, if known.")
    outcomes: Outcomes


class Receipt(Answer):
    """The answer to the question what became of an event."""

    user_id: str
    id: str
    state: State = Field(description="The state of the event.")
    because: Because | None = Field(description="A further reason for the state.")
    why: str | None = Field(
        description="The stored reason of an exclusion, such as a template error."
    )
    at: datetime | None = Field(description="The time at which the event got into this state.")
    category: str | None
    schedule: str | None
    next_digest: datetime | None = Field(
        description="The due time of the next email that can include a waiting event."
    )
    is_held: bool = Field(description="True if the event's category is on hold.")
    shown_as: str | None = Field(
        description="The id of the event of the same happening (`part_of`) that emails show "
        "instead of this one; null if there is none."
    )
    known_since: datetime = Field(
        description="The time since which the answer is complete. Earlier emails may be missing."
    )
    emails: tuple[ReceiptEmail, ...] = Field(
        description="The emails that contain the event or may contain it, oldest first."
    )


class ActivityReceipt(Answer):
    """The answer to the question what became of an activity."""

    entity: Entity
    id: str
    stored: bool
    retracted: bool
    distributed: bool = Field(
        description="True if all followers have the activity or are queued to get it."
    )
    expires_at: datetime | None


class EntityFollowers(Answer):
    """The number of followers of an entity."""

    entity: Entity
    followers: int
    is_exact: bool = Field(description="False if there are more followers than were counted.")


class ExportedRow(Answer):
    """A stored row."""

    table: str = Field(examples=["subscribers"])
    row: dict[str, Any] = Field(
        description="The attributes of the row, which docs/tables.md describes. Releases may add "
        "attributes. Text that contains JSON is parsed.",
        examples=[{"user_id": "ann", "email": "ann@shop.example"}],
    )


class NotIncludedData(Answer):
    """Data of a person that an export does not contain."""

    what: NotIncluded
    meaning: str = Field(description="The data and its retention.")


class Export(Answer):
    """A page of everything that is stored on a person. It contains the address."""

    user_id: str
    rows: tuple[ExportedRow, ...] = Field(
        description="The rows, which may be empty before the last page. Without a stored profile, "
        "there are no rows."
    )
    not_included: tuple[NotIncludedData, ...]
    next: str | None = Field(description="The `cursor` of the next page; null on the last page.")


class FieldError(Answer):
    """An error in one field of the request."""

    pointer: str | None = Field(
        description="A JSON Pointer to the field of the body (RFC 6901) as a URI fragment; null "
        "for a query parameter.",
        examples=["#/digest/hour"],
    )
    parameter: str | None = Field(
        description="The name of the query parameter; null for a field of the body.",
        examples=["user_id"],
    )
    detail: str = Field(examples=["must be a whole number"])


class Problem(Answer):
    """An error (RFC 9457). API Gateway itself answers errors as `{"message": "…"}`."""

    type: str = Field(
        description="The section of this documentation that describes the error.",
        examples=["docs/api.md#unknown-subscriber"],
    )
    title: str = Field(examples=["The subscriber is unknown"])
    status: int = Field(examples=[404])
    detail: str
    errors: tuple[FieldError, ...] = Field(description="The errors by field; may be empty.")


class RefusedReturn(Problem):
    """The error for a consent that does not return the subscriber. No change was made."""

    reason: ReturnRefusal = Field(
        description="`bounced`, `complained`: the address bounced, or its owner complained. "
        "`manual`: an operator suppressed the address. `shared_address`: another subscriber with "
        "this address unsubscribed. `newer_unsubscription`: the subscriber unsubscribed at the "
        "time of the consent or later. `other_address`: the profile has another address. "
        "`unknown_status`: the status is from a newer version of Gazette."
    )


MEDIA_TYPE: Literal["application/problem+json"] = "application/problem+json"
