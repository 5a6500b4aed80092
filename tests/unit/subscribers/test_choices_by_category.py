"""Each category has a history of its own: the latest choice of it counts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise, permutations

import pytest
from gazette.adapters.dynamodb.histories import read_reader_choices, write_reader_choices
from gazette.domain.commands import ChangeSubscriber, ChoosePreferences, Command
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.subscribers.choices import (
    NO_CHOICES,
    Choice,
    Preferences,
    ReaderChoices,
    frequencies_at_each,
    resolve,
)
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequencies,
)
from gazette.domain.subscribers.history import LONGEST, History, remember
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.subscribers.whole_maps import from_whole_maps, to_whole_maps, whole_map_at
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_subscriber, an_event
from tests.former_choices import (
    former_choice,
    former_frequencies,
    former_reading,
    is_overtaken,
)
from tests.world import World

HOUR = timedelta(hours=1)
THEN = NOW - 10 * HOUR
MUTED = Frequency.NEVER


def chosen(**by_category: Frequency) -> Choice:
    """A choice by category."""
    return Choice(frequencies=frequencies(by_category))


def profile(at: datetime, **by_category: Frequency) -> ChangeSubscriber:
    """`subscriber.changed`."""
    reader = replace(a_subscriber(changed_at=at), choices=((at, frequencies(by_category)),))
    return ChangeSubscriber(reader)


def choose(at: datetime, **by_category: Frequency) -> ChoosePreferences:
    """`preferences.chosen`."""
    return ChoosePreferences("ann", chosen(**by_category), at)


def in_force(*commands: Command) -> dict[str, Frequency]:
    """What counts of ann after all of it."""
    world = World()
    for command in commands:
        world.say(command)
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return dict(reader.chosen)


# What did not hold.


def test_trace_al_choice_of_a_category_leaves_another_muted() -> None:
    said: list[Command] = [
        profile(THEN),
        choose(THEN + HOUR, comment=MUTED),
        choose(THEN + 2 * HOUR, like=Frequency.WEEKLY),
    ]
    for order in permutations(said):
        assert in_force(*order, order[0]) == {"comment": MUTED, "like": Frequency.WEEKLY}


def test_choice_before_the_profile_leaves_another_category_muted() -> None:
    early = [choose(THEN, comment=MUTED), choose(THEN + HOUR, like=Frequency.WEEKLY)]
    assert in_force(*early, profile(THEN)) == {"comment": MUTED, "like": Frequency.WEEKLY}


def test_trace_al_profile_that_changes_a_category_leaves_another_muted() -> None:
    said: list[Command] = [
        profile(THEN, like=Frequency.DAILY),
        choose(THEN + HOUR, comment=MUTED),
        profile(THEN + 2 * HOUR, like=Frequency.WEEKLY),
    ]
    for order in permutations(said):
        assert in_force(*order) == {"comment": MUTED, "like": Frequency.WEEKLY}


@pytest.mark.parametrize("later", [{}, {"like": Frequency.DAILY}])
def test_profile_that_omits_a_category_leaves_the_category_muted(
    later: dict[str, Frequency],
) -> None:
    said: list[Command] = [
        profile(THEN, comment=Frequency.DAILY),
        choose(THEN + HOUR, comment=MUTED),
        profile(THEN + 2 * HOUR, **later),
        profile(THEN + 3 * HOUR, comment=Frequency.DAILY),
    ]
    assert in_force(*said[:3])["comment"] is MUTED
    assert in_force(*said)["comment"] is MUTED, "it says what it always said"


def test_profile_that_changes_a_muted_category_takes_effect() -> None:
    said: list[Command] = [
        profile(THEN, comment=Frequency.DAILY),
        choose(THEN + HOUR, comment=MUTED, like=MUTED),
        profile(THEN + 2 * HOUR, comment=Frequency.WEEKLY),
    ]
    assert in_force(*said) == {"comment": Frequency.WEEKLY, "like": MUTED}


def test_profile_that_repeats_a_mute_does_not_end_the_mute_later() -> None:
    said: list[Command] = [
        profile(THEN),
        choose(THEN + HOUR, comment=MUTED),
        profile(THEN + 2 * HOUR, comment=MUTED),
        profile(THEN + 3 * HOUR),
    ]
    assert in_force(*said) == {"comment": MUTED}


def test_category_removed_from_the_profile_returns_to_the_default() -> None:
    said: list[Command] = [
        profile(THEN, comment=MUTED),
        choose(THEN + HOUR, like=MUTED),
        profile(THEN + 2 * HOUR),
    ]
    assert in_force(*said) == {"like": MUTED}


def test_default_resets_a_choice_and_overrides_the_service() -> None:
    said: list[Command] = [
        profile(THEN, like=MUTED),
        choose(THEN + HOUR, comment=MUTED),
        choose(THEN + 2 * HOUR, comment=DEFAULT, like=DEFAULT),
    ]
    assert in_force(*said) == {}
    assert in_force(*said, choose(THEN + 3 * HOUR, comment=MUTED)) == {"comment": MUTED}


def test_choice_of_another_category_keeps_muted_events_withdrawn() -> None:
    world = World()
    world.say(profile(NOW - 2 * HOUR))
    world.say(choose(NOW - HOUR, comment=MUTED))
    world.say(choose(NOW, like=Frequency.WEEKLY))
    world.create(an_event())
    assert not world.events.rows


# Whatever is said, in whatever order.

hours = st.integers(0, 20).map(lambda number: NOW - HOUR * number)
names = st.sampled_from(["comment", "like", "mention"])
maps = st.dictionaries(names, st.sampled_from(Frequency)).map(frequencies)
patches = st.dictionaries(names, st.sampled_from([*Frequency, DEFAULT])).map(frequencies)
dated_patches = st.lists(st.tuples(hours, patches), max_size=8)
service_words = st.lists(st.tuples(hours, maps), max_size=5)


def service_of(said: list[tuple[datetime, Frequencies]]) -> History[Preferences]:
    history: History[Preferences] = ()
    for at, each in said:
        history = remember(history, at, Preferences(each, DigestTimes(8), "Europe/Berlin"))
    return history


def reader_of(said: list[tuple[datetime, Frequencies]]) -> ReaderChoices:
    own = NO_CHOICES
    for at, each in said:
        own = own.with_choice(at, Choice(frequencies=each))
    return own


def at_each(
    service: History[Preferences], own: ReaderChoices
) -> dict[datetime, dict[str, Frequency]]:
    return {at: dict(now) for at, now in frequencies_at_each(service, own)}


def latest(
    said: list[tuple[datetime, Frequencies]], name: str
) -> tuple[datetime, str, Frequency] | None:
    """The last word on a category; of two with one instant, the greater by `repr`."""
    words = [(at, repr(often), often) for at, each in said for n, often in each if n == name]
    return max(words, default=None)


@given(service_words, dated_patches, st.data())
@settings(max_examples=300, deadline=None)
def test_order_and_repetition_do_not_affect_category_choices(
    service: list[tuple[datetime, Frequencies]],
    said: list[tuple[datetime, Frequencies]],
    data: st.DataObject,
) -> None:
    again = data.draw(st.permutations([*said, *said[:2]]))
    service_again = data.draw(st.permutations([*service, *service[:1]]))
    first, second = reader_of(said), reader_of(again)
    assert first == second
    assert at_each(service_of(service), first) == at_each(service_of(service_again), second)


@given(dated_patches)
@settings(max_examples=300, deadline=None)
def test_latest_choice_of_each_category_applies(
    said: list[tuple[datetime, Frequencies]],
) -> None:
    first_profile = service_of([(NOW - 30 * HOUR, ())])
    now = dict(resolve(first_profile, reader_of(said))[1].frequencies)
    for name in ("comment", "like", "mention"):
        word = latest(said, name)
        assert now.get(name, DEFAULT) == (word[2] if word else DEFAULT)


@given(service_words.filter(bool), dated_patches)
@settings(max_examples=300, deadline=None)
def test_mute_ends_only_with_a_change_of_the_same_category(
    service: list[tuple[datetime, Frequencies]], said: list[tuple[datetime, Frequencies]]
) -> None:
    """Of a reader's mutes: what the service muted alone ends with its next profile."""
    over_time = sorted(at_each(service_of(service), reader_of(said)).items())
    for (_, before), (at, after) in pairwise(over_time):
        for name, often in before.items():
            word = latest([each for each in said if each[0] < at], name)
            if often is not MUTED or after.get(name) is MUTED or not word or word[2] is not MUTED:
                continue
            spoken = [then for then, each in [*said, *service] if name in dict(each)]
            assert at in spoken, (name, at)


