"""An experiment: which readers get which variation of the emails. Pure."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")

VARIATIONS = range(1, 10)
"""The numbers that a variation may have. 1 is what everybody gets while there is no experiment."""

_HEAVIEST = 10_000


class InvalidExperiment(ValueError):
    """An experiment that cannot be run. The text says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """`weights` by variation: of readers, each gets its share of the sum. `since` is UTC."""

    name: str
    weights: tuple[tuple[int, int], ...]
    since: datetime


@dataclass(frozen=True, slots=True)
class Course:
    """From when to when an experiment ran, in UTC; `until` is None while it does.

    One that was stopped and started again under its name has one course, with the pause in it.
    """

    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Variant:
    """What one reader gets, and in which experiment; empty where there is none."""

    variation: int = 1
    experiment: str = ""


EVERYBODYS = Variant()
"""What everybody gets while there is no experiment."""


def experiment(name: str, weights: Mapping[int, int], since: datetime) -> Experiment:
    """Raises InvalidExperiment."""
    if not NAME.fullmatch(name):
        raise InvalidExperiment(
            f"the name {name!r} must be 1 to 32 of a-z, 0-9 and -, and begin with a letter"
        )
    for variation, weight in weights.items():
        if variation not in VARIATIONS:
            raise InvalidExperiment(f"variation {variation} must be 1 to {VARIATIONS[-1]}")
        if not 0 <= weight <= _HEAVIEST:
            raise InvalidExperiment(f"the weight of {variation} must be 0 to {_HEAVIEST}")
    if not sum(weights.values()):
        raise InvalidExperiment("no variation has a weight: give some, such as 1=50 2=50")
    return Experiment(name, tuple(sorted(weights.items())), since)


def variant_of(user_id: str, running: Experiment | None) -> Variant:
    """Always the same for a reader, as long as name and weights are; another in the next one.

    The readers stand in a row, in the order of a hash, and each variation has its stretch of it:
    so a weight that changes moves only those between the old end of a stretch and the new one.
    """
    if running is None:
        return EVERYBODYS
    digest = hashlib.sha256(f"{running.name}\n{user_id}".encode()).digest()
    place = int.from_bytes(digest[:8]) * sum(weight for _, weight in running.weights) >> 64
    for variation, weight in running.weights:
        if place < weight:
            return Variant(variation, running.name)
        place -= weight
    raise AssertionError("a place is below the sum of the weights")
