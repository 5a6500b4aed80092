"""An experiment, which assigns readers to variations of the emails. Pure."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")

VARIATIONS = range(1, 10)
"""The valid variation numbers. Without an experiment, all readers get variation 1."""

_HEAVIEST = 10_000


class InvalidExperiment(ValueError):
    """An invalid experiment. The error text names the problem and how to fix it."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment that started at `since` (UTC)."""

    name: str
    weights: tuple[tuple[int, int], ...]
    """Pairs of a variation and its weight. A variation's share of readers is proportional to its
    weight."""

    since: datetime


@dataclass(frozen=True, slots=True)
class ExperimentPeriod:
    """The period of an experiment, in UTC; `until` is None while the experiment runs.

    An experiment that was stopped and started again has one period, which includes the pause.
    """

    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Variant:
    """The variation that a reader gets, and the experiment's name. The name is empty without an
    experiment."""

    variation: int = 1
    experiment: str = ""


DEFAULT_VARIANT = Variant()
"""The variant of all readers while there is no experiment."""


def experiment(name: str, weights: Mapping[int, int], since: datetime) -> Experiment:
    """Validate the values and create an experiment. Raises InvalidExperiment for invalid values."""
    if not NAME.fullmatch(name):
        raise InvalidExperiment(
            f"the name {name!r} must be 1 to 32 characters a-z, 0-9 and -, and begin with a letter"
        )
    for variation, weight in weights.items():
        if variation not in VARIATIONS:
            raise InvalidExperiment(f"variation {variation} must be 1 to {VARIATIONS[-1]}")
        if not 0 <= weight <= _HEAVIEST:
            raise InvalidExperiment(f"the weight of variation {variation} must be 0 to {_HEAVIEST}")
    if not sum(weights.values()):
        raise InvalidExperiment("no variation has a weight; specify weights, such as 1=50 2=50")
    return Experiment(name, tuple(sorted(weights.items())), since)


def variant_of(user_id: str, running: Experiment) -> Variant:
    """Return the variant of a reader, which depends only on the experiment's name and weights.

    Readers are ordered by a hash, and each variation has a range of the hash. A changed weight
    therefore moves only the readers between the old and the new end of a range.
    """
    digest = hashlib.sha256(f"{running.name}\n{user_id}".encode()).digest()
    place = int.from_bytes(digest[:8]) * sum(weight for _, weight in running.weights) >> 64
    for variation, weight in running.weights:
        if place < weight:
            return Variant(variation, running.name)
        place -= weight
    raise AssertionError("a place is below the sum of the weights")
