"""The details about a subscriber: profile, choices, activity, erasure and follows."""

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
    Given,
    Instant,
    Line,
    Locale,
    TimeZone,
    Wishes,
)
from gazette.domain.subscribers.frequency import Frequency


class SubscriberChanged(OfSubscriber):
    """The whole profile: what is left out has its default. The latest `changed_at` wins."""

    email: Address = Field(
        description="Where email goes: one address in ASCII, domains in Punycode, no display name.",
        examples=["ann@example.com"],
    )
    name: Line = Field(
        description="How the reader is greeted: one line of plain text.", examples=["Ann"]
    )
    time_zone: TimeZone = Field(
        description="The IANA time zone that hours are meant in, and times are shown in.",
        examples=["Europe/Berlin"],
    )
    locale: Locale = Field(
        default="en", description="The reader's language (BCP 47).", examples=["en"]
    )
    changed_at: Instant = Field(
        description="When the profile changed, by your clock, with the offset from UTC. It decides "
        "which of two profiles came last; more than an hour ahead of now is refused.",
        examples=["2026-11-21T09:00:00Z"],
    )
    digest: DigestDetail = Field(
        default=DigestDetail(),
        description="When digests are wanted, on the subscriber's own clock.",
    )
    frequencies: Wishes = Field(
        default_factory=dict,
        description="How often, by category. A category that is not named has the installation's "
        "default, else `daily`.",
        examples=[{"mention": "immediate", "like": "weekly", "article": "never"}],
    )

    @field_validator("digest")
    @classmethod
    def _paused_for_what_events_are_kept(
        cls, digest: DigestDetail, others: ValidationInfo
    ) -> DigestDetail:
        """Where the fields that it is compared with are wrong, those are reported."""
        changed_at, time_zone = others.data.get("changed_at"), others.data.get("time_zone")
        if changed_at and time_zone:
            today = changed_at.astimezone(ZoneInfo(time_zone)).date()
            check_pause(digest, today, "changed_at")
        return digest


CHOSEN = ("frequency", "frequencies", "time_zone", "digest")
"""Of these, a choice gives at least one."""


def _say_that_something_is_chosen(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"required": [name]} for name in CHOSEN]


class PreferencesChosen(OfSubscriber):
    """What the reader chose themself, here or with you: only what is given changes.

    It counts until the reader chooses something else, or you put a profile with a later
    `changed_at` that says something else of the same field than you did before.
    """

    model_config = ConfigDict(json_schema_extra=_say_that_something_is_chosen)

    chosen_at: Instant = Field(
        description="When they chose, by your clock, with the offset from UTC. The latest choice "
        "of a field wins; more than an hour ahead of now is refused.",
        examples=["2026-11-21T09:00:00Z"],
    )
    frequency: Annotated[Frequency | None, Given] = Field(
        default=None,
        description="How often everything comes that has no entry in `frequencies`, whatever the "
        "installation's defaults.",
        examples=["weekly"],
    )
    frequencies: Annotated[Wishes | None, Given] = Field(
        default=None,
        description="How often, by category. Categories that are not named have no choice of "
        "their own any more.",
        examples=[{"mention": "immediate", "article": "never"}],
    )
    time_zone: Annotated[TimeZone | None, Given] = Field(
        default=None,
        description="The IANA time zone that hours are meant in, and times are shown in.",
        examples=["Europe/Berlin"],
    )
    digest: Annotated[ChosenDigestDetail | None, Given] = Field(
        default=None,
        description="When digests are wanted. Of it, too, only what is given changes: `hour` with "
        "its `minute`, `weekly`, `custom`, `paused_until`. A date that has come lifts a pause; "
        "one that is to come is at most 12 weeks after that of `chosen_at`.",
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
        """Where no time zone is given, by the clocks that are furthest ahead: UTC+14."""
        chosen_at, time_zone = others.data.get("chosen_at"), others.data.get("time_zone")
        if chosen_at:
            zone = ZoneInfo(time_zone) if time_zone else timezone(timedelta(hours=14))
            check_pause(digest, chosen_at.astimezone(zone).date(), "chosen_at")
        return digest


class SubscriberActive(OfSubscriber):
    """A sign of life: a visit, a login."""

    active_at: Instant = Field(
        description="When it was, by your clock, with the offset from UTC.",
        examples=["2026-11-21T09:00:00Z"],
    )


class SubscriberDeleted(OfSubscriber):
    """Erasure: profile, schedules, follows and events go, and later ones are refused."""

    deleted_at: Instant = Field(
        description="When it was asked for, by your clock, with the offset from UTC: a profile "
        "that changed later is kept.",
        examples=["2026-11-21T10:00:00Z"],
    )


class FollowChange(OfSubscriber):
    """A follow that begins, changes or ends."""

    entity: EntityReference = Field(description="What is followed.")
    changed_at: Instant = Field(
        description="When that changed, by your clock, with the offset from UTC: activities go to "
        "those who followed when they occurred, and still do.",
        examples=["2026-11-21T09:00:00Z"],
    )


class FollowedDetail(EntityReference):
    """Names what is followed, and says what it is called."""

    title: Annotated[Line | None, Given] = Field(
        default=None,
        description="One line of plain text: what readers see where they change what they follow. "
        "Left out, they see what was given before, else type and id.",
        examples=["On digests"],
    )


class FollowCreated(FollowChange):
    """The subscriber follows the entity, or wants it at another frequency, from then on."""

    entity: FollowedDetail = Field(description="What is followed.")

    frequency: Annotated[Frequency | None, Given] = Field(
        default=None,
        description="How often, whatever the category; left out, the category decides. `never` "
        "mutes the entity.",
        examples=["immediate"],
    )


class FollowDeleted(FollowChange):
    """The subscriber no longer follows the entity; what waits for an email is taken back."""
