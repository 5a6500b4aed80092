"""The details of who reads and what they want, as pydantic models."""

from datetime import date, timedelta, timezone
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from gazette.adapters.contract.details import Detail, EntityReference, OfSubscriber
from gazette.adapters.contract.fields import (
    Address,
    Date,
    Day,
    Given,
    Hour,
    Instant,
    Line,
    Locale,
    Minute,
    MonthDay,
    TimeZone,
    Weeks,
    Wishes,
)
from gazette.domain.scheduling.recurrence import LONGEST_PAUSE
from gazette.domain.subscribers.frequency import Frequency


class WeeklyDetail(Detail):
    """When the weekly digest is wanted."""

    day: Day = Field(
        default="monday", description="The day of the week, in English.", examples=["friday"]
    )


def _say_what_does_not_go_together(schema: dict[str, Any]) -> None:
    schema["dependentSchemas"] = {
        "day_of_month": {"properties": dict.fromkeys(("days", "every_weeks", "starting"), False)}
    }


class CustomDetail(Detail):
    """On which days the digest on certain days is wanted.

    Days of the week, in every week or every few weeks; or one day of each month.
    """

    model_config = ConfigDict(json_schema_extra=_say_what_does_not_go_together)

    days: tuple[Day, ...] = Field(
        default=("monday", "tuesday", "wednesday", "thursday", "friday"),
        min_length=1,
        max_length=7,
        description="Days of the week, in English, in any order; naming one twice changes nothing.",
        examples=[["tuesday", "friday"]],
    )
    every_weeks: Weeks = Field(
        default=1, description="1 for every week, 2 for every second one, up to 4.", examples=[2]
    )
    starting: Annotated[Date | None, Given] = Field(
        default=None,
        description="A date in one of the weeks that count, where not every one does; weeks "
        "begin on Monday.",
        examples=["2026-11-23"],
    )
    day_of_month: Annotated[MonthDay | None, Given] = Field(
        default=None,
        description="The day of each month instead, 1 to 31; in a month that is shorter, its "
        "last day.",
        examples=[31],
    )

    @model_validator(mode="after")
    def _weekdays_or_a_day_of_the_month(self) -> "CustomDetail":
        if self.day_of_month is not None and len(self.model_fields_set) > 1:
            raise ValueError(
                "give either day_of_month alone, or days with every_weeks and starting"
            )
        return self


class DigestDetail(Detail):
    """When digests are wanted, on the subscriber's own clock."""

    hour: Hour = Field(
        default=8, description="The hour in the subscriber's time zone, 0 to 23.", examples=[7]
    )
    minute: Annotated[Minute | None, Given] = Field(
        default=None,
        description="The minute, 0 to 59. Left out, it is 0, 10, 20, 30, 40 or 50, always the "
        "same for a subscriber: so not everybody's digest is made at once.",
        examples=[30],
    )
    weekly: WeeklyDetail = Field(
        default=WeeklyDetail(), description="For what is wanted at the frequency `weekly`."
    )
    custom: CustomDetail = Field(
        default=CustomDetail(),
        description="For what is wanted at the frequency `custom`.",
        examples=[{"days": ["tuesday", "friday"], "every_weeks": 2, "starting": "2026-11-23"}],
    )
    paused_until: Annotated[Date | None, Given] = Field(
        default=None,
        description="For a pause: the first date, in the subscriber's time zone, on which email is "
        "wanted again, up to 12 weeks after that of `changed_at`. What comes meanwhile waits, and "
        "what is `immediate` is in the `daily` digest. A date that has come is no pause.",
        examples=["2026-12-14"],
    )


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
            _check_pause(digest, today, "changed_at")
        return digest


def _check_pause(digest: DigestDetail, today: date, said_at: str) -> None:
    last = today + LONGEST_PAUSE
    if digest.paused_until and digest.paused_until > last:
        raise ValueError(
            f"paused_until must be {last} or earlier, 12 weeks after {said_at}: name an "
            "earlier date now, and a later one with a message that is dated later"
        )


def _say_what_a_choice_of_times_gives(schema: dict[str, Any]) -> None:
    schema["minProperties"] = 1
    schema["dependentRequired"] = {"minute": ["hour"]}
    for each in schema["properties"].values():
        each.pop("default", None)


class ChosenDigestDetail(DigestDetail):
    """When the reader chose to have digests: what is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra=_say_what_a_choice_of_times_gives)

    @model_validator(mode="after")
    def _says_something(self) -> "ChosenDigestDetail":
        if not self.model_fields_set:
            raise ValueError("give at least one field, or leave digest out")
        if self.minute is not None and "hour" not in self.model_fields_set:
            raise ValueError("give minute together with hour")
        return self


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
            _check_pause(digest, chosen_at.astimezone(zone).date(), "chosen_at")
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
