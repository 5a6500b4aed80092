"""The settings of a template version, which override the settings of the stage. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from gazette.domain.delivery.arrangement import MAX_WEIGHT, Arrangement, Ranking, are_weights
from gazette.domain.identity import CATEGORY_NAME


class Range(Protocol):
    """A range of allowed numbers. `str()` completes the sentence "it must be"."""

    def __contains__(self, value: int, /) -> bool:
        """Return True if `value` is in the range."""


Ranges = Mapping[str, Range]
"""The allowed ranges, by name of the setting."""

SECOND = timedelta(seconds=1)


class InvalidVersionSettings(ValueError):
    """Invalid settings of a template version. The error text names the setting and how to fix
    it."""


class SourcePolicy(StrEnum):
    """The policy for a digest that is due while the items of a content source are missing."""

    WAIT = "wait"
    """The digest waits for the items until shortly before its maximum lateness."""

    WITHOUT = "without"
    """The digest waits for the time that the stage sets, and is then sent without the items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSettings:
    """The settings of a template version. For a field that is None or empty, the setting of the
    stage applies."""

    ranking: Ranking | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """A weight from 0 to MAX_WEIGHT for each category, which overrides the stage's weight."""

    max_blocks: int | None = None
    """The maximum number of blocks in an email."""

    full_blocks: int | None = None
    """The number of blocks that an email shows in full."""

    collapse: timedelta | None = None
    """The collapse window of immediate email, in whole seconds."""

    source_policy: SourcePolicy | None = None

    def arranged(self, of_stage: Arrangement) -> Arrangement:
        """Return the stage's arrangement with the overrides of this template version."""
        return replace(
            of_stage,
            ranking=self.ranking or of_stage.ranking,
            weights={**of_stage.weights, **self.weights},
            full_blocks=of_stage.full_blocks if self.full_blocks is None else self.full_blocks,
        )

    def as_written(self) -> dict[str, object]:
        """Return the settings in the format that `version_settings` parses, without unset
        fields."""
        written: dict[str, object] = {
            "ranking": self.ranking and self.ranking.value,
            "weights": dict(self.weights) or None,
            "max_blocks": self.max_blocks,
            "full_blocks": self.full_blocks,
            "collapse": None if self.collapse is None else self.collapse // SECOND,
            "source_policy": self.source_policy and self.source_policy.value,
        }
        return {name: value for name, value in written.items() if value is not None}


NO_SETTINGS = VersionSettings()
"""Version settings without overrides, so that the stage's settings apply."""


def version_settings(given: object, *, ranges: Ranges) -> VersionSettings:
    """Parse the settings in `settings.json` or in the control row.

    `ranges` contains the allowed numbers (settings/ranges.py). Raises InvalidVersionSettings.
    """
    if not isinstance(given, dict):
        raise InvalidVersionSettings('the settings must be an object, such as {"max_blocks": 5}')
    readers: Mapping[str, Callable[[object], object]] = {
        "ranking": lambda value: _one_of(Ranking, "ranking", value),
        "weights": _weights,
        "max_blocks": lambda value: _number("max_blocks", value, ranges),
        "full_blocks": lambda value: _number("full_blocks", value, ranges),
        "collapse": lambda value: _number("collapse", value, ranges) * SECOND,
        "source_policy": lambda value: _one_of(SourcePolicy, "source_policy", value),
    }
    for name in given:
        if name not in readers:
            raise InvalidVersionSettings(
                f"{name!r} is not a template setting; the settings are {', '.join(readers)}"
            )
    read: dict[str, object] = {name: readers[name](value) for name, value in given.items()}
    return VersionSettings(**read)  # type: ignore[arg-type] # each reader returns its field's type


def _one_of(kind: type[StrEnum], name: str, value: object) -> StrEnum:
    known = [member.value for member in kind]
    if value not in known:
        raise InvalidVersionSettings(f"{name} is {value!r}; it must be one of {', '.join(known)}")
    return kind(str(value))


def _number(name: str, value: object, ranges: Ranges) -> int:
    if type(value) is not int or value not in ranges[name]:
        raise InvalidVersionSettings(f"{name} is {value!r}; it must be {ranges[name]}")
    return value


def _weights(value: object) -> Mapping[str, float]:
    if (
        not isinstance(value, dict)
        or not are_weights(value)
        or not all(map(CATEGORY_NAME.fullmatch, value))
    ):
        raise InvalidVersionSettings(
            f"weights is {value!r}; it must give categories numbers from 0 to {MAX_WEIGHT}"
        )
    return {name: float(weight) for name, weight in value.items()}
