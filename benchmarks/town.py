"""A slot with waiting events for any number of readers, on fakes."""

from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import timedelta
from random import Random

from gazette.adapters.aws.queues import decode_shard, encode_shard
from gazette.domain.model import DAILY
from gazette.domain.ports.queues import QueuedRun, Shard
from gazette.domain.scheduling.calendar import SLOT, DigestTimes, slot_of
from gazette.domain.scheduling.limits import FanoutLimits
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.fanout.fanout import LOOKBACK, FannedOut, fan_out, tick
from gazette.steps.occurrences.context import FanoutContext
from gazette.steps.subscribers.schedules import arm, set_schedule

from benchmarks.ledger import Ledger
from gazette_cdk.stage import Stage
from tests.builders import NOW, SettableClock, a_subscriber, an_event
from tests.fake_stores import FakeBatches, FakeSubscribers
from tests.fakes import FakeQueue
from tests.indexed import IndexedEvents, IndexedRuns, IndexedSchedules
from tests.world import World

SHARDS = 4
"""The number of shards, which is small so that even the smallest size fills pages."""

_WEIGHED = 0
"""The shard whose memory is measured. Each shard is a separate invocation."""

_STAGE = Stage(name="prod", sender="", list_id="")
_LIMITS = FanoutLimits(
    max_lateness=_STAGE.max_lateness,
    spread=_STAGE.spread,
    check_after=_STAGE.check_after,
)
_SUNSET = timedelta(days=_STAGE.sunset_days)


class Town:
    """A number of readers, and the ports of fan-out.

    All readers chose the slot of `NOW`. The first `waiting` readers have events. The others are
    idle, because fan-out disarmed their schedules when they had no events.
    """

    def __init__(self, readers: int, *, waiting: int, page: int = 100) -> None:
        self.clock = SettableClock(NOW - timedelta(hours=20))
        self.schedules = IndexedSchedules(shards=SHARDS, page=page)
        self.runs = IndexedRuns()
        self.events = IndexedEvents(self.clock, self.runs, self.schedules)
        self.batches = FakeBatches(self.clock)
        self.generate_queue = FakeQueue[QueuedRun]()
        self.slot = slot_of(NOW)
        self._register(readers, waiting)
        for shard in range(SHARDS):
            self.batches.save_checkpoint(shard, self.slot - SLOT)
        self.clock.now = NOW

    def _register(self, readers: int, waiting: int) -> None:
        context = replace(
            World(self.clock).context,
            schedules=self.schedules,
            runs=self.runs,
            sunset=_SUNSET,
        )
        for number in range(readers):
            user_id = f"reader{number:06d}"
            reader = a_subscriber(
                user_id, changed_at=self.clock(), times=DigestTimes(hour=8, minute=number % 10)
            )
            set_schedule(reader, Frequency.DAILY, context=context, current=None, is_new=True)
            armed = self.schedules.rows[user_id, DAILY]
            self.schedules.put(armed.idle(), replacing=armed)
            if number < waiting:
                self.events.store(an_event(user_id=user_id), DAILY)
                arm({(user_id, DAILY): reader}, context=context)

    def fan_out(self, ledger: Ledger, *, weighs: bool) -> Counter[str]:
        """Run one tick, and process all messages that it sends."""
        shard_queue = FakeQueue[Shard]()
        asked = ledger.port("shard_queue", shard_queue)
        context = FanoutContext(
            subscribers=ledger.port("subscribers", FakeSubscribers()),
            schedules=ledger.port("schedules", self.schedules),
            runs=ledger.port("runs", self.runs),
            events=ledger.port("events", self.events),
            batches=ledger.port("batches", self.batches),
            generate_queue=ledger.port("generate_queue", self.generate_queue),
            clock=self.clock,
            random=Random(1).random,
            limits=_LIMITS,
            sunset=_SUNSET,
        )
        tick(
            self.slot,
            batches=context.batches,
            shard_queue=asked,
            shards=SHARDS,
            lookback=LOOKBACK,
        )
        done: Counter[str] = Counter()
        for shard in shard_queue.sent:
            with ledger.weighing() if weighs and shard.number == _WEIGHED else nullcontext():
                ended = fan_out(
                    encode_shard(shard).body,
                    _all_the_time,
                    decode=decode_shard,
                    context=context,
                    shard_queue=asked,
                )
            done.update(_counts(ended))
        return done


def _all_the_time() -> timedelta:
    return timedelta(seconds=120)


def _counts(done: FannedOut) -> dict[str, int]:
    return {**asdict(done), "unreadable": len(done.unreadable)}
