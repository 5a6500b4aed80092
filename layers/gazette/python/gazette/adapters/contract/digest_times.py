"""When a subscriber wants digests, as pydantic models."""

from datetime import date
from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from gazette.adapters.contract.details import Detail
from gazette.adapters.contract.fields import (
    Date,
    Day,
    Given,
    Hour,
    Minute,
    MonthDay,
    Weeks,
)
from gazette.domain.scheduling.recurrence import LONGEST_PAUSE


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


def check_pause(digest: DigestDetail, today: date, said_at: str) -> None:
    """Raises ValueError for a pause that is longer than events are kept."""
    last = today + LONGEST_PAUSE
    if digest.paused_until and digest.paused_until > last:
        raise ValueError(
            f"paused_until must be {last} or earlier, 12 weeks after {said_at}: name an "
            "earlier date now, and a later one with a message that is dated later"
        )
