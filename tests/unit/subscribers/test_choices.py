"""Service and reader both choose: whose choice counts, field by field."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import pytest
from gazette.domain.commands import ChangeSubscriber, ChoosePreferences, Command
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.subscribers.choices import (
    NO_CHOICES,
    Choice,
    Preferences,
    ReaderChoices,
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
from gazette.domain.subscribers.subscriber import Erased, Subscriber, SubscriberStatus
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, SettableClock, a_subscriber, an_event
from tests.world import World, crashes, interleavings

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WEEKLY = frequencies({"comment": Frequency.WEEKLY})
NEVER = frequencies({"comment": Frequency.NEVER})


def said(
    hour: int = 8, chosen: Frequencies = (), zone: str = "Europe/Berlin", **times: object
) -> Preferences:
    """What the service says."""
    return Preferences(chosen, replace(DigestTimes(hour), **times), zone)  # type: ignore[arg-type]


def counts(service: History[Preferences], *chosen: tuple[datetime, Choice]) -> Preferences:
    """What counts in the end."""
    own = NO_CHOICES
    for at, choice in chosen:
        own = own.with_choice(at, choice)
    return resolve(service, own)[1]


# Whose word counts.

AT_SEVEN = Choice(clock=(7, None))


def test_service_preferences_apply_if_the_reader_chose_none() -> None:
    assert counts(((NOW, said()), (NOW + HOUR, said(9, WEEKLY)))) == said(9, WEEKLY)


def test_reader_choice_overrides_the_service() -> None:
    assert counts(((NOW, said(8, WEEKLY)),), (NOW + HOUR, AT_SEVEN)) == said(7, WEEKLY)


def test_repeated_service_preferences_do_not_undo_a_reader_choice() -> None:
    nightly = tuple((NOW + DAY * night, said(8)) for night in range(3))
    assert counts(nightly, (NOW + HOUR, AT_SEVEN)) == said(7)


def test_later_service_change_overrides_the_reader_choice() -> None:
    assert counts(((NOW, said(8)), (NOW + DAY, said(9))), (NOW + HOUR, AT_SEVEN)) == said(9)


def test_earlier_service_change_does_not_override_the_reader_choice() -> None:
    assert counts(((NOW, said(8)), (NOW + HOUR, said(9))), (NOW + DAY, AT_SEVEN)) == said(7)


def test_service_change_overrides_the_choice_even_if_reverted() -> None:
    changes = ((NOW, said(8)), (NOW + DAY, said(9)), (NOW + 2 * DAY, said(8)))
    assert counts(changes, (NOW + HOUR, AT_SEVEN)) == said(8)


def test_reader_can_choose_again_after_a_service_change() -> None:
    changes = ((NOW, said(8)), (NOW + DAY, said(9)))
    assert counts(changes, (NOW + HOUR, AT_SEVEN), (NOW + 2 * DAY, AT_SEVEN)) == said(7)


def test_simultaneous_service_change_does_not_override_the_reader_choice() -> None:
    assert counts(((NOW, said(8)), (NOW + HOUR, said(9))), (NOW + HOUR, AT_SEVEN)) == said(7)


def test_first_known_service_preferences_do_not_override_an_earlier_choice() -> None:
    """The choice came before the profile: services may have said so for ever."""
    assert counts(((NOW + HOUR, said(8)),), (NOW, AT_SEVEN)) == said(7)


FIRST = Days(month_day=1)
FIELDS: list[tuple[Choice, Preferences, Preferences]] = [
    (Choice(frequencies=WEEKLY), said(chosen=WEEKLY), said(chosen=NEVER)),
    (Choice(clock=(7, 30)), said(7, minute=30), said(9)),
    (Choice(weekly_on=5), said(weekly_on=5), said(weekly_on=3)),
    (
        Choice(custom_on=Days(month_day=1)),
        said(custom_on=Days(month_day=1)),
        said(custom_on=Days()),
    ),
    (
        Choice(paused_until=date(2026, 12, 1)),
        said(paused_until=date(2026, 12, 1)),
        said(paused_until=date(2026, 12, 2)),
    ),
    (Choice(time_zone="Asia/Tokyo"), said(zone="Asia/Tokyo"), said(zone="America/Lima")),
]


@pytest.mark.parametrize(("choice", "chosen", "changed"), FIELDS)
def test_each_field_is_chosen_and_overridden_independently(
    choice: Choice, chosen: Preferences, changed: Preferences
) -> None:
    assert counts(((NOW, said()),), (NOW + HOUR, choice)) == chosen
    overtaken = ((NOW, said()), (NOW + DAY, changed))
    assert counts(overtaken, (NOW + HOUR, choice)) == changed
    others = [other for other, *_ in FIELDS if other != choice]
    everything = [(NOW + HOUR, other) for other in others]
    assert counts(overtaken, *everything, (NOW + HOUR, choice)) == counts(
        ((NOW, changed),), *everything
    )


def test_general_frequency_can_be_set_only_by_the_reader() -> None:
    found = counts(
        ((NOW, said()), (NOW + DAY, said(chosen=NEVER))), (NOW + HOUR, Choice(Frequency.WEEKLY))
    )
    assert dict(found.frequencies) == {
        EVERYTHING: Frequency.WEEKLY,
        "comment": Frequency.NEVER,
    }


def test_effective_choice_is_known_at_each_instant() -> None:
    own = NO_CHOICES.with_choice(NOW + HOUR, Choice(Frequency.WEEKLY, NEVER))
    own = own.with_choice(NOW + 3 * HOUR, Choice(frequencies=(("comment", DEFAULT),)))
    over_time, _ = resolve(((NOW, said()), (NOW + 2 * HOUR, said(chosen=WEEKLY))), own)
    everything = {EVERYTHING: Frequency.WEEKLY}
    assert [(at, dict(chosen)) for at, chosen in over_time] == [
        (NOW, {}),
        (NOW + HOUR, {**everything, "comment": Frequency.NEVER}),
        (NOW + 2 * HOUR, {**everything, "comment": Frequency.WEEKLY}),
        (NOW + 3 * HOUR, everything),
    ]


hours = st.integers(0, 20).map(lambda number: NOW - HOUR * number)
often = st.sampled_from(Frequency)
preferences = st.builds(
    said,
    st.integers(7, 9),
    st.dictionaries(st.sampled_from(["comment", "like"]), often).map(frequencies),
    st.sampled_from(["Europe/Berlin", "Asia/Tokyo"]),
)
choices = st.builds(
    Choice,
    frequency=st.none() | often,
    frequencies=st.none()
    | st.dictionaries(st.sampled_from(["comment", "like"]), often | st.just(DEFAULT)).map(
        frequencies
    ),
    clock=st.none() | st.integers(7, 9).map(lambda hour: (hour, None)),
    paused_until=st.none() | st.sampled_from([date(2026, 12, 1), date(2026, 11, 1)]),
    time_zone=st.none() | st.sampled_from(["Europe/Berlin", "Asia/Tokyo"]),
)


@given(
    st.lists(st.tuples(hours, preferences), min_size=1, max_size=6),
    st.lists(st.tuples(hours, choices), max_size=6),
    st.data(),
)
def test_order_and_repetition_do_not_affect_resolved_preferences(
    service: list[tuple[datetime, Preferences]],
    chosen: list[tuple[datetime, Choice]],
    data: st.DataObject,
) -> None:
    def come_to(
        service: list[tuple[datetime, Preferences]], chosen: list[tuple[datetime, Choice]]
    ) -> object:
        history: History[Preferences] = ()
        for at, each in service:
            history = remember(history, at, each)
        own = NO_CHOICES
        for at, choice in chosen:
            own = own.with_choice(at, choice)
        return resolve(history, own)

    shuffled = data.draw(st.permutations([*service, service[0]]))
    chosen_again = data.draw(st.permutations([*chosen, *chosen[:1]]))
    assert come_to(shuffled, chosen_again) == come_to(service, chosen)


# What is stored.


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def ann(world: World) -> Subscriber:
    """Ann as she is stored."""
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


def choose(world: World, choice: Choice, *, at: datetime = NOW) -> Outcome:
    """`preferences.chosen`."""
    return world.say(ChoosePreferences("ann", choice, at))[0]


def test_reader_without_choices_has_no_choice_history(world: World) -> None:
    for days in range(3):
        world.choose(at=NOW - DAY * days)
    assert (ann(world).recorded_service_choices, ann(world).reader_choices) == ((), ReaderChoices())


def test_choice_is_stored_with_the_service_preferences(world: World) -> None:
    world.choose(at=NOW - DAY, comment=Frequency.WEEKLY)
    assert choose(world, Choice(Frequency.CUSTOM)) is Outcome.CHANGED
    assert [(at, each.frequencies) for at, each in ann(world).recorded_service_choices] == [
        (NOW - DAY, WEEKLY)
    ]
    assert dict(ann(world).chosen) == {EVERYTHING: Frequency.CUSTOM, "comment": Frequency.WEEKLY}
    assert ann(world).changed_at == NOW - DAY, "the producer's clock"


def test_choice_does_not_make_a_profile_outdated(world: World) -> None:
    world.choose(at=NOW - DAY)
    choose(world, AT_SEVEN)
    renamed = replace(a_subscriber(changed_at=NOW - HOUR, email="new@example.com"), name="Anna")
    assert world.say(ChangeSubscriber(renamed)) == [Outcome.CHANGED]
    assert (ann(world).name, ann(world).email) == ("Anna", "new@example.com")
    assert ann(world).times.hour == 7


def test_repeated_choice_has_no_effect(world: World) -> None:
    world.choose(at=NOW - DAY)
    choose(world, AT_SEVEN)
    before = ann(world)
    assert choose(world, AT_SEVEN) is Outcome.CHANGED
    assert ann(world) == before


def test_schedules_follow_a_choice(world: World) -> None:
    world.choose(at=NOW - DAY)
    choose(world, Choice(frequency=Frequency.WEEKLY, clock=(20, 0), weekly_on=5))
    schedule = world.schedules.get("ann", "weekly")
    assert schedule
    assert schedule.next_due_at == datetime(2026, 11, 27, 19, 0, tzinfo=UTC)


def test_waiting_events_move_to_the_general_frequency(world: World) -> None:
    world.choose(at=NOW - DAY)
    world.create(an_event(occurred_at=NOW - HOUR))
    choose(world, Choice(frequency=Frequency.WEEKLY))
    assert [stored.schedule for stored in world.events.rows.values()] == ["weekly"]


def test_muted_events_are_withdrawn(world: World) -> None:
    world.choose(at=NOW - DAY)
    world.create(an_event(occurred_at=NOW - HOUR))
    choose(world, Choice(frequencies=NEVER))
    assert not world.events.rows
    assert world.create(an_event("e2")) == [Outcome.MUTED]


def test_choice_reactivates_a_dormant_reader_and_counts_as_activity(world: World) -> None:
    world.choose(at=NOW - DAY)
    world.subscribers.set_status("ann", SubscriberStatus.DORMANT)
    choose(world, AT_SEVEN)
    assert ann(world).status is SubscriberStatus.ACTIVE
    assert ann(world).active_on == NOW.date()
    schedule = world.schedules.get("ann", DAILY)
    assert schedule
    assert schedule.recurrence.hour == 7


def test_choices_do_not_resubscribe_a_reader(world: World) -> None:
    world.choose(at=NOW - DAY)
    world.arm()
    world.unsubscribe()
    choose(world, Choice(frequency=Frequency.WEEKLY))
    assert ann(world).status is SubscriberStatus.UNSUBSCRIBED
    assert not world.schedules.listed


def test_choice_before_the_profile_is_applied_later(world: World) -> None:
    assert choose(world, AT_SEVEN) is Outcome.CHANGED
    choose(world, Choice(frequency=Frequency.WEEKLY), at=NOW - HOUR)
    early = world.subscribers.early("ann")
    assert early
    assert early.reader_choices.clock == ((NOW, (7, None)),)
    world.choose(at=NOW - DAY)
    assert ann(world).times.hour == 7
    assert dict(ann(world).chosen) == {EVERYTHING: Frequency.WEEKLY}
    assert world.subscribers.early("ann") is None


def test_choices_of_an_erased_reader_are_rejected(world: World) -> None:
    choose(world, AT_SEVEN)
    world.erase()
    assert world.subscribers.early("ann") is None
    assert choose(world, AT_SEVEN, at=NOW + HOUR) is Outcome.ERASED
    assert world.subscribers.get("ann") == Erased("ann", NOW)
    world.choose(at=NOW + HOUR)
    assert choose(world, AT_SEVEN) is Outcome.ERASED
    assert ann(world).reader_choices == ReaderChoices()


PROFILE = ChangeSubscriber(a_subscriber(changed_at=NOW - DAY, comment=Frequency.WEEKLY))
SYNC = ChangeSubscriber(
    replace(a_subscriber(changed_at=NOW - 2 * HOUR, comment=Frequency.WEEKLY), name="Anna")
)
OTHER_HOUR = ChangeSubscriber(
    a_subscriber(changed_at=NOW - HOUR, times=DigestTimes(9, 0), comment=Frequency.WEEKLY)
)
CHOSEN = ChoosePreferences("ann", Choice(Frequency.CUSTOM, NEVER, (7, None)), NOW - 3 * HOUR)
PAUSED = ChoosePreferences("ann", Choice(paused_until=date(2026, 12, 1)), NOW - 4 * HOUR)


@pytest.mark.parametrize("order", list(permutations([PROFILE, SYNC, OTHER_HOUR, CHOSEN, PAUSED])))
def test_commands_in_any_order_produce_the_same_profile(order: tuple[Command, ...]) -> None:
    world = World()
    for command in (*order, *order[:2]):
        world.say(command)
    end = ann(world)
    assert (end.name, end.times.hour, end.times.minute) == ("Ann", 9, 0)
    assert dict(end.chosen) == {EVERYTHING: Frequency.CUSTOM, "comment": Frequency.NEVER}
    assert end.times.paused_until == end.paused_last == date(2026, 12, 1)
    assert end.changed_at == NOW - HOUR
    for name in (DAILY, "custom"):
        schedule = world.schedules.get("ann", name)
        assert schedule
        assert schedule.recurrence == end.recurrence(Frequency(name))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.builds(lambda at, choice: ChoosePreferences("ann", choice, at), hours, choices),
        max_size=LONGEST - 2,
    ),
    st.data(),
)
def test_choices_and_two_profiles_in_any_order_produce_the_same_result(
    chosen: list[ChoosePreferences], data: st.DataObject
) -> None:
    """As many as a history keeps: of more, which ones are there depends on the order."""
    ends = []
    said_by_all: list[Command] = [PROFILE, OTHER_HOUR, *chosen]
    for order in (said_by_all, data.draw(st.permutations([*said_by_all, *chosen[:2]]))):
        world = World()
        for command in order:
            world.say(command)
        ends.append(replace(ann(world), revision=1, routed_for="", routes_since=None))
    assert ends[0] == ends[1]


# At the same time as something else.


def with_profile() -> World:
    world = World()
    world.say(PROFILE)
    return world


@pytest.mark.parametrize("other", [SYNC, OTHER_HOUR, PAUSED])
def test_concurrent_choice_and_profile_change_both_apply(other: Command) -> None:
    expected = with_profile()
    for command in (CHOSEN, other):
        expected.say(command)
    for first, second in ((CHOSEN, other), (other, CHOSEN)):
        for world, where in interleavings(
            with_profile,
            lambda world, first=first: world.say(first),  # type: ignore[misc]
            lambda world, second=second: world.say(second),  # type: ignore[misc]
        ):
            end = replace(ann(world), revision=1, routed_for="", routes_since=None)
            assert end == replace(ann(expected), revision=1, routed_for="", routes_since=None), (
                where
            )
            for key, schedule in world.schedules.rows.items():
                assert schedule.recurrence == ann(world).recurrence(Frequency(key[1])), where


@pytest.mark.parametrize("first", [CHOSEN, PROFILE])
def test_concurrent_choice_and_first_profile_both_apply(first: Command) -> None:
    second = PROFILE if first is CHOSEN else CHOSEN
    for world, where in interleavings(
        World, lambda world: world.say(first), lambda world: world.say(second)
    ):
        assert ann(world).times.hour == 7, where
        assert world.subscribers.early("ann") is None, where


def test_interrupted_choice_is_complete_after_redelivery() -> None:
    for world, where in crashes(with_profile, lambda world: world.say(CHOSEN)):
        world.say(CHOSEN)
        for key, schedule in world.schedules.rows.items():
            assert schedule.recurrence == ann(world).recurrence(Frequency(key[1])), where
        assert ann(world).active_on == NOW.date(), where


def test_choice_during_an_erasure_leaves_no_data() -> None:
    for act, other in (
        (lambda world: world.say(CHOSEN), World.erase),
        (World.erase, lambda world: world.say(CHOSEN)),
    ):
        for world, where in interleavings(with_profile, act, other):
            assert isinstance(world.subscribers.get("ann"), Erased), where
            assert not world.schedules.rows, where
            assert world.subscribers.early("ann") is None, where


def test_choice_is_redelivered_if_the_profile_keeps_changing(world: World) -> None:
    world.say(PROFILE)
    world.subscribers.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        choose(world, AT_SEVEN)


def test_early_choice_is_redelivered_if_the_row_keeps_changing(world: World) -> None:
    world.subscribers.put_early = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        choose(world, AT_SEVEN)
    assert world.subscribers.waiting == {}
