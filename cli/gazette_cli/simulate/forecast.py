"""Simulate one or more days of a stage."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from random import Random

from gazette.domain.delivery.pace import PacePlan, with_quota
from gazette.domain.delivery.streams import Share, Streams, divided
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.scheduling.quiet import JITTER

from gazette_cli.cost.actions import WRITES
from gazette_cli.simulate.engine.cohorts import IMMEDIATE, Cohort
from gazette_cli.simulate.engine.draws import poisson, split
from gazette_cli.simulate.engine.fanout import Fanout
from gazette_cli.simulate.engine.limiter import Row
from gazette_cli.simulate.engine.provider import Provider
from gazette_cli.simulate.engine.queues import Queue
from gazette_cli.simulate.engine.sending import Surroundings, Workers
from gazette_cli.simulate.engine.service import Service
from gazette_cli.simulate.engine.tally import Tally
from gazette_cli.simulate.engine.timeline import Timeline
from gazette_cli.simulate.engine.times import Times
from gazette_cli.simulate.exact import ExactPopulation, Week
from gazette_cli.simulate.inputs import Installation, Question
from gazette_cli.simulate.population import Population, due_of_burst
from gazette_cli.simulate.quiet import Quiet

_SLOT = SLOT.total_seconds()
_MINUTE = 60.0
_DAY = 86_400
_TICKS_A_DAY = 144
_NEVER = float("inf")
_SKIPPED = 3
"""The write units of a run that is skipped (docs/tables.md)."""

_AT_ONCE = "an event for an immediate email"
_LIMITED = "an event for a limited immediate email"
_SEEN = "an event that is left out because its reader has seen its entity"
_QUIET = "an immediate email that waits for the end of quiet hours"
_TICK = "a tick"


@dataclass(slots=True)
class Depths:
    """The number of waiting messages, by queue and minute."""

    by_minute: dict[str, list[int]] = field(default_factory=dict)

    def add(self, name: str, number: int) -> None:
        """Record the depth of a queue for the next minute."""
        self.by_minute.setdefault(name, []).append(number)


@dataclass(slots=True)
class Forecast:
    """The result of a simulation."""

    question: Question
    begin: datetime
    tally: Tally = field(default_factory=Tally)
    depths: Depths = field(default_factory=Depths)

    # Write units by purpose.
    writes: Counter[str] = field(default_factory=Counter)

    # Digests by due time, in seconds since `begin`.
    due: Counter[float] = field(default_factory=Counter)

    # Due schedules that have no waiting event.
    quiet: int = 0

    # Digests that were skipped because of their low score.
    skips: int = 0

    # Digests whose first event armed the schedule.
    first: int = 0

    # Published events.
    events: int = 0

    # Events that were sent as immediate email.
    at_once: int = 0

    # Immediate emails, which some of these events started.
    first_at_once: int = 0

    # Immediate emails that collected events for longer than a message can be delayed.
    long_at_once: int = 0

    # Immediate emails that began to wait for the end of quiet hours.
    quiet_waits: int = 0

    # Immediate emails that waited, by the end of the quiet hours, in seconds since `begin`.
    after_quiet: Counter[float] = field(default_factory=Counter)

    # The longest time from a tick until its last schedule was read, in seconds.
    fanout_behind: float = 0.0

    # The working time of fan-out, in seconds.
    fanout_busy: float = 0.0

    service: Service | None = None

    # The largest number of blocks in a queue.
    blocks: int = 0

    # The number of actions on the timeline.
    acts: int = 0

    @property
    def emails_per_immediate_event(self) -> float:
        """The number of immediate emails for each event that is sent as immediate email."""
        return self.first_at_once / self.at_once if self.at_once else 1.0


def simulate(
    question: Question, *, times: Times | None = None, week: Week | None = None
) -> Forecast:
    """Simulate the requested days, and then the sending of the remaining emails.

    `week` specifies known readers, events and ticks to use instead of random ones.
    """
    simulation = _Simulation(
        question, times or Times().with_memory(question.installation.memory), week
    )
    simulation.run()
    return simulation.forecast


def _plan(installation: Installation, share: Share, queue: str) -> PacePlan:
    """Return the rate plan of the stream whose runs are on a queue."""
    return replace(installation.plan, share=share, batch=installation.sizes[queue].batch)


class _Simulation:
    def __init__(self, question: Question, times: Times, week: Week | None) -> None:
        self.question = question
        self.week = week
        installation, account = question.installation, question.account
        begin = slot_of(week.begin) if week else datetime.combine(question.begin, time(), UTC)
        self.next_slot = begin
        traffic = question.traffic
        self.burst = due_of_burst(traffic.burst, installation.collapse)
        # The bursts of immediate events per second.
        self.bursts = traffic.readers * traffic.unseen * traffic.immediate / _DAY / traffic.burst
        self.forecast = Forecast(question, begin)
        self.random = Random(question.seed)
        self.timeline = Timeline(begin)
        self.population: ExactPopulation | Population = (
            ExactPopulation(week, begin)
            if week
            else Population(traffic, self.random, begin, installation.worth)
        )
        self.ticks = (
            [self.timeline.seconds(tick) for tick in week.ticks]
            if week
            else [number * _SLOT for number in range(question.days * _TICKS_A_DAY)]
        )
        self.end = max(self.ticks) + _SLOT
        shares = divided(installation.immediate_share)
        self.shares = shares
        self.rows = Streams(
            digest=Row(_plan(installation, shares.digest, "generate")),
            immediate=Row(_plan(installation, shares.immediate, "immediate")),
        )
        hours = installation.quiet_hours
        self.quiet = Quiet(hours, traffic.zones, self.random) if hours else None
        self.waiting: Counter[float] = Counter()
        self.provider = Provider(account.rate, account.daily)
        self.service = Service(question.service) if question.service else None
        self.forecast.service = self.service
        self.queues: Streams[Queue[Cohort]] = Streams(
            digest=Queue(self.timeline), immediate=Queue(self.timeline)
        )
        self.resend: Queue[Cohort] = Queue(self.timeline)
        around = Surroundings(
            timeline=self.timeline,
            rows=self.rows,
            queue_of=self.queues,
            resend=self.resend,
            provider=self.provider,
            service=self.service,
            tally=self.forecast.tally,
            random=self.random,
            max_lateness=installation.max_lateness,
            times=times,
        )
        sizes = installation.sizes
        self.workers = [
            Workers("generate", self.queues.digest, sizes["generate"], around),
            Workers("immediate", self.queues.immediate, sizes["immediate"], around),
            Workers("resend", self.resend, sizes["resend"], around),
        ]
        self.fanout = Fanout(
            timeline=self.timeline,
            random=self.random,
            shards=installation.shards,
            workers=sizes["fanout"].concurrency,
            schedule=times.schedule,
            spread=installation.spread,
            queue=self._queue_digests,
        )

    def run(self) -> None:
        """Run the simulation until the last email is sent."""
        for tick in self.ticks:
            self.timeline.at(tick, self._tick)
        self.timeline.at(self.end, self._learn_quota)
        self.timeline.at(0, self._look)
        self.timeline.at(0, self._waited_before)
        self.timeline.at(0, self._immediate)
        self.timeline.run()
        forecast, traffic = self.forecast, self.question.traffic
        forecast.fanout_behind, forecast.fanout_busy = self.fanout.behind, self.fanout.busy
        forecast.blocks = max(queue.most_blocks for queue in self._queues())
        forecast.acts = self.timeline.planned
        mean = traffic.readers * traffic.events * self.question.days
        forecast.events = len(self.week.events) if self.week else poisson(self.random, mean)
        self._count_writes()
        if self.service:
            self.service.advance(self.timeline.now)

    def _queues(self) -> tuple[Queue[Cohort], ...]:
        return self.queues.digest, self.queues.immediate, self.resend

    def _queue_digests(self, cohort: Cohort, number: int, delay: float) -> None:
        self.queues.digest.put(cohort, number, self.timeline.now + delay)

    def _tick(self) -> None:
        """Update the quota, and fan out every slot since the last tick."""
        self._learn_quota()
        while self.next_slot <= self.timeline.instant:
            due = []
            for each in self.population.due_in(self.next_slot):
                self.forecast.due[each.cohort.due] += each.digests
                self.forecast.quiet += each.quiet
                self.forecast.first += each.first
                self.forecast.skips += each.skips
                due.append((each.cohort, each.digests, each.quiet + each.skips))
            self.fanout.tick(due)
            self.next_slot += SLOT

    def _learn_quota(self) -> None:
        """Update the quota every ten minutes, until the last email is sent."""
        timeline, rows = self.timeline, self.rows
        quota = self.provider.quota(timeline.now)
        for row, share in (
            (rows.digest, self.shares.digest),
            (rows.immediate, self.shares.immediate),
        ):
            row.pace = with_quota(row.pace, quota.part(share), timeline.instant)
        if timeline.now >= self.end and self._is_busy():
            timeline.at(timeline.now + _SLOT, self._learn_quota)

    def _is_busy(self) -> bool:
        return any(queue.waiting for queue in self._queues()) or bool(self.fanout.jobs)

    def _look(self) -> None:
        """Record the depth of each queue every minute."""
        names = ("generate", "immediate", "resend")
        for name, queue in zip(names, self._queues(), strict=True):
            self.forecast.depths.add(name, queue.waiting)
        if self.timeline.now < self.end or self._is_busy():
            self.timeline.at(self.timeline.now + _MINUTE, self._look)

    def _immediate(self) -> None:
        """Queue the immediate emails about the bursts of events that begin in each second."""
        timeline, traffic = self.timeline, self.question.traffic
        if not self.bursts or self.week:
            return
        number = poisson(self.random, self.bursts)
        if number:
            installation = self.question.installation
            collapse, hold = installation.collapse, installation.hold.total_seconds()
            for due in self.burst:
                at = timeline.now + due.total_seconds()
                waits = self._wait(number, at)
                self.forecast.quiet_waits += waits
                if number > waits:
                    cohort = Cohort(IMMEDIATE, at - collapse.total_seconds(), _NEVER)
                    self.queues.immediate.put(cohort, number - waits, at + hold)
            self.forecast.at_once += number * traffic.burst
            self.forecast.first_at_once += number * len(self.burst)
            self.forecast.long_at_once += number * sum(due > LONGEST_DELAY for due in self.burst)
        if timeline.now + 1 < self.end:
            timeline.at(timeline.now + 1, self._immediate)

    def _waited_before(self) -> None:
        """Let the immediate emails of the day before wait, if their quiet hours end later."""
        for minute in range(-_DAY // 60, 0) if self.quiet and not self.week else ():
            for due in self.burst:
                number = poisson(self.random, self.bursts * 60)
                self._wait(number, minute * 60 + due.total_seconds())

    def _wait(self, number: int, at: float) -> int:
        """Let the emails that are due in quiet hours wait. Return their number.

        Those that still wait at the end of the simulation are not sent.
        """
        waits = 0
        due = self.forecast.begin + timedelta(seconds=at)
        for end, some in self.quiet.ends(number, due) if self.quiet else ():
            waits += some
            until = self.timeline.seconds(end)
            if 0 <= until < self.end:
                if until not in self.waiting:
                    self.timeline.at(until, partial(self._end_waits, until))
                self.waiting[until] += some
        return waits

    def _end_waits(self, until: float) -> None:
        """Queue the emails that waited until the end of quiet hours, spread as by Gazette."""
        number = self.forecast.after_quiet[until] = self.waiting.pop(until)
        hold = self.question.installation.hold.total_seconds()
        for delay, some in enumerate(split(self.random, number, int(JITTER.total_seconds()))):
            if some:
                due = until + delay
                self.queues.immediate.put(Cohort(IMMEDIATE, due, _NEVER), some, due + hold)

    def _count_writes(self) -> None:
        """Count the write units of all operations in docs/tables.md except delivery events."""
        forecast, tally, ticks = self.forecast, self.forecast.tally, len(self.ticks)
        event_at_once = _LIMITED if self.question.installation.limited else _AT_ONCE
        at_once = self.week.at_once if self.week else tally.sent[IMMEDIATE]
        if self.week:
            forecast.at_once = forecast.first_at_once = at_once
        permit = 1
        forecast.writes = Counter(
            {
                "events": int(WRITES["an event"]) * (forecast.events - forecast.first_at_once),
                "events at once": int(WRITES[event_at_once]) * forecast.first_at_once,
                "long waits": int(WRITES["an immediate email that the sweep queues"])
                * forecast.long_at_once,
                "quiet hours": int(WRITES[_QUIET]) * forecast.quiet_waits,
                "seen events": int(WRITES[_SEEN] * self.question.traffic.seen * forecast.events),
                "arming": int(WRITES["the first event for an idle schedule"]) * forecast.first,
                "fan-out": int(WRITES["a due schedule, in fan-out"])
                * (sum(forecast.due.values()) + forecast.skips),
                "skipped digests": _SKIPPED * forecast.skips,
                "going idle": int(WRITES["a due schedule without a waiting event"])
                * forecast.quiet,
                "batches": self.fanout.batches,
                "permits": self.rows.digest.writes + self.rows.immediate.writes,
                "digests": (int(WRITES["a digest, in generate"]) - permit) * tally.sent["digest"],
                "immediate emails": (int(WRITES["an immediate email, in generate"]) - permit)
                * at_once,
                "the clock": int((WRITES[_TICK] + self.question.installation.shards) * ticks),
            }
        )
        if self.week:
            forecast.writes.update(self.week.other_writes)
