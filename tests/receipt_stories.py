"""For each state of a receipt, a story that ends in the state: the example of docs/receipts.md."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial

from gazette.domain.delivery.signals import Policy, Uncertain
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.model import RunKey
from gazette.domain.receipts.receipt import Receipt, State
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.routing.reroute import retract_event

from tests.builders import KEY, NOW, RETENTION, an_event
from tests.receipts import receipt_of
from tests.unit.delivery.test_edition import Choking
from tests.world import World

EVENT = "comment-4711"
MINUTE = timedelta(minutes=1)


def happen(world: World, event_id: str = EVENT, *, expires_in: timedelta | None = None) -> None:
    """Publish an event on its own entity."""
    event = an_event(event_id, entity_id=event_id, occurred_at=world.clock())
    world.create(replace(event, expires_at=world.clock() + expires_in if expires_in else None))


def a_world(often: Frequency = Frequency.DAILY) -> World:
    """Return a world with a reader who gets comments this often, and an event."""
    world = World()
    world.choose(comment=often)
    happen(world)
    return world


def is_delivered(world: World, key: RunKey = KEY) -> None:
    """Let the provider report that it delivered an email."""
    world.clock.now += MINUTE
    at = world.clock()
    for kind in (DeliveryEventType.SENT, DeliveryEventType.DELIVERED):
        world.feedback(DeliveryEvent(kind, key, 1, "message1", at, at))


def retract(world: World) -> None:
    """Retract the event an hour later."""
    world.clock.now += 60 * MINUTE
    retract_event("ann", EVENT, context=world.context)


def _waits_for_profile() -> World:
    world = World()
    happen(world)
    return world


def _sent() -> World:
    world = a_world()
    world.send_digest()
    is_delivered(world)
    return world


def _unknown(world: World, policy: Policy = Policy.RESEND) -> World:
    """Send the next digest without an answer of the provider, and apply the policy."""
    world.policy = policy
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.send_digest()
    if policy is not Policy.RESEND:
        world.clock.now += timedelta(days=1, hours=-1)
        world.sweep("ann")
    return world


def _given_up() -> World:
    world = _unknown(a_world(), Policy.CARRY_OVER)
    happen(world, "comment-4712")
    return _unknown(world, Policy.CARRY_OVER)


def _excluded() -> World:
    world = World(renderer=Choking({"Well said."}))
    world.choose(comment=Frequency.DAILY)
    world.create(an_event(EVENT, entity_id=EVENT, excerpt="Well said."))
    world.send_digest()
    return world


def _expired() -> World:
    world = a_world(Frequency.IMMEDIATE)
    world.generate_queue.sent.clear()
    world.clock.now += RETENTION + MINUTE
    return world


def _lapsed() -> World:
    world = World()
    world.choose(comment=Frequency.DAILY)
    happen(world, expires_in=60 * MINUTE)
    world.send_digest()
    return world


def _seen() -> World:
    world = a_world()
    world.see(f"post#{EVENT}")
    world.send_digest()
    return world


def _withdrawn() -> World:
    world = a_world()
    world.withdraw(actor="bo")
    world.send_digest()
    return world


def _retracted() -> World:
    world = _sent()
    retract(world)
    return world


STORIES: Mapping[State, Callable[[], World]] = {
    State.EMAILED: _sent,
    State.WAITING: a_world,
    State.COLLECTING: partial(a_world, Frequency.IMMEDIATE),
    State.WAITS_FOR_PROFILE: _waits_for_profile,
    State.MAY_HAVE_BEEN_EMAILED: lambda: _unknown(a_world()),
    State.ASSUMED_EMAILED: lambda: _unknown(a_world(), Policy.ASSUME_SENT),
    State.GIVEN_UP: _given_up,
    State.RETRACTED: _retracted,
    State.EXCLUDED: _excluded,
    State.EXPIRED: _expired,
    State.LAPSED: _lapsed,
    State.SEEN: _seen,
    State.WITHDRAWN: _withdrawn,
    State.NOT_STORED: lambda: a_world(Frequency.NEVER),
}
"""The story of each state, in the order of the page."""


def told(state: State) -> tuple[World, Receipt]:
    """Return the world at the end of a state's story, and the receipt of the event."""
    world = STORIES[state]()
    if state is not State.NOT_STORED:
        return world, receipt_of(world, EVENT)
    return world, receipt_of(world, EVENT, category="comment", occurred_at=NOW)
