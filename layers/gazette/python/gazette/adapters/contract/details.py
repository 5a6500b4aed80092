"""The details of events and activities, as pydantic models. docs/events is generated from them."""

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
    """A detail. It rejects unknown fields, so that a misspelt optional field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OfSubscriber(Detail):
    """A detail about one subscriber."""

    user_id: UserId = Field(
        description="Your id of the subscriber: 1 to 64 printable ASCII characters without "
        "spaces. Use the same id in every event about them, and no email address: ids stay in "
        "logs, in runs and in the links of emails after an erasure.",
        examples=["ann", "bea"],
    )


class EntityReference(Detail):
    """The identity of an entity, such as an article, a post or a conversation."""

    type: Name = Field(description="The kind of entity.", examples=["post"])
    id: Key = Field(description="Unique among the entities of its type.", examples=["p1"])


class ImageDetail(Detail):
    """A picture, which templates may show."""

    url: ImageUrl = Field(
        description="Its address: an absolute https URL, percent-encoded, on any host. "
        "Gazette never fetches it; the mail program of a reader does.",
        examples=["https://example.com/p1.png"],
    )
    text: Line = Field(
        description="A description of the picture on one line, for readers who do not see it.",
        examples=["A pile of letters"],
    )


class EntityDetail(EntityReference):
    """The entity of an event. A digest groups events of the same category and entity."""

    title: Line = Field(
        description="One line of plain text, shown as the group's title. The newest title wins.",
        examples=["On digests"],
    )
    url: Url = Field(
        description="The target of the group's link: an absolute http or https URL, "
        "percent-encoded.",
        examples=["https://example.com/p1"],
    )
    image: Annotated[ImageDetail | None, Given] = Field(
        default=None, description="A picture of the entity. The newest one wins."
    )


class ActorDetail(Detail):
    """The person or service that caused the event."""

    id: Key = Field(
        description="Your id of the actor. If it is a `user_id`, that subscriber does not get an "
        "`activity.created`. An `event.created` goes to its `user_id`, even if that is the actor.",
        examples=["bo"],
    )
    name: Line = Field(description="The name that readers see, in plain text.", examples=["Bo"])
    url: Annotated[SecureUrl | None, Given] = Field(
        default=None,
        description="The actor's page: an absolute https URL, percent-encoded.",
        examples=["https://example.com/bo"],
    )
    avatar: Annotated[ImageUrl | None, Given] = Field(
        default=None,
        description="A picture of the actor: an absolute https URL, on any host.",
        examples=["https://example.com/bo.png"],
    )


class HappeningDetail(Detail):
    """The fields that events and activities have in common."""

    id: EventId = Field(
        description="Your idempotency key. Publishing the same id again changes nothing. Must be "
        "unique among all events and activities that one reader may get.",
        examples=["comment-4711", "comment-4712"],
    )
    category: Name = Field(
        description="The kind of event. Readers choose a frequency for each category, and digests "
        "group by it.",
        examples=["comment"],
    )
    entity: EntityDetail = Field(
        description="The entity of the event. A digest groups events of the same category and "
        "entity."
    )
    actor: Annotated[ActorDetail | None, Given] = Field(
        default=None,
        description="The person or service that caused the event. Leave it out for an event "
        "without one, such as a build.",
    )
    occurred_at: Instant = Field(
        description="The time of the event, by your clock, with the offset from UTC. Shown in the "
        "reader's time zone. Follows and mutes apply as they were at that time.",
        examples=["2026-11-21T09:30:00Z"],
    )
    excerpt: Excerpt = Field(
        default="",
        description="An excerpt in plain text, shown below the title.",
        examples=["Well said."],
    )
    amended_at: Annotated[Instant | None, Given] = Field(
        default=None,
        description="The time of the text's last change, by your clock. To amend the event before "
        "it is sent, publish the same id again with a later `amended_at`. Keep the category, and "
        "the entity of an activity, because the same id on another entity is another activity.",
        examples=["2026-11-21T09:45:00Z"],
    )
    importance: Importance = Field(
        default=Importance.NORMAL,
        description="The importance to the reader, by which digests rank.",
        examples=["high"],
    )
    expires_at: Annotated[Instant | None, Given] = Field(
        default=None,
        description="The time from which no email shows the event, such as the end of an offer or "
        "a call; by your clock, with the offset from UTC.",
        examples=["2026-11-28T09:00:00Z"],
    )
    data: Annotated[Data | None, Given] = Field(
        default=None,
        description=f"An object of your own for templates: up to {LARGEST:,} bytes as compact "
        "JSON in UTF-8. The stage may have a schema for each category.",
        examples=[{"rating": {"stars": 5}}],
    )


class EventCreated(HappeningDetail, OfSubscriber):
    """An event for one subscriber."""


class EventsCreated(Detail):
    """Several events in one entry. Each is accepted or rejected by itself."""

    events: Annotated[list[EventCreated], Field(min_length=1)] = Field(
        description="As many events as an entry of PutEvents can contain, for any number of "
        "subscribers."
    )


class ParentDetail(EntityReference):
    """The identity of the entity's parent, and optionally its title."""

    title: Annotated[Line | None, Given] = Field(
        default=None,
        description="One line of plain text, which digests may show as the parent's name.",
        examples=["Ann's blog"],
    )


class ActivityCreated(HappeningDetail):
    """An event on an entity.

    The followers of the entity and of its parent get it, except the actor.
    """

    parent: Annotated[ParentDetail | None, Given] = Field(
        default=None,
        description="The parent of the entity, such as the post of a comment. The parent's "
        "followers get the activity too. A follower of both gets it once.",
        examples=[{"type": "blog", "id": "b1", "title": "Ann's blog"}],
    )


def _require_one(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": ["user_id"]}, {"required": ["entity"]}]


class EventRetracted(Detail):
    """The permanent withdrawal of an event or activity.

    Only an email that is being sent may still show it. Give either `user_id`, for an event of one
    subscriber, or `entity`, for an activity on it.
    """

    model_config = ConfigDict(json_schema_extra=_require_one)

    id: Key = Field(
        description="The id of the event or activity. It stays withdrawn even if it is published "
        "later.",
        examples=["comment-4711"],
    )
    user_id: Annotated[UserId | None, Given] = Field(
        default=None, description="The subscriber of the event.", examples=["ann"]
    )
    entity: Annotated[EntityReference | None, Given] = Field(
        default=None, description="The entity of the activity, not its parent."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> "EventRetracted":
        if (self.user_id is None) == (self.entity is None):
            raise ValueError(
                "give either user_id, for an event of one subscriber, or entity, for an activity"
            )
        return self
