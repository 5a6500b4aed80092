"""The details of what happens, as pydantic models: docs/events is generated from them."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gazette.adapters.contract.fields import (
    Excerpt,
    Given,
    Instant,
    Key,
    Line,
    Name,
    Url,
    UserId,
)


class Detail(BaseModel):
    """Unknown fields are refused: a misspelt optional field would be lost without a word."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OfSubscriber(Detail):
    """Whatever concerns one subscriber."""

    user_id: UserId = Field(
        description="Your id of the subscriber: 1 to 64 printable ASCII characters without "
        "spaces, the same in everything that concerns them.",
        examples=["ann", "bea"],
    )


class EntityReference(Detail):
    """Names an entity: an article, a post, a conversation."""

    type: Name = Field(description="What kind of thing it is.", examples=["post"])
    id: Key = Field(description="Unique among the entities of its type.", examples=["p1"])


class EntityDetail(EntityReference):
    """What it is about. Whatever has the same category and entity is one line of a digest."""

    title: Line = Field(
        description="One line of plain text, shown as the head of the line; the newest one is.",
        examples=["On digests"],
    )
    url: Url = Field(
        description="Where the line leads: absolute, http or https, percent-encoded.",
        examples=["https://example.com/p1"],
    )


class ActorDetail(Detail):
    """Who made it happen."""

    id: Key = Field(
        description="Your id of them. Where it is a `user_id`, they get no email about what they "
        "did themselves to what they follow.",
        examples=["bo"],
    )
    name: Line = Field(description="As readers see it, in plain text.", examples=["Bo"])


class HappeningDetail(Detail):
    """What events and activities have in common."""

    id: Key = Field(
        description="Your idempotency key: put again, it changes nothing. Unique among "
        "everything that one reader may hear of.",
        examples=["comment-4711", "comment-4712"],
    )
    category: Name = Field(
        description="What kind of happening it is: readers choose how often by category, and "
        "digests group by it.",
        examples=["comment"],
    )
    entity: EntityDetail = Field(
        description="What it is about. Whatever has the same category and entity is one line of "
        "a digest."
    )
    actor: ActorDetail = Field(description="Who made it happen.")
    occurred_at: Instant = Field(
        description="When it happened, by your clock, with the offset from UTC. It is shown in "
        "the reader's time zone, and decides which follows and mutes count: those that held then.",
        examples=["2026-11-21T09:30:00Z"],
    )
    excerpt: Excerpt = Field(
        default="",
        description="A few words of it in plain text, shown below the line.",
        examples=["Well said."],
    )
    amended_at: Annotated[Instant | None, Given] = Field(
        default=None,
        description="When its text was last changed, by your clock. Put the same id again with a "
        "later one to replace what it says, until it is sent. Keep the category.",
        examples=["2026-11-21T09:45:00Z"],
    )


class EventCreated(HappeningDetail, OfSubscriber):
    """Something happened that one subscriber may want to know."""


class EventsCreated(Detail):
    """Several events in one entry; each is taken or refused for itself."""

    events: Annotated[list[EventCreated], Field(min_length=1)] = Field(
        description="As many as fit an entry of PutEvents, for any number of subscribers."
    )


class ActivityCreated(HappeningDetail):
    """Something happened on an entity: for every follower of it or of its parent but the actor."""

    parent: Annotated[EntityReference | None, Given] = Field(
        default=None,
        description="What the entity belongs to, such as the post of a comment: its followers "
        "hear of it too, and nobody twice.",
        examples=[{"type": "blog", "id": "b1"}],
    )


def _say_that_one_is_required(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": ["user_id"]}, {"required": ["entity"]}]


class EventRetracted(Detail):
    """It is withdrawn for good: no email that is not being sent yet will say it.

    Give either `user_id`, for an event that was put for one subscriber, or `entity`, for an
    activity on it.
    """

    model_config = ConfigDict(json_schema_extra=_say_that_one_is_required)

    id: Key = Field(
        description="The id that it was put with, or will be: it never comes back.",
        examples=["comment-4711"],
    )
    user_id: Annotated[UserId | None, Given] = Field(
        default=None, description="The subscriber whom the event was for.", examples=["ann"]
    )
    entity: Annotated[EntityReference | None, Given] = Field(
        default=None, description="The entity that the activity was on."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> "EventRetracted":
        if (self.user_id is None) == (self.entity is None):
            raise ValueError(
                "give either user_id, for an event of one subscriber, or entity, for an activity"
            )
        return self
