"""Pydantic models of the details of events and activities. docs/events is generated from them."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gazette.adapters.contract.data import LARGEST, Data
from gazette.adapters.contract.fields import (
    EventId,
    Excerpt,
    Given,
    ImageUrl,
    Instant,
    Key,
    Line,
    Name,
    SecureUrl,
    Url,
    UserId,
)
from gazette.domain.model import Importance


class Detail(BaseModel):
    """The base class of details.

    It rejects unknown fields, so that misspelt optional fields are errors.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class OfSubscriber(Detail):
    """The base class of details about one subscriber."""

    user_id: UserId = Field(
        description="Your id for the subscriber: 1 to 64 printable ASCII characters without "
        "spaces. Use the same id in every event about the subscriber. Do not use an email "
        "address, because ids remain in logs, runs and email links after an erasure.",
        examples=["ann", "bea"],
    )


class EntityReference(Detail):
    """The identity of an entity, such as an article, a post or a conversation."""

    type: Name = Field(description="The kind of entity, such as `post`.", examples=["post"])
    id: Key = Field(
        description="The id of the entity, unique among entities of the same type.", examples=["p1"]
    )


class ImageDetail(Detail):
    """An image that templates may show."""

    url: ImageUrl = Field(
        description="The image's address: an absolute https URL, percent-encoded, on any host. "
        "Readers' mail programs load the image. Gazette does not.",
        examples=["https://example.com/p1.png"],
    )
    text: Line = Field(
        description="Alt text on one line, for readers who cannot see the image.",
        examples=["A pile of letters"],
    )


class EntityDetail(EntityReference):
    """The entity of an event. A digest groups events of the same category and entity."""

    title: Line = Field(
        description="The entity's title, which is the heading of the group: one line of plain "
        "text. Digests show the newest title.",
        examples=["On digests"],
    )
    url: Url = Field(
        description="The URL that the title links to: an absolute http or https URL, "
        "percent-encoded.",
        examples=["https://example.com/p1"],
    )
    image: Annotated[ImageDetail | None, Given] = Field(
        default=None, description="An image of the entity. Digests show the newest image."
    )


class ActorDetail(Detail):
    """The person or service that caused the event."""

    id: Key = Field(
        description="Your id for the actor. If the id is a subscriber's `user_id`, that "
        "subscriber does not receive the actor's activities. An `event.created` is sent to its "
        "`user_id` even if that is the actor's id.",
        examples=["bo"],
    )
    name: Line = Field(
        description="The actor's name as shown to readers, in plain text.", examples=["Bo"]
    )
    url: Annotated[SecureUrl | None, Given] = Field(
        default=None,
        description="The address of the actor's page: an absolute https URL, percent-encoded.",
        examples=["https://example.com/bo"],
    )
    avatar: Annotated[ImageUrl | None, Given] = Field(
        default=None,
        description="The address of the actor's picture: an absolute https URL on any host.",
        examples=["https://example.com/bo.png"],
    )


