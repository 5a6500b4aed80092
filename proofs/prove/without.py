"""Rules that can be disabled, to show that the search detects their absence."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from gazette.domain.delivery import run
from gazette.domain.delivery.run import Run
from gazette.domain.happening import bodies
from gazette.domain.happening.bodies import Wanted
from gazette.domain.happening.rewriting import Rewrite
from gazette.domain.identity import latest_run
from gazette.domain.model import DAILY, Schedule, StoredEvent
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.stores import Guard
from gazette.domain.scheduling.calendar import next_occurrence
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.withdrawing.withdrawn import Withdrawn
from gazette.steps.context import RoutingContext
from gazette.steps.delivery import deliver, windows
from gazette.steps.delivery.context import DeliveryContext
from gazette.steps.delivery.edition import Rendered
from gazette.steps.delivery.prepare import Prepared
from gazette.steps.fanout import fanout
from gazette.steps.occurrences import start
from gazette.steps.occurrences.context import FanoutContext
from gazette.steps.routing import happening, reroute, rewriting, route
from gazette.steps.routing.limit import Tokens
from gazette.steps.routing.target import RoutingInputs
from gazette.steps.subscribers import schedules
from gazette.steps.subscribers.schedules import arm, is_active

from tests import world
from tests.fake_stores import FakeEvents, FakeRuns

ONE_BREAKER = False
"""True if both streams share one row for pace and circuit breaker."""


@contextmanager
def _no_settle_lag() -> Iterator[None]:
    with patch.object(world, "SETTLE_LAG", timedelta(0)):
        yield


@contextmanager
def _armed_first() -> Iterator[None]:
    """Arm the schedule before storing the event instead of afterwards."""
    place = route._place

    def arm_and_place(
        all_inputs: Mapping[Any, RoutingInputs],
        context: RoutingContext,
        time_left: TimeLeft,
        tokens: Tokens,
    ) -> Any:
        readers = [inputs.reader for inputs in all_inputs.values()]
        arm(
            {(reader.user_id, DAILY): reader for reader in readers if is_active(reader)},
            context=context,
        )
        return place(all_inputs, context, time_left, tokens)

    with (
        patch.object(route, "arm", lambda _, **__: None),
        patch.object(route, "_place", arm_and_place),
    ):
        yield


@contextmanager
def _idle_not_armed() -> Iterator[None]:
    must_be_armed = schedules._must_be_armed

    def idle_is_enough(current: Schedule | None, reader: Subscriber) -> bool:
        return must_be_armed(current, reader) and not (current and current.is_idle)

    with patch.object(schedules, "_must_be_armed", idle_is_enough):
        yield


@contextmanager
def _never_idle() -> Iterator[None]:
    """Keep a schedule without events in the due index, at its next occurrence."""

    def go_on(schedule: Schedule, *, context: FanoutContext) -> Schedule | None:
        context.runs.create(start._ended(schedule, context))
        after = schedule.advanced(next_occurrence(schedule.recurrence, after=schedule.next_due_at))
        return after if context.schedules.put(after, replacing=schedule) else None

    with patch.object(fanout, "go_idle", go_on):
        yield


@contextmanager
def _no_second_look() -> Iterator[None]:
    go_idle = start.go_idle

    def at_once(schedule: Schedule, *, context: FanoutContext) -> Schedule | None:
        with patch.object(start, "is_waiting", lambda *_, **__: False):
            return go_idle(schedule, context=context)

    with patch.object(fanout, "go_idle", at_once):
        yield


@contextmanager
def _armed_late() -> Iterator[None]:
    """Skip the first occurrence after an event."""
    due_after = Schedule.due_after

    def one_more(schedule: Schedule, now: datetime) -> datetime:
        first = due_after(schedule, now)
        return first if schedule.listed else next_occurrence(schedule.recurrence, after=first)

    with patch.object(Schedule, "due_after", one_more):
        yield


@contextmanager
def _over_returns() -> Iterator[None]:
    """Return an expired event to the queue when it is extended, even if it may have been sent."""
    expire = FakeEvents.expire

    def to_return(
        self: FakeEvents, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str]
    ) -> Run | None:
        return expire(self, events, run)

    with patch.object(FakeEvents, "expire", to_return):
        yield


@contextmanager
def _over_unguarded() -> Iterator[None]:
    """Remove an expired event regardless of the state of its run."""
    expire = FakeEvents.expire

    def alone(
        self: FakeEvents, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str]
    ) -> Run | None:
        as_stored = self.runs.rows[run.key]
        done = expire(self, events, as_stored, for_good=for_good)
        self.runs.rows[run.key] = as_stored
        return run if done else None

    with patch.object(FakeEvents, "expire", alone):
        yield


@contextmanager
def _usual_only() -> Iterator[None]:
    """Raise the epochs of the usual immediate runs after a visit, but not of the urgent ones."""

    def usual(self: FakeRuns, user_id: str, entity: str) -> Sequence[Run]:
        return self.chain(latest_run(user_id, immediate_schedule(entity)))

    with patch.object(FakeRuns, "of_thread", usual):
        yield


@contextmanager
def _withdrawn_shown() -> Iterator[None]:
    """Send withdrawn events."""
    with patch.object(Withdrawn, "at_of", lambda *_: None):
        yield


@contextmanager
def _list_read_once() -> Iterator[None]:
    """Claim an email although the list of withdrawals has changed since the email was prepared."""
    is_outdated = deliver._is_outdated

    def ignoring_list(prepared: Prepared, rendered: Rendered, context: DeliveryContext) -> bool:
        due = replace(prepared.due, withdrawals=context.decisions().withdrawals)
        return is_outdated(replace(prepared, due=due), rendered, context)

    with patch.object(deliver, "_is_outdated", ignoring_list):
        yield


@contextmanager
def _withdrawn_unguarded() -> Iterator[None]:
    """Remove a withdrawn event regardless of the state of its run, and keep the run's epoch."""
    withdraw = FakeEvents.withdraw

    def alone(
        self: FakeEvents, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str]
    ) -> Run | None:
        as_stored = self.runs.rows[run.key]
        done = withdraw(self, events, as_stored, for_good=for_good)
        self.runs.rows[run.key] = as_stored
        return run if done else None

    with patch.object(FakeEvents, "withdraw", alone):
        yield


