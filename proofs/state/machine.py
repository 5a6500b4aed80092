"""Random histories of one reader's runs, in which actions interleave at calls of ports."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import partial

from gazette.domain.commands import CreateEvents
from gazette.domain.delivery.signals import Policy
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.feedback.delivery_events import DeliveryEvent
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.routing.reroute import retract_event
from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gazette_support.steps.batches import cancel_batch
from proofs.invariants import forgotten
from proofs.receipts import false_claims
from proofs.state.batons import Order, Worker
from proofs.state.outbox import misreported
from proofs.state.post import FailedLetters, Letter, Post
from proofs.state.promises import (
    Stops,
    claims_in,
    lost,
    repeated,
    repetitions,
    sent_after_a_stop,
    silent,
    unknown_in,
)
from proofs.state.provider import Behaviour, HeardCanary, NotingRuns, Provider
from proofs.state.tally import TALLY
from tests.builders import NOW, RETENTION, SettableClock, an_event
from tests.receipts import receipt_of
from tests.world import Around, World

_WORKERS = 4
_EVENTS = 12
"""The most events of a history, fewer than an email shows."""

_CALLS = ("runs.swap", "mailer.send", "runs.swap_together", "runs.chain", "sqs.delete", "", "")
_STOP = ("batch", "batch", "event", "event", "event", "reader")
_FANNED_OUT = (None, "", "schedules.put")
"""The calls at which fan-out may stop. It checks for waiting events before it writes a schedule."""

_STOPS = 2
_PLANS = 3
_ODD = (Behaviour.ACCEPT_AND_HANG, Behaviour.ACCEPT, Behaviour.LOSE, Behaviour.REFUSE_FOR_NOW)
_LATER = "later"
_THEN = (_LATER, *_CALLS, "")
_ROUNDS = 400
_QUIET_DAYS = 4
_LAST_DUE = NOW + RETENTION - timedelta(days=_QUIET_DAYS + 2)
"""The last due time of a history. Histories end before events expire; `make prove` covers that."""

_ONE = st.integers(0, 3)
"""An index of an item, taken modulo the number of items."""

Act = Callable[[World], object]


class Comes(Enum):
    """The number of deliveries of a message. `AT_ONCE_AND_AGAIN` includes a concurrent one."""

    ONCE = auto()
    AND_AGAIN = auto()
    AT_ONCE_AND_AGAIN = auto()


class Fate(Enum):
    """The fate of a delivery event."""

    COMES = auto()
    COMES_AGAIN = auto()
    IS_LOST = auto()


class Machine(RuleBasedStateMachine):
    """One reader with a daily digest, up to four concurrent workers, and all kinds of faults."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = SettableClock()
        self.runs = NotingRuns()
        self.provider = Provider(clock=self.clock, runs=self.runs)
        self.generate = Post(clock=self.clock)
        self.resend = Post(clock=self.clock)
        self.stops = Stops()
        self.told: dict[RunKey, int] = {}
        self.workers: list[Worker] = []
        self.events = 0
        self.steps = 0
        self.world = World(
            clock=self.clock,
            runs=self.runs,
            mailer=self.provider,
            generate_queue=self.generate,
            resend_queue=self.resend,
            failed_runs=FailedLetters(post=self.resend),
            canary=HeardCanary(provider=self.provider),
        )

    @initialize(
        policy=st.sampled_from(Policy),
        plan=st.lists(st.sampled_from(_ODD), max_size=3),
        then=st.sampled_from(_THEN),
    )
    def begin(self, policy: Policy, plan: list[Behaviour], then: str) -> None:
        """Register a reader and publish an event."""
        self.world.policy = policy
        self.provider.plan.extend(plan)
        self.world.choose(comment=Frequency.DAILY)
        self.something_happens()
        self.a_digest_is_due(something=False, up_to="", then=then)

    @precondition(lambda self: self.events < _EVENTS)
    @rule()
    def something_happens(self) -> None:
        """Publish an event on its own entity, so that the email's text shows whether it is
        included.
        """
        self._put_event()

    @precondition(lambda self: len(self.workers) < _WORKERS and self.clock() < _LAST_DUE)
    @rule(something=st.booleans(), up_to=st.sampled_from(_FANNED_OUT), then=st.sampled_from(_THEN))
    def a_digest_is_due(self, something: bool, up_to: str | None, then: str) -> None:
        """Run a tick and its shard, with or without an event to send."""
        due = self._next_due()
        if due is None:
            return
        if something and self.events < _EVENTS:
            self._put_event()
        self._go_to(max(due, self.clock() + timedelta(minutes=1)))
        self._begin("fan-out", lambda world: world.fan_out(slot_of(due)), up_to=up_to)
        if then != _LATER and self.generate.visible() and len(self.workers) < _WORKERS:
            self._work(self.generate.visible()[-1], is_copy=False, up_to=then)

    @precondition(lambda self: len(self.workers) < _WORKERS and self._letters())
    @rule(which=_ONE, up_to=st.sampled_from(_CALLS), comes=st.sampled_from(Comes))
    def a_message_comes(self, which: int, up_to: str, comes: Comes) -> None:
        """Deliver a message at least once, including hidden messages."""
        letters = self._letters()
        letter = letters[which % len(letters)]
        if comes is not Comes.AT_ONCE_AND_AGAIN:
            self._go_to(letter.visible_at)
        self._work(letter, is_copy=comes is not Comes.ONCE, up_to=up_to)

    @precondition(lambda self: self._letters() or self.generate.dead or self.resend.dead)
    @rule(which=_ONE, redrive=st.booleans())
    def letters_die_or_are_redriven(self, which: int, redrive: bool) -> None:
        """Move an old message to the dead-letter queue, or redrive all dead letters."""
        letters = self._letters()
        if redrive or not letters:
            self.generate.redrive()
            self.resend.redrive()
        else:
            letter = letters[which % len(letters)]
            self._post_of(letter).give_up(letter)

    @precondition(lambda self: self.workers)
    @rule(which=_ONE, how=st.sampled_from((*_CALLS, *_CALLS, *Order)))
    def a_worker_goes_on(self, which: int, how: str | Order) -> None:
        """Run a worker up to a call or its end, or make one call that is lost or its last."""
        worker = self._worker(which)
        if isinstance(how, str):
            worker.go_on(up_to=how)
        elif worker.at == "mailer.send" and how is not Order.DIE:
            worker.step()
        else:
            TALLY.died += how is Order.DIE
            worker.step(how)
        self._tidy()

    @precondition(lambda self: len(self.provider.plan) < _PLANS)
    @rule(behaviour=st.sampled_from((*_ODD, *list(Behaviour)[1:])))
    def the_provider_plans(self, behaviour: Behaviour) -> None:
        """Set the provider's reaction to the next unscripted call. By default it accepts."""
        self.provider.plan.append(behaviour)

    @precondition(lambda self: len(self.workers) < _WORKERS and self.provider.delivery_events)
    @rule(which=_ONE, fate=st.sampled_from(Fate), finish=st.booleans())
    def a_report_comes(self, which: int, fate: Fate, finish: bool) -> None:
        """Deliver any pending delivery event, keep it for a repetition, or drop it."""
        delivery_events = self.provider.delivery_events
        delivery_event = delivery_events[which % len(delivery_events)]
        if fate is not Fate.COMES_AGAIN:
            delivery_events.remove(delivery_event)
        if fate is not Fate.IS_LOST:
            self._begin("feedback", partial(self._feedback, delivery_event), finish=finish)

    @precondition(lambda self: len(self.workers) < _WORKERS)
    @rule(
        minutes=st.sampled_from([0, 1, 6, 20, 65, 420]),
        are_others_heard_of=st.booleans(),
        sweeps=st.sampled_from([None, False, True, True]),
    )
    def time_passes(self, minutes: int, are_others_heard_of: bool, sweeps: bool | None) -> None:
        """Let time pass, and run the sweep completely or partly.

        Emails to other readers of the account may prove that delivery events are arriving.
        """
        if minutes:
            self._go_to(self.clock() + timedelta(minutes=minutes))
        if are_others_heard_of:
            self.world.evidence_log.record(self.clock())
        if sweeps is not None:
            self._begin("sweep", lambda world: world.sweep("ann"), finish=sweeps)

    @precondition(
        lambda self: len(self.workers) < _WORKERS and self.runs.rows and self.stops.number < _STOPS
    )
    @rule(stop=st.sampled_from(_STOP), which=_ONE, finish=st.booleans())
    def somebody_stops_something(self, stop: str, which: int, finish: bool) -> None:
        """Stop one of the last batches, one of the last events or, rarely, the reader."""
        self.stops.number += 1
        act: Act = self._leave
        if stop == "batch":
            dues = sorted({run.due_at for run in self.runs.rows.values()})[-4:]
            act = partial(self._cancel, slot_of(dues[which % len(dues)]))
        elif stop == "event":
            name = f"e{max(1, self.events - which)}"
            self.stops.begun.add(name)
            act = partial(self._retract, name)
        else:
            self.stops.begun.add("ann")
        self._begin(stop, act, finish=finish)

    @invariant()
    def nothing_was_sent_that_must_not(self) -> None:
        """Check G2 and the stops."""
        taken, history = self.provider.taken, self.runs.history
        self._expect(repeated(taken, history, self.world.policy, self.told))
        self._expect(sent_after_a_stop(taken, history, self.stops))

    @invariant()
    def nothing_waits_in_an_idle_schedule(self) -> None:
        """Check that every stored event has armed its schedule, while workers
        wait in their calls.
        """
        self._expect(forgotten(self.world, ["ann"]))

    @invariant()
    def no_receipt_is_false(self) -> None:
        """Check the receipt of one event after each step, while workers wait in their calls.

        Each step checks the next event, because a check of all of them would take most of the time.
        """
        self.steps += 1
        if self.events:
            self._check_receipt(self.steps % self.events + 1)

    def teardown(self) -> None:
        """Finish all work with a provider that accepts, and check the whole history."""
        try:
            if self.world.schedules.rows:
                self._settle()
                self._expect(lost(self.world, self.provider.taken, self.stops))
                self._expect(silent(self.world, self.stops))
                for delivery_event in self._late:
                    self._feedback(delivery_event, self.world)
                self._expect(misreported(self.runs))
                self.nothing_was_sent_that_must_not()
                for number in range(1, self.events + 1):
                    self._check_receipt(number)
                self._count()
        finally:
            for worker in self.workers:
                worker.step(Order.DIE)

    def _put_event(self) -> None:
        """Publish an event whose message one invocation receives twice."""
        self.events += 1
        name = f"e{self.events}"
        said = CreateEvents((an_event(name, entity_id=name, occurred_at=self.clock()),))
        for done in self.world.say_together(said, said):
            if isinstance(done, Exception):
                raise done

    def _check_receipt(self, number: int) -> None:
        name = f"e{number}"
        containing = {taken.key for taken in self.provider.taken if name in taken.shown}
        TALLY.receipts += 1
        self._expect(false_claims(receipt_of(self.world, name), containing))

    def _next_due(self) -> datetime | None:
        schedule = self.world.schedules.rows["ann", DAILY]
        return schedule.next_due_at if schedule.listed else None

    def _go_to(self, instant: datetime) -> None:
        for worker in self.workers:
            if worker.at == "mailer.send":
                worker.step()
        self._tidy()
        self.clock.now = max(self.clock.now, instant)

    def _worker(self, which: int) -> Worker:
        return self.workers[which % len(self.workers)]

    def _begin(
        self, name: str, act: Act, *, finish: bool = False, up_to: str | None = None
    ) -> None:
        def work(around: Around) -> None:
            with suppress(NotYet, Unavailable):
                act(self.world.seen_through(around))

        self._start(Worker(name, work), finish=finish, up_to=up_to)

    def _letters(self) -> list[Letter]:
        letters = (*self.generate.letters, *self.resend.letters)
        return sorted(letters, key=lambda letter: letter.visible_at)

    def _post_of(self, letter: Letter) -> Post:
        return self.generate if letter in self.generate.letters else self.resend

    def _work(self, letter: Letter, *, is_copy: bool, up_to: str) -> None:
        post = self._post_of(letter)
        if not is_copy and not post.receive(letter):
            return

        self._start(Worker("deliver", partial(self._deliver, letter, post)), up_to=up_to)

    def _deliver(self, letter: Letter, post: Post, around: Around) -> None:
        world = self.world.seen_through(around)

        def hide(pause: timedelta) -> None:
            around("sqs.hide", lambda: post.hide(letter, pause))

        with suppress(NotYet, Unavailable):
            if post is self.generate:
                world.generate(letter.key)
            else:
                world.resend(letter.key, given_up=letter.was_given_up, hide=hide)
            around("sqs.delete", lambda: post.delete(letter))

    def _start(self, worker: Worker, *, finish: bool = False, up_to: str | None = None) -> None:
        TALLY.workers += 1
        self.workers.append(worker)
        if finish or up_to is not None:
            worker.go_on(up_to=up_to or "")
        self._tidy()

    def _tidy(self) -> None:
        self.workers = [worker for worker in self.workers if not worker.is_over]

    def _feedback(self, delivery_event: DeliveryEvent, world: World) -> None:
        world.feedback(delivery_event)
        if delivery_event.run:
            self.told.setdefault(delivery_event.run, len(self.runs.history))

    def _leave(self, world: World) -> None:
        world.unsubscribe()
        self.stops.of_all = len(self.runs.history)

    def _cancel(self, slot: datetime, world: World) -> None:
        list(cancel_batch(slot, batches=world.batches, runs=world.runs))
        self.stops.batches.setdefault(slot, len(self.runs.history))

    def _retract(self, name: str, world: World) -> None:
        retract_event("ann", name, context=world.context)
        self.stops.events.setdefault(name, len(self.runs.history))

    def _settle(self) -> None:
        self.provider.plan.clear()
        self._late, self.provider.delivery_events = self.provider.delivery_events, []
        for worker in self.workers:
            while not worker.is_over:
                worker.go_on()
        self.workers = []
        self._put_event()
        quiet = 0
        for _ in range(_ROUNDS):
            is_busy = self._work_off()
            due = self._next_due()
            if not is_busy:
                quiet += 1
                if due is None or quiet > _QUIET_DAYS:
                    return
            soon = self.clock() + timedelta(minutes=20)
            self.clock.now = soon if is_busy or due is None else max(soon, due)
            if due is not None and due <= self.clock():
                self.world.fan_out(slot_of(due))
        raise AssertionError("It never came to an end.")

    def _work_off(self) -> bool:
        """Process what is ready and return True if work remains for later."""
        for post in (self.generate, self.resend):
            for letter in post.visible():
                if post.receive(letter):
                    self._deliver(letter, post, lambda _, call: call())
        self.world.sweep("ann")
        delivery_events: list[DeliveryEvent] = self.provider.delivery_events
        while delivery_events:
            self._feedback(delivery_events.pop(), self.world)
        is_open = any(run.is_open for run in self.runs.rows.values())
        return is_open or bool(self.generate.letters or self.resend.letters)

    def _expect(self, broken: object) -> None:
        found = list(broken)  # type: ignore[call-overload]
        TALLY.violations += len(found)
        assert not found, "\n".join(found)

    def _count(self) -> None:
        TALLY.histories += 1
        TALLY.runs += len(self.runs.rows)
        TALLY.attempts += claims_in(self.runs)
        TALLY.unknown += unknown_in(self.runs)
        TALLY.emails += len(self.provider.taken)
        TALLY.repeated += repetitions(self.provider.taken)
        event(f"attempts with an unknown outcome: {unknown_in(self.runs)}")
