"""The real fan-out on fakes, in virtual time, held against an oracle of the calendar."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from random import Random

from gazette.adapters.aws.queues import decode_shard, encode_shard
from gazette.domain.delivery.run import Run
from gazette.domain.model import RunKey, Window
from gazette.domain.ports.queues import QueuedRun, Shard
from gazette.domain.scheduling.calendar import SLOT, Days, DigestTimes, Recurrence
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Reader
from gazette.steps.fanout.fanout import fan_out, tick
from gazette.steps.occurrences.start import FanoutContext, FanoutLimits
from gazette.steps.subscribers.schedules import set_schedule

from tests.builders import SettableClock, a_subscriber
from tests.fake_stores import FakeBatches, FakeRuns, FakeSubscribers
from tests.fakes import FakeQueue
from tests.indexed import IndexedSchedules
from tests.world import World
from tests.zones import FIRST, expected, periods_of, zones_that_differ

ZONES = 60
SHARDS = (4, 1, 7, 2)
"""How many there are, each for a while."""

RESHARDED = timedelta(days=13)
"""How long the number of shards stays as it is."""

_TAKEN_BACK = (30, timedelta(hours=1))
"""A deployment with so many shards reaches those who write for so long, and no tick."""

OUTAGE = timedelta(days=4)
"""The longest that no tick comes at all."""

DELAY = timedelta(minutes=50)
"""The longest that one tick is late."""

LIMITS = FanoutLimits(
    settle_lag=timedelta(seconds=15),
    max_lateness=timedelta(hours=6),
    spread=timedelta(seconds=540),
    check_after=timedelta(hours=1),
    sunset=None,
)
_BEGIN = datetime.combine(FIRST + timedelta(days=240), time(), UTC)
"""Two autumns and a spring lie in the four hundred days after it."""

_MONDAY = date(2001, 1, 1)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Tally:
    """`missing` and `doubled` occurrences, and runs that are due when nobody asked for it."""

    subscribers: int
    days: int
    occurrences: int
    missing: int
    doubled: int
    wrong_hour: int

    @property
    def is_clean(self) -> bool:
        """Whether every occurrence had its run, at its hour."""
        return not (self.missing or self.doubled or self.wrong_hour)

    def __str__(self) -> str:
        counted = " ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"timetravel: {counted}"


@dataclass
class _Runs(FakeRuns):
    """Remembers whose is due when, and gives the last run for all."""

    due: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    last: dict[str, Run] = field(default_factory=dict)

    def create(self, run: Run) -> Run:
        if run.key not in self.rows:
            self.due[run.key.user_id].append(run.due_at)
            self.last[run.key.user_id] = run
        return super().create(run)

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        return [self.last[key.user_id]] if key.user_id in self.last else []


class _Waiting:
    """The port `EventReader`: something always waits for every third reader."""

    def holds(self, user_id: str, schedule: str, window: Window) -> bool:
        return int(user_id) % 3 == 0


class _Everybody(FakeSubscribers):
    """The port `Subscribers`: every user id is registered."""

    def get(self, user_id: str) -> Reader:
        return a_subscriber(user_id)


class _Forgetful(FakeQueue[QueuedRun]):
    """The port `RunQueue`; drops its messages."""

    def send(self, messages: Iterable[QueuedRun]) -> None:
        self.calls += 1


def _times_delivered(random: Random) -> int:
    """A message of a shard may be lost for good, its invocations having failed, or come twice."""
    return random.choices((0, 1, 2), (0.01, 0.98, 0.01))[0]


def travel(subscribers: int, days: int, *, seed: int = 1) -> Tally:
    """Let so many days pass for so many readers, tick by tick."""
    random = Random(seed)
    clock = SettableClock(_BEGIN)
    schedules, runs = IndexedSchedules(shards=SHARDS[0]), _Runs()
    context = replace(World(clock).context, schedules=schedules, runs=runs)
    zones = sorted(zones_that_differ().values())
    zones = [zones[number * len(zones) // ZONES] for number in range(ZONES)]
    for number in range(subscribers):
        reader = replace(
            a_subscriber(str(number), changed_at=_BEGIN, times=_times(random)),
            time_zone=zones[number % ZONES],
        )
        set_schedule(reader, Frequency.CUSTOM, context=context, current=None, is_new=True)
    fanout = FanoutContext(
        subscribers=_Everybody(),
        schedules=schedules,
        runs=runs,
        events=_Waiting(),  # type: ignore[arg-type] # nobody reads them here
        batches=FakeBatches(clock),
        generate_queue=_Forgetful(),
        clock=clock,
        random=random.random,
        limits=LIMITS,
    )
    end = _BEGIN + days * _DAY
    for instant, slot in _ticks(end, random):
        clock.now = instant
        stretch, passed = divmod(instant - _BEGIN, RESHARDED)
        shards = FakeQueue[Shard]()
        shards_now = SHARDS[stretch % len(SHARDS)]
        is_tried = timedelta(days=2) < passed < timedelta(days=2) + _TAKEN_BACK[1]
        schedules.shards = _TAKEN_BACK[0] if is_tried else shards_now
        fanout.batches.announce(schedules.shards)
        tick(slot, batches=fanout.batches, shard_queue=shards, shards=shards_now, lookback=2)
        for shard in shards.sent:  # what is handed on comes behind
            for _ in range(_times_delivered(random)):
                left = iter(range(random.choice((5, 10_000)), 0, -1))
                fan_out(
                    encode_shard(shard).body,
                    lambda left=left: timedelta(seconds=30 * next(left, 0)),  # type: ignore[misc]
                    decode=decode_shard,
                    context=fanout,
                    shard_queue=shards,
                )
    missing = doubled = wrong_hour = occurrences = 0
    for (user_id, _), schedule in schedules.rows.items():
        due = Counter(found for found in runs.due[user_id] if found < end)
        all_due = _all_due(schedule.wanted, _BEGIN + SLOT, end)
        occurrences += len(all_due)
        missing += len(all_due - due.keys())
        wrong_hour += len(due.keys() - all_due)
        doubled += sum(due.values()) - len(due)
    return Tally(subscribers, days, occurrences, missing, doubled, wrong_hour)


def _all_due(wanted: Recurrence, begin: datetime, end: datetime) -> set[datetime]:
    """What the oracle says, from `begin` on and before `end`."""
    periods, at = periods_of(wanted.time_zone), time(wanted.hour, wanted.minute)
    days = [begin.date() + number * _DAY for number in range(-1, (end - begin).days + 2)]
    if wanted.paused_until:
        days = [day for day in days if day >= wanted.paused_until]
    instants = (expected(periods, day, at) for day in days if _is_wanted(day, wanted.days))
    return {instant for instant in instants if instant and begin <= instant < end}


def _times(random: Random) -> DigestTimes:
    """Every second chose the minute; half want it every day, the others on days of every kind.

    One in five begins in a pause.
    """
    weekdays = frozenset(random.sample(range(1, 8), random.randint(1, 7)))
    some = [Days(weekdays), Days(weekdays, 2, random.randint(0, 1)), Days(month_day=31)]
    minute = random.choice([None, random.randint(0, 59)])
    until = _BEGIN.date() + random.randint(0, 84) * _DAY if random.random() < 0.2 else None
    return DigestTimes(
        random.randint(0, 23),
        minute,
        custom_on=random.choice([*some, *[Days()] * 3]),
        paused_until=until,
    )


def _ticks(end: datetime, random: Random) -> list[tuple[datetime, datetime]]:
    """When ticks arrive, and the slots that they stand for: one in ten is not as it should be."""
    arrive = []
    slot, silent_until = _BEGIN, _BEGIN
    while slot < end + OUTAGE + DELAY:
        slot += SLOT
        if slot > silent_until + DELAY and random.random() < 0.0005:
            silent_until = slot + random.random() * OUTAGE
        if slot < silent_until or random.random() < 0.03:
            continue
        late = DELAY * random.random() if random.random() < 0.04 else timedelta(0)
        at = slot + late + timedelta(seconds=random.random() * 30)
        arrive += [(at, slot)] * (1 + (random.random() < 0.03))
    return sorted(arrive)


def _is_wanted(day: date, days: Days) -> bool:
    """The oracle's own words: the next day is another month, and weeks since a Monday."""
    if days.month_day is not None:
        last = (day + _DAY).month != day.month
        return day.day == days.month_day or (last and day.day < days.month_day)
    weeks = (day - _MONDAY).days // 7 + (_MONDAY.toordinal() - 1) // 7
    return day.weekday() + 1 in days.weekdays and weeks % days.every == days.phase
