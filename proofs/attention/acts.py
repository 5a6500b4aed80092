"""The events of two readers, and what one of them does.

The busy reader has 50 events an hour about three threads. The calm reader has one event a day.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from random import Random
from typing import NamedTuple

BUSY, CALM = "ann", "bob"

BEGIN = datetime(2026, 11, 23, tzinfo=UTC)
"""The beginning of the week, a Monday."""

MUTED_AFTER = timedelta(hours=12)
"""The time from the beginning of the week until the busy reader mutes MUTED."""

SEEN, MUTED = "post2", "post3"
"""The thread that the busy reader visits, and the thread that the busy reader mutes."""

AN_HOUR = 50
"""The number of events of the busy reader in an hour."""

_THREADS, _SHARES = ("post1", SEEN, MUTED), (60, 25, 15)
_CATEGORIES, _OFTEN = ("comment", "like", "mention"), (50, 35, 15)
_VISITED_AT = range(8, 23, 2)
"""The hours at which the app reports that the busy reader has seen SEEN."""


class Feature(Enum):
    """A feature that reduces the number of emails."""

    RARER = "rarer emails"
    """Immediate emails about one entity become rarer (rule 16)."""

    SEEN = "seen"
    """The app publishes `entity.seen` (rule 26)."""

    MUTED = "muted"
    """The reader mutes one thread."""

    QUIET = "quiet hours"
    """The stage has quiet hours (rule 29)."""

    MINIMUM = "minimum"
    """The stage has a minimum for daily digests (rule 25)."""


class Kind(Enum):
    """The kind of an act."""

    EVENT = auto()
    VISIT = auto()
    MUTE = auto()


class Act(NamedTuple):
    """An event for a reader, or something that a reader does."""

    at: datetime
    kind: Kind
    user_id: str
    thing: str
    category: str = ""


def acts(
    features: frozenset[Feature], length: timedelta, *, an_hour: int = AN_HOUR
) -> Sequence[Act]:
    """Return the acts of both readers in the order of time.

    The events are the same for all features.
    """
    found = [*_busy(length, an_hour), *_calm(length)]
    if Feature.SEEN in features:
        found += _visits(length)
    if Feature.MUTED in features:
        found.append(Act(BEGIN + MUTED_AFTER, Kind.MUTE, BUSY, MUTED))
    return sorted((each for each in found if each.at < BEGIN + length), key=lambda act: act.at)


def _busy(length: timedelta, an_hour: int) -> Iterator[Act]:
    random = Random("busy")
    for hour in _steps(length, timedelta(hours=1)):
        for _ in range(an_hour):
            at = hour + timedelta(seconds=random.randrange(3600))
            (thing,) = random.choices(_THREADS, _SHARES)
            (category,) = random.choices(_CATEGORIES, _OFTEN)
            yield Act(at, Kind.EVENT, BUSY, thing, category)


def _calm(length: timedelta) -> Iterator[Act]:
    random = Random("calm")
    for day in _steps(length, timedelta(days=1)):
        yield Act(
            day + timedelta(hours=random.randrange(10, 22)), Kind.EVENT, CALM, "post4", "like"
        )


def _visits(length: timedelta) -> Iterator[Act]:
    for day in _steps(length, timedelta(days=1)):
        for hour in _VISITED_AT:
            yield Act(day + timedelta(hours=hour), Kind.VISIT, BUSY, SEEN)


def _steps(length: timedelta, step: timedelta) -> Iterator[datetime]:
    at = BEGIN
    while at < BEGIN + length:
        yield at
        at += step
