"""The types of the fields in a detail: the accepted values, and the error messages.

Text must not contain characters that DynamoDB, SQS or an email cannot contain: control characters,
lone surrogates (which pydantic rejects), U+FFFE and U+FFFF.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
"""

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from gazette.domain.hosts import LinkHosts, host_of
from gazette.domain.identity import CATEGORY_NAME, USER_ID
from gazette.domain.scheduling.instants import read_instant
from gazette.domain.scheduling.quiet import (
    HOURS,
    NO_QUIET_HOURS,
    STAGE_QUIET_HOURS,
    check_quiet_hours,
)
from gazette.domain.subscribers.addresses import ADDRESS
from gazette.domain.subscribers.frequency import Frequency


@dataclass(frozen=True, slots=True)
class Shape:
    """A constraint that the whole text must match `pattern`. `rule` is the error message.

    Patterns have the same meaning in Python and ECMA-262, because they are also used in the JSON
    Schema.
    """

    pattern: str
    rule: str
    format: str | None = None

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return a schema that checks the pattern after the type and the length."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Add the pattern and the format to the JSON Schema of the type."""
        also = {"format": self.format} if self.format else {}
        return {**handler(schema), **also, "pattern": f"^{self.pattern}$"}

    def check(self, text: str) -> str:
        """Return `text` if it matches. Raises ValueError."""
        if not re.fullmatch(self.pattern, text):
            raise ValueError(self.rule)
        return text


_NEVER = r"\x7f-\x9f\u2028\u2029\ufffe\uffff"
_LINE = rf"[^\x00-\x1f{_NEVER}]*"
_LINES = rf"(?:\r\n|[^\x00-\x08\x0b-\x1f{_NEVER}])*"
_HOST = r"[A-Za-z0-9\[][!$-.0-;=A-\[\]-~]*"
_HTTPS_URL = rf"https://{_HOST}(?:[/?#][!#-;=?-\[\]-~]*)?"
_URL = _HTTPS_URL.replace("https", "https?", 1)
_ZONE = r"(?!Factory$)[A-Z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*"
_LOCALE = r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*"
_DATE = r"(?:199[0-9]|2[01][0-9]{2})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_HOUR_AND_MINUTE = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_SECOND = r"(?:[0-5][0-9]|60)(?:\.[0-9]{1,30})?"
_INSTANT = rf"{_DATE}[Tt]{_HOUR_AND_MINUTE}:{_SECOND}(?:[Zz]|[+-]{_HOUR_AND_MINUTE})"
"""The pattern of an instant (RFC 3339, section 5.6), limited to the years 1990 to 2199. A space
instead of `T`, which the RFC leaves to applications, is rejected, because JSON Schema's `date-time`
does not allow it."""


def _known_zone(name: str) -> str:
    """Return the name of a known time zone. Raises ValueError.

    The pattern rejects `localtime`, which differs between machines.
    """
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(_TIME_ZONE.rule) from None


