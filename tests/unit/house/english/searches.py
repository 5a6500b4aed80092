"""Searches for a habit in a text. Each yields the offsets of its findings."""

import re
from collections.abc import Callable, Iterator

from tests.unit.house.english.texts import DOCSTRINGS, Text

Search = Callable[[Text], Iterator[int]]
"""A function that yields the offset of each finding in a text."""


def anywhere(pattern: str, *, unless: str = "") -> Search:
    """Find a pattern anywhere but inside a match of `unless`."""
    habit = re.compile(pattern, re.IGNORECASE)
    idiom = re.compile(unless, re.IGNORECASE) if unless else None

    def search(text: Text) -> Iterator[int]:
        for match in habit.finditer(text.content):
            idioms = idiom.finditer(text.content) if idiom else ()
            if not any(each.start() <= match.start() < each.end() for each in idioms):
                yield match.start()

    return search


def at_start(pattern: str) -> Search:
    """Find a pattern at the start of the text."""
    habit = re.compile(rf"(?:\[[^\]]*\] +)?(?:{pattern})")

    def search(text: Text) -> Iterator[int]:
        if habit.match(text.content):
            yield 0

    return search


def at_start_of_sentence(pattern: str, *, words: int) -> Search:
    """Find a pattern at the start of a statement of so many words or more.

    A question may open with any word. A docstring's first word has a habit of its own.
    """
    habit = re.compile(pattern)

    def search(text: Text) -> Iterator[int]:
        for offset in text.starts[1:] if text.kind in DOCSTRINGS else text.starts:
            if habit.match(text.content, offset):
                _, sentence = text.sentence(offset)
                if not sentence.endswith("?") and sentence.count(" ") >= words - 1:
                    yield offset

    return search


def both(*searches: Search) -> Search:
    """Find what either search finds, each place once."""

    def search(text: Text) -> Iterator[int]:
        yield from sorted({offset for each in searches for offset in each(text)})

    return search


def joining_colon(text: Text) -> Iterator[int]:
    """Find a colon between two clauses, but not one after a label of at most three words."""
    for match in _CLAUSE.finditer(text.content):
        begin, _ = text.sentence(match.start())
        before = text.content[begin : match.start()]
        if len(re.findall(r"[A-Za-z][\w'-]*", before)) > _LABEL and "(" not in before:
            yield match.start()


_LABEL = 3
_VERB = r"(?:is|are|was|were|has|have|had|cannot|can|must|may|will|would|does|do|did)"
_CLAUSE = re.compile(
    r": (?:(?:it|they|he|she|we|there|nobody|nothing|somebody|whoever|who) [a-z]"
    rf"|(?:this|that|these|those) {_VERB}\b"
    r"|(?:the|a|an|its|their|each|every|no) (?:(?!(?:who|that|which|whose|where|when|if|as|by)\b)"
    rf"[\w'-]+ ){{1,3}}{_VERB}\b)"
)
