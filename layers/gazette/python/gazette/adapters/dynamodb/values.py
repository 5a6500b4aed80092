"""Conversion between fields of the domain and attributes of a row, and validation of stored values.

All stored values that are used in calculations are validated (decision 90). The functions raise
ValueError. Unknown names, such as a status of a newer version, are not validated here, but read
unchanged (domain/stored.py).
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from math import isfinite
from typing import Any, Final, NamedTuple

from pynamodb.attributes import Attribute, NumberAttribute, TTLAttribute
from pynamodb.constants import STRING
from pynamodb.models import Model

from gazette.domain.scheduling.calendar import Days

_FIRST, _LAST = 1800, 9000
"""The supported range of years. It is wider than the contract's 1990 to 2199, so that any time zone
offset, pause or lifetime can be added.
"""

LAST_SECOND = datetime(_LAST, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
"""The last instant of the supported years, in seconds since 1970."""

_SLOWEST, _FASTEST = 0.001, 1_000_000.0

MANY = 10**15
"""The maximum of every stored count."""


def whole(value: object, least: int = 0, most: int = MANY) -> int:
    """Return `value` as an integer if it is a whole number from `least` to `most`."""
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_whole:
        raise ValueError("not a whole number")
    number: int = int(value)  # type: ignore[call-overload] # a number, as checked above
    if not least <= number <= most:
        raise ValueError(f"not from {least} to {most}")
    return number


def number(value: object) -> float:
    """Return `value` if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError("not a finite number")
    return value


def rate(value: object) -> float:
    """Return `value` if it is a valid rate in emails per second."""
    per_second = number(value)
    if not _SLOWEST <= per_second <= _FASTEST:
        raise ValueError("not a rate of emails per second")
    return per_second


def text(value: object) -> str:
    """Return `value` if it is a string, which may be empty."""
    if not isinstance(value, str):
        raise ValueError("not a text")  # noqa: TRY004 -- one error for all malformed values
    return value


def texts(values: object) -> tuple[str, ...]:
    """Return the strings in `values` if it is a list of strings."""
    if not isinstance(values, list):
        raise ValueError("not a list")  # noqa: TRY004 -- one error for all malformed values
    return tuple(text(each) for each in values)


def truth(value: object) -> bool:
    """Return `value` if it is a boolean."""
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")  # noqa: TRY004 -- one error for all malformed values
    return value


def in_years(instant: datetime) -> datetime:
    """Return the instant if its year is within the supported range."""
    if not _FIRST <= instant.year <= _LAST:
        raise ValueError("not an instant in the supported years")
    return instant


def instant(value: object) -> datetime:
    """Parse an ISO 8601 date and time that has an offset, and whose year is within the supported
    range."""
    at = datetime.fromisoformat(text(value))
    if at.tzinfo is None:
        raise ValueError("not an instant with an offset")
    return in_years(at)


def day(value: object) -> date:
    """Parse an ISO 8601 date whose year is within the supported range."""
    date_ = date.fromisoformat(text(value))
    if not _FIRST <= date_.year <= _LAST:
        raise ValueError("not a date in the supported years")
    return date_


