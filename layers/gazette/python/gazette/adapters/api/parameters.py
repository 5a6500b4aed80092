"""The parameters and the body of requests.

Ids are in the query, because HTTP APIs pass paths on decoded, so an id with `/` or `?` would become
a different path.
"""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from gazette.adapters.api.models import ChosenFrequency
from gazette.adapters.contract.deliveries import DeliveryReported
from gazette.adapters.contract.fields import Address, Instant, Key, Name, UserId
from gazette.adapters.contract.subscribers import Choices
from gazette.domain.identity import CATEGORY_NAME, SCHEDULE_NAME
from gazette.domain.subscribers.frequency import MOST_CATEGORIES

MOST_EMAILS = 100
MOST_OF_A_CURSOR = 1_000
"""The maximum length of a cursor, which contains a user id and a key of up to 161 characters."""

UserIdParameter = Annotated[
    UserId, Query(description="Your id for the subscriber.", examples=["ann"])
]
EventIdParameter = Annotated[
    Key,
    Query(
        alias="id",
        description="The id of the event, which is unique for one subscriber.",
        examples=["comment-4711"],
    ),
]
ActivityIdParameter = Annotated[
    Key, Query(alias="id", description="The id of the activity.", examples=["a-17"])
]
EntityTypeParameter = Annotated[
    Name, Query(alias="type", description="The kind of entity.", examples=["post"])
]
EntityIdParameter = Annotated[
    Key, Query(alias="id", description="The id of the entity.", examples=["p1"])
]
OfEntityTypeParameter = Annotated[
    Name, Query(alias="entity_type", description="The kind of entity.", examples=["post"])
]
OfEntityIdParameter = Annotated[
    Key, Query(alias="entity_id", description="The id of the entity.", examples=["p1"])
]
CategoryParameter = Annotated[
    Name | None,
    Query(
        description="The category of an event that may not be stored. With `occurred_at`, a mute "
        "is recognised as the reason."
    ),
]
OccurredAtParameter = Annotated[
    Instant | None, Query(description="The time of an event that may not be stored.")
]
"""The time of an event, with its offset from UTC. Encode `+` as `%2B`."""

CursorParameter = Annotated[
    str,
    StringConstraints(max_length=MOST_OF_A_CURSOR),
    Query(description="The `next` of the previous page. Omit it for the first page."),
]
FollowsCursorParameter = Annotated[
    str,
    StringConstraints(max_length=MOST_OF_A_CURSOR),
    Query(description="The `next_follows` of the previous answer. Omit it for the first page."),
]
LimitParameter = Annotated[
    int, Query(ge=1, le=MOST_EMAILS, description="The maximum number of emails on the page.")
]
ScheduleParameter = Annotated[
    str | None,
    Query(
        pattern=f"^{SCHEDULE_NAME.pattern}$",
        description="The schedule whose emails to return, such as `daily`. The default is all.",
    ),
]


def _default_if_null(value: Any) -> Any:
    """Return `default` for null, because some clients cannot distinguish them."""
    return ChosenFrequency.DEFAULT if value is None else value


def _are_names(value: dict[str, Any]) -> dict[str, Any]:
    if any(not CATEGORY_NAME.fullmatch(name) for name in value):
        raise ValueError(
            "must have names of categories, which are 1 to 32 of a-z, 0-9 and _, and begin with a "
            "letter"
        )
    return value


def _omitted() -> Any:
    """Return the value of an omitted field."""
    return None


_ChosenFrequency = Annotated[ChosenFrequency, BeforeValidator(_default_if_null)]
_ChosenFrequencies = Annotated[
    dict[str, _ChosenFrequency], Field(max_length=MOST_CATEGORIES), AfterValidator(_are_names)
]


class ChoicesBody(Choices):
    """A reader's choice. Only the specified fields change; each category is a separate field.

    The fields are those of the event `preferences.chosen`. Their types are a named enum without
    null, from which generators make maps with values of this enum.
    """

    model_config = ConfigDict(json_schema_extra={})

    frequency: _ChosenFrequency = Field(  # type: ignore[assignment]
        default_factory=_omitted,
        description="The frequency of every category that is not in `frequencies`. `default` "
        "withdraws an earlier choice, and so does null.",
        examples=["weekly"],
    )
    frequencies: _ChosenFrequencies = Field(  # type: ignore[assignment]
        default_factory=_omitted,
        description="The frequency of each specified category. Categories that are not specified "
        "do not change. `default` withdraws an earlier choice, and so does null.",
        examples=[{"mention": "immediate", "article": "never", "like": "default"}],
    )


class ReturnBody(BaseModel):
    """A consent to email that a subscriber gave to your service."""

    model_config = ConfigDict(extra="forbid")

    email: Address = Field(
        description="The address that the subscriber consented to. It must be the stored one.",
        examples=["ann@shop.example"],
    )
    consented_at: Instant = Field(
        description="The time of the consent. It lifts only earlier unsubscriptions. Never send "
        "the time of the request instead.",
        examples=["2026-11-21T09:00:00Z"],
    )


class DeliveryEventBody(DeliveryReported):
    """A delivery event of any mail provider, about an email that Gazette sent by SMTP.

    The fields are those of the event `delivery.reported`. Duplicates and any order are harmless.
    """

    model_config = ConfigDict(json_schema_extra={})
