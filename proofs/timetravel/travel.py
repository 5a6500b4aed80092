"""The real fan-out on fakes in virtual time, compared with an oracle of the calendar."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from operator import itemgetter
from random import Random
from unittest.mock import patch
from zoneinfo import ZoneInfo

from gazette.adapters.aws.queues import decode_shard, encode_shard
from gazette.domain.content.asking import ContentPlan
from gazette.domain.content.items import EVENTS, RECOMMENDATIONS
from gazette.domain.content.ports import Fetch, QueuedFetch
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status
from gazette.domain.model import RunKey, Schedule, Window
from gazette.domain.ports.queues import QueuedRun, Shard
from gazette.domain.scheduling import calendar
from gazette.domain.scheduling.calendar import (
    SLOT,
    Days,
    DigestTimes,
    Recurrence,
    next_occurrence,
    slot_of,
)
from gazette.domain.scheduling.limits import FanoutLimits
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.content.ahead import look_ahead
from gazette.steps.fanout.fanout import fan_out, tick
from gazette.steps.occurrences.asking import AskingContext
from gazette.steps.occurrences.context import FanoutContext
from gazette.steps.subscribers.schedules import arm, set_schedule

from tests.builders import SettableClock, a_subscriber
from tests.fake_stores import FakeBatches, FakeRuns, FakeSubscribers
from tests.fakes import FakeQueue
from tests.indexed import IndexedSchedules
from tests.world import World
from tests.zones import FIRST, expected, periods_of, zones_that_differ

ZONES = 60
SHARDS = (4, 1, 7, 2)
"""The numbers of shards, each for a while."""

RESHARDED = timedelta(days=13)
"""The time after which the number of shards changes."""

_TAKEN_BACK = (30, timedelta(hours=1))
"""A deployment with another number of shards, which reaches the writers for a while, but no
tick."""

OUTAGE = timedelta(days=4)
"""The longest time without any tick."""

DELAY = timedelta(minutes=50)
"""The longest delay of a tick."""

LIMITS = FanoutLimits(
    max_lateness=timedelta(hours=6),
    spread=timedelta(seconds=540),
    check_after=timedelta(hours=1),
)
_BEGIN = datetime.combine(FIRST + timedelta(days=240), time(), UTC)
"""A start with two autumns and a spring in the four hundred days after it."""

_PAUSES = (timedelta(hours=12), timedelta(days=9), None)
"""The average times between events of a reader. One in three readers has no events."""

_ASKS = 4
"""The share of readers with a content source, as one in so many; they have many, few or no
events."""

_PLAN = ContentPlan(sources=(EVENTS, RECOMMENDATIONS), lead=6, fresh_for=timedelta(hours=4))
_ANSWERED, _NEW = 0.95, 0.3
"""The shares of fetches that are answered before the digest, and of those with a new item."""

_PATIENCE = OUTAGE + timedelta(days=9)
"""The longest delay of an event after the occurrences for which it may wait: a day for changes of
zone rules, and eight for digests that are skipped because they are too late."""

_MONDAY = date(2001, 1, 1)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Tally:
    """The counts of occurrences with waiting events, including `missing` and `doubled` ones.

    `wrong_hour` are runs at an hour that was not chosen. `quiet_visits` are reads of a schedule
    without events that fan-out did not disarm. `asked` are occurrences of schedules with a content
    source; each had a run, or was passed, or is `missing`. `fetches` is the number of requests to
    their sources. `same_date` are runs on a local date that already had one, by the clock of that
    time.
    """

    subscribers: int
    days: int
    occurrences: int
    missing: int
    doubled: int
    wrong_hour: int
    quiet_visits: int
    asked: int
    fetches: int
    same_date: int = 0

    @property
    def is_clean(self) -> bool:
        """True if every due occurrence had its run at its hour, and there were no other runs."""
        wrong = self.missing or self.doubled or self.wrong_hour or self.same_date
        return not (wrong or self.quiet_visits)

    def __str__(self) -> str:
        counted = " ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"timetravel: {counted}"


Visit = tuple[str, datetime]
"""A reader, and the occurrence for which fan-out read the schedule."""


@dataclass
class _Runs(FakeRuns):
    """A fake that sends each started run at once, remembers its time, and returns the last one."""

    clock: Callable[[], datetime] = field(default=lambda: _BEGIN)
    started: dict[str, list[tuple[datetime, Run]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    spent: list[Run] = field(default_factory=list)
    last: dict[str, Run] = field(default_factory=dict)
    sent_until: dict[str, datetime] = field(default_factory=dict)

    def create(self, run: Run) -> Run:
        if run.key not in self.rows:
            user_id, now = run.key.user_id, self.clock()
            if run.reason is Reason.NOTHING_WAITED:
                self.spent.append(run)
            else:
                self.started[user_id].append((now, run))
            if not run.status.is_final:
                self.sent_until[user_id] = now
            self.last[user_id] = run
        return super().create(run)

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        user_id = key.user_id
        if user_id not in self.last:
            return []
        until = self.sent_until.get(user_id)
        window = Window(BEGINNING, until) if until else None
        status = Status.SENT if window else Status.SKIPPED
        return [replace(self.last[user_id], status=status, window=window)]


@dataclass
class _Schedules(IndexedSchedules):
    """A fake that remembers the occurrence at which each schedule became idle."""

    taken_out: set[Visit] = field(default_factory=set)

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        if schedule.is_idle:
            self.taken_out.add((schedule.user_id, schedule.next_due_at))
        return super().put(schedule, replacing=replacing)


@dataclass
class _Events:
    """The port `EventReader`, with the time of each reader's last event."""

    schedules: _Schedules
    stored: dict[str, datetime] = field(default_factory=dict)
    in_vain: set[Visit] = field(default_factory=set)

    def holds(self, user_id: str, schedule: str, *, after: datetime) -> bool:
        found = self.stored.get(user_id, BEGINNING) > after
        if not found:
            self.in_vain.add((user_id, self.schedules.rows[user_id, schedule].next_due_at))
        return found


