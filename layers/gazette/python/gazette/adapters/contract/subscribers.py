"""Pydantic models of details about subscribers: profile, choices, activity, erasure and follows."""

from datetime import timedelta, timezone
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from gazette.adapters.contract.details import Detail, EntityReference, OfSubscriber
from gazette.adapters.contract.digest_times import (
    ChosenDigestDetail,
    DigestDetail,
    check_pause,
)
from gazette.adapters.contract.fields import (
    Address,
    ChosenFrequencies,
    Date,
    Frequencies,
    FrequencyOrDefault,
    Given,
    Instant,
    Line,
    Locale,
    QuietHours,
    TimeZone,
)
from gazette.domain.muting.mutes import LONGEST_TITLE, MOST_MUTED
from gazette.domain.subscribers.frequency import Frequency

MOST_IN_A_LIST = 100
"""The maximum number of profiles, follows or visits in a list, so that a list fits one message's
share of an invocation."""


class SubscriberChanged(OfSubscriber):
    """The whole profile of a subscriber. Missing fields get their defaults.

    The profile with the latest `changed_at` wins.
    """

    email: Address = Field(
        description="One email address in ASCII, without a display name. International domains "
        "must be in Punycode.",
        examples=["ann@example.com"],
    )
    name: Line = Field(
        description="The name used to greet the reader in emails: one line of plain text.",
        examples=["Ann"],
    )
    time_zone: TimeZone = Field(
        description="The IANA time zone of the subscriber's hours, and of the times in emails.",
        examples=["Europe/Berlin"],
    )
    locale: Locale = Field(
        default="en", description="The reader's language (BCP 47).", examples=["en"]
    )
    changed_at: Instant = Field(
        description="The time of the change, by your clock, with the offset from UTC. The profile "
        "with the latest time wins. A time more than an hour in the future is rejected.",
        examples=["2026-11-21T09:00:00Z"],
    )
    digest: DigestDetail = Field(
        default=DigestDetail(),
        description="The schedule of digests, in the subscriber's time zone.",
    )
    frequencies: Frequencies = Field(
        default_factory=dict,
        description="The frequency of each category. Categories that are not listed use the "
        "installation's default, or `daily`.",
        examples=[{"mention": "immediate", "like": "weekly", "article": "never"}],
    )
    quiet_hours: QuietHours = Field(
        default="default",
        description="The hours in which the subscriber gets no immediate emails, in the "
        "subscriber's time zone. The emails wait until the end of the hours, which must leave at "
        "least an hour of the day. Critical emails do not wait. `none`: no quiet hours. "
        "`default`: the installation's quiet hours.",
        examples=["22:00-07:00"],
    )
    active_on: Annotated[Date | None, Given] = Field(
        default=None,
        description="The date of the subscriber's last activity, for readers whom you import. "
        "Used only if the profile registers the subscriber: the reader then becomes dormant as if "
        "registered on this date. The default is the day of registration.",
        examples=["2026-11-02"],
    )

    @field_validator("digest")
    @classmethod
    def _paused_for_what_events_are_kept(
        cls, digest: DigestDetail, others: ValidationInfo
    ) -> DigestDetail:
        """Check that the pause does not exceed the retention of events.

        Skipped if `changed_at` or `time_zone` is invalid, because those errors are already
        reported.
        """
        changed_at, time_zone = others.data.get("changed_at"), others.data.get("time_zone")
        if changed_at and time_zone:
            today = changed_at.astimezone(ZoneInfo(time_zone)).date()
            check_pause(digest, today, "changed_at")
        return digest


class SubscribersChanged(Detail):
    """Several profiles in one entry. Each profile is accepted or rejected separately."""

    subscribers: Annotated[
        list[SubscriberChanged], Field(min_length=1, max_length=MOST_IN_A_LIST)
    ] = Field(description="The profiles, one for each subscriber.")


CHOSEN = ("frequency", "frequencies", "time_zone", "quiet_hours", "digest", "mute", "unmute")
"""The fields that a choice may set. At least one field is required."""


def _require_a_choice(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"required": [name]} for name in CHOSEN]


class MutedDetail(EntityReference):
    """The identity of a muted entity, and its title."""

    title: Annotated[Line | None, Given] = Field(
        default=None,
        description="The entity's title on the preference page: one line of plain text. Gazette "
        f"stores the first {LONGEST_TITLE} characters. The default is the entity's type and id.",
        examples=["On digests"],
    )


