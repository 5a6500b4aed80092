"""The dead letters of an outage: runs in every state, events, activities and other messages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from gazette.adapters.aws.queues import (
    encode_failed_run,
    encode_followers,
    encode_partition,
    encode_run_key,
    encode_shard,
)
from gazette.domain.delivery.run import Reason
from gazette.domain.delivery.signals import Claim, Policy, RefusedForNow, Uncertain
from gazette.domain.model import DAILY, Event, RunKey, Window
from gazette.domain.ports.queues import Shard, Walk
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.runs import apply

from tests.builders import an_activity, an_event
from tests.fake_stores import PARTITIONS
from tests.functions.messages import delivery_event, envelope, event
from tests.indexed import IndexedEvents, IndexedRuns, IndexedSchedules, RunRows
from tests.world import SETTLE_LAG, World

_OTHERS = 5
"""The number of runs for each message of another kind."""


@dataclass
class Letters:
    """The dead letters, and the emails that a redrive must lead to."""

    world: World

    # The bodies by the name of their dead-letter queue.
    by_queue: dict[str, list[str]] = field(default_factory=dict)

    # The number of emails that are due for each run.
    due: dict[RunKey, int] = field(default_factory=dict)

    # The events that a redrive stores.
    stored: set[tuple[str, str]] = field(default_factory=set)

    def add(self, queue: str, body: str) -> None:
        """Add a message to a dead-letter queue."""
        self.by_queue.setdefault(queue, []).append(body)

    @property
    def number(self) -> int:
        """The number of messages."""
        return sum(map(len, self.by_queue.values()))


Kind = Callable[[Letters, RunKey], None]
"""The events of a run before its message died."""


def _is_due(letters: Letters, key: RunKey) -> None:
    letters.due[key] = 1
    letters.add("immediate-dead" if key.is_immediate else "generate-dead", encode_run_key(key))


def _is_due_in_two_queues(letters: Letters, key: RunKey) -> None:
    _is_due(letters, key)
    letters.add("resend-dead", encode_run_key(key))


def _is_sent(letters: Letters, key: RunKey) -> None:
    letters.world.generate(key)
    letters.add("immediate-dead" if key.is_immediate else "generate-dead", encode_run_key(key))
    letters.add("feedback-dead", delivery_event(run=f"{key.user_id}-{key.schedule}-1"))


def _is_unknown(letters: Letters, key: RunKey) -> None:
    _claim(letters.world, key, Uncertain(1, "ReadTimeoutError"))
    letters.add("resend-dead", encode_run_key(key))


def _is_refused(letters: Letters, key: RunKey) -> None:
    _claim(letters.world, key, RefusedForNow(1, "Throttling", letters.world.clock()))
    letters.due[key] = 1
    letters.add("resend-dead", encode_run_key(key))


def _is_given_up(letters: Letters, key: RunKey) -> None:
    for attempt in range(1, 7):
        _claim(letters.world, key, RefusedForNow(attempt, "Throttling", letters.world.clock()))
    assert letters.world.runs.rows[key].reason is Reason.ATTEMPTS_EXHAUSTED
    letters.due[RunKey(key.user_id, key.schedule, key.sequence + 1)] = 1
    letters.add("failed", encode_failed_run(key).body)


def _is_unwanted(letters: Letters, key: RunKey) -> None:
    assert letters.world.unsubscribe(key.user_id, f"{key.user_id}@example.com")
    letters.add("generate-dead", encode_run_key(key))


def _claim(world: World, key: RunKey, outcome: Uncertain | RefusedForNow) -> None:
    now = world.clock()
    claim = Claim(Window(now, now), now, f"nonce {key.user_id} {outcome.attempt}")
    claimed = apply(world.runs.rows[key], claim, runs=world.runs)
    apply(claimed, outcome, runs=world.runs)


_DIGESTS: tuple[tuple[Kind, int], ...] = (
    (_is_due, 8),
    (_is_due_in_two_queues, 2),
    (_is_sent, 2),
    (_is_unknown, 1),
    (_is_refused, 3),
    (_is_given_up, 3),
    (_is_unwanted, 2),
)
_IMMEDIATES: tuple[tuple[Kind, int], ...] = ((_is_due, 4), (_is_sent, 1))


def dead_letters(runs: int, random: Random) -> Letters:
    """Return the dead letters of an outage of three hours in which all messages of `runs` died."""
    world = World(
        runs=IndexedRuns(RunRows()),
        schedules=IndexedSchedules(),
        kind_of_events=IndexedEvents,
        policy=Policy.ASSUME_SENT,
    )
    letters = Letters(world)
    digests, immediates = runs * 4 // 5, runs // 5
    users = [f"u{number}" for number in range(runs)]
    for user in users[:digests]:
        world.choose(user, comment=Frequency.DAILY)
        world.create(_an_event(user, world))
    (due,) = {world.schedules.rows[user, DAILY].next_due_at for user in users[:digests]}
    world.clock.now = due + 2 * SETTLE_LAG
    world.fan_out(slot_of(due))
    for user in users[-immediates:]:
        world.choose(user, comment=Frequency.IMMEDIATE)
        world.create(_an_event(user, world))
    queued, world.generate_queue.sent = world.generate_queue.sent, []
    assert len(queued) == runs
    world.clock.pass_time(minutes=5)
    for message in queued:
        kinds = _IMMEDIATES if message.key.is_immediate else _DIGESTS
        (kind,) = random.choices([each for each, _ in kinds], [weight for _, weight in kinds])
        kind(letters, message.key)
    letters.add("shard-dead", encode_shard(Shard(0, slot_of(due), slot_of(due))).body)
    for partition in range(PARTITIONS):
        letters.add("sweep-dead", encode_partition(partition).body)
    for number in range(runs // _OTHERS):
        _other(letters, number)
    world.clock.pass_time(hours=3)
    world.mailer.accepted.clear()
    return letters


def _an_event(user: str, world: World) -> Event:
    return an_event(f"e-{user}", user_id=user, entity_id=f"p-{user}", occurred_at=world.clock())


def _other(letters: Letters, number: int) -> None:
    """Add an event of a reader, or an activity of a follower."""
    world, user = letters.world, f"w{number}"
    world.choose(user, comment=Frequency.DAILY)
    if number % 2:
        detail = event(number, user_id=user, entity=f"post#w{number}")
        body = envelope("event.created", {**detail, "occurred_at": world.clock().isoformat()})
        letters.add(("ingest-dead", "undelivered")[number % 4 == 1], body)
        letters.stored.add((user, f"e{number}"))
        return
    entity = f"post#w{number}"
    world.follow(user, entity, at=world.clock() - timedelta(hours=1))
    activity = an_activity(
        f"a{number}", entity_id=f"w{number}", parent=entity, occurred_at=world.clock()
    )
    world.activities.create(activity)
    letters.add("followers-dead", encode_followers(Walk(entity, activity.id, entity)).body)
    letters.stored.add((user, f"a{number}"))
