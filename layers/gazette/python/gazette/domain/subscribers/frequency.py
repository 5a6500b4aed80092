"""The frequency of a reader's events: by category, overridden by follow."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from gazette.domain.stored import as_stored


class Frequency(StrEnum):
    """The frequency of events. `never` mutes.

    `daily`, `weekly` and `custom` also name schedules.
    """

    NEVER = "never"
    IMMEDIATE = "immediate"
    DAILY = "daily"
    WEEKLY = "weekly"
    CUSTOM = "custom"


DIGESTS = (Frequency.DAILY, Frequency.WEEKLY, Frequency.CUSTOM)
"""The frequencies that have a schedule."""

DEFAULT = as_stored(Frequency, "default")
"""A reader's choice that withdraws an earlier one: of one category, or of all without their own.

It is not a frequency. A category then has its default again, whatever the service chose before. A
version that does not know it treats it as an unknown frequency, which means the daily digest.
"""

EVERYTHING = "*"
"""The key in `Frequencies` for all categories without an entry. No category has this name."""

ASKED_CATEGORIES = frozenset({"recommendation"})
"""The categories of items from queried content sources, the values of content.CATEGORY_OF."""

MOST_CATEGORIES = 100
"""The limit of the contract's `frequencies`."""

Frequencies = tuple[tuple[str, Frequency], ...]
"""The chosen frequencies, sorted by category. Other categories have a default."""


def frequencies(chosen: Mapping[str, str]) -> Frequencies:
    """Return `chosen`, category to frequency, as Frequencies. Raises ValueError."""
    return tuple(sorted((category, Frequency(often)) for category, often in chosen.items()))


def frequencies_as_stored(chosen: Mapping[str, str]) -> Frequencies:
    """Return stored frequencies, which another version may have written, as Frequencies."""
    return tuple(
        sorted((category, as_stored(Frequency, often)) for category, often in chosen.items())
    )


def difference(now: Mapping[str, Frequency], wanted: Mapping[str, Frequency]) -> Frequencies:
    """Return the choice by category that changes `now` into `wanted`."""
    names = {*now, *wanted}
    changed = (name for name in names if now.get(name) != wanted.get(name))
    return tuple(sorted((name, wanted.get(name, DEFAULT)) for name in changed))


def frequency_for(category: str, *, chosen: Frequencies, defaults: Frequencies) -> Frequency:
    """Return the choice for the category, else for all categories, else the default, else daily."""
    choices = dict(chosen)
    return (
        choices.get(category)
        or choices.get(EVERYTHING)
        or dict(defaults).get(category)
        or Frequency.DAILY
    )


def in_digest(frequency: Frequency) -> Frequency:
    """Return the frequency of events that are never sent as an immediate email, such as items.

    Immediate and unknown frequencies become the daily digest. `never` stays.
    """
    is_digest = frequency in DIGESTS or frequency is Frequency.NEVER
    return frequency if is_digest else Frequency.DAILY


def digests_in(choices: Iterable[Frequencies]) -> set[Frequency]:
    """Return the digests that choices need.

    Always includes daily, the default of new categories.
    """
    used = {frequency for chosen in choices for _, frequency in chosen}
    return {Frequency.DAILY} | (used & set(DIGESTS))
