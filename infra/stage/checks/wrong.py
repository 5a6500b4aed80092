"""The form of a problem with a stage, and checks that several groups share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gazette.settings.ranges import Range


@dataclass(frozen=True, slots=True)
class Wrong:
    """A problem with a stage."""

    # A sentence that names the setting and what to do.
    says: str

    # The settings that the check read. The caller appends their values to the sentence.
    of: tuple[str, ...]

    # True if the sentence already has the values.
    has_values: bool = False


def out_of_range(room: object, ranges: Mapping[str, Range]) -> Iterator[Wrong]:
    """Yield a problem for each number of a group that is out of its range."""
    for setting, allowed in ranges.items():
        if getattr(room, setting) not in allowed:
            yield Wrong(f"{setting} must be {allowed}.", of=(setting,))


def no_choice(room: object, choices: Mapping[str, tuple[str, ...]]) -> Iterator[Wrong]:
    """Yield a problem for each setting of a group whose word is not one of its choices."""
    for setting, words in choices.items():
        if getattr(room, setting) not in words:
            *others, last = words
            yield Wrong(f"{setting} must be {', '.join(others)} or {last}.", of=(setting,))
