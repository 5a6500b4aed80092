"""The conversion of choices to and from the previous version's format, a history of whole maps.
Pure.

The previous version replaces the map with each choice. A category that is missing from the map has
its default. Rows contain both formats until 0.5.0, so that a deployment can be rolled back. This
module will then be removed.
"""

from collections.abc import Iterator
from datetime import datetime

from gazette.domain.subscribers.choices import (
    ByCategory,
    Preferences,
    ReaderChoices,
    frequencies_at_each,
)
from gazette.domain.subscribers.frequency import DEFAULT, EVERYTHING, Frequencies, Frequency
from gazette.domain.subscribers.history import LONGEST, History, without_repeats


def to_whole_maps(service: History[Preferences], reader: ReaderChoices) -> History[Frequencies]:
    """Return maps from which the previous version computes the same frequencies at every instant.

    The maps contain the service's choices, because that version treats a map as the reader's choice
    for every category. A map at each change of the service prevents that change from hiding the
    reader's choices.
    """
    chosen_at = {at for _, history in reader.frequencies for at, _ in history}
    if not chosen_at:
        return ()
    by_service = tuple((at, preferences.frequencies) for at, preferences in service)
    instants = chosen_at | {at for at, _ in without_repeats(by_service)}
    maps = [
        (at, _by_category(in_force))
        for at, in_force in frequencies_at_each(service, reader)
        if at in instants and at >= min(chosen_at)
    ]
    return tuple(maps[-LONGEST:])


def whole_map_at(at: datetime, service: History[Preferences], reader: ReaderChoices) -> Frequencies:
    """Return the frequencies by category in force at an instant; empty if none are known."""
    until = (now for then, now in frequencies_at_each(service, reader) if then <= at)
    last: dict[str, Frequency] = {}
    for last in until:  # noqa: B007 -- only the last one counts
        pass
    return _by_category(last)


def from_whole_maps(maps: History[Frequencies], service: History[Preferences]) -> ByCategory:
    """Convert the maps of the previous version into a history of choices for each category.

    A choice is DEFAULT if a map lacks a category that the map could have contained. Of two maps
    with the same instant, only the last counts. A repetition is not a choice, unless the service
    changed the category in between.
    """
    by_instant = {at: dict(chosen) for at, chosen in maps}
    of_service = {name for _, each in service for name, _ in each.frequencies}
    names = of_service | {name for chosen in by_instant.values() for name in chosen}
    histories = (
        (name, tuple(_choices_of(name, by_instant, service, is_hiding=name in of_service)))
        for name in sorted(names)
    )
    return tuple((name, history) for name, history in histories if history)


def _choices_of(
    name: str,
    maps: dict[datetime, dict[str, Frequency]],
    service: History[Preferences],
    *,
    is_hiding: bool,
) -> Iterator[tuple[datetime, Frequency]]:
    """Yield each choice in the maps that changes the frequency of this category.

    With `is_hiding`, DEFAULT hides a choice of the service.
    """
    spoken = _spoken_of(name, service)
    last: tuple[datetime, Frequency] | None = None
    for at, chosen in maps.items():
        often = chosen.get(name, DEFAULT)
        if last is None:
            is_choice = often != DEFAULT or is_hiding
        else:
            is_choice = often != last[1] or any(last[0] < then <= at for then in spoken)
        if is_choice:
            last = at, often
            yield last


def _spoken_of(name: str, service: History[Preferences]) -> list[datetime]:
    """Return the instants at which the service changed a category."""
    specified = tuple((at, dict(each.frequencies).get(name)) for at, each in service)
    return [at for at, often in without_repeats(specified) if often]


def _by_category(in_force: dict[str, Frequency]) -> Frequencies:
    return tuple(sorted((name, often) for name, often in in_force.items() if name != EVERYTHING))
