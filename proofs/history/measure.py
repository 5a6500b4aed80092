"""The measurement of one use case with one past, over all receives until the work is done."""

import time
import tracemalloc
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.errors import NotYet
from gazette.domain.subscribers.subscriber import SubscriberStatus

from gazette_cdk.topology import INGEST, MAX_RECEIVES
from proofs.history.counting import Hopeless, Tally, counted
from proofs.history.furnish import on_fakes
from proofs.history.past import past
from proofs.history.uses import Use
from tests.world import World

_BETWEEN = timedelta(minutes=1)
"""The pause between two receives of a message."""

_INGEST = timedelta(seconds=INGEST.timeout)

_MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Measured:
    """The measurements of a use case with this many rows of one kind."""

    size: int
    calls: int
    """The calls of all receives."""

    reads: int
    """The reads of all receives."""

    writes: int
    """The writes of all receives."""

    receives: int
    longest: timedelta
    """The longest receive, at 5 ms a call."""

    is_done: bool
    megabytes: float = 0
    """The peak memory use, including copies that the fakes make. 0 if not measured."""

    seconds: float = 0
    """The CPU time, including the time of the fakes."""

    at_aws: int = 0


def measure(use: Use, kind: str, size: int, *, weighs: bool = False) -> Measured:
    """Measure one use case on the fakes."""
    before = use.prepare(past(kind, size))
    world = on_fakes(before)
    use.before(world)
    tally = Tally(world.clock, use.timeout)
    if weighs:
        tracemalloc.start()
    began = time.process_time()
    try:
        ended = receive_until_done(use, counted(world, tally), tally)
        peak = tracemalloc.get_traced_memory()[1] if weighs else 0
    finally:
        tracemalloc.stop()
    gets_email = before.status is SubscriberStatus.ACTIVE
    return Measured(
        size=size,
        calls=tally.calls,
        reads=tally.reads,
        writes=tally.writes,
        receives=tally.receives,
        longest=tally.longest,
        is_done=ended and (use.done(world) or not gets_email),
        megabytes=peak / _MEGABYTE,
        seconds=time.process_time() - began,
        at_aws=tally.of_tables_and_queues,
    )


def receive_until_done(use: Use, world: World, tally: Tally) -> bool:
    """Receive the message, and the messages that continue its work, until all are acknowledged.

    A reader's page request is not repeated. Ingest finishes the page's work through the bus.

    Return False if this takes more receives than SQS allows, or too many calls.
    """
    try:
        while tally.receives < MAX_RECEIVES:
            tally.receive()
            try:
                use.act(world)
            except NotYet:
                tally.clock.now += _BETWEEN
                if not use.is_page:
                    continue
            return _continue(world, tally)
    except Hopeless:
        pass
    return False


def _continue(world: World, tally: Tally) -> bool:
    """Receive the messages on the bus and on the followers queue, one after another."""
    tally.timeout = _INGEST
    queue, bus = world.followers_queue.sent, world.bus.taken
    while (queue or bus) and tally.receives < MAX_RECEIVES:
        tally.receive()
        try:
            if bus:
                world.say(bus[0])
            else:
                world.walk_followers(queue[0])
        except NotYet:
            tally.clock.now += _BETWEEN
        else:
            (bus or queue).pop(0)
    return not (queue or bus)
