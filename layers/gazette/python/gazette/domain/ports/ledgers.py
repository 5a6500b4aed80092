"""The tables of schedules, runs, batches, holds and engagement.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC. Reads are strongly consistent unless the
method says otherwise. A method raises UnreadableRow for a row that cannot be read, also if it
returns a Sequence or a Mapping; an Iterator yields the UnreadableRow in its place and continues
(rule 20).
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
        """Store it if the stored schedule is still `replacing` (None: none is stored); else return
        False.

        Compares the next occurrence, the sequence, the revision and the date of the change.
        """


ScheduleKey = tuple[str, str]
"""The user id and the name of a schedule."""


class Schedules(RunSequences, Protocol):
    """Schedules by (user id, name), and due schedules by (slot, shard)."""

    def get_many(self, keys: Collection[ScheduleKey]) -> Sequence[Schedule | UnreadableRow]:
        """Return the existing schedules among the keys, any number, in no order."""

    def of_user(self, user_id: str) -> Sequence[Schedule]:
        """Return all schedules of a user, including those that are not in the due index."""

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[ScheduleKey]]:
        """Yield the keys of the schedules due in a slot and shard, page by page.

        Eventually consistent: a schedule that was written in the last seconds may be missing, and
        one that has advanced may still be included. Read each schedule itself, and the slot again
        at a later tick.
        """

    def idle(self, segment: int, segments: int) -> Iterator[Schedule | UnreadableRow]:
        """Yield the idle schedules of part `segment` of `segments` equal parts of the table, from 0
        on.

        Eventually consistent. An UnreadableRow may be in any state.
        """

    def count_due(self, slot: datetime, shard: int) -> int:
        """Return the number of due schedules. Eventually consistent."""

    def withdraw(self, schedule: Schedule) -> bool:
        """Store it as withdrawn, if it has not changed since it was read; else return False."""

    def remove(self, schedule: Schedule) -> bool:
        """Delete it, if it has not changed since it was read; else return False."""


class Runs(Protocol):
    """Runs by key. No method removes a run."""

    def create(self, run: Run) -> Run:
        """Store the run unless its key exists; return the run that is stored now."""

    def get(self, key: RunKey) -> Run | None:
        """Return the run, or None."""

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        """Return the run of `key` and the runs before it, newest first.

        Reaches back to the last earlier run that was sent with a window, or to the first run; with
        `holding`, to the last sent run whose window ended before that instant. It ends earlier at
        the head of a run (chain.back_to_end), which stores the time up to which earlier events were
        sent. Empty if there is no run with that key or an earlier one.
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

        Returns the stored run: `after` if the write succeeded, even if the answer was lost and only
        the nonce proves it; else the run that another process stored. Never creates a run; raises
        LookupError if there is none.
        """

    def swap_together(self, pairs: Sequence[tuple[Run, Run]]) -> bool:
        """Store the second run of each pair, all or none, if each first run has not changed.

        Compares like `swap`. If both runs of a pair are the same, that run is only checked. Returns
        True if the write succeeded, even if the answer was lost and only the nonce of the first
        pair proves it; False if another process has changed one of the runs.
        """

    def overdue(self, partition: int, at: datetime) -> Iterator[Run | UnreadableRow]:
        """Yield the open runs of a partition whose `check_at` is not after `at`, the oldest first.

        The index is eventually consistent; each run is yielded as it is stored now.
        """

    def open_runs(self, partition: int) -> Iterator[tuple[RunKey, datetime]]:
        """Yield each open run of a partition with its due time.

        Eventually consistent.
        """


class Batches(Protocol):
    """The batches, and the checkpoint of each shard."""

    def begin(self, slot: datetime) -> Batch:
        """Record that the runs of the slot are being started; return the batch."""

    def cancel(self, slot: datetime) -> Batch:
        """Record that no run of the slot may be sent from now on; return the batch.

        Also works before any run was started. Every later read of the batch sees it.
        """

    def get(self, slot: datetime) -> Batch:
        """Return the batch of the slot."""

    def latest(self, number: int) -> Sequence[Batch]:
        """Return the last `number` batches, newest first. Eventually consistent."""

    def announce(self, shards: int) -> None:
        """Record that schedules may be written to `shards` shards, before the first write."""

    def announced(self) -> Mapping[int, datetime]:
        """Return every number of shards that was ever announced, with the slot of the
        announcement."""

    def checkpoints(self) -> Mapping[int, datetime]:
        """Return the last finished slot of each shard that ever finished one.

        An unreadable row counts as absent, here and in `announced`. Its shard starts again from its
        beginning, which takes longer, but starts no run twice.
        """

    def save_checkpoint(self, shard: int, slot: datetime) -> None:
        """Record that a shard has finished `slot` and all earlier slots.

        The checkpoint never decreases.
        """

    def leave_behind(self, shard: int, slot: datetime) -> None:
        """Record that a slot still has a due schedule whose row could not be read.

        Each tick reads the slot again, regardless of the shard's checkpoint.
        """

    def left_behind(self) -> Collection[tuple[int, datetime]]:
        """Return shard and slot of every slot that was left behind."""

    def catch_up(self, shard: int, slot: datetime) -> None:
        """Record that the slot is no longer left behind."""


class CategoryStats(Protocol):
    """The counts of emails that showed a category, by the hour in which they were sent.

    The counts serve a threshold. A lost count is not recovered, and a repeated one is not undone.
    """

    def add(self, category: str, mark: Mark, sent_at: datetime) -> None:
        """Count one more email that was sent at that instant; the write may happen in `flush`.

        A bounce or a complaint counts only if a sent email of that hour was counted, so emails that
        were sent before `forget` no longer count.
        """

    def flush(self) -> None:
        """Write all counts so far. Raises Unavailable; the next call writes the rest.

        The rest is lost if the process ends before.
        """

    def since(self, category: str, instant: datetime) -> CategoryCounts:
        """Return the sums for emails that were sent in the hour of `instant` or later."""

    def forget(self, category: str) -> None:
        """Reset the counts of the category."""


class CategoryHolds(Protocol):
    """The category holds."""

    def active(self) -> Sequence[CategoryHold]:
        """Return all holds, by name."""

    def add(self, hold: CategoryHold) -> bool:
        """Put a category on hold. Return False if it is already on hold; the hold is unchanged."""

    def release(self, category: str) -> bool:
        """Release the category; False if it was not on hold."""


class Engagements(Protocol):
    """The engagement events of emails, by run. The rows do not depend on the order of events."""

    def record(self, run: Run, event: EngagementEvent, at: datetime) -> bool:
        """Record that the event happened to the email of `run`, unless it has happened before `at`.

        It is stored with the locale, the variant and the categories of `run`. Returns True if the
        event is the first of its kind. True is returned at most once for each kind, and never if
        that answer was lost.
        """

    def of_slot(self, slot: datetime) -> Iterator[Engagement | UnreadableRow]:
        """Yield the engagement of the emails that were due in a slot, including immediate ones.

        Eventually consistent. An email without delivery events is not included.
        """