def test_profile_that_another_of_the_same_instant_replaces_ends_no_choice() -> None:
    """The greater by `repr` counts as the later, so the other was never in force."""
    own = reader_of([(NOW - 2 * HOUR, comment(Frequency.NEVER))])
    own = own.with_choice(NOW - 2 * HOUR, Choice(clock=(7, None)))
    service: History[Preferences] = ()
    for at, often, hour in (
        (NOW - 3 * HOUR, Frequency.NEVER, 9),
        (NOW - HOUR, Frequency.IMMEDIATE, 8),
        (NOW - HOUR, Frequency.NEVER, 9),
    ):
        said = Preferences(comment(often), DigestTimes(hour), "Europe/Berlin")
        service = remember(service, at, said)
    service = remember(service, NOW, Preferences((), DigestTimes(9), "Europe/Berlin"))
    now = resolve(service, own)[1]
    assert (dict(now.frequencies), now.times.hour) == ({"comment": Frequency.NEVER}, 7)


def comment(often: Frequency) -> Frequencies:
    return frequencies({"comment": often})


# Rows that the version before wrote, or reads.


@given(st.lists(st.tuples(hours, maps), min_size=1, max_size=8), service_words)
@settings(max_examples=300, deadline=None)
def test_choices_stored_by_the_previous_version_keep_their_meaning(
    chosen_maps: list[tuple[datetime, Frequencies]],
    service: list[tuple[datetime, Frequencies]],
) -> None:
    """At every instant, but where the service has changed one category, which is now that one."""
    said: History[Frequencies] = ()
    for at, each in chosen_maps:
        said = former_choice(said, at, each)
    by_service = service_of(service)
    own = ReaderChoices(frequencies=from_whole_maps(said, by_service))
    for at in sorted({at for at, _ in [*said, *by_service]}):
        before = former_frequencies(by_service, said, at=at)
        now = dict(whole_map_at(at, by_service, own))
        if not is_overtaken(by_service, said, at=at):
            assert now == before, at


