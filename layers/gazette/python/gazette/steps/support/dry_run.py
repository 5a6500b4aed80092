"""Dry run of a delivery: the step itself, on ports that do not write."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gazette.domain.delivery.batch import BatchRun
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.compose import Digest, Ranking
from gazette.domain.delivery.pace import NoPermit, Permit
from gazette.domain.delivery.redrive import Redriven, RedriveResult
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Accepted, SendOutcome
from gazette.domain.delivery.streams import Streams
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Edition, Event, Mail, RunKey, Schedule, StoredEvent
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import HeldCategories
from gazette.domain.ports.ledgers import Batches, Runs, RunSequences
from gazette.domain.ports.pacing import PaceGauge
from gazette.domain.ports.queues import QueuedRun
from gazette.domain.ports.rendering import Links
from gazette.domain.ports.stores import EventReader, Subscribers, Suppressions
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.delivery.deliver import deliver
from gazette.steps.delivery.edition import EditionContext
from gazette.steps.delivery.pacing import Pacing, StreamPacing
from gazette.steps.delivery.types import Delivery, DeliveryContext, DeliveryLimits
from gazette.steps.occurrences.redrive import RedriveContext, redrive

_AMPLE = timedelta(hours=1)
"""Time never runs out in a dry run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunContext:
    """What a dry run reads. It writes nothing."""

    runs: Runs
    schedules: RunSequences
    subscribers: Subscribers
    suppressions: Suppressions
    events: EventReader
    held_categories: HeldCategories
    batches: Batches
    gauges: Streams[PaceGauge]
    clock: Clock
    limits: DeliveryLimits


@dataclass(frozen=True, slots=True)
class DryRun:
    """What `deliver` would return, and whether it would send an email."""

    delivery: Delivery
    would_send: bool


def dry_run(key: RunKey, *, context: DryRunContext) -> DryRun | None:
    """Deliver the run as a message would now, without any write.

    Returns None if there is no such run. No email is rendered, so an event that no template can
    show is not forecast. If it comes to the call of the provider, the provider accepts.
    """
    return _dry_run(key, _Runs(context.runs), context)


def dry_run_redrive(failed: Run, *, context: DryRunContext) -> tuple[Redriven, DryRun | None]:
    """Redrive a failed run and deliver the run that this starts, without any write.

    The second value is None if nothing is started.
    """
    runs = _Runs(context.runs)
    redriven = redrive(
        failed,
        context=RedriveContext(
            runs=runs,
            schedules=_Sequences(context.schedules),
            subscribers=context.subscribers,
            suppressions=context.suppressions,
            queue=_Queue(),
            clock=context.clock,
            check_after=_AMPLE,
        ),
    )
    if redriven.run is None or redriven.result is not RedriveResult.STARTED:
        return redriven, None
    return redriven, _dry_run(redriven.run.key, runs, context)


def _dry_run(key: RunKey, runs: "_Runs", context: DryRunContext) -> DryRun | None:
    mailer = _Mailer()
    pretending = DeliveryContext(
        runs=runs,
        subscribers=context.subscribers,
        suppressions=context.suppressions,
        events=context.events,
        held_categories=context.held_categories,
        batches=context.batches,
        editing=EditionContext(
            renderer=_Renderer(),
            experiment=lambda: None,
            deferred_events=_DeferredEvents(),
            max_groups=1,
        ),
        link_maker=_Links(),
        mailer=mailer,
        pacing=Pacing(
            streams=Streams(
                digest=_stream_pacing(context.gauges.digest),
                immediate=_stream_pacing(context.gauges.immediate),
            ),
            clock=context.clock,
            sleep=lambda _: None,
            random=lambda: 0.0,
        ),
        clock=context.clock,
        draw_nonce=lambda: "dry run",
        random=lambda: 0.0,
        list_id="",
        installation="",
        limits=context.limits,
    )
    done = deliver(key, context=pretending, time_left=lambda: _AMPLE)
    return DryRun(done, mailer.called) if done else None


