"""What the functions do with a message each, on the ports of a land."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from gazette.domain.delivery.run import Run
from gazette.domain.feedback.delivery_events import MailReport
from gazette.domain.model import RunKey
from gazette.domain.ports.outside import Shard
from gazette.steps.delivery.deliver import deliver
from gazette.steps.delivery.generate import generate
from gazette.steps.delivery.resend import ResendMessage, resend
from gazette.steps.delivery.types import Delivery
from gazette.steps.fanout.fanout import fan_out, tick
from gazette.steps.feedback.feedback import take_note
from gazette.steps.ingest.followers import bring
from gazette.steps.ingest.ingest import ingest
from gazette.steps.occurrences.start import Departures
from gazette.steps.sweep.sweep import begin_sweep, sweep

from proofs.prove.land import Land
from proofs.prove.queues import Message
from proofs.prove.strikes import Calls, Killed
from tests.fake_stores import PARTITIONS
from tests.world import FANOUT

_LOOKBACK = 1

Done = Run | None
"""The run that a message was about, as its worker left it."""


class Workers:
    """One method for each function."""

    def __init__(self, land: Land, calls: Calls, *, lateness: timedelta, spread: timedelta) -> None:
        self._land = land
        self._calls = calls
        self._lateness = lateness
        self._spread = spread

    def _time_left(self) -> timedelta:
        """Of the invocation that asks."""
        worker = self._calls.worker
        if worker is None:
            return timedelta(minutes=2)
        left = worker.ends_at - self._calls.clock()
        if left < timedelta(0) and not worker.is_frozen:
            raise Killed("the time of the invocation is over")
        return left

    def ingest(self, message: Message) -> Done:
        """A command, already decoded."""
        world = self._land.world
        ingest(
            "the body",
            decode=lambda _: message.body,  # type: ignore[arg-type, return-value]
            activities=world.activities,
            suppressions=world.suppressions,
            followers_queue=world.followers_queue,
            quarantine=world.quarantine,
            places=world.places,
            time_left=self._time_left,
        )
        return None

    def followers(self, message: Message) -> Done:
        world = self._land.world
        bring(
            _body(message),
            activities=world.activities,
            followers_queue=world.followers_queue,
            places=world.places,
            time_left=self._time_left,
        )
        return None

    def tick(self, at: datetime) -> None:
        """The clock's own message, which nobody keeps."""
        world = self._land.world
        tick(
            at,
            batches=world.batches,
            shard_queue=world.shard_queue,
            shards=1,
            lookback=_LOOKBACK,
        )

    def fanout(self, message: Message) -> Done:
        world, shard = self._land.world, _body(message)
        assert isinstance(shard, Shard)
        fan_out(
            shard,
            departures=Departures(
                subscribers=world.subscribers,
                schedules=world.schedules,
                runs=world.runs,
                events=world.events,
                batches=world.batches,
                generate_queue=world.generate_queue,
                clock=world.clock,
                random=lambda: 1.0,
                limits=replace(FANOUT, max_lateness=self._lateness, spread=self._spread),
            ),
            shard_queue=world.shard_queue,
            time_left=self._time_left,
        )
        return None

    def generate(self, message: Message) -> Done:
        world = self._land.world
        done = generate(
            _body(message),
            deliver=self._deliver,
            stop_suppressed=world.stop_if_suppressed,
            generate_queue=world.generate_queue,
            resend_queue=world.resend_queue,
            clock=world.clock,
        )
        return done.run if done else None

    def resend(self, message: Message) -> Done:
        """Hiding the message is a call like any other."""
        world = self._land.world

        def hide(pause: timedelta) -> None:
            message.visible_at = world.clock() + pause

        done = resend(
            ResendMessage(
                _body(message),
                message.given_up,
                lambda pause: self._call("message.hide", lambda: hide(pause)),
            ),
            deliver=self._deliver,
            restart=world.restart,
            resend_queue=world.resend_queue,
            failed_runs=world.failed_runs,
            clock=world.clock,
        )
        return done.run if done else None

    def feedback(self, message: Message) -> Done:
        world, report = self._land.world, _body(message)
        assert isinstance(report, MailReport)
        return take_note(
            report,
            "the report",
            quarantine=world.quarantine,
            runs=world.runs,
            evidence_log=world.evidence_log,
            engagements=world.engagements,
            bus=world.bus,
            signs_of_life=world.signs_of_life,
        ).run

    def begin_sweep(self, at: datetime) -> None:
        """The clock's own message, which nobody keeps."""
        world = self._land.world
        begin_sweep(
            at,
            partitions=PARTITIONS,
            sweep_queue=self._land.sweep_queue,
            batches=world.batches,
            shard_queue=world.shard_queue,
            shards=1,
            lookback=_LOOKBACK,
        )

    def sweep(self, message: Message) -> Done:
        sweep(_body(message), by=self._land.world.sweeping(), time_left=self._time_left)
        return None

    def _deliver(self, key: RunKey) -> Delivery | None:
        by = self._land.world.delivering()
        by = replace(by, limits=replace(by.limits, max_lateness=self._lateness))
        return deliver(key, by=by, time_left=self._time_left)

    def _call(self, name: str, call: Callable[[], object]) -> None:
        self._calls.around(name, call)


def _body(message: Message) -> Any:
    return message.body
