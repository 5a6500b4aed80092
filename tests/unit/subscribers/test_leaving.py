"""Leaving by degrees: what is left no longer comes, all else does, and it can be taken back."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeFollow, ChangeSubscriber, ChoosePreferences
from gazette.domain.delivery.run import Run
from gazette.domain.links import DIGESTS, LinkToken, Scope, ScopeKind, entity_mark
from gazette.domain.model import DAILY, RunKey, StoredEvent
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Follow, FollowState, effective_frequency
from gazette.domain.subscribers.frequency import DEFAULT, Frequencies, Frequency, frequencies
from gazette.domain.subscribers.leaving import LeaveAct
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_subscriber, an_event
from tests.world import World

ALL_IMMEDIATE = Scope(ScopeKind.IMMEDIATE)
MENTIONS_NOW = Scope(ScopeKind.IMMEDIATE, ("mention",))
MENTIONS = Scope(ScopeKind.CATEGORY, ("mention",))
LIKES = Scope(ScopeKind.CATEGORY, ("like",))
POST = Scope(ScopeKind.ENTITY, (entity_mark("post#1"), entity_mark("blog#1")))
SCOPES = (DIGESTS, ALL_IMMEDIATE, MENTIONS_NOW, MENTIONS, POST)

CATEGORIES = ("mention", "like", "comment", "never_heard_of")
ENTITIES = ("post#1", "post#2", "blog#1")

often = st.sampled_from(Frequency)
chosen = st.dictionaries(st.sampled_from(CATEGORIES[:3]), often).map(frequencies)
follow_states = st.dictionaries(st.sampled_from(ENTITIES), st.none() | often)


def a_world(
    service: Frequencies,
    defaults: Frequencies,
    choice: Choice | None,
    follows: dict[str, Frequency | None],
) -> World:
    world = World(defaults=defaults)
    reader = replace(a_subscriber(changed_at=NOW), choices=((NOW, service),))
    world.say(ChangeSubscriber(reader))
    world.clock.now += timedelta(minutes=1)
    if choice:
        world.say(ChoosePreferences("ann", choice, world.clock()))
    for entity, frequency in follows.items():
        state = FollowState(True, frequency, f"About {entity}")
        world.say(ChangeFollow("ann", entity, state, world.clock()))
    world.clock.now += timedelta(minutes=1)
    return world


def reader_of(world: World) -> Subscriber:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


def link(world: World, scope: Scope) -> LinkToken:
    made = LinkToken.of(RunKey("ann", DAILY, 1), world.clock(), reader_of(world))
    return replace(made, scope=scope)


def comes(world: World) -> dict[tuple[str, str], Frequency | None]:
    """How often each category comes from now on: addressed, and through each entity."""
    reader, at = reader_of(world), world.clock()
    return {
        (category, entity): effective_frequency(
            replace(
                an_event(category=category),
                occurred_at=at,
                via=(entity,) if entity else (),
            ),
            choices=reader.choices,
            follows=(world.follows.get(entity, "ann"),) if entity else (),
            defaults=world.defaults,
        )
        for category in CATEGORIES
        for entity in ("", *ENTITIES)
    }


def ends(scope: Scope, category: str, entity: str, was: Frequency | None, own: bool) -> bool:
    """Whether leaving the scope concerns what came so."""
    match scope.kind:
        case ScopeKind.DIGESTS:
            return was not in {None, Frequency.IMMEDIATE, Frequency.NEVER}
        case ScopeKind.IMMEDIATE:
            return was is Frequency.IMMEDIATE and (
                own or not scope.names or category in scope.names
            )
        case ScopeKind.CATEGORY:
            return category in scope.names and not own
        case _:
            return entity in {"post#1", "blog#1"}


def gone(scope: Scope, now: Frequency | None) -> bool:
    """Whether what was left comes no more."""
    match scope.kind:
        case ScopeKind.DIGESTS:
            return now in {None, Frequency.NEVER}
        case ScopeKind.IMMEDIATE:
            return now is not Frequency.IMMEDIATE
        case ScopeKind.CATEGORY:
            return now in {None, Frequency.NEVER}
        case _:
            return now is None


choices = st.none() | st.builds(Choice, frequency=st.none() | often, frequencies=st.none() | chosen)


@given(chosen, chosen, choices, follow_states, st.sampled_from(SCOPES))
@settings(max_examples=300, deadline=None)
def test_opt_out_ends_only_the_events_in_its_scope(
    service: Frequencies,
    defaults: Frequencies,
    choice: Choice | None,
    follows: dict[str, Frequency | None],
    scope: Scope,
) -> None:
    world = a_world(service, defaults, choice, follows)
    before = comes(world)
    left = world.leave_by(link(world, scope))
    assert left.act is LeaveAct.LEAVE
    world.clock.now += timedelta(minutes=1)
    for (category, entity), now in comes(world).items():
        was = before[category, entity]
        own = bool(follows.get(entity))
        if ends(scope, category, entity, was, own):
            of_category = own and scope.names and category not in scope.names
            assert gone(scope, now) or (scope.kind is ScopeKind.IMMEDIATE and of_category)
        else:
            assert now == was, (category, entity)


@given(chosen, chosen, choices, follow_states)
@settings(max_examples=200, deadline=None)
def test_weekly_option_reduces_only_more_frequent_email(
    service: Frequencies,
    defaults: Frequencies,
    choice: Choice | None,
    follows: dict[str, Frequency | None],
) -> None:
    world = a_world(service, defaults, choice, follows)
    before = comes(world)
    world.leave_by(link(world, MENTIONS), LeaveAct.WEEKLY)
    world.clock.now += timedelta(minutes=1)
    rarer = {Frequency.IMMEDIATE, Frequency.DAILY}
    assert comes(world) == {
        way: Frequency.WEEKLY if was in rarer else was for way, was in before.items()
    }


@pytest.mark.parametrize("scope", [MENTIONS_NOW, ALL_IMMEDIATE], ids=str)
def test_opting_out_of_two_lists_starts_no_additional_email(scope: Scope) -> None:
    """Leaving one list begins no other."""
    world = a_world((), frequencies({"mention": "immediate"}), None, {})
    world.leave_by(link(world, DIGESTS))
    world.clock.now += timedelta(minutes=1)
    world.leave_by(link(world, scope))
    world.clock.now += timedelta(minutes=1)
    assert {*comes(world).values()} <= {None, Frequency.NEVER}


def test_pause_link_does_not_shorten_a_longer_pause(world: World) -> None:
    until = world.clock().date() + timedelta(weeks=10)
    world.say(ChoosePreferences("ann", Choice(paused_until=until), world.clock()))
    world.clock.now += timedelta(minutes=1)
    assert world.leave_by(link(world, MENTIONS), LeaveAct.PAUSE).left_at is None
    assert reader_of(world).times.paused_until == until


@pytest.mark.parametrize("following", [True, False])
def test_undo_does_not_change_a_follow_modified_later(world: World, following: bool) -> None:
    used = link(world, DIGESTS)
    left = world.leave_by(used)
    assert latest(world, "post#1").frequency is Frequency.NEVER
    world.clock.now += timedelta(minutes=1)
    again = FollowState(following, Frequency.DAILY if following else None, "About post#1")
    world.say(ChangeFollow("ann", "post#1", again, world.clock()))
    world.clock.now += timedelta(minutes=1)
    world.take_back(used, left)
    assert latest(world, "post#1") == again


acts = st.sampled_from([LeaveAct.LEAVE, LeaveAct.WEEKLY, LeaveAct.PAUSE])


@given(chosen, chosen, choices, follow_states, st.sampled_from(SCOPES), acts)
@settings(max_examples=300, deadline=None)
def test_undo_restores_the_previous_state(
    service: Frequencies,
    defaults: Frequencies,
    choice: Choice | None,
    follows: dict[str, Frequency | None],
    scope: Scope,
    act: LeaveAct,
) -> None:
    """Also to the letter: by category, by follow, and whether the reader had chosen at all."""
    world = a_world(service, defaults, choice, follows)
    was = reader_of(world)
    came = comes(world)
    states = {entity: latest(world, entity) for entity in follows}
    used = link(world, scope)
    left = world.leave_by(used, act)
    world.clock.now += timedelta(minutes=1)
    if left.left_at is None:
        assert comes(world) == came
        return
    assert world.take_back(used, left).act is LeaveAct.UNDO
    world.clock.now += timedelta(minutes=1)
    now = reader_of(world)
    assert (now.chosen, comes(world)) == (was.chosen, came)
    pause = now.pause
    assert pause is None or not pause.holds_at(world.clock())
    assert {entity: latest(world, entity) for entity in follows} == states


def latest(world: World, entity: str) -> FollowState:
    found = world.follows.get(entity, "ann")
    assert isinstance(found, Follow)
    return found.latest


@pytest.fixture
def world() -> World:
    return a_world((), (), None, {"post#1": Frequency.WEEKLY})


def test_redelivered_command_does_not_revert_an_undo(world: World) -> None:
    used = link(world, DIGESTS)
    left = world.leave_by(used)
    world.clock.now += timedelta(minutes=1)
    world.take_back(used, left)
    was = reader_of(world).chosen, latest(world, "post#1")
    for command in reversed(list(world.bus.taken)):
        world.say(command)
    assert (
        (reader_of(world).chosen, latest(world, "post#1"))
        == was
        == (
            (),
            FollowState(True, Frequency.WEEKLY, "About post#1"),
        )
    )


def test_undo_keeps_later_choices(world: World) -> None:
    used = link(world, MENTIONS)
    left = world.leave_by(used)
    world.clock.now += timedelta(minutes=1)
    later = Choice(frequency=Frequency.WEEKLY)
    world.say(ChoosePreferences("ann", later, world.clock()))
    world.clock.now += timedelta(minutes=1)
    world.take_back(used, left)
    assert dict(reader_of(world).chosen) == {"*": Frequency.WEEKLY}


categories = st.sampled_from(CATEGORIES[:3]).map(lambda name: Scope(ScopeKind.CATEGORY, (name,)))


@given(chosen, chosen, choices, st.lists(categories, min_size=1, max_size=4), st.data())
@settings(max_examples=200, deadline=None)
def test_undo_of_a_category_is_independent_of_later_opt_outs(
    service: Frequencies,
    defaults: Frequencies,
    choice: Choice | None,
    scopes: list[Scope],
    data: st.DataObject,
) -> None:
    world = a_world(service, defaults, choice, {})
    before = dict(reader_of(world).chosen)
    came = comes(world)
    done = []
    for scope in scopes:
        used = link(world, scope)
        done.append((used, world.leave_by(used)))
        world.clock.now += timedelta(minutes=1)
    used, left = data.draw(st.sampled_from(done))
    after = dict(reader_of(world).chosen)
    if left.left_at is None:
        return
    world.take_back(used, left)
    world.clock.now += timedelta(minutes=1)
    (category,) = used.scope.names
    now = dict(reader_of(world).chosen)
    assert now.pop(category, None) == before.get(category)
    assert now == {name: often for name, often in after.items() if name != category}
    assert comes(world)[category, ""] == came[category, ""]


State = tuple[Frequencies, dict[str, FollowState], SubscriberStatus, bool]


def state_of(world: World, follows: Collection[str]) -> State:
    """To the letter what a reader chose, and whether they get email today."""
    reader = reader_of(world)
    is_paused = reader.pause is not None and reader.pause.holds_at(world.clock())
    states = {entity: latest(world, entity) for entity in follows}
    return reader.chosen, states, reader.status, is_paused


steps = st.tuples(
    st.sampled_from((*SCOPES, LIKES)),
    st.sampled_from([each for each in LeaveAct if each is not LeaveAct.UNDO]),
)


@given(chosen, chosen, choices, follow_states, st.lists(steps, min_size=2, max_size=5))
@settings(max_examples=200, deadline=None)
def test_successive_undos_restore_each_previous_state(
    service: Frequencies,
    defaults: Frequencies,
    choice: Choice | None,
    follows: dict[str, Frequency | None],
    acts: list[tuple[Scope, LeaveAct]],
) -> None:
    """The last first, as a reader goes back from page to page."""
    world = a_world(service, defaults, choice, follows)
    done = []
    for scope, act in acts:
        before, used = state_of(world, follows), link(world, scope)
        done.append((used, world.leave_by(used, act), before))
        world.clock.now += timedelta(minutes=1)
    for used, left, before in reversed(done):
        if left.left_at is not None:
            world.take_back(used, left)
            world.clock.now += timedelta(minutes=1)
        assert state_of(world, follows) == before


@pytest.mark.parametrize("scope", [DIGESTS, ALL_IMMEDIATE], ids=lambda scope: scope.kind.name)
@pytest.mark.parametrize("default", ["never", "daily", "immediate"])
def test_muted_category_stays_muted_after_further_opt_outs_and_choices(
    scope: Scope, default: str
) -> None:
    """Stopping the digests turns all of it off, and then no more than the digests come back."""
    world = a_world((), frequencies({"mention": default}), None, {})
    world.leave_by(link(world, MENTIONS))
    world.clock.now += timedelta(minutes=1)
    world.leave_by(link(world, scope))
    world.clock.now += timedelta(minutes=1)
    weekly = Choice(frequency=Frequency.WEEKLY)
    world.say(ChoosePreferences("ann", weekly, world.clock()))
    world.clock.now += timedelta(minutes=1)
    came = comes(world)
    assert came["mention", ""] is Frequency.NEVER
    assert came["like", ""] is Frequency.WEEKLY


def test_immediate_opt_out_of_a_daily_category_has_no_effect(world: World) -> None:
    """An old email tells of what was: its category still goes with all others."""
    assert world.leave_by(link(world, MENTIONS_NOW)).left_at is None
    assert reader_of(world).chosen == ()


@pytest.mark.parametrize("act", [LeaveAct.PAUSE, LeaveAct.WEEKLY])
def test_category_enabled_after_an_opt_out_stays_enabled_after_its_undo(
    world: World, act: LeaveAct
) -> None:
    """What was chosen before the act is no part of it."""
    world.leave_by(link(world, MENTIONS))
    world.clock.now += timedelta(minutes=1)
    used = link(world, DIGESTS)
    left = world.leave_by(used, act)
    world.clock.now += timedelta(minutes=1)
    on = Choice(frequencies=(("mention", DEFAULT),))
    world.say(ChoosePreferences("ann", on, world.clock()))
    world.clock.now += timedelta(minutes=1)
    world.take_back(used, left)
    assert reader_of(world).chosen == ()


def test_undo_of_the_first_opt_out_does_not_revert_the_second(
    world: World,
) -> None:
    used = link(world, MENTIONS)
    first = world.leave_by(used)
    world.clock.now += timedelta(minutes=1)
    world.take_back(used, first)
    world.clock.now += timedelta(minutes=1)
    world.leave_by(used)
    world.clock.now += timedelta(minutes=1)
    world.take_back(used, first)
    assert reader_of(world).chosen == frequencies({"mention": "never"})


def test_undo_of_a_digest_opt_out_keeps_a_later_mute(world: World) -> None:
    digests, likes = link(world, DIGESTS), link(world, LIKES)
    left = world.leave_by(digests)
    world.clock.now += timedelta(minutes=1)
    world.leave_by(likes)
    world.clock.now += timedelta(minutes=1)
    world.take_back(digests, left)
    assert reader_of(world).chosen == frequencies({"like": "never"})


ALL = LeaveAct.EVERYTHING


@pytest.mark.parametrize(
    ("scope", "act", "counts"),
    [
        (DIGESTS, LeaveAct.LEAVE, True),
        (MENTIONS_NOW, LeaveAct.LEAVE, True),
        (MENTIONS, LeaveAct.LEAVE, False),
        (POST, LeaveAct.LEAVE, False),
        (DIGESTS, LeaveAct.WEEKLY, False),
        (DIGESTS, LeaveAct.PAUSE, False),
        (MENTIONS, ALL, True),
    ],
    ids=lambda each: each.kind.name if isinstance(each, Scope) else str(each),
)
def test_statistics_count_opt_outs_but_not_reduced_frequency(
    scope: Scope, act: LeaveAct, counts: bool
) -> None:
    world = a_world((), frequencies({"mention": "immediate"}), None, {"post#1": None})
    used = link(world, scope)
    world.runs.create(Run(used.run, NOW, NOW + timedelta(hours=1)))
    left = world.leave_by(used, act)
    assert left.is_unsubscribed == (act is ALL)
    assert {*world.engagements.rows} == ({used.run} if counts else set())
    assert not world.leave_by(used, act).is_unsubscribed


@pytest.mark.parametrize("act", [LeaveAct.WEEKLY, LeaveAct.PAUSE, LeaveAct.UNDO])
def test_link_used_after_unsubscribing_reports_only_the_unsubscribe(
    world: World, act: LeaveAct
) -> None:
    """A page that is still open offers what no longer counts."""
    used = link(world, MENTIONS)
    left = world.leave_by(used)
    world.clock.now += timedelta(minutes=1)
    world.unsubscribe()
    told = world.take_back(used, left) if act is LeaveAct.UNDO else world.leave_by(used, act)
    assert told.act is LeaveAct.EVERYTHING
    assert not told.is_unsubscribed, "it is counted once"
    assert reader_of(world).has_left


def test_service_change_takes_effect_again_after_an_undo(world: World) -> None:
    used = link(world, MENTIONS)
    left = world.leave_by(used)
    world.clock.now += timedelta(minutes=1)
    world.take_back(used, left)
    world.clock.now += timedelta(minutes=1)
    weekly = frequencies({"mention": "weekly"})
    profile = replace(a_subscriber(changed_at=world.clock()), choices=((world.clock(), weekly),))
    world.say(ChangeSubscriber(profile))
    assert reader_of(world).chosen == weekly


def test_waiting_events_in_the_opt_out_scope_are_withdrawn_immediately(world: World) -> None:
    """Who is told that it is done gets nothing of it any more (rule 11)."""
    for number, category in enumerate(["mention", "like"]):
        world.create(an_event(f"e{number}", category=category))
    world.clock.now += timedelta(minutes=1)
    world.leave_by(link(world, MENTIONS))
    waiting = [each for each in world.events.rows.values() if isinstance(each, StoredEvent)]
    assert [each.event.category for each in waiting if each.schedule == DAILY] == ["like"]


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope.kind.name)
def test_link_for_a_former_address_changes_no_choice(world: World, scope: Scope) -> None:
    """Like unsubscribing, a link speaks for the address that it went to."""
    used = link(world, scope)
    world.clock.now += timedelta(minutes=1)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), email="b@example.com")))
    before = reader_of(world)
    for act in (LeaveAct.LEAVE, LeaveAct.WEEKLY, LeaveAct.PAUSE):
        left = world.leave_by(used, act)
        assert (left.reader, left.left_at) == (None, None)
    assert reader_of(world) == before
    assert world.look(used).reader is None


def test_undo_of_unsubscribing_via_a_category_link_restores_the_status(
    world: World,
) -> None:
    used = link(world, MENTIONS)
    left = world.leave_by(used, LeaveAct.EVERYTHING)
    assert reader_of(world).status is SubscriberStatus.UNSUBSCRIBED
    assert world.take_back(used, left).act is LeaveAct.UNDO
    assert reader_of(world).status is SubscriberStatus.ACTIVE


def test_undo_does_not_lift_a_bounce(world: World) -> None:
    used = link(world, MENTIONS)
    left = world.leave_by(used, LeaveAct.EVERYTHING)
    world.suppressions.add(used.address, Cause.BOUNCED)
    assert world.take_back(used, left).act is None
    assert reader_of(world).has_left


def test_opt_out_link_has_no_effect_after_unsubscribing(world: World) -> None:
    used = link(world, MENTIONS)
    world.unsubscribe()
    for act in LeaveAct:
        if act is not LeaveAct.UNDO:
            assert world.leave_by(used, act).left_at is None
    assert reader_of(world).has_left


def test_repeated_opt_out_has_no_further_effect(world: World) -> None:
    for scope in SCOPES:
        used = link(world, scope)
        world.leave_by(used)
        after = reader_of(world), world.follows.get("post#1", "ann")
        world.clock.now += timedelta(minutes=1)
        assert world.leave_by(used).left_at is None
        assert (reader_of(world), world.follows.get("post#1", "ann")) == after


def test_default_is_not_a_frequency_and_resets_an_earlier_choice() -> None:
    world = a_world((), frequencies({"mention": "immediate"}), None, {})
    for chosen_now in (Frequency.NEVER, DEFAULT):
        world.clock.now += timedelta(minutes=1)
        world.say(ChoosePreferences("ann", Choice(frequency=chosen_now), world.clock()))
    assert reader_of(world).chosen == ()


def test_viewing_an_opt_out_page_changes_no_data(world: World) -> None:
    before = reader_of(world)
    for scope in SCOPES:
        world.look(link(world, scope))
    assert (reader_of(world), world.bus.taken) == (before, [])


def test_opt_out_page_shows_the_title_of_the_followed_entity(world: World) -> None:
    assert world.look(link(world, POST)).follows == ("About post#1",)


# Who follows thousands of things.


def with_follows(number: int, *, own: int = 0) -> World:
    """Ann follows so many posts, the last `own` of them weekly."""
    world = a_world((), (), None, {})
    for each in range(number):
        often = Frequency.WEEKLY if each >= number - own else None
        changes = ((NOW - timedelta(days=1), FollowState(True, often, f"About {each}")),)
        world.follows.put(Follow(f"post#{each:05}", "ann", changes), replacing=None)
    return world


@pytest.mark.parametrize("scope", [MENTIONS, Scope(ScopeKind.ENTITY, (entity_mark("post#00007"),))])
def test_opt_out_of_a_category_or_entity_reads_no_additional_follows(scope: Scope) -> None:
    costs = []
    for number in (150, 3000):
        world = with_follows(number)
        read: list[str] = []
        with world.calls() as calls:
            left = world.leave_by(link(world, scope))
            undone = world.take_back(link(world, scope), left)
        read = [call for call in calls if call.startswith("follows.")]
        assert left.left_at
        assert undone.act is LeaveAct.UNDO
        costs.append(len(calls))
        assert read.count("follows.get_many") <= 6
        follow = world.follows.get("post#00007", "ann")
        assert follow
        assert follow.latest.following, "it was taken back"
    assert costs[0] == costs[1]


@pytest.mark.parametrize("number", [3, 150])
@pytest.mark.parametrize("own", [0, 1])
def test_category_page_warns_of_follows_that_may_continue(number: int, own: int) -> None:
    """Beyond a page nobody looks: it is said, because it is true of any that there are."""
    world = with_follows(number, own=own)
    assert world.look(link(world, MENTIONS)).keeps_some is (number > 100 or own == 1)


def test_entity_page_names_the_entity_among_thousands_of_follows() -> None:
    world = with_follows(3000)
    scope = Scope(ScopeKind.ENTITY, (entity_mark("post#02999"),))
    assert world.look(link(world, scope)).follows == ("About 2999",)
    world.leave_by(link(world, scope))
    ended = [key[0] for key, row in world.follows.rows.items() if not row.latest.following]
    assert ended == ["post#02999"]


def test_digest_opt_out_changes_every_follow_with_a_digest_frequency() -> None:
    world = with_follows(250, own=20)
    world.leave_by(link(world, DIGESTS))
    often = [row.latest.frequency for row in world.follows.rows.values()]
    assert often.count(Frequency.NEVER) == 20
