"""Settings as environment variables, with validation."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from zoneinfo import ZoneInfo, reset_tzpath

from gazette.settings.ranges import CHOICES, LISTS, RANGES, as_typed, as_written

LIVE = "live"
"""The Lambda alias through which all callers call a function. It points to the version in use."""

PINNED_ZONES = {"PYTHONTZPATH": "/opt/python/tzdata/zoneinfo"}
"""The environment variable that makes a function read time zones from the layer.

The layer pins `tzdata`. Python searches the folders of the machine first, and their content differs
from machine to machine (https://peps.python.org/pep-0615/). If the folder is missing, Python reads
the same files through the package, which adds tens of milliseconds to a cold start.
https://docs.python.org/3/library/zoneinfo.html#environment-configuration
https://docs.aws.amazon.com/lambda/latest/dg/packaging-layers.html
"""

_PREFIX = "GAZETTE_"


def use_pinned_zones() -> str:
    """Read time zones from the package `tzdata`, as functions do. Return the folder of its files.

    Call this first in a program that is started without `PINNED_ZONES`. A ZoneInfo that was created
    earlier keeps its rules.
    """
    package = find_spec("tzdata")
    if package is None or not package.submodule_search_locations:
        raise LookupError("The package tzdata is not installed. Install it.")
    folder = str(Path(package.submodule_search_locations[0]) / "zoneinfo")
    reset_tzpath([folder])
    ZoneInfo.clear_cache()
    return folder


def queue_url_of(arn: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the URL of the queue with this ARN, from the function's settings.

    Only the queue name in the ARN identifies the setting, because URLs of queues differ by
    partition and endpoint. Raises InvalidSetting if no setting matches.
    """
    variables = os.environ if environ is None else environ
    name = arn.rpartition(":")[2]
    for variable, value in variables.items():
        if variable.endswith("_QUEUE_URL") and value.rpartition("/")[2] == name:
            return value
    raise InvalidSetting(f"No setting has the URL of the queue {name}.")


class InvalidSetting(Exception):
    """A setting that is missing or out of range. The error text names the environment variable."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings whose fields are environment variables: `runs_table` is `GAZETTE_RUNS_TABLE`."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for a value that RANGES, CHOICES or LISTS do not allow."""
        for name, value in vars(self).items():
            if name in RANGES and value not in RANGES[name]:
                raise InvalidSetting(
                    f"{_variable(name)} is {as_written(name, value)}; it must be {RANGES[name]}."
                )
            if name in CHOICES and value not in CHOICES[name]:
                raise InvalidSetting(
                    f"{_variable(name)} is {value!r}; it must be one of {', '.join(CHOICES[name])}."
                )
            if name in LISTS and not is_list_of(LISTS[name], value):
                first, *others = LISTS[name]
                raise InvalidSetting(
                    f"{_variable(name)} is {value!r}; it must be a list of {first} and "
                    f"optionally {', '.join(others)}, such as {json.dumps(LISTS[name])}."
                )

    def to_env(self) -> dict[str, str]:
        """Return the settings as environment variables."""
        return {_variable(name): str(as_written(name, value)) for name, value in vars(self).items()}

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Return the settings in `environ`.

        Raises InvalidSetting, whose error text names the variable.
        """
        values: dict[str, Any] = {}
        for field in fields(cls):
            variable = _variable(field.name)
            if variable not in environ:
                raise InvalidSetting(f"{variable} is not set; the CDK stack writes it.")
            try:
                text = environ[variable]
                values[field.name] = text if field.type is str else as_typed(field.name, int(text))
            except ValueError as err:
                raise InvalidSetting(
                    f"{variable} is {environ[variable]!r}; it must be a whole number."
                ) from err
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class FunctionSettings(Settings):
    """The settings of every function."""

    runs_table: str
    schedules_table: str
    control_table: str
    shards: int
    run_retention_days: int

    @property
    def run_retention(self) -> timedelta:
        """The retention of runs."""
        return timedelta(days=self.run_retention_days)


@dataclass(frozen=True, kw_only=True)
class ScheduleSettings(FunctionSettings):
    """The settings of every function that starts digests or arms schedules."""

    subscribers_table: str
    events_table: str
    sunset_days: int
    """The number of days without activity after which a reader becomes dormant; 0 for never."""

    content_sources: str
    """The content sources of digests, in order, as JSON."""

    @property
    def sunset(self) -> timedelta | None:
        """The period of inactivity after which a reader becomes dormant. None means never."""
        return timedelta(days=self.sunset_days) or None


def check_list(
    name: str,
    text: str,
    *,
    longest: int,
    shorten: str,
    entries: str,
    parse: Callable[[Sequence[object]], object],
) -> None:
    """Check the variable `name`, whose value is a JSON list of at most `longest` characters.

    `shorten` says how to write a shorter list, and `entries` what it contains. `parse` raises
    ValueError for an invalid entry. Raises InvalidSetting.
    """
    if len(text) > longest:
        raise InvalidSetting(
            f"{name} is {len(text):,} characters long; the limit is {longest:,}. {shorten}"
        )
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if not isinstance(listed, list):
        raise InvalidSetting(f"{name} is {text!r}; it must be a list of {entries}.")
    try:
        parse(listed)
    except ValueError as err:
        raise InvalidSetting(f"{name} is wrong: {err}.") from err


def is_list_of(words: Sequence[str], text: str) -> bool:
    """Return True if `text` is a JSON list of distinct words from `words`, including the first
    one."""
    try:
        listed = json.loads(text)
    except ValueError:
        return False
    return (
        isinstance(listed, list)
        and all(each in words for each in listed)
        and words[0] in listed
        and len(set(listed)) == len(listed)
    )


def _variable(name: str) -> str:
    return _PREFIX + name.upper()
