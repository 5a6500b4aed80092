"""The details about subscribers: profile, choices, activity, erasure and follows."""

from datetime import timedelta, timezone
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from gazette.adapters.contract.details import EntityReference, OfSubscriber
from gazette.adapters.contract.digest_times import (
    ChosenDigestDetail,
    DigestDetail,
    check_pause,
)
from gazette.adapters.contract.fields import (
    Address,
    ChosenFrequencies,
    Frequencies,
    FrequencyOrDefault,
    Given,
    Instant,
    Line,
    Locale,
    TimeZone,
)
from gazette.domain.subscribers.frequency import Frequency


class SubscriberChanged(OfSubscriber):
    """The whole profile. Missing fields get their default. The latest `changed_at` wins."""

    email: Address = Field(
        description="One email address in ASCII, domains in Punycode, no display name.",
        examples=["ann@example.com"],
    )
    name: Line = Field(
        description="The name by which emails greet the reader: one line of plain text.",
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
        description="The time of the profile's change, by your clock, with the offset from UTC. "
        "The latest profile wins. More than an hour in the future is rejected.",
        examples=["2026-11-21T09:00:00Z"],
    )
    digest: DigestDetail = Field(
        default=DigestDetail(),
        description="The times of digests, in the subscriber's time zone.",
    )
    frequencies: Frequencies = Field(
        default_factory=dict,
        description="The frequency of each category. A category that is not named has the "
        "installation's default, or `daily`.",
        examples=[{"mention": "immediate", "like": "weekly", "article": "never"}],
    )

    @field_validator("digest")
    @classmethod
    def _paused_for_what_events_are_kept(
        cls, digest: DigestDetail, others: ValidationInfo
    ) -> DigestDetail:
        """Check the pause.

        Skipped if `changed_at` or `time_zone` is invalid; their errors are reported.
        """
        changed_at, time_zone = others.data.get("changed_at"), others.data.get("time_zone")
        if changed_at and time_zone:
            today = changed_at.astimezone(ZoneInfo(time_zone)).date()
            check_pause(digest, today, "changed_at")
        return digest


CHOSEN = ("frequency", "frequencies", "time_zone", "digest")
"""The fields of a choice, which needs at least one of them."""


def _require_a_choice(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"required": [name]} for name in CHOSEN]


class PreferencesChosen(OfSubscriber):
    """The reader's choice, on the preference page or in your product. Only the given fields change.

    Each category in `frequencies` is a field of its own. A choice applies until the reader chooses
    again, or until you publish a profile with a later `changed_at` in which the value of that field
    differs from that of your last profile. A category that your profile does not name is not a
    different value.
    """

    model_config = ConfigDict(json_schema_extra=_require_a_choice)

    chosen_at: Instant = Field(
        description="The time of the choice, by your clock, with the offset from UTC. The latest "
        "choice of a field wins. More than an hour in the future is rejected.",
        examples=["2026-11-21T09:00:00Z"],
    )
    frequency: Annotated[FrequencyOrDefault | None, Given] = Field(
        default=None,
        description="The frequency of every category that is not in `frequencies`, whatever the "
        "installation's defaults; `default` withdraws an earlier choice.",
        examples=["weekly"],
    )
    frequencies: Annotated[ChosenFrequencies | None, Given] = Field(
        default=None,
        description="The frequency of each given category. Only the given categories change; "
        "`default` withdraws an earlier choice.",
        examples=[{"mention": "immediate", "article": "never", "like": "default"}],
    )
    time_zone: Annotated[TimeZone | None, Given] = Field(
        default=None,
        description="The IANA time zone of the subscriber's hours, and of the times in emails.",
        examples=["Europe/Berlin"],
    )
    digest: Annotated[ChosenDigestDetail | None, Given] = Field(
        default=None,
        description="The times of digests. Only the given fields change: `hour` with its `minute`, "
        "`weekly`, `custom`, `paused_until`. A `paused_until` that is not in the future ends a "
        "pause; it may be at most 12 weeks after the date of `chosen_at`.",
    )

    @model_validator(mode="after")
    def _chooses_something(self) -> "PreferencesChosen":
        if not self.model_fields_set & {*CHOSEN}:
            raise ValueError(f"give at least one of {', '.join(CHOSEN)}")
        return self

    @field_validator("digest")
    @classmethod
    def _paused_for_what_events_are_kept(
        cls, digest: ChosenDigestDetail, others: ValidationInfo
    ) -> ChosenDigestDetail:
        """Check the pause. Without a time zone, use UTC+14, where the date changes first."""
        chosen_at, time_zone = others.data.get("chosen_at"), others.data.get("time_zone")
        if chosen_at:
            zone = ZoneInfo(time_zone) if time_zone else timezone(timedelta(hours=14))
            check_pause(digest, chosen_at.astimezone(zone).date(), "chosen_at")
        return digest


class SubscriberActive(OfSubscriber):
    """An activity of the subscriber, such as a visit or a login."""

    active_at: Instant = Field(
        description="The time of the activity, by your clock, with the offset from UTC.",
        examples=["2026-11-21T09:00:00Z"],
    )


class SubscriberDeleted(OfSubscriber):
    """The erasure of profile, schedules, follows and events. Later events are rejected."""

    deleted_at: Instant = Field(
        description="The time of the request for erasure, by your clock, with the offset from "
        "UTC. A profile that changed later is kept.",
        examples=["2026-11-21T10:00:00Z"],
    )


class FollowChange(OfSubscriber):
    """The start, change or end of a follow."""

    entity: EntityReference = Field(description="The followed entity.")
    changed_at: Instant = Field(
        description="The time of the follow's change, by your clock, with the offset from UTC. An "
        "activity goes to subscribers who followed the entity when it occurred, and still do.",
        examples=["2026-11-21T09:00:00Z"],
    )


class FollowedDetail(EntityReference):
    """The identity of the followed entity, and its title."""

    title: Annotated[Line | None, Given] = Field(
        default=None,
        description="One line of plain text, shown on the preference page. By default the title "
        "given before, or type and id.",
        examples=["On digests"],
    )


class FollowCreated(FollowChange):
    """The start of a follow, or a change of its frequency. It applies from `changed_at` on."""

    entity: FollowedDetail = Field(description="The followed entity.")

    frequency: Annotated[Frequency | None, Given] = Field(
        default=None,
        description="The frequency, whatever the category. By default the category decides. "
        "`never` mutes the entity.",
        examples=["immediate"],
    )


class FollowDeleted(FollowChange):
    """The end of a follow. Its waiting events are withdrawn."""
