"""A history is the same in whatever order, and however often, its values arrive."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest
from gazette.domain.subscribers.history import (
    LATE,
    LONGEST,
    History,
    in_force_since,
    remember,
    without_repeats,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW

HOUR = timedelta(hours=1)
values = st.sampled_from("abc")
within_a_day = st.timedeltas(timedelta(0), LATE).map(lambda since: NOW + since)
within_a_fortnight = st.timedeltas(timedelta(0), timedelta(days=14)).map(lambda since: NOW + since)


def told(*said: tuple[datetime, str], longest: int = LONGEST) -> History[str]:
    """The history that arises when `said` arrives in this order."""
    history: History[str] = ()
    for at, value in said:
        history = remember(history, at, value, longest=longest)
    return history


def value_at(said: Iterable[tuple[datetime, str]], instant: datetime) -> str | None:
    """What holds at `instant`, from everything that was said."""
    return max(((at, value) for at, value in said if at <= instant), default=(NOW, None))[1]


@given(
    st.lists(st.tuples(within_a_day, values), max_size=LONGEST),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_history_ignores_order_and_repetition_within_a_day(
    said: list[tuple[datetime, str]], data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(said), max_size=4)) if said else []
    shuffled = data.draw(st.permutations(said + again))
    assert told(*shuffled) == told(*sorted(said))


@given(
    st.lists(
        st.tuples(within_a_fortnight, values, st.timedeltas(timedelta(0), LATE)), max_size=LONGEST
    )
)
@settings(max_examples=100, deadline=None)
def test_history_ignores_order_if_delays_are_below_a_day(
    said: list[tuple[datetime, str, timedelta]],
) -> None:
    in_order = [(at, value) for at, value, _ in sorted(said)]
    as_arrived = [(at, value) for at, value, late in sorted(said, key=lambda one: one[0] + one[2])]
    assert told(*as_arrived) == told(*in_order)


@given(st.lists(st.tuples(within_a_fortnight, values), min_size=1, max_size=LONGEST))
@settings(max_examples=100, deadline=None)
def test_truncated_history_has_the_same_value_at_any_instant(
    said: list[tuple[datetime, str]],
) -> None:
    history = told(*sorted(said))
    for at, _ in said:
        for instant in (at - timedelta(microseconds=1), at, at + HOUR):
            assert value_at(history, instant) == value_at(said, instant)


@pytest.mark.parametrize("order", ["ab", "ba", "abab", "bba"])
def test_simultaneous_values_have_a_deterministic_order(
    order: str,
) -> None:
    history = told(*((NOW, value) for value in order))
    assert history == ((NOW, "a"), (NOW, "b"))
    assert value_at(history, NOW) == "b"


def test_repeated_value_changes_no_history() -> None:
    once = told((NOW, "a"), (NOW + HOUR, "b"))
    assert remember(once, NOW, "a") == remember(once, NOW + HOUR, "b") == once


def test_repeated_value_is_kept_for_a_day() -> None:
    repeated = told((NOW, "a"), (NOW + 2 * HOUR, "a"))
    assert len(repeated) == 2
    between = remember(repeated, NOW + HOUR, "b")
    assert [value for _, value in between] == ["a", "b", "a"]


def test_repeated_value_is_dropped_after_a_day() -> None:
    later = told((NOW, "a"), (NOW + HOUR, "a"), (NOW + HOUR + LATE, "b"))
    assert [at for at, _ in later] == [NOW, NOW + HOUR, NOW + HOUR + LATE]
    later = remember(later, NOW + 2 * HOUR + LATE, "b")
    assert [at for at, _ in later] == [NOW, NOW + HOUR + LATE, NOW + 2 * HOUR + LATE]


@pytest.mark.parametrize("longest", [1, 3, LONGEST])
def test_history_keeps_the_latest_entries(longest: int) -> None:
    said = [(NOW + number * HOUR, f"v{number % 2}") for number in range(LONGEST + 4)]
    assert told(*said, longest=longest) == tuple(said[-longest:])
    assert told(*reversed(said[-longest:]), longest=longest) == tuple(said[-longest:])


def test_overfull_history_within_a_day_ends_with_the_latest_entry() -> None:
    said = [(NOW + number * timedelta(minutes=1), f"v{number % 2}") for number in range(40)]
    neighbours_swapped = [said[number ^ 1] for number in range(len(said))]
    assert told(*said) == told(*neighbours_swapped) == tuple(said[-LONGEST:])


def test_repetitions_within_a_day_do_not_evict_earlier_values() -> None:
    """A service may say every half hour how things stand."""
    repeated = [(NOW + number * HOUR / 2, "a") for number in range(2 * LONGEST)]
    history = told((NOW - 30 * LATE, "a"), *repeated)
    assert value_at(history, NOW - LATE) == "a"


HISTORY = ((NOW, "a"), (NOW + HOUR, "b"), (NOW + 2 * HOUR, "c"))


@pytest.mark.parametrize(
    ("instant", "held"),
    [
        (NOW - HOUR, "abc"),
        (NOW, "abc"),
        (NOW + HOUR - timedelta(microseconds=1), "abc"),
        (NOW + HOUR, "bc"),
        (NOW + 2 * HOUR, "c"),
        (NOW + 9 * HOUR, "c"),
    ],
)
def test_values_since_an_instant_include_the_value_then_in_force(
    instant: datetime, held: str
) -> None:
    assert "".join(value for _, value in in_force_since(HISTORY, instant)) == held


def test_simultaneous_values_were_each_in_force() -> None:
    tied = told((NOW, "a"), (NOW, "b"), (NOW + HOUR, "c"))
    assert in_force_since(tied, NOW - HOUR) == in_force_since(tied, NOW) == tied
    assert in_force_since(tied, NOW + HOUR) == tied[2:]


def test_only_the_last_of_simultaneous_values_remains_in_force() -> None:
    tied = told((NOW, "a"), (NOW, "b"), (NOW + HOUR, "c"))
    assert in_force_since(tied, NOW + HOUR / 2) == tied[1:]


def test_empty_history_has_no_value() -> None:
    assert in_force_since((), NOW) == without_repeats(()) == ()


@pytest.mark.parametrize(
    ("said", "turned"),
    [("a", "a"), ("aaa", "a"), ("aabba", "aba"), ("abab", "abab"), ("abc", "abc")],
)
def test_history_without_repeats_contains_only_changes(said: str, turned: str) -> None:
    history = tuple((NOW + number * HOUR, value) for number, value in enumerate(said))
    assert "".join(value for _, value in without_repeats(history)) == turned
    assert set(without_repeats(history)) <= set(history)


@given(st.lists(st.tuples(within_a_fortnight, values), max_size=LONGEST - 1))
@settings(max_examples=100, deadline=None)
def test_history_without_repeats_does_not_depend_on_kept_repetitions(
    said: list[tuple[datetime, str]],
) -> None:
    history = told(*sorted(said))
    assert without_repeats(without_repeats(history)) == without_repeats(history)
    if history:
        newest = history[-1]
        later = remember(history, newest[0] + timedelta(days=30), newest[1])
        assert without_repeats(later) == without_repeats(history)


def test_repetition_in_a_full_history_replaces_the_oldest_entry() -> None:
    """It is the newest that was said, and something may still come before it."""
    full = told(*((NOW + number * HOUR, f"v{number % 2}") for number in range(LONGEST)))
    later = remember(full, NOW + 30 * LATE, full[-1][1])
    assert later == (*full[1:], (NOW + 30 * LATE, full[-1][1]))
