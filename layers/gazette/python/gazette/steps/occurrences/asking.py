"""Query the content sources of schedules for a current or future occurrence.

Only stages that query a content source import this module.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.content.asking import ContentPlan
from gazette.domain.content.ports import Fetch, FetchQueue, QueuedFetch
from gazette.domain.delivery.run import Run
from gazette.domain.model import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingContext:
    """The dependencies for querying content sources, such as the plan and the queue of fetches."""

    plan: ContentPlan
    fetch_queue: FetchQueue
    shards: int
    """The number of shards to which schedules are written."""

    def asks(self, schedule: Schedule) -> bool:
        """Return True if the schedule queries a source that the stage still uses."""
        return bool(self.plan.asked_by(schedule))

    def lacks(self, schedule: Schedule) -> bool:
        """Return True if the items of a source for the next occurrence are missing or stale."""
        is_fetched = self.plan.is_fetched(schedule, schedule.next_due_at)
        return self.asks(schedule) and not is_fetched

    def ask_for(self, runs: Iterable[tuple[Run, timedelta]]) -> int:
        """Queue a fetch for each run, delayed by up to half the delay of the run's message.

        The items are usually stored before the run is delivered. Return the number of fetches.
        """
        return self.queue(
            QueuedFetch(
                Fetch(run.key.user_id, run.key.schedule, run.due_at, asked_at=run.asked_at),
                delay / 2,
            )
            for run, delay in runs
        )

    def queue(self, fetches: Iterable[QueuedFetch]) -> int:
        """Queue fetches. Return the number of fetches."""
        queued = list(fetches)
        if queued:
            self.fetch_queue.send(queued)
        return len(queued)
