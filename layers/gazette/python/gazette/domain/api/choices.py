"""The frequencies that are in force for a reader, each with its reason. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gazette.domain.subscribers.choices import chosen_by_reader
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequency_for,
    in_digest,
)
from gazette.domain.subscribers.overview import Overview
from gazette.domain.subscribers.subscriber import Subscriber


class Source(StrEnum):
    """The party or setting that determines the frequency of a category."""

    CRITICAL = "critical"
    """The category is critical, so its events are always sent immediately."""

    CHOSEN = "chosen"
    """The reader chose the frequency of the category."""

    CHOSEN_FOR_ALL = "chosen_for_all"
    """The reader chose a frequency for all categories without their own choice."""

    PROFILE = "profile"
    """The service's profile contains the frequency."""

    DEFAULT = "default"
    """The stage's setting `default_frequencies` contains the frequency."""

    DAILY = "daily"
    """No party specified a frequency, so events go into the daily digest."""


@dataclass(frozen=True, slots=True)
class EffectiveChoice:
    """The frequency that is in force for a category."""

    category: str
    """The category, or EVERYTHING for all categories without an entry."""

    frequency: Frequency
    because: Source


def effective_choices(
    overview: Overview, categories: Collection[str]
) -> tuple[EffectiveChoice, ...]:
    """Return the frequencies in force, sorted by category.

    The result contains `categories`, all categories with a choice or a default, and EVERYTHING,
    which comes first.
    """
    reader = overview.subscriber
    own = chosen_by_reader(reader.service_choices, reader.reader_choices)
    known = {
        EVERYTHING,
        *categories,
        *dict(reader.chosen),
        *own,
        *dict(overview.defaults),
        *overview.critical,
        *overview.queried_categories,
    }
    return tuple(_effective(name, reader, own, overview) for name in sorted(known))


def _effective(
    category: str, reader: Subscriber, own: Mapping[str, Frequency], overview: Overview
) -> EffectiveChoice:
    if category in overview.critical:
        return EffectiveChoice(category, Frequency.IMMEDIATE, Source.CRITICAL)
    often = frequency_for(category, chosen=reader.chosen, defaults=overview.defaults)
    if category in overview.queried_categories:
        often = in_digest(often)
    because = _source(category, dict(reader.chosen), own, overview.defaults)
    return EffectiveChoice(category, often, because)


def _source(
    category: str,
    chosen: Mapping[str, Frequency],
    own: Mapping[str, Frequency],
    defaults: Frequencies,
) -> Source:
    """Return the source of a frequency, in the order of `frequency_for`."""
    if category in chosen and category != EVERYTHING:
        return Source.CHOSEN if own.get(category, DEFAULT) != DEFAULT else Source.PROFILE
    if EVERYTHING in chosen:
        is_own = own.get(EVERYTHING, DEFAULT) != DEFAULT
        return Source.CHOSEN_FOR_ALL if is_own else Source.PROFILE
    return Source.DEFAULT if category in dict(defaults) else Source.DAILY
