"""A dry run of a delivery, which returns the decision of `prepare` without writes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.delivery.pace import NoPermit
from gazette.domain.delivery.redrive import Redriven, RedriveResult
from gazette.domain.delivery.run import Reason, Run
from gazette.domain.delivery.signals import Cancel, Skip
from gazette.domain.delivery.streams import Streams
from gazette.domain.identity import address_hash
from gazette.domain.model import RunKey, StoredEvent, Window
from gazette.domain.ports.ledgers import Batches, Runs, RunSequences
from gazette.domain.ports.pacing import PaceGauge
from gazette.domain.ports.stores import EventReader, Suppressions
from gazette.domain.window.briefs import StoredBrief, stored_brief_of
from gazette.steps.delivery.context import PrepareContext
from gazette.steps.delivery.deliver import is_cancelled
from gazette.steps.delivery.pacing import without_permit
from gazette.steps.delivery.predecessors import Chain, chain_of, settle
from gazette.steps.delivery.prepare import prepare
from gazette.steps.delivery.types import Delivery, Ending
from gazette.steps.occurrences.redrive import RedrivePlanContext, plan_redrive
from gazette.steps.runs import changed


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunContext(PrepareContext):
    """The dependencies of a dry run, which makes no writes."""

    runs: Runs
    schedules: RunSequences
    suppressions: Suppressions
    batches: Batches
    gauges: Streams[PaceGauge]


class _WithoutBodies(EventReader):
    """A reader of events that shows another body of a row instead of those that a run removes.

    The row may move to another schedule, which the forecast ignores.
    """

    def __init__(self, events: EventReader, removed: Sequence[StoredEvent]) -> None:
        self._events = events
        self._removed = {stored.event for stored in removed}

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredEvent]:
        """Yield the events stored in the window."""
        return map(self._without, self._events.read(user_id, schedule, window))

    def skim(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredBrief]:
        """Yield the briefs of the events stored in the window."""
        ids = {event.id for event in self._removed}
        for brief in self._events.skim(user_id, schedule, window):
            is_divided = brief.event.id in ids
            yield stored_brief_of(self._without(brief.decode())) if is_divided else brief

    def load(self, user_id: str, event_ids: Collection[str]) -> Mapping[str, StoredEvent]:
        """Return the current events with these ids."""
        loaded = self._events.load(user_id, event_ids)
        return {event_id: self._without(stored) for event_id, stored in loaded.items()}

    def holds(
        self, user_id: str, schedule: str, *, after: datetime, until: datetime | None = None
    ) -> bool:
        """Return True if an event is stored in the period."""
        return self._events.holds(user_id, schedule, after=after, until=until)

    def _without(self, stored: StoredEvent) -> StoredEvent:
        rest = [body for body in stored.bodies if body not in self._removed]
        if not rest or len(rest) == len(stored.bodies):
            return stored
        return replace(stored, event=rest[0], others=tuple(rest[1:]))


@dataclass(frozen=True, slots=True)
class DryRun:
    """The result that `deliver` would return."""

    delivery: Delivery
    """The delivery. If an email would be sent, the run is in its state before the claim."""

    would_send: bool
    """True if an email would be sent."""


def dry_run(key: RunKey, *, context: DryRunContext) -> DryRun | None:
    """Return the result that delivering this run now would have, or None if the run does not exist.

    No email is rendered, so events that no template can show are not detected. The forecast assumes
    that the provider accepts the email.
    """
    chain = chain_of(key, runs=context.runs)
    return _dry_run(chain, context) if chain else None


def dry_run_redrive(failed: Run, *, context: DryRunContext) -> tuple[Redriven, DryRun | None]:
    """Return the expected result of redriving a failed run, and a dry run of the started run.

    The second value is None if no run is started.
    """
    plan = plan_redrive(
        failed,
        context=RedrivePlanContext(
            runs=context.runs,
            schedules=context.schedules,
            subscribers=context.subscribers,
            suppressions=context.suppressions,
            clock=context.clock,
            check_after=timedelta(0),
        ),
    )
    run = plan.redriven.run
    if run is None or plan.redriven.result is not RedriveResult.STARTED:
        return plan.redriven, None
    return plan.redriven, _dry_run(Chain(run, newer=(), older=plan.chain), context)


def _dry_run(chain: Chain, context: DryRunContext) -> DryRun:
    settled = settle(chain, now=context.clock(), limits=context.limits)
    if isinstance(settled, Ending):
        return DryRun(settled.delivery, would_send=False)
    prepared = prepare(settled, context=context)
    if isinstance(prepared, Ending) and prepared.partly_over:
        events = _WithoutBodies(context.events, prepared.partly_over)
        prepared = prepare(settled, context=replace(context, events=events))
    if isinstance(prepared, Ending):
        return DryRun(prepared.delivery, would_send=False)
    run, now = prepared.run, context.clock()
    gauge = context.gauges.of(run.key.schedule)
    permit = gauge.forecast(now, critical=run.key.is_critical)
    if isinstance(permit, NoPermit):
        ending = without_permit(
            run,
            permit,
            now=now,
            random=context.random(),
            busy_until=now + timedelta(seconds=1),
        )
        return DryRun(ending.delivery, would_send=False)
    if is_cancelled(run, context.batches):
        return DryRun(Delivery(changed(run, Cancel(Reason.BATCH_CANCELLED))), would_send=False)
    address = address_hash(prepared.subscriber.email)
    if context.suppressions.holds(address, critical=run.key.is_critical):
        return DryRun(Delivery(changed(run, Skip(Reason.SUPPRESSED))), would_send=False)
    return DryRun(Delivery(run), would_send=True)
