"""How every check of a stage says what is wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gazette.settings.ranges import Range


@dataclass(frozen=True, slots=True)
class Wrong:
    """`says`: a sentence that names the setting and what to do. `of`: each setting that the check
    looked at. Whoever prints the sentence adds their values, unless it has them."""

    says: str
    of: tuple[str, ...]
    has_values: bool = False


def out_of_range(room: object, ranges: Mapping[str, Range]) -> Iterator[Wrong]:
    """The numbers of `room` that are not in their range."""
    for setting, allowed in ranges.items():
        if getattr(room, setting) not in allowed:
            yield Wrong(f"{setting} must be {allowed}.", of=(setting,))


def no_choice(room: object, choices: Mapping[str, tuple[str, ...]]) -> Iterator[Wrong]:
    """The words of `room` that are none of those to choose from."""
    for setting, words in choices.items():
        if getattr(room, setting) not in words:
            *others, last = words
            yield Wrong(f"{setting} must be {', '.join(others)} or {last}.", of=(setting,))