@dataclass
class _Runs:
    """The port `Runs`: reads what is stored, and keeps writes in memory."""

    stored: Runs
    written: dict[RunKey, Run] = field(default_factory=dict)

    def create(self, run: Run) -> Run:
        return self.get(run.key) or self._write(run)

    def get(self, key: RunKey) -> Run | None:
        return self.written.get(key) or self.stored.get(key)

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        found = {run.key: run for run in self.stored.chain(key, holding=holding)}
        for run in self.written.values():
            if run.key in found or _is_behind(run.key, found, key):
                found[run.key] = run
        return sorted(found.values(), key=lambda run: run.key.sequence, reverse=True)

    def of_user(self, user_id: str) -> Iterator[Run | UnreadableRow]:
        return self.stored.of_user(user_id)

    def of_batch(self, slot: datetime) -> Iterator[BatchRun | UnreadableRow]:
        return self.stored.of_batch(slot)

    def overdue(self, partition: int, at: datetime) -> Iterator[Run | UnreadableRow]:
        return self.stored.overdue(partition, at)

    def oldest_due(self, partition: int) -> datetime | None:
        return self.stored.oldest_due(partition)

    def swap(self, before: Run, after: Run) -> Run:
        return self._write(after)

    def swap_together(self, pairs: Sequence[tuple[Run, Run]]) -> bool:
        for _, after in pairs:
            self._write(after)
        return True

    def _write(self, run: Run) -> Run:
        self.written[run.key] = run
        return run


def _is_behind(key: RunKey, found: Iterable[RunKey], last: RunKey) -> bool:
    """Whether a run that exists in memory only belongs in the chain that begins with `last`."""
    newest = max((each.sequence for each in found), default=0)
    of_schedule = (key.user_id, key.schedule) == (last.user_id, last.schedule)
    return of_schedule and newest < key.sequence <= last.sequence


@dataclass(frozen=True, slots=True)
class _Sequences:
    """The port `RunSequences`: reads what is stored, and spends no sequence."""

    stored: RunSequences

    def get(self, user_id: str, name: str) -> Schedule | None:
        return self.stored.get(user_id, name)

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        return True


class _Queue:
    """The port `RunQueue`: queues nothing."""

    def send(self, messages: Iterable[QueuedRun]) -> None:
        """Queue nothing."""


@dataclass
class _Mailer:
    """The port `Mailer`: accepts everything, and sends nothing."""

    called: bool = False

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        self.called = True
        return Accepted(attempt, "dry run")


@dataclass
class _RateLimiter:
    """The ports `RateLimiter` and `CircuitBreaker`: forecasts permits, and takes none."""

    gauge: PaceGauge

    def reserve(self, now: datetime, latest: datetime) -> Permit | NoPermit:
        return self.gauge.forecast(now, latest)

    def trip(self, why: str, now: datetime) -> OpenBreaker:
        return self.open_by_hand(why, now)

    def trip_if_closed(self, why: str, now: datetime) -> None:
        """Stays as it is."""

    def reset(self) -> None:
        """Stays as it is."""

    def open_by_hand(self, why: str, now: datetime) -> OpenBreaker:
        return OpenBreaker(why=why, since=now, until=now, step=timedelta(0))

    def close_by_hand(self) -> None:
        """Stays as it is."""


def _stream_pacing(gauge: PaceGauge) -> StreamPacing:
    rate_limiter = _RateLimiter(gauge)
    return StreamPacing(rate_limiter=rate_limiter, breaker=rate_limiter)


class _Renderer:
    """The port `Renderer`: renders an empty email."""

    def ranking(self, variation: int) -> Ranking:
        return Ranking.MOST_ACTIVE

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
    ) -> Edition:
        return Edition("", "", "")


class _DeferredEvents:
    """The port `DeferredEvents`: excludes, defers and counts nothing."""

    def exclude(self, event: Event, run: Run, why: str, *, for_good: bool = False) -> Run | None:
        return run

    def expire(self, stored: StoredEvent) -> bool:
        return False

    def defer(self, events: Sequence[Event], run: Run) -> Run | None:
        return run


class _Links:
    """The port `LinkMaker`: makes empty links."""

    def links(self, key: RunKey) -> Links:
        return Links(unsubscribe="", preferences="", email="", updates="")