@dataclass
class _Fetches(FakeQueue[QueuedFetch]):
    """The port `FetchQueue`, whose fetches are answered after the tick, or not at all.

    A new item waits like an event, and is remembered in `items`.
    """

    schedules: _Schedules = field(default_factory=_Schedules)
    events: _Events = field(default_factory=lambda: _Events(_Schedules()))
    clock: Callable[[], datetime] = field(default=lambda: _BEGIN)
    random: Random = field(default_factory=Random)
    items: list[Visit] = field(default_factory=list)
    requests: int = 0

    def work_off(self) -> None:
        """Answer the queued fetches."""
        queued, self.sent = self.sent, []
        for message in queued:
            self._answer(message.fetch)

    def _answer(self, wanted: Fetch) -> None:
        schedule = self.schedules.rows[wanted.user_id, wanted.schedule]
        if _PLAN.is_fetched(schedule, wanted.due_at):
            return
        self.requests += 1
        if self.random.random() > _ANSWERED:
            return
        now = self.clock()
        if self.random.random() < _NEW:
            self.events.stored[wanted.user_id] = now
            self.items.append((wanted.user_id, now))
        fetched = schedule.fetched(now, wanted.due_at, b"")
        assert self.schedules.put(fetched, replacing=schedule)


class _Everybody(FakeSubscribers):
    """The port `Subscribers`, in which every user id is registered."""

    def get(self, user_id: str) -> Subscriber:
        return a_subscriber(user_id, changed_at=_BEGIN)


class _Forgetful(FakeQueue[QueuedRun]):
    """The port `RunQueue`, which drops its messages."""

    def send(self, messages: Iterable[QueuedRun]) -> None:
        self.calls += 1


@dataclass
class Rules:
    """The zone data of all workers, with the period in which it knows no zone, if any."""

    unknown: tuple[datetime, datetime] | None = None
    clock: Callable[[], datetime] = lambda: _BEGIN

    def zone_of(self, name: str) -> ZoneInfo:
        """Return the zone, like `calendar.zone_of`, at the current time."""
        return self.zone_at(name, self.clock())

    def zone_at(self, name: str, now: datetime) -> ZoneInfo:
        """Return the zone by the rules of that instant."""
        is_unknown = self.unknown and self.unknown[0] <= now < self.unknown[1]
        return ZoneInfo("UTC" if is_unknown else name)

    def same_dates(self, wanted: Recurrence, started: Iterable[tuple[datetime, Run]]) -> int:
        """Count the digests on a local date that already had one, by the clock of that time."""
        due = [(at, run.due_at) for at, run in started if not run.status.is_final]
        zones = [self.zone_at(wanted.time_zone, at) for at, _ in due]
        return sum(
            calendar._date_of(before, wanted, zone) >= calendar._date_of(after, wanted, zone)
            for (_, before), (_, after), zone in zip(due, due[1:], zones[1:], strict=False)
        )

    def lost(
        self,
        wanted: Recurrence,
        stored: Iterable[datetime],
        started: Iterable[tuple[datetime, Run]],
        end: datetime,
    ) -> int:
        """Count the events around a change of the rules that no digest had in time."""
        sent = [at for at, run in started if not run.status.is_final]
        lost = 0
        for change in self.unknown or ():
            for event in (each for each in stored if abs(each - change) < 2 * _DAY):
                latest = max(self._latest(wanted, event, at) for at in (event, change)) + _PATIENCE
                lost += latest < end and not any(event <= at <= latest for at in sent)
        return lost

    def _latest(self, wanted: Recurrence, event: datetime, at: datetime) -> datetime:
        """Return the second occurrence after an event by the rules of an instant."""
        zone = self.zone_at(wanted.time_zone, at)
        by_then = replace(wanted, time_zone=zone.key)
        with patch.object(calendar, "zone_of", ZoneInfo):
            return next_occurrence(by_then, after=next_occurrence(by_then, after=event))


