"""The tables of schedules, runs, batches, holds and engagement.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC. Reads are strongly consistent unless the
method says otherwise. A method that reads one row, or returns a Sequence or a Mapping, raises
UnreadableRow for a row that cannot be read; an Iterator yields the UnreadableRow in place of the
row and continues (rule 20).
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
    """The store of schedules, keyed by user id and name. Each schedule has the sequence number of
    its next run."""

    def get(self, user_id: str, name: str) -> Schedule | None:
        """Return the schedule with this name, or None."""

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        """Store the schedule if the stored schedule still equals `replacing`; else return False.

        If `replacing` is None, no schedule may be stored yet. The method compares the next
        occurrence, the sequence, the revision and the date of the change.
        """


ScheduleKey = tuple[str, str]
"""The user id and the name of a schedule."""


class Schedules(RunSequences, Protocol):
    """The store of schedules, keyed by user id and name, with an index of due schedules by slot and
    shard."""

    def get_many(self, keys: Collection[ScheduleKey]) -> Sequence[Schedule | UnreadableRow]:
        """Return the existing schedules with these keys, in no particular order.

        Any number of keys is allowed.
        """

    def of_user(self, user_id: str) -> Sequence[Schedule]:
        """Return all schedules of a user, including those that are not in the due index."""

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[ScheduleKey]]:
        """Yield the keys of the schedules due in a slot and shard, page by page.

        Eventually consistent: a schedule that was written in the last seconds may be missing, and a
        schedule that has advanced may still be included. Read each schedule itself, and read the
        slot again at a later tick.
        """

    def idle(self, segment: int, segments: int) -> Iterator[Schedule | UnreadableRow]:
        """Yield the idle schedules in one segment of the table. `segment` counts from 0 to
        `segments` - 1.

        Eventually consistent. An UnreadableRow may be in any state.
        """

    def count_due(self, slot: datetime, shard: int) -> int:
        """Return the number of schedules due in a slot and shard. Eventually consistent."""

    def withdraw(self, schedule: Schedule) -> bool:
        """Mark the schedule as withdrawn if it has not changed since it was read; else return
        False."""

    def remove(self, schedule: Schedule) -> bool:
        """Delete the schedule if it has not changed since it was read; else return False."""


class Runs(Protocol):
    """The store of runs. No method removes a run."""

    def create(self, run: Run) -> Run:
        """Store the run unless its key exists. Return the stored run."""

    def get(self, key: RunKey) -> Run | None:
        """Return the run with this key, or None."""

    def get_many(self, keys: Collection[RunKey]) -> Mapping[RunKey, Run | UnreadableRow]:
        """Return the existing runs with these keys. Any number of keys is allowed."""

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        """Return the run with this key and the runs before it, newest first.

        The chain extends to the last earlier run that was sent with a window, or to the first run.
        With `holding`, it extends to the last sent run whose window ended before that instant. The
        chain ends earlier at the head of a run (chain.back_to_end), which stores the time up to
        which earlier events were sent. Empty if there is no run with that key or an earlier one.
        """

    def of_thread(self, user_id: str, entity: str) -> Sequence[Run]:
        """Return the chains of the reader's immediate and urgent schedules for an entity.

        Each chain is that of the schedule's latest run. Runs of critical emails are not included.
        """

    def first_sent(self, behind: RunKey, *, until: datetime) -> Run | None:
        """Return the first run after `behind` that was sent with a window ending at `until` or
        later.

        None if there is no such run.
        """

    def of_user(self, user_id: str) -> Iterator[Run | UnreadableRow]:
        """Yield every run of a user, for all schedules."""

    def of_batch(self, slot: datetime) -> Iterator[BatchRun | UnreadableRow]:
        """Yield the runs that are due in a slot, except immediate runs.

        Eventually consistent: a run that was written in the last seconds may be missing or
        outdated.
        """

    def swap(self, before: Run, after: Run) -> Run:
        """Store `after` if the stored run still has the status, reason, attempt and epoch of
        `before`.

        Returns the stored run. It is `after` if the write succeeded, even if the response was lost
        and only the nonce proves the write; otherwise it is the run that another process stored.
        Never creates a run. Raises LookupError if there is no run.
        """

    def swap_together(self, pairs: Sequence[tuple[Run, Run]]) -> bool:
        """Replace the first run of each pair with the second run, in one transaction. All first
        runs must be unchanged.

        Compares runs like `swap`. If both runs of a pair are the same, that run is only checked.
        Returns True if the write succeeded, even if the response was lost and only the nonce of the
        first pair proves the write. Returns False if another process has changed one of the runs.
        """

    def overdue(self, partition: int, at: datetime) -> Iterator[Run | UnreadableRow]:
        """Yield a partition's open runs whose `check_at` is not after `at`, oldest first.

        The index is eventually consistent, but each run is yielded as it is stored now.
        """

    def open_runs(self, partition: int) -> Iterator[tuple[RunKey, datetime]]:
        """Yield the key and the due time of each open run in a partition.

        Eventually consistent.
        """


class Batches(Protocol):
    """The store of the batches and of each shard's checkpoint."""

    def begin(self, slot: datetime) -> Batch:
        """Record that fan-out is starting the runs of the slot. Return the batch."""

    def cancel(self, slot: datetime) -> Batch:
        """Cancel the batch of the slot, so that none of its runs can be sent any more. Return the
        batch.

        This works even before any run was started. Every later read of the batch shows the
        cancellation.
        """

    def get(self, slot: datetime) -> Batch:
        """Return the batch of the slot."""

    def latest(self, number: int) -> Sequence[Batch]:
        """Return the last `number` batches, newest first. Eventually consistent."""

    def announce(self, shards: int) -> None:
        """Record that schedules may be distributed over `shards` shards. Call this before the first
        write."""

    def announced(self) -> Mapping[int, datetime]:
        """Return every announced number of shards, with the slot in which it was announced."""

    def checkpoints(self) -> Mapping[int, datetime]:
        """Return the last finished slot of each shard. Shards without a finished slot are omitted.

        An unreadable row counts as absent, here and in `announced`. The shard then starts again
        from its beginning, which takes longer but starts no run twice.
        """

    def save_checkpoint(self, shard: int, slot: datetime) -> None:
        """Record that a shard has finished `slot` and all earlier slots.

        The checkpoint never decreases.
        """

    def leave_behind(self, shard: int, slot: datetime) -> None:
        """Record that the row of a due schedule in this slot could not be read.

        Each tick reads the slot again, regardless of the shard's checkpoint.
        """

    def left_behind(self) -> Collection[tuple[int, datetime]]:
        """Return each shard and slot with a due schedule that could not be read
        (`leave_behind`)."""

    def catch_up(self, shard: int, slot: datetime) -> None:
        """Record that all due schedules of the slot have been read, which undoes `leave_behind`."""


