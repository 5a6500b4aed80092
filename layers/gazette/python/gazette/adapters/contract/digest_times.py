"""Pydantic models of the times of a subscriber's digests."""

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
from gazette.domain.scheduling.calendar import LONGEST_PAUSE


class WeeklyDetail(Detail):
    """The day of the weekly digest."""

    day: Day = Field(
        default="monday", description="The day of the week, in English.", examples=["friday"]
    )


def _exclude_combinations(schema: dict[str, Any]) -> None:
    schema["dependentSchemas"] = {
        "day_of_month": {"properties": dict.fromkeys(("days", "every_weeks", "starting"), False)}
    }


class CustomDetail(Detail):
    """The days of the custom digest.

    Specify either days of the week (every one to four weeks) or one day of each month.
    """

    model_config = ConfigDict(json_schema_extra=_exclude_combinations)

    days: tuple[Day, ...] = Field(
        default=("monday", "tuesday", "wednesday", "thursday", "friday"),
        min_length=1,
        max_length=7,
        description="The days of the week, in English and in any order. Duplicates have no effect.",
        examples=[["tuesday", "friday"]],
    )
    every_weeks: Weeks = Field(
        default=1,
        description="The interval in weeks: 1 for every week, 2 for every second week, up to 4.",
        examples=[2],
    )
    starting: Annotated[Date | None, Given] = Field(
        default=None,
        description="A date in any week that has a digest. The date has an effect only if "
        "`every_weeks` is above 1. Weeks begin on Monday.",
        examples=["2026-11-23"],
    )
    day_of_month: Annotated[MonthDay | None, Given] = Field(
        default=None,
        description="The day of each month, 1 to 31, instead of days of the week. In shorter "
        "months, the digest is sent on the last day.",
        examples=[31],
    )

    @model_validator(mode="after")
    def _weekdays_or_a_day_of_the_month(self) -> "CustomDetail":
        if self.day_of_month is not None and len(self.model_fields_set) > 1:
            raise ValueError(
                "specify either day_of_month alone, or days with every_weeks and starting"
            )
        return self


class DigestDetail(Detail):
    """The times of a subscriber's digests, in the subscriber's time zone."""

    hour: Hour = Field(
        default=8, description="The hour in the subscriber's time zone, 0 to 23.", examples=[7]
    )
    minute: Annotated[Minute | None, Given] = Field(
        default=None,
        description="The minute, 0 to 59. The default is 0, 10, 20, 30, 40 or 50. A subscriber's "
        "default never changes. Defaults vary between subscribers to spread the load.",
        examples=[30],
    )
    weekly: WeeklyDetail = Field(default=WeeklyDetail(), description="The day of `weekly` digests.")
    custom: CustomDetail = Field(
        default=CustomDetail(),
        description="The days of `custom` digests.",
        examples=[{"days": ["tuesday", "friday"], "every_weeks": 2, "starting": "2026-11-23"}],
    )
    paused_until: Annotated[Date | None, Given] = Field(
        default=None,
        description="Pauses email until this date in the subscriber's time zone, at most 12 weeks "
        "after the date of `changed_at`. Events wait during the pause, and `immediate` events go "
        "into the `daily` digest. A date that is not in the future has no effect.",
        examples=["2026-12-14"],
    )


def _describe_choice(schema: dict[str, Any]) -> None:
    schema["minProperties"] = 1
    schema["dependentRequired"] = {"minute": ["hour"]}
    for each in schema["properties"].values():
        each.pop("default", None)


class ChosenDigestDetail(DigestDetail):
    """The digest times that the reader chose. Times that are not specified do not change."""

    model_config = ConfigDict(json_schema_extra=_describe_choice)

    @model_validator(mode="after")
    def _says_something(self) -> "ChosenDigestDetail":
        if not self.model_fields_set:
            raise ValueError("specify at least one field, or omit digest")
        if self.minute is not None and "hour" not in self.model_fields_set:
            raise ValueError("specify minute together with hour")
        return self


def check_pause(digest: DigestDetail, today: date, since: str) -> None:
    """Raise ValueError for a pause that is longer than the retention of events."""
    last = today + LONGEST_PAUSE
    if digest.paused_until and digest.paused_until > last:
        raise ValueError(
            f"paused_until must be {last} or earlier, 12 weeks after {since}. Specify an earlier "
            f"date, and extend the pause with a later message"
        )