class HappeningDetail(Detail):
    """The fields common to events and activities."""

    id: EventId = Field(
        description="Your idempotency key. Publishing the same id again has no effect. The id "
        "must be unique among all events and activities that one reader may receive.",
        examples=["comment-4711", "comment-4712"],
    )
    category: Name = Field(
        description="The category of the event. Readers choose a frequency for each category, and "
        "digests group events by category.",
        examples=["comment"],
    )
    entity: EntityDetail = Field(
        description="The entity of the event. A digest groups events of the same category and "
        "entity."
    )
    actor: Annotated[ActorDetail | None, Given] = Field(
        default=None,
        description="The person or service that caused the event. Omit the actor if the event has "
        "none, such as a build.",
    )
    occurred_at: Instant = Field(
        description="The time of the event, by your clock, with the offset from UTC. It is shown "
        "in the reader's time zone. The follows and mutes at this time determine the recipients.",
        examples=["2026-11-21T09:30:00Z"],
    )
    excerpt: Excerpt = Field(
        default="",
        description="A plain-text excerpt, shown below the title.",
        examples=["Well said."],
    )
    amended_at: Annotated[Instant | None, Given] = Field(
        default=None,
        description="The time of the last amendment, by your clock. To amend an event before it "
        "is sent, publish the same id again with a later `amended_at`. Do not change the category "
        "or, for an activity, the entity. The same id on a different entity is a separate "
        "activity.",
        examples=["2026-11-21T09:45:00Z"],
    )
    importance: Importance = Field(
        default=Importance.NORMAL,
        description="The importance of the event to the reader. Digests can rank events by "
        "importance.",
        examples=["high"],
    )
    expires_at: Annotated[Instant | None, Given] = Field(
        default=None,
        description="The time at which emails stop showing the event, such as the end of an "
        "offer. Use your clock, and specify the offset from UTC.",
        examples=["2026-11-28T09:00:00Z"],
    )
    data: Annotated[Data | None, Given] = Field(
        default=None,
        description=f"Custom data for your templates: an object of up to {LARGEST:,} bytes as "
        f"compact JSON in UTF-8. A stage may define a schema for each category's data.",
        examples=[{"rating": {"stars": 5}}],
    )


class ActivityReference(Detail):
    """The identity of an activity, such as a comment."""

    entity: EntityReference = Field(
        description="The entity of the activity. If it is not the entity of the event, `part_of` "
        "has no effect."
    )
    id: EventId = Field(description="The id of the activity.", examples=["comment-4700"])


class EventCreated(HappeningDetail, OfSubscriber):
    """An event for one subscriber."""

    part_of: Annotated[ActivityReference | None, Given] = Field(
        default=None,
        description="The activity that the event is part of, such as the comment in which the "
        "subscriber is mentioned. If the subscriber also receives the activity, one email shows "
        "one of them: the event, because it is addressed to the subscriber. Publish the event "
        "before the activity. An event of a critical category or with `expires_at` is sent by "
        "itself.",
        examples=[{"entity": {"type": "post", "id": "p1"}, "id": "comment-4700"}],
    )


class EventsCreated(Detail):
    """Several events in one entry. Each event is accepted or rejected separately."""

    events: Annotated[list[EventCreated], Field(min_length=1)] = Field(
        description="The events, for any number of subscribers. Only the size limit of a "
        "PutEvents entry applies."
    )


class ParentDetail(EntityReference):
    """The identity of the entity's parent, and optionally its title."""

    title: Annotated[Line | None, Given] = Field(
        default=None,
        description="The parent's title: one line of plain text, which digests may show.",
        examples=["Ann's blog"],
    )


class ActivityCreated(HappeningDetail):
    """An event on an entity. All followers of the entity or its parent receive the event, except
    the actor.
    """

    parent: Annotated[ParentDetail | None, Given] = Field(
        default=None,
        description="The parent of the entity, such as the post that was commented on. The "
        "parent's followers also receive the activity. A follower of both entities receives the "
        "activity once.",
        examples=[{"type": "blog", "id": "b1", "title": "Ann's blog"}],
    )


def _require_one(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": ["user_id"]}, {"required": ["entity"]}]


class EventRetracted(Detail):
    """The permanent withdrawal of an event or activity.

    Only an email that is already being sent may still show the event. Specify either `user_id`, for
    one subscriber's event, or `entity`, for an activity.
    """

    model_config = ConfigDict(json_schema_extra=_require_one)

    id: Key = Field(
        description="The id of the event or activity. An event or activity that is published "
        "again with this id remains withdrawn.",
        examples=["comment-4711"],
    )
    user_id: Annotated[UserId | None, Given] = Field(
        default=None,
        description="The subscriber for whom the event was published.",
        examples=["ann"],
    )
    entity: Annotated[EntityReference | None, Given] = Field(
        default=None, description="The entity of the activity, not the entity's parent."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> "EventRetracted":
        if (self.user_id is None) == (self.entity is None):
            raise ValueError(
                "specify either user_id, for an event of one subscriber, or entity, for an activity"
            )
        return self