class Choices(Detail):
    """The fields of a reader's choice. The API has the same fields as the event."""

    chosen_at: Instant = Field(
        description="The time of the choice, by your clock, with the offset from UTC. The latest "
        "choice for a field wins. A time more than an hour in the future is rejected.",
        examples=["2026-11-21T09:00:00Z"],
    )
    frequency: Annotated[FrequencyOrDefault | None, Given] = Field(
        default=None,
        description="The frequency of every category that is not in `frequencies`. This frequency "
        "overrides the installation's defaults. `default` withdraws an earlier choice.",
        examples=["weekly"],
    )
    frequencies: Annotated[ChosenFrequencies | None, Given] = Field(
        default=None,
        description="The frequency of each specified category. Categories that are not specified "
        "do not change. `default` withdraws an earlier choice.",
        examples=[{"mention": "immediate", "article": "never", "like": "default"}],
    )
    time_zone: Annotated[TimeZone | None, Given] = Field(
        default=None,
        description="The IANA time zone of the subscriber's hours, and of the times in emails.",
        examples=["Europe/Berlin"],
    )
    quiet_hours: Annotated[QuietHours | None, Given] = Field(
        default=None,
        description="The hours in which the subscriber gets no immediate emails, in the "
        "subscriber's time zone. They must leave at least an hour of the day. `none`: no quiet "
        "hours. `default`: the installation's quiet hours.",
        examples=["22:00-07:00"],
    )
    digest: Annotated[ChosenDigestDetail | None, Given] = Field(
        default=None,
        description="The schedule of digests. Only the specified fields change, but `hour` and "
        "`minute` change together. `paused_until` may be at most 12 weeks after the date of "
        "`chosen_at`. A date that is not in the future ends a pause.",
    )
    mute: Annotated[
        Annotated[list[MutedDetail], Field(min_length=1, max_length=MOST_MUTED)] | None, Given
    ] = Field(
        default=None,
        description="Entities about which the subscriber gets no more email, whatever the category "
        "of an event and whether it is addressed to the subscriber or comes from a follow. A "
        f"subscriber can mute {MOST_MUTED} entities. Critical categories are exempt.",
        examples=[[{"type": "post", "id": "p1", "title": "On digests"}]],
    )
    unmute: Annotated[
        Annotated[list[EntityReference], Field(min_length=1, max_length=MOST_MUTED)] | None, Given
    ] = Field(
        default=None,
        description="Entities whose mute ends. Of several changes of an entity, the latest "
        "`chosen_at` counts.",
        examples=[[{"type": "post", "id": "p2"}]],
    )

    @model_validator(mode="after")
    def _chooses_something(self) -> "Choices":
        if not self.model_fields_set & {*CHOSEN}:
            raise ValueError(f"specify at least one of {', '.join(CHOSEN)}")
        return self

    @field_validator("digest")
    @classmethod
    def _paused_for_what_events_are_kept(
        cls, digest: ChosenDigestDetail, others: ValidationInfo
    ) -> ChosenDigestDetail:
        """Check that the pause does not exceed the retention of events. Without a time zone, use
        UTC+14, where dates change first.
        """
        chosen_at, time_zone = others.data.get("chosen_at"), others.data.get("time_zone")
        if chosen_at:
            zone = ZoneInfo(time_zone) if time_zone else timezone(timedelta(hours=14))
            check_pause(digest, chosen_at.astimezone(zone).date(), "chosen_at")
        return digest


class PreferencesChosen(Choices, OfSubscriber):
    """A reader's choice, made on the preference page or in your product.

    Only the specified fields change.

    Each category in `frequencies` counts as a separate field. A choice applies until the reader
    chooses again, or until a profile with a later `changed_at` changes the field. A profile changes
    a field if the field's value differs from your previous profile. Omitting a category from a
    profile does not change the field.
    """

    model_config = ConfigDict(json_schema_extra=_require_a_choice)


class SubscriberActive(OfSubscriber):
    """Activity of the subscriber in your product, such as a visit or a login."""

    active_at: Instant = Field(
        description="The time of the action by your clock, with its UTC offset.",
        examples=["2026-11-21T09:00:00Z"],
    )


class EntitySeen(OfSubscriber):
    """A visit of the subscriber to an entity, in your product or elsewhere.

    Emails leave out the entity's events up to `seen_at`, unless they are critical. Later events are
    sent. The message also counts as activity of the subscriber.
    """

    entity: EntityReference = Field(
        description="The entity that the subscriber saw. Use the type and the id of the entity in "
        "your events. Events about other entities are not left out, even if they have this entity "
        "as their parent."
    )
    seen_at: Instant = Field(
        description="The time up to which the subscriber has seen the entity's events, by your "
        "clock, with the offset from UTC. The latest time wins. A time more than an hour in the "
        "future is rejected.",
        examples=["2026-11-21T09:40:00Z"],
    )


class EntitiesSeen(Detail):
    """Several visits in one entry. Each visit is accepted or rejected separately."""

    seen: Annotated[list[EntitySeen], Field(min_length=1, max_length=MOST_IN_A_LIST)] = Field(
        description="The visits, of any number of subscribers."
    )


class SubscriberDeleted(OfSubscriber):
    """The erasure of a subscriber's profile, schedules, follows and events.

    Later events are rejected.
    """

    deleted_at: Instant = Field(
        description="The time of the erasure request, by your clock, with the offset from UTC. A "
        "profile with a later `changed_at` is kept.",
        examples=["2026-11-21T10:00:00Z"],
    )


class FollowChange(OfSubscriber):
    """The start, change or end of a follow."""

    entity: EntityReference = Field(description="The followed entity.")
    changed_at: Instant = Field(
        description="The time of the change, by your clock, with the offset from UTC. A subscriber "
        "receives an activity if the subscriber followed the entity when the activity "
        "occurred, and still follows the entity.",
        examples=["2026-11-21T09:00:00Z"],
    )


class FollowedDetail(EntityReference):
    """The identity of the followed entity, and its title."""

    title: Annotated[Line | None, Given] = Field(
        default=None,
        description="The entity's title on the preference page: one line of plain text. The "
        "default is the previous title, or the entity's type and id.",
        examples=["On digests"],
    )


class FollowCreated(FollowChange):
    """The start of a follow, or a change of the follow's frequency. The message takes effect at
    `changed_at`.
    """

    entity: FollowedDetail = Field(description="The followed entity.")

    frequency: Annotated[Frequency | None, Given] = Field(
        default=None,
        description="The frequency for all events on this entity. The default is the frequency of "
        "each event's category. `never` mutes the entity.",
        examples=["immediate"],
    )


class FollowsCreated(Detail):
    """Several follows in one entry. Each follow is accepted or rejected separately."""

    follows: Annotated[list[FollowCreated], Field(min_length=1, max_length=MOST_IN_A_LIST)] = Field(
        description="The follows, of any number of subscribers."
    )


class FollowDeleted(FollowChange):
    """The end of a follow. Unsent events from the follow are withdrawn."""