@given(
    st.lists(st.tuples(hours, patches), min_size=1, max_size=6),
    service_words.filter(bool),
    st.lists(st.tuples(hours, st.sampled_from([*Frequency, DEFAULT])), max_size=3),
)
@settings(max_examples=300, deadline=None)
def test_previous_version_reads_the_same_choices_after_a_rollback(
    said: list[tuple[datetime, Frequencies]],
    service: list[tuple[datetime, Frequencies]],
    everything: list[tuple[datetime, Frequency]],
) -> None:
    by_service, own = service_of(service), reader_of(said)
    for at, often in everything:
        own = own.with_choice(at, Choice(frequency=often))
    text, _ = write_reader_choices(own, by_service)
    read = former_reading(text)
    for at, now in frequencies_at_each(by_service, own):
        assert now == former_frequencies(
            by_service, read.get("frequencies", ()), read.get("frequency", ()), at=at
        )


@given(dated_patches, service_words)
@settings(max_examples=200, deadline=None)
def test_category_choices_are_read_as_written(
    said: list[tuple[datetime, Frequencies]], service: list[tuple[datetime, Frequencies]]
) -> None:
    by_service = service_of(service)
    own = reader_of(said).with_choice(NOW, Choice(clock=(7, None)))
    assert read_reader_choices(*write_reader_choices(own, by_service), by_service) == own


def test_choice_written_after_a_rollback_overrides_the_older_attribute() -> None:
    """It knows nothing of `reader_categories`, and leaves that as it was."""
    by_service = service_of([(NOW - 30 * HOUR, ())])
    own = reader_of([(NOW - 2 * HOUR, frequencies({"comment": MUTED}))])
    text, categories = write_reader_choices(own, by_service)
    whole = former_reading(text)["frequencies"]
    later = former_choice(whole, NOW, frequencies({"comment": MUTED, "like": MUTED}))
    rolled_back, _ = write_reader_choices(
        ReaderChoices(frequencies=from_whole_maps(later, by_service)), by_service
    )
    found = read_reader_choices(rolled_back, categories, by_service)
    assert dict(resolve(by_service, found)[1].frequencies) == {"comment": MUTED, "like": MUTED}
    taken_back = former_choice(whole, NOW, ())
    rolled_back, _ = write_reader_choices(
        ReaderChoices(frequencies=from_whole_maps(taken_back, by_service)), by_service
    )
    found = read_reader_choices(rolled_back, categories, by_service)
    assert resolve(by_service, found)[1].frequencies == ()


FORMER_ROW = (
    '{"frequency":[["2026-11-20T07:03:00+00:00","weekly"]],'
    '"frequencies":[["2026-11-20T07:03:00+00:00",{"comment":"never","like":"weekly"}],'
    '["2026-11-21T07:03:00+00:00",{"comment":"never"}]],'
    '"clock":[["2026-11-20T07:03:00+00:00",[7,null]]]}'
)
"""`reader_choices` as the version before wrote it."""

