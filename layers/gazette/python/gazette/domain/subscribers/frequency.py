"""The frequencies of a reader's events, by category. A follow may override the frequency."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from gazette.domain.stored import as_stored


class Frequency(StrEnum):
    """The frequency at which events are sent. With `never`, events are muted.

    `daily`, `weekly` and `custom` are also names of schedules.
    """

    NEVER = "never"
    IMMEDIATE = "immediate"
    DAILY = "daily"
    WEEKLY = "weekly"
    CUSTOM = "custom"


DIGESTS = (Frequency.DAILY, Frequency.WEEKLY, Frequency.CUSTOM)
"""The frequencies that correspond to a digest schedule."""

DEFAULT = as_stored(Frequency, "default")
"""The value in a reader's choice that restores the default frequency.

The value is not a frequency. It withdraws an earlier choice, for one category or for all categories
without their own choice. The default then applies again, even if the service chose a different
frequency before. A version that does not know this value uses the daily digest.
"""

EVERYTHING = "*"
"""The key in `Frequencies` for all categories without an entry. It is never a category name."""

ASKED_CATEGORIES = frozenset({"recommendation"})
"""The categories of items from queried content sources (the values of content.CATEGORY_OF)."""

MOST_CATEGORIES = 100
"""The maximum number of entries in the contract's `frequencies`."""

Frequencies = tuple[tuple[str, Frequency], ...]
"""The chosen frequencies, sorted by category. Categories without an entry have a default."""


def frequencies(chosen: Mapping[str, str]) -> Frequencies:
    """Convert a map from category to frequency into Frequencies.

    Raises ValueError for an unknown frequency.
    """
    return tuple(sorted((category, Frequency(often)) for category, often in chosen.items()))


def frequencies_as_stored(chosen: Mapping[str, str]) -> Frequencies:
    """Convert stored frequencies, possibly from another version, into Frequencies."""
    return tuple(
        sorted((category, as_stored(Frequency, often)) for category, often in chosen.items())
    )


def difference(now: Mapping[str, Frequency], wanted: Mapping[str, Frequency]) -> Frequencies:
    """Return the choices by category that change the frequencies from `now` to `wanted`."""
    names = {*now, *wanted}
    changed = (name for name in names if now.get(name) != wanted.get(name))
    return tuple(sorted((name, wanted.get(name, DEFAULT)) for name in changed))


def frequency_for(category: str, *, chosen: Frequencies, defaults: Frequencies) -> Frequency:
    """Return the frequency of a category.

    The result is the choice for the category, or else the choice for all categories, or else the
    default, or else daily.
    """
    choices = dict(chosen)
    return (
        choices.get(category)
        or choices.get(EVERYTHING)
        or dict(defaults).get(category)
        or Frequency.DAILY
    )


def in_digest(frequency: Frequency) -> Frequency:
    """Return the frequency of events that are never sent immediately, such as content items.

    Immediate and unknown frequencies become the daily digest. `never` is unchanged.
    """
    is_digest = frequency in DIGESTS or frequency is Frequency.NEVER
    return frequency if is_digest else Frequency.DAILY


def digests_in(choices: Iterable[Frequencies]) -> set[Frequency]:
    """Return the digests that readers with these choices need.

    Always includes daily, the default for new categories.
    """
    used = {frequency for chosen in choices for _, frequency in chosen}
    return {Frequency.DAILY} | (used & set(DIGESTS))


def fallback_for_immediate(chosen: Frequencies, defaults: Frequencies) -> Frequency:
    """Return the digest that replaces immediate email; NEVER if there is no such digest.

    This is the digest of all categories without their own choice.
    """
    often = frequency_for(EVERYTHING, chosen=chosen, defaults=defaults)
    return often if often in DIGESTS else Frequency.NEVER
