"""How often a reader gets events: by category, overridden by follow."""

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

DEFAULT = as_stored(Frequency, "default")
"""A reader's choice that takes an earlier one back: of one category, or of all without their own.

No frequency: a category then has its default again, whatever the service said of it before. A
version that does not know it takes it for an unknown frequency, which is the daily digest.
"""

EVERYTHING = "*"
"""In `Frequencies`, all categories without an entry of their own. No category has this name."""

ASKED_CATEGORIES = frozenset({"recommendation"})
"""The categories of what content sources are asked for, as content.CATEGORY_OF has them."""

MOST_CATEGORIES = 100
"""The limit of the contract's `frequencies`."""

Frequencies = tuple[tuple[str, Frequency], ...]
"""The chosen frequencies, sorted by category. Other categories have a default."""


def frequencies(chosen: Mapping[str, str]) -> Frequencies:
    """`chosen`, category to frequency, as Frequencies. Raises ValueError."""
    return tuple(sorted((category, Frequency(often)) for category, often in chosen.items()))


def frequencies_as_stored(chosen: Mapping[str, str]) -> Frequencies:
    """The same for stored values, which another version may have written."""
    return tuple(
        sorted((category, as_stored(Frequency, often)) for category, often in chosen.items())
    )


def difference(now: Mapping[str, Frequency], wanted: Mapping[str, Frequency]) -> Frequencies:
    """The choice by category that makes `wanted` of `now`."""
    names = {*now, *wanted}
    changed = (name for name in names if now.get(name) != wanted.get(name))
    return tuple(sorted((name, wanted.get(name, DEFAULT)) for name in changed))


def frequency_for(category: str, *, chosen: Frequencies, defaults: Frequencies) -> Frequency:
    """The choice for the category, else for all categories, else the default, else daily."""
    choices = dict(chosen)
    return (
        choices.get(category)
        or choices.get(EVERYTHING)
        or dict(defaults).get(category)
        or Frequency.DAILY
    )


def in_digest(frequency: Frequency) -> Frequency:
    """The frequency of what never has an email of its own, such as an item of a content source.

    What is wanted immediately comes with the daily digest, and so does what only another version
    knows. `never` stays.
    """
    is_digest = frequency in DIGESTS or frequency is Frequency.NEVER
    return frequency if is_digest else Frequency.DAILY


def digests_in(choices: Iterable[Frequencies]) -> set[Frequency]:
    """The digests that choices need. Always daily too: it is what new categories get."""
    used = {frequency for chosen in choices for _, frequency in chosen}
    return {Frequency.DAILY} | (used & set(DIGESTS))
