"""The class of problems with a stage, and checks that several groups of settings share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gazette.settings.ranges import Range


@dataclass(frozen=True, slots=True)
class Wrong:
    """A problem with a stage."""

    # A sentence that names the setting and the remedy.
    says: str

    # The settings that the check used. The caller appends their values to the sentence.
    of: tuple[str, ...]

    # True if the sentence already contains the values.
    has_values: bool = False


def out_of_range(room: object, ranges: Mapping[str, Range]) -> Iterator[Wrong]:
    """Yield a problem for each number in a group of settings that is out of range."""
    for setting, allowed in ranges.items():
        if getattr(room, setting) not in allowed:
            yield Wrong(f"{setting} must be {allowed}.", of=(setting,))


def no_choice(room: object, choices: Mapping[str, tuple[str, ...]]) -> Iterator[Wrong]:
    """Yield a problem for each setting in a group whose value is not one of its choices."""
    for setting, words in choices.items():
        if getattr(room, setting) not in words:
            *others, last = words
            yield Wrong(f"{setting} must be {', '.join(others)} or {last}.", of=(setting,))
