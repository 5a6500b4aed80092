"""The settings that belong to a template version, in the place of those of the stage. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from gazette.domain.delivery.arrangement import MAX_WEIGHT, Arrangement, Ranking, are_weights
from gazette.domain.identity import CATEGORY_NAME


class Range(Protocol):
    """The values that a number may have. Its text ends the sentence "it must be"."""

    def __contains__(self, value: int, /) -> bool:
        """Whether a number may have this value."""


Ranges = Mapping[str, Range]
"""By the name of the setting."""

SECOND = timedelta(seconds=1)


class InvalidVersionSettings(ValueError):
    """Settings of a version that cannot be used. The text names the setting and what to do."""


class SourcePolicy(StrEnum):
    """What a digest does whose items of a content source are not there when it is due.

    `WITHOUT`: it waits for the patience of its stage, and goes without them then. `WAIT`: it waits
    for almost as long as a digest may be late.
    """

    WAIT = "wait"
    WITHOUT = "without"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSettings:
    """What a version says; what it leaves out (None, no weights) is as the stage has it.

    `weights`: category to a number from 0 to MAX_WEIGHT, in the place of the stage's for these
    categories. `max_blocks`: how many blocks an email shows; `full_blocks`: how many in full.
    `collapse`: the collapse window of immediate email, in whole seconds.
    """

    ranking: Ranking | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    max_blocks: int | None = None
    full_blocks: int | None = None
    collapse: timedelta | None = None
    source_policy: SourcePolicy | None = None

    def arranged(self, of_stage: Arrangement) -> Arrangement:
        """The arrangement of the stage with what this version says otherwise."""
        return replace(
            of_stage,
            ranking=self.ranking or of_stage.ranking,
            weights={**of_stage.weights, **self.weights},
            full_blocks=of_stage.full_blocks if self.full_blocks is None else self.full_blocks,
        )

    def as_written(self) -> dict[str, object]:
        """What `version_settings` reads, without what is left out."""
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
"""Everything as the stage has it."""


def version_settings(given: object, *, ranges: Ranges) -> VersionSettings:
    """The settings in what `settings.json` holds, or the control row.

    `ranges`: of the numbers (settings/ranges.py). Raises InvalidVersionSettings.
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
                f"{name!r} does not belong to a version: it may set {', '.join(readers)}"
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
