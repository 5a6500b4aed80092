"""The items that a run expects from content sources, and the time to wait for them.

Only stages that query a content source import this module.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.content.asking import is_fresh, waits_until
from gazette.domain.content.items import asked_among
from gazette.domain.content.ports import Fetch, FetchQueue, QueuedFetch
from gazette.domain.delivery.run import Run
from gazette.domain.ports.ledgers import RunSequences
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.scheduling.limits import DeliveryLimits
from gazette.domain.templates.settings import SourcePolicy
from gazette.steps.delivery.types import Delivery, Ending, WaitingFor

_SOONEST = timedelta(minutes=1)
_ROUNDING = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentContext:
    """The dependencies for checking a run's content sources. For `fresh_for`, see ContentPlan."""

    schedules: RunSequences
    fetch_queue: FetchQueue
    policy_of: Callable[[str], SourcePolicy]
    """A function that returns a user's policy for digests with missing items."""

    fresh_for: timedelta
    patience: timedelta
    """The time that digests wait before being sent without items."""

    def check(self, run: Run, now: datetime, limits: DeliveryLimits) -> Ending | tuple[str, ...]:
        """Return the sources that the run is sent without, or an Ending if it waits for items.

        Items that were stored within the settle lag are in no window yet, so the run waits for them
        too (rule 2). The run does not wait if the schedule was deleted or no longer queries a
        source, for example because the reader turned the category off. A run that a redrive started
        does not wait either, because its sources are not queried. Makes no writes.
        """
        schedule = self.schedules.get(run.key.user_id, run.key.schedule)
        if schedule is None or not asked_among(schedule.sources):
            return ()
        if not schedule.is_asked_for(run.due_at):
            return ()
        is_stored = is_fresh(
            fetched_at=schedule.fetched_at,
            fetched_for=schedule.fetched_for,
            due_at=run.due_at,
            now=run.due_at,
            fresh_for=self.fresh_for,
        )
        if is_stored and schedule.fetched_at:
            readable_at = schedule.fetched_at + limits.settle_lag
            return () if readable_at < now else _waiting(run, readable_at + _ROUNDING)
        asked_at = run.asked_at or now
        until = waits_until(
            run.key.schedule,
            run.due_at,
            asked_at=asked_at,
            policy=self.policy_of(run.key.user_id),
            patience=self.patience,
            max_lateness=limits.max_lateness,
        )
        if now >= until:
            return asked_among(run.sources)
        pause = min(max((now - asked_at) / 2, _SOONEST), LONGEST_DELAY)
        fetch = Fetch(run.key.user_id, run.key.schedule, run.due_at, asked_at=now)
        return _waiting(run, min(now + pause, until), None if run.asked_at else fetch)

    def ask(self, fetch: Fetch) -> None:
        """Queue a fetch without a delay."""
        self.fetch_queue.send([QueuedFetch(fetch, timedelta(0))])


def _waiting(run: Run, again_at: datetime, fetch: Fetch | None = None) -> Ending:
    """Return an Ending that requeues the run until its items arrive.

    `fetch` is the fetch to queue now, whose time is stored in the run, or None if the run's sources
    were already queried.
    """
    if fetch is None:
        return Ending(Delivery(run, again_at, WaitingFor.CONTENT))
    queried = replace(run, asked_at=fetch.asked_at)
    return Ending(Delivery(queried, again_at, WaitingFor.CONTENT), [(run, queried)], fetch=fetch)