ROW = (
    '{"frequencies":[["2026-11-20T07:03:00+00:00",{"comment":"never","mention":"daily"}],'
    '["2026-11-21T07:03:00+00:00",{"like":"weekly","mention":"daily"}]]}'
)
"""`reader_choices` as it is written now."""

CATEGORIES = (
    '{"maps":"a03ca531aee6c7fa","chosen":[["2026-11-20T07:03:00+00:00",{"comment":"never"}],'
    '["2026-11-21T07:03:00+00:00",{"comment":"default","like":"weekly"}]]}'
)
"""`reader_categories` beside it."""


def test_row_of_the_previous_version_can_be_read() -> None:
    found = read_reader_choices(FORMER_ROW, None, ())
    at = datetime.fromisoformat("2026-11-20T07:03Z")
    assert found.frequencies == (
        ("comment", ((at, MUTED),)),
        ("like", ((at, Frequency.WEEKLY), (at + 24 * HOUR, DEFAULT))),
    )
    assert found.clock == ((at, (7, None)),)


def test_previous_version_can_read_the_current_row() -> None:
    at = datetime.fromisoformat("2026-11-20T07:03Z")
    by_service = service_of([(at - HOUR, frequencies({"mention": "daily"}))])
    own = reader_of(
        [
            (at, frequencies({"comment": MUTED})),
            (at + 24 * HOUR, frequencies({"comment": DEFAULT, "like": Frequency.WEEKLY})),
        ]
    )
    text, categories = write_reader_choices(own, by_service)
    assert (text, categories) == (ROW, CATEGORIES)
    assert former_reading(text)["frequencies"][-1][1] == frequencies(
        {"like": Frequency.WEEKLY, "mention": Frequency.DAILY}
    )


def test_category_attribute_is_omitted_without_category_choices() -> None:
    own = NO_CHOICES.with_choice(NOW, Choice(frequency=Frequency.WEEKLY))
    text, categories = write_reader_choices(own, ())
    assert (set(former_reading(text)), categories) == ({"frequency"}, "")


def test_stored_categories_are_limited_to_fit_a_row() -> None:
    """Of more, what mutes is dropped last. Maps and choices have them up to sixteen times."""
    own = NO_CHOICES.with_choice(NOW, chosen(muted=MUTED))
    for number in range(40):
        many = {f"category_{number:02}_{each:03}": Frequency.DAILY for each in range(100)}
        own = own.with_choice(NOW + number * HOUR, chosen(**many))
    assert len(own.frequencies) == 200
    assert "muted" in dict(own.frequencies)
    by_service = service_of([(NOW, ())])
    reader = replace(a_subscriber(changed_at=NOW), choices=((NOW, ()),))
    stored = reader.with_choices(by_service, own)
    texts = (*write_reader_choices(own, by_service), repr(stored.choices))
    assert sum(map(len, texts)) < 400_000


def test_category_history_is_truncated_to_the_latest_choices() -> None:
    own = NO_CHOICES
    for number in range(LONGEST + 4):
        often = MUTED if number % 2 else Frequency.DAILY
        own = own.with_choice(NOW + number * HOUR, chosen(comment=often))
    ((_, history),) = own.frequencies
    assert (len(history), history[-1][1]) == (LONGEST, MUTED)
    assert len(to_whole_maps((), own)) <= LONGEST


CHOOSERS: list[Callable[[datetime], Command]] = [
    lambda at: choose(at, comment=MUTED),
    lambda at: choose(at, comment=DEFAULT),
    lambda at: choose(at, like=Frequency.WEEKLY),
    lambda at: profile(at, comment=Frequency.DAILY),
    lambda at: profile(at, like=Frequency.DAILY),
]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_messages_in_any_order_produce_the_same_row(order: tuple[int, ...]) -> None:
    said: list[Command] = [
        make(NOW - (4 - number) * HOUR) for number, make in enumerate(CHOOSERS[:4])
    ]
    ends = []
    for each in (range(4), order):
        world = World()
        for number in each:
            world.say(said[number])
        reader = world.subscribers.get("ann")
        assert isinstance(reader, Subscriber)
        ends.append(replace(reader, revision=1, routed_for="", routes_since=None))
    assert ends[0] == ends[1]
    assert EVERYTHING not in dict(ends[0].chosen)
