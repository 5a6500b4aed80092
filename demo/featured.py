"""A selection of six interesting emails, based on their contents."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gazette.domain.identity import parse_run_id

from demo.audit import Seen
from demo.inbox import Row

_CALM = 6
"""The number of entities in a typical digest of a busy day."""


@dataclass(frozen=True, slots=True)
class Featured:
    """The index of an email among all emails, and the reason to look at the email."""

    why: str
    place: int


def _mention(row: Row, seen: Seen) -> float:
    things = len({url for url, _ in seen.counts})
    return (" mentioned you in " in row.subject) * (20 - abs(things - _CALM))


def _one_thing(_: Row, seen: Seen) -> float:
    lines = Counter(url for url, _ in seen.counts)
    most = max(lines.values(), default=0)
    return (most > 1) * (most * 10 - abs(len(lines) - _CALM))


def _alone(_: Row, seen: Seen) -> float:
    return (seen.total == 1) * any(what == "article" for _, what in seen.counts)


def _nobody(row: Row, seen: Seen) -> float:
    leads = row.subject.startswith("Update")
    return leads * (seen.total > 1) * len(seen.counts)


def _thread(row: Row, seen: Seen) -> float:
    return (not row.is_digest) * parse_run_id(seen.run).sequence


_WORTH: Sequence[tuple[str, Callable[[Row, Seen], float]]] = (
    ("A mention leads, because it is for this reader only", _mention),
    (
        "The fullest one, with the most important first and the rest counted",
        lambda _, seen: seen.total,
    ),
    ("One update: the digest is that update", _alone),
    ("One entity, one block, with a line for each kind", _one_thing),
    ("Events without an actor: the library wrote", _nobody),
    ("Immediate: the last of three emails in one thread", _thread),
)


def featured(rows: Sequence[Row], seen: Sequence[Seen]) -> list[Featured]:
    """Return the best email of each kind, without repeating an email.

    If emails are equally good, choose the earliest.
    """
    chosen: list[Featured] = []
    for why, worth in _WORTH:
        places = {each.place for each in chosen}
        best = max(
            (place for place in range(len(rows)) if place not in places),
            key=lambda place: worth(rows[place], seen[place]),
            default=None,
        )
        if best is not None and worth(rows[best], seen[best]) > 0:
            chosen.append(Featured(why, best))
    return chosen