def _timestamp(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError(_TIMESTAMP.rule)  # noqa: TRY004 -- pydantic reports ValueErrors
    try:
        return read_instant(_TIMESTAMP.check(value))
    except ValueError:
        raise ValueError(_TIMESTAMP.rule) from None


def _date(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(_DAY.rule)  # noqa: TRY004 -- pydantic reports ValueErrors
    return _DAY.check(value)


def _whole(value: object) -> object:
    """Convert a whole float to an integer, because JSON treats 8.0 as 8 (JSON Schema, validation,
    6.1.1).
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _given(value: object) -> object:
    if value is None:
        raise ValueError("must not be null; omit the field instead")
    return value


_SHOWN_OF_A_HOST = 100
"""The number of trailing characters of a host name to show in errors. The end of a host name
identifies the owner.
"""


def _leads_to_the_hosts(url: str, info: ValidationInfo) -> str:
    """Return the URL if it points to an allowed host. Raises ValueError.

    The validation context contains the allowed hosts; without it, every host is allowed.
    """
    if not isinstance(info.context, LinkHosts) or info.context.allow(url):
        return url
    host = host_of(url)
    ending = host if len(host) <= _SHOWN_OF_A_HOST else f"…{host[-_SHOWN_OF_A_HOST:]}"
    raise ValueError(f"must not point to {ending}, which is not in the stage's setting link_hosts")


def _long_enough_apart(hours: str) -> str:
    """Return quiet hours that leave an hour of the day. Raises ValueError."""
    check_quiet_hours(hours)
    return hours


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n")


_ONE_LINE = Shape(_LINE, "must be one line without control characters")
_TIME_ZONE = Shape(_ZONE, "must be an IANA time zone, such as Europe/Berlin")
_TIMESTAMP = Shape(
    _INSTANT,
    "must be a time with its offset from UTC, in a year from 1990 to 2199, such as "
    "2026-11-21T09:30:00Z (RFC 3339)",
)

_DAY = Shape(_DATE, "must be a date in a year from 1990 to 2199, such as 2026-11-23")

LINES = Shape(_LINES, "must not contain control characters")
"""The pattern of multi-line text."""

Given = BeforeValidator(_given)
"""A validator that rejects null in an optional field whose default is None."""

UserId = Annotated[
    str, Shape(USER_ID.pattern, "must be 1 to 64 printable ASCII characters without spaces")
]
"""1 to 64 printable ASCII characters without spaces."""

Key = Annotated[str, StringConstraints(min_length=1, max_length=128), _ONE_LINE]
"""1 to 128 characters on one line."""

_OF_A_SOURCE = r"recommendations[:#]"
"""The pattern of event ids that are reserved for content sources (`domain/content/items.py`)."""


def _of_a_service(event_id: str) -> str:
    if re.match(_OF_A_SOURCE, event_id):
        raise ValueError(
            "must not begin with recommendations: or recommendations#, which are reserved for "
            "items of a recommendation service"
        )
    return event_id


EventId = Annotated[
    Key,
    AfterValidator(_of_a_service),
    Field(json_schema_extra={"not": {"pattern": f"^{_OF_A_SOURCE}"}}),
]
"""A Key that is not reserved for items of a content source."""

Name = Annotated[
    str, Shape(CATEGORY_NAME.pattern, "must be 1 to 32 of a-z, 0-9 and _, and begin with a letter")
]
"""A lower-case identifier of up to 32 characters."""

Line = Annotated[str, StringConstraints(min_length=1, max_length=200), _ONE_LINE]
"""1 to 200 characters on one line."""

Url = Annotated[
    str,
    StringConstraints(max_length=1000),
    Shape(
        _URL,
        "must be an absolute http or https URL without a user name, other characters "
        "percent-encoded (RFC 3986)",
        "uri",
    ),
    AfterValidator(_leads_to_the_hosts),
]
"""An absolute http or https URL of up to 1,000 characters.

If the validation context is `LinkHosts`, the URL must point to one of them. `@` and backslashes are
rejected. Readers may mistake the text before an `@` for the host, and browsers, unlike other
parsers, end the host at a backslash (https://url.spec.whatwg.org/#authority-state)."""

_HttpsUrl = Annotated[
    str,
    StringConstraints(max_length=1000),
    Shape(
        _HTTPS_URL,
        "must be an absolute https URL without a user name, other characters percent-encoded "
        "(RFC 3986)",
        "uri",
    ),
]

SecureUrl = Annotated[_HttpsUrl, AfterValidator(_leads_to_the_hosts)]
"""An absolute https URL of up to 1,000 characters, restricted to the same hosts as a Url."""

ImageUrl = _HttpsUrl
"""An absolute https URL of up to 1,000 characters. Any host is allowed, because readers do not
follow image URLs.

Mail programs reject or rewrite http URLs."""

Excerpt = Annotated[
    str,
    StringConstraints(max_length=500),
    LINES,
    AfterValidator(_unix_lines),
]
"""Text of up to 500 characters, in which line breaks and tabs are allowed."""

Instant = Annotated[
    AwareDatetime,
    BeforeValidator(_timestamp),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": f"^{_INSTANT}$"}),
]
"""An instant with its offset from UTC (RFC 3339), converted to UTC.

`T` and `Z` may be lower-case, `-00:00` means UTC, and fractions are truncated to microseconds. A
leap second counts as the second after it. Hour 24 is rejected (RFC 3339, section 5.7).
"""

Date = Annotated[
    date,
    BeforeValidator(_date),
    WithJsonSchema({"type": "string", "format": "date", "pattern": f"^{_DATE}$"}),
]
"""A date without a time (RFC 3339, full-date)."""

Address = Annotated[
    str,
    StringConstraints(max_length=254),
    Shape(
        ADDRESS.pattern,
        "must be one email address in ASCII, such as reader@mail.example (domains in Punycode)",
        "email",
    ),
]
"""One mailbox in ASCII, without a display name."""

TimeZone = Annotated[str, StringConstraints(max_length=64), _TIME_ZONE, AfterValidator(_known_zone)]
"""A name of the IANA time zone database."""

Locale = Annotated[
    str,
    StringConstraints(max_length=35),
    Shape(_LOCALE, "must be a language tag, such as en or pt-BR (BCP 47)"),
]
"""A language tag, such as `en` or `pt-BR` (BCP 47)."""

Hour = Annotated[int, Field(strict=True, ge=0, le=23), BeforeValidator(_whole)]
Minute = Annotated[int, Field(strict=True, ge=0, le=59), BeforeValidator(_whole)]
MonthDay = Annotated[int, Field(strict=True, ge=1, le=31), BeforeValidator(_whole)]
Weeks = Annotated[int, Field(strict=True, ge=1, le=4), BeforeValidator(_whole)]
Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

Frequencies = Annotated[
    dict[Name, Frequency],
    Field(max_length=100, json_schema_extra={"additionalProperties": False}),
]
"""The frequencies that a subscriber chose, by category."""

QuietHours = Annotated[
    str,
    Shape(
        rf"(?:{HOURS}|{NO_QUIET_HOURS}|{STAGE_QUIET_HOURS})",
        "must be two times of day, such as 22:00-07:00, or none, or default",
    ),
    AfterValidator(_long_enough_apart),
]
"""Two different times of day, such as `22:00-07:00`, or `none`, or `default`."""

FrequencyOrDefault = Literal["never", "immediate", "daily", "weekly", "custom", "default"]
"""An enum of `default` and all frequencies, so that an error message lists all allowed values."""

ChosenFrequencies = Annotated[
    dict[Name, FrequencyOrDefault],
    Field(max_length=100, json_schema_extra={"additionalProperties": False}),
]
"""The frequencies that a reader chose, by category. `default` removes an earlier choice."""
