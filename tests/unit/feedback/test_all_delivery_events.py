"""All that SES may say of one message: in any order, any number of times, by workers that overlap.

From the bodies on the queue, by EventBridge or SNS, to the rows that they leave.
"""

import json
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.delivery.run import Run, Status
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.identity import address_hash, run_id
from gazette.domain.ports.bus import BusCommand
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.subscribers.suppression import SoftBounce
from gazette.steps.subscribers.schedules import withdraw
from gazette.steps.subscribers.sunset import mark_active
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs.state.batons import Order, Worker
from tests.builders import KEY, SettableClock, a_run, a_window
from tests.unit.feedback.test_ses_events import RECORDS, mail, notification
from tests.world import SOFT_LIMIT, Around, World

ANN = address_hash("ann@example.com")
OPEN = a_run(2).key
SUNSET = timedelta(days=45)
HEARD = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""When all of it is heard: the day on which everything happened."""

AT_ONCE = 3
"""Workers, at most."""

MAIL = mail(tags={"run": [run_id(KEY)], "attempt": ["1"]})
SOFT = {
    "timestamp": "2026-03-01T06:10:05.669Z",
    "bounceType": "Transient",
    "bounceSubType": "MailboxFull",
    "bouncedRecipients": [{"emailAddress": "ann@example.com"}],
}
OF_A_SCANNER = {"timestamp": "2026-03-01T06:10:09.000Z", "link": "https://example.com/p/1"}
SAID: list[tuple[str, dict[str, Any]]] = [
    *(
        (detail_type, {"eventType": event_type, "mail": MAIL, **about})
        for detail_type, event_type, about, _ in RECORDS
        if event_type not in {"Rendering Failure", "Subscription"}
    ),
    ("Email Bounced", {"eventType": "Bounce", "mail": MAIL, "bounce": SOFT}),
    ("Email Clicked", {"eventType": "Click", "mail": MAIL, "click": OF_A_SCANNER}),
]
"""Every event of an email, with a soft bounce beside the hard one, and a click of a scanner."""

CARRIERS: list[Callable[[str, dict[str, Any]], str]] = [
    lambda detail_type, record: json.dumps(
        {"source": "aws.ses", "detail-type": detail_type, "detail": record}
    ),
    lambda _, record: notification(record),
    lambda _, record: json.dumps(record),
]
"""EventBridge, SNS, and SNS with raw delivery."""

Act = Callable[[World], object]


@dataclass
class Message:
    """What one worker does in a world; it comes again until it is done."""

    world: World
    act: Act
    is_done: bool = False

    def work(self, around: Around) -> None:
        with suppress(NotYet, Unavailable):
            self.act(self.world.seen_through(around))
            self.is_done = True


def a_world(run: Run, *, dormant: bool, soft_bounces: int) -> World:
    """Ann's email is `run`; another run of hers is open, other emails to her bounced.

    Where she dormant, she was not seen for longer than the sunset until now.
    """
    world = World(clock=SettableClock(HEARD - 2 * SUNSET), sunset=SUNSET)
    world.choose(like=Frequency.WEEKLY)
    world.clock.now = HEARD
    world.runs.create(run)
    world.runs.create(a_run(2))
    for number in range(soft_bounces):
        world.bounces.remember(ANN, SoftBounce(HEARD, f"before{number}"))
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    if dormant:
        assert world.subscribers.set_dormant(reader)
        withdraw("ann", subscribers=world.subscribers, schedules=world.schedules)
    else:
        mark_active("ann", HEARD - SUNSET / 2, context=world.context)
    return world


def hear(body: str) -> Act:
    def act(world: World) -> None:
        delivery_event = decode_delivery_event(body)
        assert delivery_event is not None
        world.feedback(delivery_event)

    return act


def say(said: BusCommand) -> Act:
    def act(world: World) -> None:
        world.say(said)

    return act


def state(world: World) -> dict[str, object]:
    """All rows; for an open run without its epoch."""
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    follower = world.runs.rows[OPEN]
    return {
        "run": world.runs.rows[KEY],
        "next run": (replace(follower, epoch=0), follower.epoch > 0),
        "suppressions": world.suppressions.rows,
        "bounces": world.bounces.rows,
        "status": reader.status,
        "active on": reader.active_on,
        "out of the due index": world.schedules.withdrawn,
        "engagement": world.engagements.rows,
        "proven until": world.evidence_log.latest(),
    }


def one_after_the_other(world: World, bodies: Sequence[str]) -> dict[str, object]:
    for body in bodies:
        hear(body)(world)
    world.work_off_bus()
    return state(world)


def all_at_once(world: World, bodies: Sequence[str], dice: Random) -> dict[str, object]:
    """Workers begin, go on by a call, or fail; what they say on the bus is ingested by others."""
    waiting = deque(Message(world, hear(body)) for body in bodies)
    working: list[tuple[Worker, Message]] = []
    failures = 4
    while waiting or working:
        if waiting and len(working) < AT_ONCE and (not working or dice.random() < 0.3):
            message = waiting.popleft()
            working.append((Worker("", message.work), message))
        worker, message = dice.choice(working)
        fails = failures and dice.random() < 0.1
        worker.step(dice.choice([*Order]) if fails else Order.MAKE)
        failures -= bool(fails)
        if worker.is_over:
            working.remove((worker, message))
            if not message.is_done:
                waiting.append(message)
        while world.bus.taken:
            waiting.append(Message(world, say(world.bus.taken.pop(0))))
    return state(world)


BODIES = st.lists(st.sampled_from(SAID), max_size=8, unique_by=id).flatmap(
    lambda said: st.tuples(*(st.sampled_from([carry(*it) for carry in CARRIERS]) for it in said))
)
RUNS = st.sampled_from(
    [
        replace(a_run(), status=status, attempt=1, window=a_window(), message_id=message_id)
        for status, message_id in [
            *((status, "") for status in Status if status is not Status.SENT),
            (Status.SENT, MAIL["messageId"]),
        ]
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    run=RUNS,
    bodies=BODIES,
    dormant=st.booleans(),
    soft_bounces=st.sampled_from([0, SOFT_LIMIT.bounces - 1]),
    data=st.data(),
)
def test_delivery_events_in_any_order_end_in_same_state(
    run: Run, bodies: tuple[str, ...], dormant: bool, soft_bounces: int, data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(bodies), max_size=5)) if bodies else []
    shuffled = data.draw(st.permutations([*bodies, *again]))
    dice = data.draw(st.randoms(use_true_random=False))

    def world() -> World:
        return a_world(run, dormant=dormant, soft_bounces=soft_bounces)

    assert all_at_once(world(), shuffled, dice) == one_after_the_other(world(), bodies)
