"""Whether the items of a run's content sources are there, and how long it waits for them.

Only stages with a source that is asked import this.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.content import Fetch, asked_among, is_fresh
from gazette.domain.delivery.run import Run
from gazette.domain.ports.content import FetchQueue, QueuedFetch
from gazette.domain.ports.ledgers import RunSequences
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.scheduling.asking import waits_until
from gazette.domain.templates.settings import SourcePolicy
from gazette.steps.delivery.types import Awaited

_SOONEST = timedelta(minutes=1)
_ROUNDING = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentContext:
    """What a delivery must know of content sources.

    `policy_of`: what the digests of a user id do whose items are not there. `patience`: how long
    they wait if they go without them then. `fresh_for`, `settle_lag`, `max_lateness`: as in
    ContentPlan and DeliveryLimits.
    """

    schedules: RunSequences
    fetch_queue: FetchQueue
    policy_of: Callable[[str], SourcePolicy]
    fresh_for: timedelta
    patience: timedelta
    settle_lag: timedelta
    max_lateness: timedelta

    def look(self, run: Run, now: datetime) -> Awaited | tuple[str, ...]:
        """What the run waits for; if for nothing, those of its sources that it goes without.

        What was stored within the settle lag is in no window yet, so the run waits for that too
        (rule 2). A schedule that is gone, as after an erasure, or that asks no source any more, as
        after its reader turned the category off, is not waited for; nor does a run wait that is of
        no occurrence, such as that of a redrive: nobody asks for it. Writes nothing.
        """
        schedule = self.schedules.get(run.key.user_id, run.key.schedule)
        if schedule is None or not asked_among(schedule.sources):
            return ()
        if not schedule.is_asked_for(run.due_at):
            return ()
        is_there = is_fresh(
            fetched_at=schedule.fetched_at,
            fetched_for=schedule.fetched_for,
            due_at=run.due_at,
            now=run.due_at,
            fresh_for=self.fresh_for,
        )
        if is_there and schedule.fetched_at:
            readable_at = schedule.fetched_at + self.settle_lag
            return () if readable_at < now else Awaited(readable_at + _ROUNDING)
        asked_at = run.asked_at or now
        until = waits_until(
            run.key.schedule,
            run.due_at,
            asked_at=asked_at,
            policy=self.policy_of(run.key.user_id),
            patience=self.patience,
            max_lateness=self.max_lateness,
        )
        if now >= until:
            return asked_among(run.sources)
        pause = min(max((now - asked_at) / 2, _SOONEST), LONGEST_DELAY)
        fetch = Fetch(run.key.user_id, run.key.schedule, run.due_at, asked_at=now)
        return Awaited(min(now + pause, until), None if run.asked_at else fetch)

    def ask(self, fetch: Fetch) -> None:
        """Queue a fetch, without a delay."""
        self.fetch_queue.send([QueuedFetch(fetch, timedelta(0))])
