"""Ask the content sources of schedules whose occurrence has come, or is still to come.

Only stages with a source that is asked import this.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.content import Fetch
from gazette.domain.delivery.run import Run
from gazette.domain.model import Schedule
from gazette.domain.ports.content import FetchQueue, QueuedFetch
from gazette.domain.scheduling.asking import ContentPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingContext:
    """When content sources are asked, and by which queue. `shards`: as many as are written to."""

    plan: ContentPlan
    fetch_queue: FetchQueue
    shards: int

    def asks(self, schedule: Schedule) -> bool:
        """Whether the schedule asks a source that the stage still has."""
        return bool(self.plan.asked_by(schedule))

    def lacks(self, schedule: Schedule) -> bool:
        """Whether it asks one whose items for its next occurrence are not stored, or stale."""
        is_fetched = self.plan.is_fetched(schedule, schedule.next_due_at)
        return self.asks(schedule) and not is_fetched

    def ask_for(self, runs: Iterable[tuple[Run, timedelta]]) -> int:
        """Queue a fetch for each run, with the delay of its message; returns the number.

        In half of that delay, so that the items are mostly there when the run is delivered.
        """
        return self.queue(
            QueuedFetch(
                Fetch(run.key.user_id, run.key.schedule, run.due_at, asked_at=run.asked_at),
                delay / 2,
            )
            for run, delay in runs
        )

    def queue(self, fetches: Iterable[QueuedFetch]) -> int:
        """Queue fetches; returns the number."""
        queued = list(fetches)
        if queued:
            self.fetch_queue.send(queued)
        return len(queued)
