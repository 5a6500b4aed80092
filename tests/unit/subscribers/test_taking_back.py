"""An undo takes back the change that it belongs to, and no later one, however often it comes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.commands import ChangeFollow, ChangeSubscriber, ChoosePreferences
from gazette.domain.links import DIGESTS, EVERYTHING, UNDO_FOR, LinkToken, Scope, ScopeKind
from gazette.domain.links import entity_mark as mark
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import DEFAULT, Frequency, frequencies
from gazette.domain.subscribers.leaving import LeaveAct, Leaving
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.domain.subscribers.taking_back import undo

from tests.builders import NOW, a_subscriber, an_event
from tests.world import World, crashes, interleavings

MINUTE = timedelta(minutes=1)
POST = "post#post1"
LIKES = Scope(ScopeKind.CATEGORY, ("like",))
LIKES_NOW = Scope(ScopeKind.IMMEDIATE, ("like",))
FOLLOWED = Scope(ScopeKind.ENTITY, (mark(POST),))
UNSUBSCRIBED = SubscriberStatus.UNSUBSCRIBED


def a_world() -> World:
    """Ann gets likes at once, and follows a post weekly."""
    world = World()
    world.say(ChangeSubscriber(a_subscriber(changed_at=NOW, like=Frequency.IMMEDIATE)))
    pass_time(world)
    follow(world, FollowState(True, Frequency.WEEKLY, "Post"))
    return world


@pytest.fixture
def world() -> World:
    return a_world()


def pass_time(world: World) -> None:
    world.clock.now += MINUTE


def follow(world: World, state: FollowState) -> None:
    world.say(ChangeFollow("ann", POST, state, world.clock()))
    pass_time(world)


def choose(world: World, choice: Choice) -> None:
    world.say(ChoosePreferences("ann", choice, world.clock()))
    pass_time(world)


def ann(world: World) -> Subscriber:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


def post(world: World) -> FollowState:
    found = world.follows.get(POST, "ann")
    assert isinstance(found, Follow)
    return found.latest


def link(world: World, scope: Scope, number: int = 1) -> LinkToken:
    """The link of an email, by its number."""
    token = LinkToken.of(RunKey("ann", DAILY, number), NOW, ann(world))
    return replace(token, scope=scope)


def left(world: World, used: LinkToken, act: LeaveAct = LeaveAct.LEAVE) -> Leaving:
    done = world.leave_by(used, act)
    pass_time(world)
    return done


def take_back(world: World, used: LinkToken, done: Leaving) -> Leaving:
    answer = world.take_back(used, done)
    pass_time(world)
    return answer


# Leaving everything.


def test_trace_am_repeated_undo_does_not_revert_a_later_unsubscribe(
    world: World,
) -> None:
    first, second = link(world, EVERYTHING, 1), link(world, EVERYTHING, 2)
    done = left(world, first, LeaveAct.EVERYTHING)
    assert take_back(world, first, done).act is LeaveAct.UNDO
    assert ann(world).status is SubscriberStatus.ACTIVE
    again = left(world, second, LeaveAct.EVERYTHING)
    answer = take_back(world, first, done)
    assert ann(world).status is UNSUBSCRIBED
    assert world.suppressions.holds(first.address)
    assert answer.act is LeaveAct.EVERYTHING, "the page says what is so"
    assert answer.undoable_at is None
    assert take_back(world, second, again).act is LeaveAct.UNDO
    assert ann(world).status is SubscriberStatus.ACTIVE


def test_undo_does_not_revert_a_later_unsubscribe_on_the_page(world: World) -> None:
    used = link(world, LIKES)
    done = left(world, used, LeaveAct.EVERYTHING)
    take_back(world, used, done)
    world.unsubscribe()
    take_back(world, used, done)
    assert ann(world).status is UNSUBSCRIBED


def test_repeated_undo_after_resubscribing_has_no_effect(world: World) -> None:
    used = link(world, EVERYTHING)
    done = left(world, used, LeaveAct.EVERYTHING)
    world.resubscribe()
    before = ann(world)
    assert take_back(world, used, done).act is LeaveAct.UNDO
    assert ann(world) == before


def test_two_tabs_that_unsubscribe_at_once_can_both_undo() -> None:
    def leave_in_one_tab(world: World) -> None:
        world.leave_by(link(world, EVERYTHING), LeaveAct.EVERYTHING)

    tabs: list[Leaving] = []

    def leave_in_other_tab(world: World) -> None:
        world.clock.now += MINUTE
        tabs.append(world.leave_by(link(world, EVERYTHING), LeaveAct.EVERYTHING))

    for world, where in interleavings(a_world, leave_in_other_tab, leave_in_one_tab):
        done = tabs.pop()
        at = done.undoable_at
        assert at == ann(world).left_at, where
        take_back(world, link(world, EVERYTHING), replace(done, left_at=at))
        assert ann(world).status is SubscriberStatus.ACTIVE, where


def test_trace_am_unsubscribe_during_an_undo_takes_effect() -> None:
    used = link(a_world(), EVERYTHING)
    done: list[Leaving] = []

    def who_left() -> World:
        world = a_world()
        done[:] = [left(world, used, LeaveAct.EVERYTHING)]
        return world

    def come_back_and_leave(world: World) -> None:
        world.resubscribe()
        world.clock.now += MINUTE
        world.unsubscribe()

    for world, where in interleavings(
        who_left, lambda world: world.take_back(used, done[0]), come_back_and_leave
    ):
        assert ann(world).status is UNSUBSCRIBED, where
        assert world.suppressions.holds(used.address), where


def test_interrupted_undo_is_complete_after_a_repetition() -> None:
    used = link(a_world(), EVERYTHING)
    done: list[Leaving] = []

    def who_left() -> World:
        world = a_world()
        done[:] = [left(world, used, LeaveAct.EVERYTHING)]
        return world

    for world, where in crashes(who_left, lambda world: world.take_back(used, done[0])):
        world.take_back(used, done[0])
        assert ann(world).status is SubscriberStatus.ACTIVE, where
        assert not world.suppressions.holds(used.address), where


def test_profile_between_an_opt_out_and_its_undo_has_no_effect(world: World) -> None:
    used = link(world, EVERYTHING)
    done = left(world, used, LeaveAct.EVERYTHING)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), like=Frequency.DAILY)))
    assert take_back(world, used, done).act is LeaveAct.UNDO


def test_profile_after_a_second_opt_out_does_not_reenable_an_old_undo(world: World) -> None:
    used = link(world, EVERYTHING)
    done = left(world, used, LeaveAct.EVERYTHING)
    take_back(world, used, done)
    left(world, link(world, EVERYTHING, 2), LeaveAct.EVERYTHING)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), like=Frequency.DAILY)))
    take_back(world, used, done)
    assert ann(world).status is UNSUBSCRIBED


def test_unsubscribe_without_a_stored_time_can_be_undone(world: World) -> None:
    """The version before, which may run beside this one, does not write it."""
    used = link(world, EVERYTHING)
    done = left(world, used, LeaveAct.EVERYTHING)
    world.subscribers.rows["ann"] = replace(ann(world), left_at=None)
    assert take_back(world, used, done).act is LeaveAct.UNDO
    assert ann(world).status is SubscriberStatus.ACTIVE


def test_undo_does_not_reactivate_a_suppressed_reader(world: World) -> None:
    used = link(world, EVERYTHING)
    done = left(world, used, LeaveAct.EVERYTHING)
    take_back(world, used, done)
    world.suppressions.add(used.address, Cause.COMPLAINED)
    assert world.stop_if_suppressed()
    assert take_back(world, used, done).act is None
    assert ann(world).status is SubscriberStatus.SUPPRESSED


# Leaving less than everything.

Later = Callable[[World], None]
MUTED: tuple[Scope, Later] = (
    LIKES,
    lambda world: choose(world, Choice(frequencies=frequencies({"like": Frequency.NEVER}))),
)
IN_DIGEST: tuple[Scope, Later] = (
    LIKES_NOW,
    lambda world: choose(world, Choice(frequencies=frequencies({"like": Frequency.DAILY}))),
)
NO_DIGESTS: tuple[Scope, Later] = (
    DIGESTS,
    lambda world: choose(world, Choice(frequency=Frequency.NEVER)),
)
UNFOLLOWED: tuple[Scope, Later] = (FOLLOWED, lambda world: follow(world, FollowState(False)))
SAME = pytest.mark.parametrize(
    ("scope", "again"),
    [MUTED, IN_DIGEST, NO_DIGESTS, UNFOLLOWED],
    ids=["mute", "in the digest", "no digests", "unfollow"],
)
MEANWHILE: list[Later] = [
    pass_time,
    lambda world: choose(
        world,
        Choice(frequency=Frequency.WEEKLY, frequencies=frequencies({"like": Frequency.WEEKLY})),
    ),
    lambda world: choose(
        world, Choice(frequency=DEFAULT, frequencies=(("like", Frequency.IMMEDIATE),))
    ),
    lambda world: follow(world, FollowState(True, Frequency.DAILY, "Post")),
]


def what_comes(world: World) -> object:
    return ann(world).chosen, replace(post(world), title=""), ann(world).times.paused_until


@SAME
@pytest.mark.parametrize("meanwhile", MEANWHILE, ids=["nothing", "weekly", "as before", "follow"])
@pytest.mark.parametrize("is_undone", [True, False])
def test_trace_am_undo_keeps_a_later_choice_of_the_same_kind(
    world: World, scope: Scope, again: Later, meanwhile: Later, is_undone: bool
) -> None:
    used = link(world, scope)
    done = left(world, used)
    if is_undone:
        take_back(world, used, done)
    meanwhile(world)
    again(world)
    before = what_comes(world)
    for _ in range(2):
        take_back(world, used, done)
        name = {LIKES: "like", LIKES_NOW: "like", DIGESTS: "*"}.get(scope)
        if name:
            assert dict(ann(world).chosen)[name] == dict(before[0])[name]  # type: ignore[index]
        else:
            assert what_comes(world) == before


@pytest.mark.parametrize("scope", [LIKES, LIKES_NOW, DIGESTS, FOLLOWED], ids=str)
@pytest.mark.parametrize("act", [LeaveAct.LEAVE, LeaveAct.WEEKLY, LeaveAct.PAUSE])
def test_repeated_undo_after_a_second_opt_out_has_no_effect(
    world: World, scope: Scope, act: LeaveAct
) -> None:
    first, second = link(world, scope, 1), link(world, scope, 2)
    done = left(world, first, act)
    assert done.left_at
    take_back(world, first, done)
    assert left(world, second, act).left_at
    before = what_comes(world)
    take_back(world, first, done)
    assert what_comes(world) == before


@pytest.mark.parametrize("scope", [LIKES, LIKES_NOW, DIGESTS, FOLLOWED], ids=str)
def test_repeated_undo_has_no_further_effect(world: World, scope: Scope) -> None:
    came = what_comes(world)
    used = link(world, scope)
    done = left(world, used)
    take_back(world, used, done)
    after = ann(world), world.follows.get(POST, "ann")
    assert what_comes(world) == came
    take_back(world, used, done)
    assert (ann(world), world.follows.get(POST, "ann")) == after


def test_late_bus_message_of_an_undo_does_not_lift_a_later_mute(world: World) -> None:
    used = link(world, LIKES)
    done = left(world, used)
    take_back(world, used, done)
    left(world, link(world, LIKES, 2))
    world.work_off_bus()
    assert dict(ann(world).chosen)["like"] is Frequency.NEVER


def test_events_muted_again_stay_withdrawn(world: World) -> None:
    """A stop is a stop (rule 11)."""
    used = link(world, LIKES)
    done = left(world, used)
    take_back(world, used, done)
    left(world, link(world, LIKES, 2))
    take_back(world, used, done)
    world.create(an_event(category="like", occurred_at=world.clock()))
    assert not world.events.rows


def test_undo_of_a_mute_does_not_override_a_later_service_change(world: World) -> None:
    used = link(world, LIKES)
    done = left(world, used)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), like=Frequency.WEEKLY)))
    pass_time(world)
    take_back(world, used, done)
    assert dict(ann(world).chosen) == {"like": Frequency.WEEKLY}


@pytest.mark.parametrize(
    "choice",
    [
        Choice(frequencies=frequencies({"like": Frequency.NEVER})),
        Choice(frequency=Frequency.NEVER),
        Choice(paused_until=NOW.date() + timedelta(weeks=2)),
    ],
    ids=["category", "digests", "pause"],
)
def test_undo_writes_no_unchanged_values(world: World, choice: Choice) -> None:
    choose(world, choice)
    at = world.clock()
    choose(world, choice)
    assert undo(ann(world), [], at, at.date()) == ()


def test_undo_of_a_pause_restores_the_shorter_previous_pause(world: World) -> None:
    until = NOW.date() + timedelta(weeks=1)
    choose(world, Choice(paused_until=until))
    used = link(world, LIKES)
    done = left(world, used, LeaveAct.PAUSE)
    assert ann(world).times.paused_until == NOW.date() + timedelta(weeks=4)
    take_back(world, used, done)
    assert ann(world).times.paused_until == until


ENDED = (NOW, FollowState(False))


@pytest.mark.parametrize("before", [(), ((NOW - MINUTE, FollowState(False)),)], ids=len)
def test_undo_does_not_restore_a_follow_with_unknown_history(
    world: World, before: tuple[tuple[datetime, FollowState], ...]
) -> None:
    """A follow keeps only its last changes."""
    assert undo(ann(world), [Follow(POST, "ann", (*before, ENDED))], NOW, NOW.date()) == ()


def likes_chosen(world: World, *often: Frequency, apart: timedelta) -> datetime:
    """An app puts these choices, so long apart; returns the instant of the first."""
    for number, each in enumerate(often):
        chosen = Choice(frequencies=(("like", each),))
        world.say(ChoosePreferences("ann", chosen, world.clock() + number * apart))
    return world.clock()


def undo_likes(world: World, at: datetime) -> int:
    """Take back what was chosen at an instant; returns the changes that it took."""
    changes = undo(ann(world), [], at, at.date())
    for instant, change in changes:
        world.say(ChoosePreferences("ann", change.choice, instant))
    return len(changes)


def test_two_simultaneous_choices_are_undone_once(world: World) -> None:
    at = likes_chosen(world, Frequency.NEVER, Frequency.WEEKLY, apart=timedelta(0))
    assert undo_likes(world, at) == 1
    assert dict(ann(world).chosen)["like"] is Frequency.IMMEDIATE
    assert undo_likes(world, at) == 0


def test_choices_a_microsecond_apart_are_distinguished(world: World) -> None:
    """The second looks as if it took the first back, and the third is a choice of its own."""
    both = Frequency.NEVER, Frequency.WEEKLY
    at = likes_chosen(world, *both, Frequency.DAILY, apart=timedelta.resolution)
    assert undo_likes(world, at) == 0
    assert undo_likes(world, at + 2 * timedelta.resolution) == 1
    assert dict(ann(world).chosen)["like"] is Frequency.WEEKLY


# A button that is pressed twice.

PRESSED = [
    (LIKES, LeaveAct.LEAVE),
    (LIKES_NOW, LeaveAct.LEAVE),
    (DIGESTS, LeaveAct.LEAVE),
    (FOLLOWED, LeaveAct.LEAVE),
    (DIGESTS, LeaveAct.WEEKLY),
    (DIGESTS, LeaveAct.PAUSE),
    (EVERYTHING, LeaveAct.EVERYTHING),
    (LIKES, LeaveAct.EVERYTHING),
]
TWICE = pytest.mark.parametrize(
    ("scope", "act"), PRESSED, ids=[f"{scope.kind.name} {act}" for scope, act in PRESSED]
)


@TWICE
def test_repeated_opt_out_offers_the_undo_of_the_first(
    world: World, scope: Scope, act: LeaveAct
) -> None:
    came, status = what_comes(world), ann(world).status
    used = link(world, scope)
    first = left(world, used, act)
    second = left(world, used, act)
    assert second.left_at is None, "it changed nothing"
    assert second.undoable_at == first.left_at
    assert not second.is_unsubscribed, "it is counted once"
    take_back(world, used, replace(second, left_at=second.undoable_at))
    pause = ann(world).pause
    assert what_comes(world)[:2] == came[:2]  # type: ignore[index]
    assert pause is None or not pause.holds_at(world.clock())
    assert ann(world).status is status


@TWICE
def test_opt_out_repeated_a_day_later_offers_no_undo(
    world: World, scope: Scope, act: LeaveAct
) -> None:
    used = link(world, scope)
    left(world, used, act)
    world.clock.now += UNDO_FOR
    assert left(world, used, act).left_before is None


@pytest.mark.parametrize("choice", [Choice(clock=(7, None)), Choice(frequency=Frequency.WEEKLY)])
def test_opt_out_combined_with_further_choices_offers_no_undo(world: World, choice: Choice) -> None:
    """Its undo would take back more than the button says."""
    choose(world, replace(choice, frequencies=frequencies({"like": Frequency.NEVER})))
    assert left(world, link(world, LIKES)).undoable_at is None


def test_opt_out_after_an_undo_can_be_undone(world: World) -> None:
    used = link(world, LIKES)
    take_back(world, used, left(world, used))
    again = left(world, used)
    assert again.left_at
    assert left(world, used).undoable_at == again.left_at


def test_undo_sends_complete_choices_for_previous_software_versions(world: World) -> None:
    """Categories that were changed since are taken back at other instants, each in a message."""
    choose(world, Choice(frequencies=frequencies({"comment": Frequency.IMMEDIATE})))
    at_once = link(world, Scope(ScopeKind.IMMEDIATE, ("comment", "like")), 1)
    done = left(world, at_once)
    likes = link(world, LIKES, 2)
    take_back(world, likes, left(world, likes))
    world.bus.taken.clear()
    take_back(world, at_once, done)
    chosen = [said for said in world.bus.taken if isinstance(said, ChoosePreferences)]
    assert len(chosen) == 2
    assert chosen[-1].whole_map == ann(world).chosen
