"""One world from the first event until no work remains, with time simulated as on AWS."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count, cycle
from typing import NamedTuple

from gazette.domain.commands import Command
from gazette.domain.content.items import RECOMMENDATIONS, event_id
from gazette.domain.delivery.run import Run, Status, settled_until
from gazette.domain.errors import Hidden, InvalidEvent, NotYet, Unavailable
from gazette.domain.feedback.delivery_events import DeliveryEvent
from gazette.domain.identity import latest_run
from gazette.domain.model import RunKey, Schedule, StoredEvent
from gazette.domain.redelivery import FEW, MANY
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.stored import readable
from gazette.domain.withdrawing.withdrawals import Withdrawal, Withdrawals

from gazette_cdk.topology import CONTENT, STEPS, VISIBILITY_FACTOR
from proofs.prove.idleness import Idleness
from proofs.prove.land import FAKES, ITEMS, Ground, OfferingSource, Wiring, naming_everybody
from proofs.prove.provider import Provider
from proofs.prove.queues import Message, Queue
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import Calls, Killed, Plan, Worker, WorkersClock
from proofs.prove.workers import Workers
from tests.builders import NOW, SettableClock
from tests.world import Watched

FIRST_DUE = datetime(2026, 11, 23, 7, 0, tzinfo=NOW.tzinfo)
"""Eight in the morning in Berlin, the day after the readers registered."""

_STEPS = {step.name: step for step in (*STEPS, CONTENT)}
_QUEUES = ("ingest", "followers", "fanout", "content", "generate", "resend", "feedback", "sweep")
LIST_AGE = timedelta(minutes=1)
"""The age of the list of withdrawals that an outdated worker has."""

_EVERY = timedelta(minutes=5)
_DAY = timedelta(days=1)
_MOMENTS = 4000
_LAST = sys.maxsize
"""The interval at which ingest runs, so that it batches messages published at the same time."""

_AGAIN = timedelta(minutes=1)
_BY_HAND = timedelta(hours=1)


_EXPECTED = (InvalidEvent, NotYet, Unavailable)
"""Errors after which a message is redelivered. Any other error is a bug."""


class Restless(AssertionError):
    """A failure to settle: work remains after all the time that it needs."""


class BusMessage(NamedTuple):
    """A message on its way to ingest or feedback, and the act that processing it acknowledges."""

    what: Command | DeliveryEvent
    done: tuple[str, str] | None


class Happening(NamedTuple):
    """An activity and an event that is part of it, for one reader."""

    user_id: str
    activity_id: str
    event_id: str


class Moment(NamedTuple):
    """The next thing to happen and its time. At equal times, the lower number goes first."""

    at: datetime
    number: int
    act: Callable[[], object]


class Life:
    """The queues, provider, workers and clock of one world, struck according to the plan."""

    def __init__(self, scenario: Scenario["Life"], plan: Plan, ground: Ground = FAKES) -> None:
        self.scenario = scenario
        self.clock = SettableClock()
        self.queues = {
            name: Queue(
                self.clock,
                timedelta(seconds=_STEPS[name].timeout * VISIBILITY_FACTOR),
                _STEPS[name].max_receives,
                FEW if name == "feedback" else MANY,
                scenario.copies if name in {"content", "generate", "resend"} else 1,
            )
            for name in _QUEUES
        }
        if scenario.delays:
            self.queues["ingest"].delays = cycle(scenario.delays)
        refused_for = scenario.refused_at_once
        self.provider = Provider(
            self.clock,
            list(scenario.answers),
            scenario.evidence,
            later=self._tell_later,
            now=self._tell_now,
            where=self._where,
            refused_at_once=None if refused_for is None else FIRST_DUE + refused_for,
        )
        self.calls = Calls(
            self.clock,
            dict(plan),
            answerless=lambda name, call, done: ground.answerless(self.provider, name, call, done),
            others=self._let_others,
            overtake=lambda worker: scenario.meanwhile and scenario.meanwhile(self, worker),
            claims=ground.claims,
        )
        workers_clock = WorkersClock(self.clock, scenario.skews)
        workers_clock.calls = self.calls
        self.land = ground.make(
            Wiring(
                workers_clock,
                scenario.policy,
                scenario.lateness,
                scenario.spread,
                scenario.sunset,
                scenario.readers,
                self.queues,
                self.provider,
                self.calls,
                OfferingSource(scenario.source_down) if scenario.asks else None,
                scenario.source_policy,
            )
        )
        self.world = self.land.world
        self.world.worth = scenario.worth
        self.world.quiet_hours = scenario.quiet_hours
        if scenario.limit:
            self.world.context = replace(self.world.context, immediate_limit=scenario.limit)
        self.workers = Workers(self.world, self.calls)
        self.onlooker = self.land.onlooker
        self.holds = self.onlooker.category_holds
        self.world.held_categories = self.holds.names
        self.events: list[tuple[str, str]] = [
            (reader, event_id(RECOMMENDATIONS, item))
            for reader in scenario.readers
            for item in ITEMS
            if scenario.asks
        ]
        self.happenings = set[Happening]()
        self.acknowledged: dict[tuple[str, str], int] = {}
        self.withdrawn: dict[str, Withdrawal] = {}
        self._withdrawals = self.world.withdrawals
        self.world.current_withdrawals = self._list_of_the_worker
        self.world.withdrawals = Watched("withdrawals", self._withdrawals, self.calls.around)  # type: ignore[assignment]
        self.settled: dict[RunKey, int] = {}
        self.delivery_events: list[DeliveryEvent] = []
        self.reported: dict[tuple[RunKey, int], datetime] = {}
        self.idleness = Idleness(
            self.land, scenario.readers, self.calls, self.clock, self.is_ingest_behind
        )
        self._seen: tuple[list[Schedule], list[Run]] | None = None
        self._first_check: datetime | None = None
        self._later: list[Moment] = []
        self._numbers = count()
        self._counts_from = FIRST_DUE + scenario.counted_from
        self._swept_at = self._ticked_at = self.clock()
        self._until = FIRST_DUE + _DAY * (scenario.days + scenario.settling)

    # Actions that scenarios call.

    def at(self, when: datetime, act: Callable[[], object]) -> None:
        """Schedule the act for `when`, or run it now if that time has passed."""
        self._later.append(Moment(max(when, self.clock()), next(self._numbers), act))

    def say(self, command: Command, done: tuple[str, str] | None = None) -> None:
        """Publish a command on the bus; `done` is acknowledged once it is processed."""
        self.queues["ingest"].put(BusMessage(command, done))

    def persist(self, name: str, act: Callable[[], object], done: tuple[str, str]) -> None:
        """Repeat the act, like an operator or a mailbox provider, until it succeeds."""
        if self._invoke(name, act, _BY_HAND):
            self.acknowledged.setdefault(done, self.calls.count)
        else:
            self.at(self.clock() + _AGAIN, lambda: self.persist(name, act, done))

    def work_copy(self, worker: Worker) -> None:
        """Process the same message with another worker at the same time."""
        self._invoke(f"{worker.name} (copy)", worker.work, self.time_of(worker.name))

    def is_ingest_behind(self) -> bool:
        """Return True if ingest still has messages to process."""
        return any(
            self.queues[name].messages or self.queues[name].dead for name in ("ingest", "followers")
        )

    def work_off(self, name: str) -> None:
        """Process the messages that are on a queue now, once each."""
        for _ in range(len(self.queues[name].messages)):
            self._work(name)

    @staticmethod
    def time_of(name: str) -> timedelta:
        """Return the timeout of a function."""
        return timedelta(seconds=_STEPS[name].timeout) if name in _STEPS else _BY_HAND

    # The passage of time.

    def live(self) -> None:
        """Run until no work remains. Raise Restless if that takes too long."""
        self._let_others(None)

    def _let_others(self, until: datetime | None) -> None:
        worker, self.calls.worker = self.calls.worker, None
        self._seen = None
        try:
            for _ in range(_MOMENTS):
                moment = self._next()
                if moment is None or (until and moment.at > until):
                    break
                if moment in self._later:
                    self._later.remove(moment)
                self.clock.now = max(self.clock.now, moment.at)
                moment.act()
            else:
                raise Restless("it never ended")
        finally:
            self.calls.worker = worker
            self.clock.now = max(self.clock.now, until or self.clock.now)

    def _next(self) -> Moment | None:
        """Return the next moment, or None if no work remains."""
        moments = list(self._later)
        for number, (name, queue) in enumerate(self.queues.items(), start=-20):
            if at := queue.next_at():
                turn = _LAST if name == "ingest" else number
                moments.append(Moment(at, turn, partial(self._work, name)))
            if queue.dead:
                died = min(message.died_at or self.clock() for message in queue.dead)
                moments.append(
                    Moment(died + self.scenario.redriven_after, number - 20, queue.redrive)
                )
        if at := self._sweep_at():
            moments.append(Moment(at, -2, self._begin_sweep))
        first = min(moments, key=lambda moment: moment[:2], default=None)
        at = self._tick_at()
        if at and (not first or at < first.at) and (moments or self._must_go_on()):
            return Moment(max(at, self.clock()), -1, self._tick)
        return first

    def _must_go_on(self) -> bool:
        """Return True if another day must pass although no other work remains."""
        if self.clock() < FIRST_DUE + _DAY * (self.scenario.days - 1) + SLOT:
            return True
        owed = self.owed()
        if owed and self.clock() > self._until:
            raise Restless(f"{', '.join(sorted(owed))} still wait to be sent")
        return bool(owed)

    def owed(self) -> set[str]:
        """Return the waiting events of scheduled digests whose reader is active."""
        rows = {(each.user_id, each.activity_id) for each in self.happenings}
        return {
            f"{event_id} of {user_id}"
            for user_id, event_id in rows.union(self.events)
            if self._is_owed(self.onlooker.events.get(user_id, event_id))
        }

    def _is_owed(self, stored: object) -> bool:
        if not isinstance(stored, StoredEvent):
            return False
        schedule = self.onlooker.schedules.get(stored.event.user_id, stored.schedule)
        if schedule is None or schedule.is_withdrawn:
            return False
        chain = self.onlooker.runs.chain(latest_run(schedule.user_id, schedule.name))
        return stored.stored_at > settled_until(chain)

    # Ticks of the clock.

    def schedules(self) -> list[Schedule]:
        """Return the schedules that are in the due index."""
        return [schedule for schedule in self._look()[0] if schedule.listed]

    def runs(self) -> list[Run]:
        """Return all runs."""
        return self._look()[1]

    def _look(self) -> tuple[list[Schedule], list[Run]]:
        """Read schedules and runs once after each invocation."""
        if self._seen is None:
            onlooker, readers = self.onlooker, self.scenario.readers
            self._seen = (
                [schedule for each in readers for schedule in onlooker.schedules.of_user(each)],
                [run for each in readers for run in readable(onlooker.runs.of_user(each))],
            )
            self._first_check = min(
                (run.check_at for run in self._seen[1] if run.is_open), default=None
            )
        return self._seen

    def _due_slot(self) -> datetime | None:
        return min((slot_of(each.next_due_at) for each in self.schedules()), default=None)

    def _tick_at(self) -> datetime | None:
        """Return the next tick with a due schedule. Skip the others, which change no state."""
        due = self._due_slot()
        if due is None:
            return None
        if due > slot_of(self._ticked_at):
            return max(due, slot_of(self._ticked_at) + SLOT)
        return slot_of(max(self.clock(), self._ticked_at)) + SLOT

    def _tick(self) -> None:
        self._ticked_at = self.clock()
        self._leave_out_ticks()
        at = self.clock()
        self._invoke("tick", lambda: self.workers.tick(at), self.time_of("fanout"))

    def _leave_out_ticks(self) -> None:
        """Move the checkpoint to where the skipped ticks would have moved it."""
        due, shard_queue = self._due_slot(), self.queues["fanout"]
        if due and not (shard_queue.messages or shard_queue.dead):
            before = min(slot_of(self.clock()), due) - SLOT
            self.onlooker.batches.save_checkpoint(0, before)

    def _sweep_at(self) -> datetime | None:
        """Return the next sweep that has overdue runs. Skip the others, which change no state."""
        self._look()
        if self._first_check is None or self.queues["sweep"].messages:
            return None
        since = max(self._first_check, self._swept_at, FIRST_DUE + self.scenario.sweeps_from)
        return since + _EVERY - (since - NOW) % _EVERY

    def _begin_sweep(self) -> None:
        self._swept_at = at = self.clock()
        self._leave_out_ticks()
        self._invoke("begin sweep", lambda: self.workers.begin_sweep(at), self.time_of("sweep"))

    # Invocations of the workers.

    def _invoke(self, name: str, act: Callable[[], object], time: timedelta) -> bool:
        """Invoke a worker and return True if it finished. A killed worker returns no result."""
        before = self.calls.worker
        counted = self.clock() >= self._counts_from
        self.calls.worker = Worker(name, self.clock() + time, act) if counted else None
        try:
            with self.idleness.of_invocation(), naming_everybody():
                act()
        except (Killed, *_EXPECTED):
            return False
        finally:
            self.calls.worker = before
            self._seen = None
        return True

    def _work(self, name: str) -> None:
        """Deliver one message, and delete it if its worker succeeds."""
        if name == "ingest":
            self._ingest()
            return
        queue = self.queues[name]
        message = queue.receive()
        if message is None:
            return

        def act() -> None:
            try:
                self._handle(name, message)
            except _EXPECTED as err:
                if not isinstance(err, Hidden):
                    queue.come_back(message)
                raise
            self.calls.around("message.delete", lambda: queue.delete(message))

        self._invoke(name, act, self.time_of(name))

    def _ingest(self) -> None:
        """Deliver up to ten messages, and delete those that did not fail."""
        queue = self.queues["ingest"]
        received = (queue.receive() for _ in range(_STEPS["ingest"].batch_size))
        messages = [message for message in received if message]
        if not messages:
            return

        def act() -> None:
            failed = self.workers.ingest([_opened(message)[0] for message in messages])
            for message, err in zip(messages, failed, strict=True):
                done = _opened(message)[1]
                if err:
                    queue.come_back(message)
                    continue
                if done:
                    self.acknowledged.setdefault(done, self.calls.count)
                self.calls.around("message.delete", partial(queue.delete, message))
            for err in sorted(filter(None, failed), key=lambda err: isinstance(err, _EXPECTED)):
                raise err

        self._invoke("ingest", act, self.time_of("ingest"))

    def _handle(self, name: str, message: Message) -> None:
        message, done = _opened(message)
        run: Run | None = getattr(self.workers, name)(message)
        if run and (run.status is Status.SENT or name == "feedback"):
            self.settled.setdefault(run.key, self.calls.count)
        if done:
            self.acknowledged.setdefault(done, self.calls.count)

    def _list_of_the_worker(self) -> Withdrawals:
        """Return the list of withdrawals, or that of a minute ago for an outdated worker."""
        worker, current = self.calls.worker, self._withdrawals.current()
        is_outdated = worker is not None and worker.name in self.scenario.outdated
        until = self.clock() - LIST_AGE * is_outdated
        return tuple(each for each in current if each.at <= until)

    def _where(self) -> tuple[int, int, int]:
        worker = self.calls.worker
        return self.calls.count - 1, *(
            (worker.claim_call, worker.look_call) if worker else (-1, -1)
        )

    # Delivery events.

    def _tell_later(self, delay: timedelta, delivery_event: DeliveryEvent) -> None:
        self.at(self.clock() + delay, lambda: self._queue_event(delivery_event))

    def _queue_event(self, delivery_event: DeliveryEvent) -> None:
        if delivery_event.run and delivery_event.attempt:
            self.reported.setdefault((delivery_event.run, delivery_event.attempt), self.clock())
        self.put_event(delivery_event)

    def put_event(self, event: DeliveryEvent, done: tuple[str, str] | None = None) -> None:
        """Add a delivery event to the feedback queue; `done` as in `say`.

        An event that arrives before the claim of the attempt it names settles no run (rule 8).
        """
        run = self.onlooker.runs.get(event.run) if event.run else None
        if run and run.knows(event.attempt):
            self.delivery_events.append(event)
        self.queues["feedback"].put(BusMessage(event, done))

    def _tell_now(self, delivery_event: DeliveryEvent) -> None:
        self._queue_event(delivery_event)
        with suppress(Restless):
            self._work("feedback")


def _opened(message: Message) -> tuple[Message, tuple[str, str] | None]:
    """Return the message as its function receives it, and the act that it acknowledges."""
    if isinstance(said := message.body, BusMessage):
        return replace(message, body=said.what), said.done
    return message, None
