"""Undoing a change that a reader made through an unsubscribe link. Pure.

An undo is dated `_STEP` after the change that it undoes. Later choices of the reader are therefore
unaffected, regardless of when and how often the same change is undone. The histories also show
which changes were undone: an entry one step after another entry undoes the last change that is
still in force.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import DEFAULT, EVERYTHING
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.leaving import Change
from gazette.domain.subscribers.subscriber import Subscriber

ValueT = TypeVar("ValueT")

_STEP = timedelta(microseconds=1)

_TAKEN_BACK = ("frequency", "paused_until")
"""The fields of `Choice` that unsubscribing can change, except the frequencies of categories."""


def undo(
    reader: Subscriber, follows: Iterable[Follow], at: datetime, today: date
) -> tuple[tuple[datetime, Change], ...]:
    """Return the changes that undo the change made at `at`, and the time to record for each change.

    A field that was chosen again later, or was undone before, is unchanged. The row contains the
    values before the change. `today` is the reader's local date; a pause that ends on it has ended.
    """
    changes: defaultdict[datetime, dict[str, Any]] = defaultdict(dict)
    by_category: defaultdict[datetime, dict[str, Any]] = defaultdict(dict)
    before = without(reader, at)
    now, then = dict(reader.chosen), dict(before.chosen)
    choices = reader.reader_choices
    for name, history in choices.frequencies:
        if _stands(history, at) and now.get(name) != then.get(name):
            by_category[_behind(history)][name] = then.get(name, DEFAULT)
    if _stands(choices.frequency, at) and now.get(EVERYTHING) != then.get(EVERYTHING):
        changes[_behind(choices.frequency)]["frequency"] = then.get(EVERYTHING, DEFAULT)
    paused, was_paused = reader.times.paused_until, before.times.paused_until
    if _stands(choices.paused_until, at) and paused != was_paused:
        changes[_behind(choices.paused_until)]["paused_until"] = was_paused or today
    for instant, chosen in by_category.items():
        changes[instant]["frequencies"] = tuple(sorted(chosen.items()))
    followed: defaultdict[datetime, list[tuple[str, FollowState]]] = defaultdict(list)
    for instant, entity, state in _restored(follows, at):
        followed[instant].append((entity, state))
    return tuple(
        (instant, Change(Choice(**changes[instant]), tuple(followed[instant])))
        for instant in sorted({*changes, *followed})
    )


def without(reader: Subscriber, at: datetime) -> Subscriber:
    """Return the reader as if the change at `at` had not been made.

    If the change is no longer in force, the reader is unchanged.
    """
    choices = reader.reader_choices
    changed: dict[str, Any] = {name: _without(getattr(choices, name), at) for name in _TAKEN_BACK}
    by_category = ((name, _without(each, at)) for name, each in choices.frequencies)
    changed["frequencies"] = tuple((name, each) for name, each in by_category if each)
    return reader.with_choices(reader.service_choices, replace(choices, **changed))


Wanted = Callable[[Subscriber, Sequence[Follow], datetime], Change]
"""A function that returns the change that a button makes for a reader with the given follows."""


def made_before(
    reader: Subscriber, follows: Sequence[Follow], wanted: Wanted, *, since: datetime
) -> datetime | None:
    """Return the time of an earlier press of a button, if its change is still in force; else None.

    The change at that time must be exactly the change that the button makes, and all of it must
    still be in force. Times before `since` do not count.
    """
    choices = reader.reader_choices
    histories: list[History[Any]] = [choices.frequency, choices.paused_until]
    histories += [each for _, each in choices.frequencies]
    histories += [each.changes for each in follows]
    instants = {at for history in histories for at, _ in history if at >= since}
    for at in sorted(instants, reverse=True):
        change = _made(reader, follows, at)
        followed = [replace(each, changes=_without(each.changes, at)) for each in follows]
        before = [each for each in followed if each.changes]
        if change and change == wanted(without(reader, at), before, at):
            return at
    return None


def _made(reader: Subscriber, follows: Iterable[Follow], at: datetime) -> Change | None:
    """Return the change made at `at`; None if part of it is no longer in force.

    Also return None if the change includes a field that no button changes.
    """
    choices = reader.reader_choices
    times = (choices.clock, choices.weekly_on, choices.custom_on)
    others = (*times, choices.time_zone, choices.quiet_hours)
    changed: list[History[Any]] = [
        *(choices.frequency, choices.paused_until),
        *(each for _, each in choices.frequencies),
        *(each.changes for each in follows),
    ]
    has_all = all(_stands(each, at) for each in changed if at in dict(each))
    if not has_all or any(at in dict(each) for each in others):
        return None
    by_category = {
        name: often
        for name, history in choices.frequencies
        if (often := dict(history).get(at)) is not None
    }
    return Change(
        Choice(
            frequency=dict(choices.frequency).get(at),
            frequencies=tuple(sorted(by_category.items())) or None,
            paused_until=dict(choices.paused_until).get(at),
        ),
        tuple(
            (each.entity, state)
            for each in follows
            if (state := dict(each.changes).get(at)) is not None
        ),
    )


def _restored(
    follows: Iterable[Follow], at: datetime
) -> Iterator[tuple[datetime, str, FollowState]]:
    for follow in follows:
        before = _without(follow.changes, at)
        if not before or before == follow.changes:
            continue
        state = replace(before[-1][1], title=follow.title)
        if state != replace(follow.latest, title=follow.title):
            yield _behind(follow.changes), follow.entity, state


def _without(history: History[ValueT], at: datetime) -> History[ValueT]:
    """Return `history` without the change made at `at`, if that change is the last change in
    force."""
    return tuple(each for each in history if each[0] < at) if _stands(history, at) else history


def _stands(history: History[ValueT], at: datetime) -> bool:
    """Return True if the change made at `at` is the last change, not counting undone changes."""
    standing: list[datetime] = []
    previous: datetime | None = None
    for then, _ in history:
        if standing and previous is not None and then - previous == _STEP:
            standing.pop()
        elif then != previous:
            standing.append(then)
        previous = then
    return bool(standing) and standing[-1] == at


def _behind(history: History[ValueT]) -> datetime:
    return history[-1][0] + _STEP
