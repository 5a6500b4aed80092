"""Settings as environment variables, and what is wrong with them."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from zoneinfo import ZoneInfo, reset_tzpath

from gazette.settings.ranges import CHOICES, LISTS, RANGES

LIVE = "live"
"""The alias of each function by which everything calls it: the version that works."""

PINNED_ZONES = {"PYTHONTZPATH": "/opt/python/tzdata/zoneinfo"}
"""The environment by which a function reads time zones from the layer, where `tzdata` is pinned.

Python looks into the folders of the machine first, and what they say differs from machine to
machine (https://peps.python.org/pep-0615/). If the folder is missing, Python reads the same files
through the package, which takes tens of milliseconds of a cold start.
https://docs.python.org/3/library/zoneinfo.html#environment-configuration
https://docs.aws.amazon.com/lambda/latest/dg/packaging-layers.html
"""

_PREFIX = "GAZETTE_"


def use_pinned_zones() -> str:
    """Read time zones from the package `tzdata`, as functions do; returns where its files are.

    For the first line of a program, which nobody starts with `PINNED_ZONES`: a zone that somebody
    holds already keeps its rules.
    """
    package = find_spec("tzdata")
    if package is None or not package.submodule_search_locations:
        raise LookupError("The package tzdata is not installed: run `make setup`.")
    folder = str(Path(package.submodule_search_locations[0]) / "zoneinfo")
    reset_tzpath([folder])
    ZoneInfo.clear_cache()
    return folder


def queue_url_of(arn: str, environ: Mapping[str, str] | None = None) -> str:
    """The URL of a queue that a function reads, from its settings. Raises InvalidSetting.

    Name, and nothing else of the ARN, says which setting it is: URLs of queues differ by partition
    and endpoint.
    """
    given = os.environ if environ is None else environ
    name = arn.rpartition(":")[2]
    for variable, value in given.items():
        if variable.endswith("_QUEUE_URL") and value.rpartition("/")[2] == name:
            return value
    raise InvalidSetting(f"No setting has the URL of the queue {name}.")


class InvalidSetting(Exception):
    """A setting that is missing or out of range. The text names the variable."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Fields become environment variables: `runs_table` is `GAZETTE_RUNS_TABLE`."""

    def __post_init__(self) -> None:
        """Raises InvalidSetting for a value that RANGES, CHOICES or LISTS do not allow."""
        for name, value in asdict(self).items():
            if name in RANGES and value not in RANGES[name]:
                raise InvalidSetting(f"{_variable(name)} is {value}; it must be {RANGES[name]}.")
            if name in CHOICES and value not in CHOICES[name]:
                raise InvalidSetting(
                    f"{_variable(name)} is {value!r}; it must be one of {', '.join(CHOICES[name])}."
                )
            if name in LISTS and not is_list_of(LISTS[name], value):
                first, *others = LISTS[name]
                raise InvalidSetting(
                    f"{_variable(name)} is {value!r}; it must be a list of {first} and, if wanted, "
                    f"{', '.join(others)}, such as {json.dumps(LISTS[name])}."
                )

    def to_env(self) -> dict[str, str]:
        """The environment variables of this function."""
        return {_variable(name): str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The settings in `environ`. Raises InvalidSetting, naming the variable."""
        values: dict[str, Any] = {}
        for field in fields(cls):
            variable = _variable(field.name)
            if variable not in environ:
                raise InvalidSetting(f"{variable} is not set; the CDK stack writes it.")
            try:
                values[field.name] = (
                    int(environ[variable]) if field.type is int else environ[variable]
                )
            except ValueError as err:
                raise InvalidSetting(
                    f"{variable} is {environ[variable]!r}; it must be a whole number."
                ) from err
        return cls(**values)


def is_list_of(words: Sequence[str], given: str) -> bool:
    """Whether `given` is a JSON list of some of `words`, each once, the first among them."""
    try:
        listed = json.loads(given)
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
