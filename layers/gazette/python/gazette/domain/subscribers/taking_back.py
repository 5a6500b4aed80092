"""What takes back a change of a reader who left by degrees. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import date, datetime
from typing import TypeVar

from gazette.domain.subscribers.choices import Choice, ReaderChoices, resolve
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequencies,
)
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.leaving import Change
from gazette.domain.subscribers.subscriber import Subscriber

ValueT = TypeVar("ValueT")


def undo(reader: Subscriber, follows: Iterable[Follow], at: datetime, today: date) -> Change:
    """What takes back the change of an instant, and nothing that was changed after it.

    The row has what was before: the reader's choices without those of the instant, and the states
    of each follow. `today`: the reader's date; a pause that ends then has ended.
    """
    without = _without(reader, at)
    _, then = resolve(reader.service_choices, without)
    now, before = dict(reader.chosen), dict(then.frequencies)
    everything, former = now.pop(EVERYTHING, None), before.pop(EVERYTHING, None)
    paused, was_paused = reader.times.paused_until, then.times.paused_until
    choice = Choice(
        frequency=(former or DEFAULT) if former != everything else None,
        frequencies=frequencies(before) if before != now else None,
        paused_until=(was_paused or today) if paused != was_paused else None,
    )
    return Change(choice, tuple(_restored(follows, at)))


def _without(reader: Subscriber, at: datetime) -> ReaderChoices:
    """The reader's choices as if nothing had been chosen at `at`.

    A later choice by category repeats those that it leaves as they are, and one that is taken back
    comes once more: so what was chosen at `at` is lifted from later ones, too, where it lasts.
    """
    choices = reader.reader_choices
    kept = {
        each.name: tuple(entry for entry in getattr(choices, each.name) if entry[0] != at)
        for each in fields(choices)
    }
    before = dict(_before(reader.choices, at, ()))
    if _lasts(_came(EVERYTHING, reader), at):
        often = before.get(EVERYTHING, DEFAULT)
        kept["frequency"] = tuple(_lifted(choices.frequency, at, often))
    by_category = {
        name: dict(_lifted(_entries(name, choices.frequencies), at, before.get(name)))
        for name in _changed_at(at, reader, before)
        if _lasts(_came(name, reader), at)
    }
    kept["frequencies"] = tuple(
        (then, _put(own, {name: often[then] for name, often in by_category.items()}))
        for then, own in kept["frequencies"]
    )
    return replace(choices, **kept)


def _changed_at(at: datetime, reader: Subscriber, before: Mapping[str, Frequency]) -> Iterable[str]:
    """The categories of which something else was chosen at `at` than before."""
    chosen = dict(reader.reader_choices.frequencies).get(at)
    own = before if chosen is None else dict(chosen)
    names = {*before, *own} - {EVERYTHING}
    return [name for name in names if own.get(name) != before.get(name)]


def _before(history: History[ValueT], at: datetime, otherwise: ValueT) -> ValueT:
    return next((value for then, value in reversed(history) if then < at), otherwise)


def _came(name: str, reader: Subscriber) -> History[Frequency | None]:
    """How often a category came over time; None where that was left to the default."""
    over_time = ((then, dict(chosen)) for then, chosen in reader.choices)
    return tuple((then, own.get(name) or own.get(EVERYTHING)) for then, own in over_time)


def _entries(name: str, chosen: History[Frequencies]) -> History[Frequency | None]:
    return tuple((then, dict(own).get(name)) for then, own in chosen)


def _put(own: Frequencies, often: Mapping[str, Frequency | None]) -> Frequencies:
    now = {**dict(own), **often}
    return frequencies({name: each for name, each in now.items() if each})


def _lasts(history: History[ValueT | None], at: datetime) -> bool:
    """Whether what began at `at` is in force, and what was before has not come back since."""
    before = _before(history, at, None)
    since = [value for then, value in history if then >= at]
    return bool(since) and since[-1] == since[0] and (before == since[0] or before not in since)


def _lifted(
    history: History[ValueT], at: datetime, before: ValueT
) -> Iterator[tuple[datetime, ValueT]]:
    """`history` without what was chosen at `at`, and with `before` for what repeats it."""
    made = dict(history).get(at)
    for then, value in history:
        if then != at:
            yield then, before if then > at and value == made else value


def _restored(follows: Iterable[Follow], at: datetime) -> Iterable[tuple[str, FollowState]]:
    for follow in follows:
        states = tuple((then, replace(state, title=follow.title)) for then, state in follow.changes)
        before = _before(states, at, None)
        if before and at in dict(states) and before != states[-1][1] and _lasts(states, at):
            yield follow.entity, before