def _times_delivered(random: Random) -> int:
    """Draw the number of deliveries of a shard's message, which may be lost for good or
    repeated."""
    return random.choices((0, 1, 2), (0.01, 0.98, 0.01))[0]


def travel(subscribers: int, days: int, *, seed: int = 1) -> Tally:
    """Let a number of days pass for a number of readers, tick by tick."""
    return _travel(subscribers, days, Rules(), seed=seed)


def travel_with_new_rules(subscribers: int, days: int, *, seed: int = 1) -> Tally:
    """Let days pass while no zone is known in the middle third, so that all zones are UTC there.

    Around a change, digests have the hours of the rules by which they were armed. The test
    therefore checks that no local date has two digests and that no event is lost.
    """
    third = days * _DAY / 3
    rules = Rules((_BEGIN + third, _BEGIN + 2 * third))
    with patch.object(calendar, "zone_of", rules.zone_of):
        return _travel(subscribers, days, rules, seed=seed)


def _travel(subscribers: int, days: int, rules: Rules, *, seed: int) -> Tally:
    random = Random(seed)
    clock = SettableClock(_BEGIN)
    rules.clock = clock
    schedules, runs = _Schedules(shards=SHARDS[0]), _Runs(clock=clock)
    everybody = _Everybody()
    context = replace(World(clock).context, subscribers=everybody, schedules=schedules, runs=runs)
    asking = replace(context, content=_PLAN)
    events = _Events(schedules)
    fetches = _Fetches(schedules=schedules, events=events, clock=clock, random=random)
    zones = sorted(zones_that_differ().values())
    zones = [zones[number * len(zones) // ZONES] for number in range(ZONES)]
    for number in range(subscribers):
        reader = replace(
            a_subscriber(str(number), changed_at=_BEGIN, times=_times(random)),
            time_zone=zones[number % ZONES],
        )
        if number % _ASKS == 0:
            choices = ((_BEGIN, (("recommendation", Frequency.CUSTOM),)),)
            reader = replace(reader, choices=choices)
            set_schedule(reader, Frequency.CUSTOM, context=asking, current=None, is_new=True)
        else:
            set_schedule(reader, Frequency.CUSTOM, context=context, current=None, is_new=True)
    fanout = FanoutContext(
        subscribers=everybody,
        schedules=schedules,
        runs=runs,
        events=events,  # type: ignore[arg-type] # nobody reads them here
        batches=FakeBatches(clock),
        generate_queue=_Forgetful(),
        clock=clock,
        random=random.random,
        limits=LIMITS,
        sunset=None,
    )
    end = _BEGIN + days * _DAY
    coming = _coming(subscribers, end, random)
    still = iter(coming)
    first = next(still, None)
    for instant, slot in _ticks(end, random):
        while first and first[1] <= instant:
            user_id, clock.now = first
            events.stored[user_id] = clock.now
            arm({(user_id, Frequency.CUSTOM.value): everybody.get(user_id)}, context=context)
            first = next(still, None)
        clock.now = instant
        stretch, passed = divmod(instant - _BEGIN, RESHARDED)
        shards = FakeQueue[Shard]()
        shards_now = SHARDS[stretch % len(SHARDS)]
        is_tried = timedelta(days=2) < passed < timedelta(days=2) + _TAKEN_BACK[1]
        schedules.shards = _TAKEN_BACK[0] if is_tried else shards_now
        fanout.batches.announce(schedules.shards)
        content = AskingContext(plan=_PLAN, fetch_queue=fetches, shards=shards_now)
        now = replace(fanout, content=content)
        tick(
            slot,
            batches=fanout.batches,
            shard_queue=shards,
            shards=shards_now,
            lookback=2,
            looks_ahead=True,
        )
        ahead = partial(
            look_ahead,
            schedules=schedules,
            content=content,
            shard_queue=shards,
            clock=clock,
            random=random.random,
        )
        for shard in shards.sent:  # what is handed on comes behind
            for _ in range(_times_delivered(random)):
                left = iter(range(random.choice((5, 10_000)), 0, -1))
                fan_out(
                    encode_shard(shard).body,
                    lambda left=left: timedelta(seconds=30 * next(left, 0)),  # type: ignore[misc]
                    decode=decode_shard,
                    context=now,
                    shard_queue=shards,
                    look_ahead=ahead,
                )
        fetches.work_off()
    missing = doubled = wrong_hour = occurrences = asked = same_date = 0
    spent = _by_reader((run.key.user_id, run.due_at) for run in runs.spent)
    stored = _by_reader(sorted([*coming, *fetches.items], key=itemgetter(1)))
    for (user_id, _), schedule in schedules.rows.items():
        started = [(at, run) for at, run in runs.started[user_id] if run.due_at < end]
        same_date += rules.same_dates(schedule.recurrence, started)
        if rules.unknown:
            occurrences += len(started)
            missing += rules.lost(schedule.recurrence, stored[user_id], started, end)
            continue
        due = Counter(run.due_at for _, run in started)
        all_due = _all_due(schedule.recurrence, _BEGIN + SLOT, end)
        wanted = _waited_for(sorted(all_due), stored[user_id], started)
        occurrences += len(wanted)
        missing += len(wanted - due.keys())
        if schedule.sources:
            asked += len(all_due)
            missing += len(all_due - wanted - due.keys() - {*spent[user_id]})
        found = due.keys() | {at for at in spent[user_id] if at < end}
        wrong_hour += len(found - all_due)
        doubled += sum(due.values()) - len(due)
    idle = {each for each in events.in_vain if int(each[0]) % _ASKS}
    quiet_visits = len(idle - schedules.taken_out)
    return Tally(
        subscribers,
        days,
        occurrences,
        missing,
        doubled,
        wrong_hour,
        quiet_visits,
        asked,
        fetches.requests,
        same_date,
    )


def _coming(subscribers: int, end: datetime, random: Random) -> list[Visit]:
    """Draw the times of stored events: frequent ones for one reader in three, rare ones for
    another."""
    coming: list[Visit] = []
    for number in range(subscribers):
        at = _BEGIN
        while (pause := _PAUSES[number % len(_PAUSES)]) and at < end:
            at += random.expovariate(1.0) * pause
            coming.append((str(number), at))
    return sorted(coming, key=itemgetter(1))


def _by_reader(instants: Iterable[Visit]) -> Mapping[str, list[datetime]]:
    """Group the instants by reader, in order."""
    found: dict[str, list[datetime]] = defaultdict(list)
    for user_id, at in instants:
        found[user_id].append(at)
    return found


def _waited_for(
    all_due: Iterable[datetime], stored: Sequence[datetime], started: Iterable[tuple[datetime, Run]]
) -> set[datetime]:
    """Return the occurrences before whose slot an event was stored that no earlier run had."""
    sent = [(at, run.due_at) for at, run in started if not run.status.is_final]
    waited = set()
    for due in all_due:
        before = bisect_left(stored, slot_of(due))
        newest = stored[before - 1] if before else None
        if newest and not any(at >= newest and earlier < due for at, earlier in sent):
            waited.add(due)
    return waited


def _all_due(wanted: Recurrence, begin: datetime, end: datetime) -> set[datetime]:
    """Return the oracle's occurrences from `begin` on and before `end`."""
    periods, at = periods_of(wanted.time_zone), time(wanted.hour, wanted.minute)
    days = [begin.date() + number * _DAY for number in range(-1, (end - begin).days + 2)]
    if wanted.paused_until:
        days = [day for day in days if day >= wanted.paused_until]
    instants = (expected(periods, day, at) for day in days if _is_wanted(day, wanted.days))
    return {instant for instant in instants if instant and begin <= instant < end}


def _times(random: Random) -> DigestTimes:
    """Draw digest times. Every second reader chose the minute, and half chose every day.

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
    """Return the arrival times of ticks with their slots. One in ten is late, repeated or lost."""
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
    """Return True if the day is wanted: in another month, or by weeks since a Monday."""
    if days.month_day is not None:
        last = (day + _DAY).month != day.month
        return day.day == days.month_day or (last and day.day < days.month_day)
    weeks = (day - _MONDAY).days // 7 + (_MONDAY.toordinal() - 1) // 7
    return day.weekday() + 1 in days.weekdays and weeks % days.every == days.phase