_INSTANT_CHARACTERS = len("2026-11-21T09:30:00.000000Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

MICROSECOND = timedelta(microseconds=1)
"""The unit of instants and durations that are stored as numbers."""


def instant_text(instant: datetime) -> str:
    """Return an instant as text in UTC with microseconds, so that texts sort by time."""
    return f"{instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def instant_number(instant: datetime) -> int:
    """Return the instant in microseconds since 1970, as a number that DynamoDB can increment."""
    return (instant - _EPOCH) // MICROSECOND


def numbered_instant(number: float) -> datetime:
    """Return the instant that `instant_number` encoded.

    PynamoDB types the value as float, but it is a whole number.
    """
    return _EPOCH + int(number) * MICROSECOND


def read_instant(value: str) -> datetime:
    """Return the instant that `instant_text` encoded. Raise ValueError for any other text.

    `strptime` is not used, because it would double the time for decoding an event.
    """
    if len(value) == _INSTANT_CHARACTERS and value[4:20:3] == "--T::." and value[-1] == "Z":
        return in_years(datetime.fromisoformat(value))
    raise ValueError(f"{value!r} is not an instant in UTC with microseconds")


class InstantAttribute(Attribute[datetime]):
    """An attribute that stores a time-zone-aware instant as text. PynamoDB's own
    UTCDateTimeAttribute would omit the `Z`.
    """

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """Return the instant as text in UTC."""
        return instant_text(value)

    def deserialize(self, value: str) -> datetime:
        """Return the instant. Raises ValueError for text that `instant_text` did not produce."""
        return read_instant(value)


class WholeAttribute(NumberAttribute):
    """An attribute for a whole number from `least` to `most`."""

    def __init__(self, *, least: int = 0, most: int = MANY, null: bool | None = None) -> None:
        super().__init__(null=null)
        self._least, self._most = least, most

    def deserialize(self, value: str) -> float:
        """Return the number. PynamoDB types numbers as float."""
        return whole(super().deserialize(value), self._least, self._most)  # type: ignore[no-untyped-call]


class ExpiryAttribute(TTLAttribute):
    """An attribute for the time after which DynamoDB may delete the row."""

    def deserialize(self, value: str) -> datetime:
        """Convert seconds since 1970 into an instant."""
        return in_years(super().deserialize(value))  # type: ignore[no-untyped-call]


def wholes(values: Iterable[Any], least: int = 0, most: int = MANY) -> frozenset[int]:
    """Return the set of `values` if all are whole numbers from `least` to `most`."""
    return frozenset(whole(each, least, most) for each in values)


_LONGEST_CYCLE = 53
"""The maximum interval of a recurrence in weeks. The contract accepts up to four weeks."""

remembered = lru_cache(maxsize=256)
"""A decorator that caches decoded values, because the same row is often read twice in quick
succession."""


def write_days(days: Days) -> str:
    """Encode recurrence days as JSON: `[weekdays, every, phase]` or `[day of the month]`."""
    if days.month_day is not None:
        return json.dumps([days.month_day])
    return json.dumps([sorted(days.weekdays), days.every, days.phase])


@remembered
def read_days(stored: str) -> Days:
    """Return the recurrence days that `write_days` encoded."""
    match json.loads(stored):
        case [month_day]:
            return Days(month_day=whole(month_day, 1, 31))
        case [[_, *_] as weekdays, every, phase]:
            weeks = whole(every, 1, _LONGEST_CYCLE)
            return Days(wholes(weekdays, 1, 7), weeks, whole(phase, 0, weeks - 1))
        case _:
            raise ValueError("the text does not name the days of a recurrence")


def _same(value: Any) -> Any:
    return value


def _words(stored: str) -> tuple[str, ...]:
    return tuple(stored.split())


class Codec(NamedTuple):
    """The functions that convert a field of the domain to an attribute, and back."""

    write: Callable[[Any], Any] = _same
    read: Callable[[Any], Any] = _same


SAME: Final = Codec()
"""The codec of a field whose attribute has the same value."""

DATE: Final = Codec(date.isoformat, day)
DAYS: Final = Codec(write_days, read_days)
WORDS: Final = Codec(" ".join, _words)
"""The codec of names without spaces."""

Codecs = Mapping[str, Codec]
"""The codecs of fields by name, for fields and attributes of the same name."""


def attributes_of(value: object, codecs: Codecs, model: type[Model]) -> dict[str, Any]:
    """Return the attributes for a row of `model`.

    Optional attributes are omitted if their value is empty: None, 0, False, or nothing to list.
    """
    attributes = model.get_attributes()
    return {
        name: codec.write(each)
        for name, codec in codecs.items()
        if (each := getattr(value, name)) or not attributes[name].null
    }


def fields_in(row: Model, codecs: Codecs, *, needs: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields that the row contains. The class of the domain has defaults for the others.

    Raise KeyError if an attribute in `needs` is missing.
    """
    stored = row.attribute_values
    return {
        name: codec.read(stored[name])
        for name, codec in codecs.items()
        if name in needs or stored.get(name) is not None
    }