@contextmanager
def _withdrawn_returns() -> Iterator[None]:
    """Leave a withdrawn event out as unsent, even if it may have been sent."""
    withdraw = FakeEvents.withdraw

    def to_return(
        self: FakeEvents, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str]
    ) -> Run | None:
        return withdraw(self, events, run)

    with patch.object(FakeEvents, "withdraw", to_return):
        yield


@contextmanager
def _pairs_apart() -> Iterator[None]:
    """Store an event that is part of an activity in a row of its own."""
    with patch.object(route, "stands_alone", lambda *_: True):
        yield


@contextmanager
def _pairs_weakest() -> Iterator[None]:
    """Show the weakest body of a happening."""
    weakness = bodies._weakness

    def weakest(body: Wanted, at: datetime) -> tuple[object, ...]:
        is_ordinary, lapses, is_followed, *rest = weakness(body, at)
        return is_ordinary, lapses, not is_followed, *rest

    with patch.object(bodies, "_weakness", weakest):
        yield


@contextmanager
def _pairs_kept() -> Iterator[None]:
    """Retract the pointer of a body, but keep the body."""
    with ExitStack() as stack:
        for module in (reroute, happening):
            stack.enter_context(patch.object(module, "remove_body", lambda *_, **__: None))
        yield


@contextmanager
def _pairs_lost() -> Iterator[None]:
    """Remove all bodies of a happening if one is retracted."""
    with patch.object(happening, "without_body", lambda *_: ()):
        yield


@contextmanager
def _pairs_idle() -> Iterator[None]:
    """Move the row of a happening to a digest without arming it."""
    with (
        patch.object(happening, "await_run", lambda *_: None),
        patch.object(rewriting, "_arm_digest", lambda *_: None),
    ):
        yield


@contextmanager
def _pairs_together() -> Iterator[None]:
    """Leave out all bodies of a happening if an operator withdraws the body that an email would
    show.
    """
    with patch.object(windows._Sorting, "_divide", lambda *_: False):
        yield


@contextmanager
def _pairs_unguarded() -> Iterator[None]:
    """Leave out a body of a happening regardless of the runs that have read it."""
    leaving_out = rewriting._leaving_out

    def alone(*args: Any) -> tuple[Rewrite, Guard]:
        return leaving_out(*args)[0], Guard()

    with (
        patch.object(rewriting, "_leaving_out", alone),
        patch.object(rewriting, "raise_epochs_under", lambda *_, **__: None),
    ):
        yield


@contextmanager
def taken_out(rule: str) -> Iterator[None]:
    """Disable the rule while the context is open. An empty name disables none."""
    with ExitStack() as stack:
        match rule:
            case "settle-lag":
                stack.enter_context(_no_settle_lag())
            case "two-unknown":
                stack.enter_context(patch.object(run, "MAX_UNKNOWN_ATTEMPTS", 1_000_000))
            case "two-breakers":
                stack.enter_context(patch(f"{__name__}.ONE_BREAKER", new=True))
            case _ if rule:
                stack.enter_context(_PATCHED[rule]())
        yield


_PATCHED = {
    "over-given-up": _over_returns,
    "over-guarded": _over_unguarded,
    "seen-urgent": _usual_only,
    "withdrawn-left-out": _withdrawn_shown,
    "withdrawn-checked": _list_read_once,
    "withdrawn-guarded": _withdrawn_unguarded,
    "withdrawn-given-up": _withdrawn_returns,
    "pairs-one-row": _pairs_apart,
    "pairs-strongest": _pairs_weakest,
    "pairs-retracted": _pairs_kept,
    "pairs-others-stay": _pairs_lost,
    "pairs-armed": _pairs_idle,
    "pairs-divided": _pairs_together,
    "pairs-guarded": _pairs_unguarded,
    "arm-afterwards": _armed_first,
    "arm-idle": _idle_not_armed,
    "go-idle": _never_idle,
    "second-look": _no_second_look,
    "arm-for-the-next": _armed_late,
}
RULES = ("settle-lag", "two-unknown", "two-breakers", *_PATCHED)
