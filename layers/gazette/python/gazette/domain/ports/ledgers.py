"""The tables of what is due, and of what became of it.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC. Reads are strongly consistent unless
they say otherwise. A method raises UnreadableRow for a row that cannot be read, also if it returns
a Sequence or a Mapping; an Iterator yields the UnreadableRow in its place and continues (rule 20).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from gazette.domain.delivery.batch import Batch, BatchRun
from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent, Mark
from gazette.domain.feedback.reputation import CategoryCounts, CategoryHold
from gazette.domain.model import RunKey, Schedule


class RunSequences(Protocol):
    """Schedules by (user id, name), each with the sequence of its next run."""

    def get(self, user_id: str, name: str) -> Schedule | None:
        """Return the schedule, or None."""

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        """Store it if the stored schedule is still `replacing` (None: none is stored); else False.

        Compares the next occurrence, the sequence, the revision and the date of the change.
        """


ScheduleKey = tuple[str, str]
"""The user id and the name of a schedule."""


class Schedules(RunSequences, Protocol):
    """Schedules by (user id, name), and those that are due by (slot, shard)."""

    def get_many(self, keys: Collection[ScheduleKey]) -> Sequence[Schedule | UnreadableRow]:
        """Return the schedules that exist among the keys, however many there are, in no order."""

    def of_user(self, user_id: str) -> Sequence[Schedule]:
        """Return all schedules of a user, including those that are not in the due index."""

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[ScheduleKey]]:
        """Yield the keys of the schedules due in a slot and shard, page by page.

        Eventually consistent: a schedule that was written in the last seconds may be missing, and
        one that has been advanced may still be there. Read each schedule itself, and the slot again
        at a later tick.
        """

    def idle(self, segment: int, segments: int) -> Iterator[Schedule | UnreadableRow]:
        """Yield the idle schedules of one of `segments` equal parts of the table, from 0 on.

        Eventually consistent. An UnreadableRow may be of any state.
        """

    def count_due(self, slot: datetime, shard: int) -> int:
        """Return how many schedules are due. Eventually consistent."""

    def withdraw(self, schedule: Schedule) -> bool:
        """Store it as withdrawn, if it is as it was read; else return False."""

    def remove(self, schedule: Schedule) -> bool:
        """Delete it, if it is as it was read; else return False."""


class Runs(Protocol):
    """Runs by key. No method ever removes one."""

    def create(self, run: Run) -> Run:
        """Store the run unless its key exists; return the run that is stored now."""

    def get(self, key: RunKey) -> Run | None:
        """Return the run, or None."""

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        """Return the run of `key` and the runs before it, newest first.

        Reaches back to the last earlier run that was sent with a window, or to the first run; with
        `holding`, to the last sent run whose window ended before that instant. It ends earlier at
        the head of a run (chain.back_to_end), which says up to when the events behind it were sent.
        Empty if there is no run with that key or an earlier one.
        """

    def first_sent(self, behind: RunKey, *, until: datetime) -> Run | None:
        """Return the first later run of a schedule that was sent with a window up to `until`.

        Its window may end later. None if there is none.
        """

    def of_user(self, user_id: str) -> Iterator[Run | UnreadableRow]:
        """Yield every run of a user, of all schedules."""

    def of_batch(self, slot: datetime) -> Iterator[BatchRun | UnreadableRow]:
        """Yield the runs that are due in a slot, except immediate ones.

        Eventually consistent: a run that was written in the last seconds may be missing or
        outdated.
        """

    def swap(self, before: Run, after: Run) -> Run:
        """Store `after` if status, reason, attempt and epoch are still those of `before`.

        Returns the run that is stored now: `after` if the write succeeded, even if its answer was
        lost and only the nonce shows that; else what another process stored. Never creates a run:
        raises LookupError if there is none.
        """

    def swap_together(self, pairs: Sequence[tuple[Run, Run]]) -> bool:
        """Store the second of each pair, all or none, if each first is as it was read.

        Compares as `swap` does. If both runs of a pair are the same, that run is only checked.
        Returns True if the write succeeded, even if its answer was lost and only the nonce of the
        first pair shows that; False if another process has changed one of the runs.
        """

    def overdue(self, partition: int, at: datetime) -> Iterator[Run | UnreadableRow]:
        """Yield the open runs of a partition whose `check_at` is not after `at`, the oldest first.

        The index is eventually consistent; each run is yielded as it is stored now.
        """

    def open_runs(self, partition: int) -> Iterator[tuple[RunKey, datetime]]:
        """Yield each open run of a partition, and when it was or will be due.

        Eventually consistent.
        """


class Batches(Protocol):
    """The batches, and the checkpoint of each shard."""

    def begin(self, slot: datetime) -> Batch:
        """Record that runs of the slot are being started; return the batch."""

    def cancel(self, slot: datetime) -> Batch:
        """Record that no run of the slot may be sent any more; return the batch.

        Also works before any run was started. Every later read of the batch sees it.
        """

    def get(self, slot: datetime) -> Batch:
        """Return the batch of the slot."""

    def latest(self, number: int) -> Sequence[Batch]:
        """Return the last `number` batches, newest first. Eventually consistent."""

    def announce(self, shards: int) -> None:
        """Record that schedules may be written to `shards` shards, before the first write."""

    def announced(self) -> Mapping[int, datetime]:
        """Return every number of shards that was ever announced, with the slot of that."""

    def checkpoints(self) -> Mapping[int, datetime]:
        """Return, for each shard that ever finished, the last slot that it has finished.

        An unreadable row counts as absent, here and in `announced`: its shard starts again from its
        beginning, which takes longer, and starts nothing twice.
        """

    def save_checkpoint(self, shard: int, slot: datetime) -> None:
        """Record that a shard has finished `slot` and all before it; it never goes back."""

    def leave_behind(self, shard: int, slot: datetime) -> None:
        """Record that a slot still has a due schedule with a row that could not be read.

        Each tick looks at the slot again, whatever the checkpoint of the shard.
        """

    def left_behind(self) -> Collection[tuple[int, datetime]]:
        """Return shard and slot of everything that was left behind."""

    def catch_up(self, shard: int, slot: datetime) -> None:
        """Record that nothing of the slot is left behind any more."""


class CategoryStats(Protocol):
    """What became of the emails that showed a category, by the hour in which they were sent.

    The counts serve a threshold: a lost one is not made up for, and a repeated one not undone.
    """

    def add(self, category: str, mark: Mark, sent_at: datetime) -> None:
        """Count one more email that was sent at that instant, perhaps only with `flush`.

        A bounce or a complaint counts only if a sent email of that hour was counted: so emails that
        were sent before `forget` no longer count.
        """

    def flush(self) -> None:
        """Write what was counted so far. Raises Unavailable; the next call writes the rest, if the
        process lives until then.
        """

    def since(self, category: str, instant: datetime) -> CategoryCounts:
        """Return the sums for emails that were sent in the hour of `instant` or later."""

    def forget(self, category: str) -> None:
        """Begin anew."""


class CategoryHolds(Protocol):
    """The category holds."""

    def active(self) -> Sequence[CategoryHold]:
        """Return all holds, by name."""

    def add(self, hold: CategoryHold) -> bool:
        """Put a category on hold; False if it is on hold already, and the hold stays as it is."""

    def release(self, category: str) -> bool:
        """Release the category; False if it was not on hold."""


class Engagements(Protocol):
    """What became of emails, by run. The rows do not depend on order or repetition of events."""

    def record(self, run: Run, event: EngagementEvent, at: datetime) -> bool:
        """Record that the event happened to the email of `run`, unless it has happened before `at`.

        Stored with the locale, the variant and the categories of `run`. Returns whether the event
        is the first of its kind: True at most once for each, and never if that answer was lost.
        """

    def of_slot(self, slot: datetime) -> Iterator[Engagement | UnreadableRow]:
        """Yield what became of the emails that were due in a slot, immediate ones included.

        Eventually consistent. An email without delivery events is not included.
        """
