"""What a reader can leave of critical categories: nothing, and the rest as before."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.links import DIGESTS, EVERYTHING, Scope, ScopeKind, entity_mark
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.kinds import critical_schedule
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.leaving import LeaveAct
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

from tests.builders import NOW, a_link, an_event
from tests.world import World

SECURITY = frozenset({"security", "payment"})
CRITICAL = critical_schedule("post#post1")
LINK = a_link(RunKey("ann", DAILY, 1))


@pytest.fixture
def world() -> World:
    world = World(critical=SECURITY)
    world.choose(at=NOW - timedelta(days=1), mention=Frequency.IMMEDIATE)
    return world


def reader(world: World) -> Subscriber:
    found = world.subscribers.get("ann")
    assert isinstance(found, Subscriber)
    return found


def link(*names: str, kind: ScopeKind = ScopeKind.CATEGORY) -> Scope:
    return Scope(kind, names)


@pytest.mark.parametrize("kind", [ScopeKind.CATEGORY, ScopeKind.IMMEDIATE])
def test_old_link_cannot_turn_off_critical_category(world: World, kind: ScopeKind) -> None:
    """Such as one from before the stage listed it."""
    before = reader(world)
    scoped = replace(LINK, scope=link("security", kind=kind))
    assert world.look(scoped).is_barred
    left = world.leave_by(scoped)
    assert (left.is_barred, left.act, left.left_at) == (True, LeaveAct.LEAVE, None)
    assert reader(world) == before
    assert not world.bus.taken


def test_multi_category_link_turns_off_noncritical_categories(world: World) -> None:
    scoped = replace(LINK, scope=link("mention", "security", kind=ScopeKind.IMMEDIATE))
    found = world.look(scoped)
    assert (found.scope.names, found.still, found.is_barred) == (("mention",), ("security",), False)
    assert world.leave_by(scoped).left_at
    assert dict(reader(world).chosen) == {"mention": Frequency.DAILY}


def test_alternatives_offered_for_critical_category_are_applied(world: World) -> None:
    scoped = replace(LINK, scope=link("security"))
    assert world.leave_by(scoped, LeaveAct.WEEKLY).left_at
    assert world.leave_by(scoped, LeaveAct.EVERYTHING).still == ("payment", "security")
    assert reader(world).status is SubscriberStatus.UNSUBSCRIBED


@pytest.mark.parametrize(
    ("scope", "still"),
    [
        (EVERYTHING, ("payment", "security")),
        (Scope(ScopeKind.IMMEDIATE), ("payment", "security")),
        (link("mention"), ()),
        (DIGESTS, ()),
        (Scope(ScopeKind.ENTITY, (entity_mark("post#post1"),)), ()),
    ],
)
def test_unsubscribe_link_lists_remaining_critical_categories(
    world: World, scope: Scope, still: tuple[str, ...]
) -> None:
    assert world.look(replace(LINK, scope=scope)).still == still
    act = LeaveAct.EVERYTHING if scope is EVERYTHING else LeaveAct.LEAVE
    assert world.leave_by(replace(LINK, scope=scope), act).still == still


@pytest.mark.parametrize(
    "scope", [EVERYTHING, DIGESTS, Scope(ScopeKind.IMMEDIATE), link("security")]
)
def test_no_link_stops_critical_category(world: World, scope: Scope) -> None:
    act = LeaveAct.EVERYTHING if scope is EVERYTHING else LeaveAct.LEAVE
    world.leave_by(replace(LINK, scope=scope), act)
    world.create(an_event("alert", category="security", occurred_at=world.clock()))
    world.send_everything()
    assert [email.schedule for email in world.emails()] == [CRITICAL]


def test_preference_page_lists_critical_categories(world: World) -> None:
    overview = world.read_overview()
    assert overview
    assert overview.critical == ("payment", "security")
