"""How often a reader wants to hear of something: per category, overridden per follow."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from gazette.domain.stored import as_stored


class Frequency(StrEnum):
    """`never` mutes. `daily`, `weekly` and `custom` are also the names of schedules."""

    NEVER = "never"
    IMMEDIATE = "immediate"
    DAILY = "daily"
    WEEKLY = "weekly"
    CUSTOM = "custom"


DIGESTS = (Frequency.DAILY, Frequency.WEEKLY, Frequency.CUSTOM)
"""The frequencies that have a schedule."""

EVERYTHING = "*"
"""Stands in `Frequencies` for every category that has no entry of its own; no category's name."""

Frequencies = tuple[tuple[str, Frequency], ...]
"""What was chosen by category, sorted by category; a category that is not there has a default."""


def frequencies(chosen: Mapping[str, str]) -> Frequencies:
    """`chosen`, category to frequency, in its one canonical order. Raises ValueError."""
    return tuple(sorted((category, Frequency(often)) for category, often in chosen.items()))


def frequencies_as_stored(chosen: Mapping[str, str]) -> Frequencies:
    """The same of what was stored, also by a version that knows other frequencies."""
    return tuple(
        sorted((category, as_stored(Frequency, often)) for category, often in chosen.items())
    )


def frequency_for(category: str, *, chosen: Frequencies, defaults: Frequencies) -> Frequency:
    """The choice for the category, else for everything, else the default, else daily."""
    choices = dict(chosen)
    return (
        choices.get(category)
        or choices.get(EVERYTHING)
        or dict(defaults).get(category)
        or Frequency.DAILY
    )


def digests_in(choices: Iterable[Frequencies]) -> set[Frequency]:
    """The schedules that choices need. Daily always: any new category goes there."""
    used = {frequency for chosen in choices for _, frequency in chosen}
    return {Frequency.DAILY} | (used & set(DIGESTS))