class CategoryStats(Protocol):
    """The counts of emails that showed a category, by the hour in which they were sent.

    The counts are compared with a threshold, so they need not be exact. A lost count is not
    recovered, and a repeated count is not undone.
    """

    def add(self, category: str, mark: Mark, sent_at: datetime) -> None:
        """Count one more email, which was sent at `sent_at`. The write may be delayed until
        `flush`.

        A bounce or a complaint counts only if a sent email of that hour was counted, so emails that
        were sent before `forget` no longer count.
        """

    def flush(self) -> None:
        """Write all counts that have not been written yet.

        Raises Unavailable; the next call then writes the remaining counts. They are lost if the
        process ends before that call.
        """

    def since(self, category: str, instant: datetime) -> CategoryCounts:
        """Return the total counts of emails that were sent in the hour of `instant` or later."""

    def forget(self, category: str) -> None:
        """Reset the counts of the category."""


class CategoryHolds(Protocol):
    """The store of category holds."""

    def active(self) -> Sequence[CategoryHold]:
        """Return all active holds, sorted by name."""

    def add(self, hold: CategoryHold) -> bool:
        """Put a category on hold.

        If the category is already on hold, return False and keep the existing hold.
        """

    def release(self, category: str) -> bool:
        """Release the category. Return False if it was not on hold."""


class Engagements(Protocol):
    """The store of engagement events, keyed by the run of the email.

    The stored rows do not depend on the order in which events arrive.
    """

    def record(self, run: Run, event: EngagementEvent, at: datetime) -> bool:
        """Record an event of the email of `run`, unless an earlier time of this event is stored.

        The event is stored with the locale, the variant and the categories of `run`. Returns True
        if the event is the first of its kind. True is returned at most once for each kind, and
        never if that response was lost.
        """

    def of_slot(self, slot: datetime) -> Iterator[Engagement | UnreadableRow]:
        """Yield the engagement of emails that were due in a slot, including immediate emails.

        Eventually consistent. An email without delivery events is not included.
        """
