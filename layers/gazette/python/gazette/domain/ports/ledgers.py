"""What the steps need from the tables of what is due and what became of it.

Every port may raise `Unavailable`; the caller then cannot know whether a write was made, and
does the same again. All instants are timezone-aware UTC. Reads are strongly consistent unless
they say otherwise. A row that cannot be read is raised as UnreadableRow, also by a Sequence or a
Mapping; an Iterator tells it in its place, and goes on (rule 20).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from gazette.domain.delivery.batch import Batch, Counted
from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent
from gazette.domain.feedback.reputation import CategoryCounts, CategoryHold, Mark
from gazette.domain.model import RunKey, Schedule


class RunSequences(Protocol):
    """Schedules by (user id, name), with the sequence of the next run of each."""

    def get(self, user_id: str, name: str) -> Schedule | None:
        """The schedule, or None."""

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        """Store it if what is there is still `replacing` (None: nothing); False where not.

        Told by next occurrence, sequence, revision and the date of the change.
        """


class Schedules(RunSequences, Protocol):
    """Schedules by (user id, name), and those that are due by (slot, shard)."""

    def of_user(self, user_id: str) -> Sequence[Schedule]:
        """All schedules of a user, also those that are not in the due index."""

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[Schedule | UnreadableRow]]:
        """The schedules due in a slot and shard, page by page.

        Eventually consistent: one written in the last seconds may be missing, one that has
        been advanced may still be there. Read the slot again on a later tick.
        """

    def count_due(self, slot: datetime, shard: int) -> int:
        """How many there are. Eventually consistent."""

    def withdraw(self, schedule: Schedule) -> bool:
        """Take it out of the due index, if it is as it was read; else False.

        It is kept, no longer `listed`, and fan-out no longer sees it.
        """

    def remove(self, schedule: Schedule) -> bool:
        """Leave no trace of it, if it is as it was read; else False."""


class Runs(Protocol):
    """Runs by key. No method ever removes one."""

    def create(self, run: Run) -> Run:
        """Store the run unless its key exists; returns the run that is stored now."""

    def get(self, key: RunKey) -> Run | None:
        """The run, or None."""

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        """The run of `key` and those before it, newest first.

        Reaches back to the last one before it that was sent with a window, or to the first; with
        `holding`, to the last whose window ended before that instant. Empty
        where nothing with that key or an earlier one exists.
        """

    def of_user(self, user_id: str) -> Iterator[Run | UnreadableRow]:
        """Every run of a user, whatever its schedule."""

    def of_batch(self, slot: datetime) -> Iterator[Counted | UnreadableRow]:
        """The runs that are due in a slot, but for those that go out at once.

        Eventually consistent: one that was written in the last seconds may be missing, or be
        as it was before.
        """

    def swap(self, before: Run, after: Run) -> Run:
        """Store `after` if status, reason, attempt and epoch are still those of `before`.

        Returns the run that is stored now: `after` where the write won, also where its answer
        was lost and the nonce shows that it was ours; else what somebody else stored. Never
        creates a run: raises LookupError where there is none.
        """

    def swap_together(self, pairs: Sequence[tuple[Run, Run]]) -> bool:
        """Store the second of each pair, all of them or none, if each first is as it was read.

        As `swap` tells it; one that is its own second is only looked at. True also where its
        answer was lost and the nonce of the first pair shows that it was ours; False where
        somebody else has stored one of them meanwhile.
        """

    def overdue(self, partition: int, at: datetime) -> Iterator[Run | UnreadableRow]:
        """The open runs of a partition that somebody had to look at by `at`, the oldest first.

        Found by an index that is eventually consistent; each is then as it is stored now.
        """

    def oldest_due(self, partition: int) -> datetime | None:
        """When the open run of a partition was due that was due first; None where none is open.

        Eventually consistent.
        """


class Batches(Protocol):
    """What is said of the runs of a slot as a whole, and how far each shard has come."""

    def begin(self, slot: datetime) -> Batch:
        """Remember that runs of the slot are being started; returns what is known of it."""

    def cancel(self, slot: datetime) -> Batch:
        """Remember that no run of the slot is to be sent any more; returns what is known of it.

        Also before any was started. Whoever reads the batch afterwards sees it.
        """

    def get(self, slot: datetime) -> Batch:
        """What is known of the slot's batch."""

    def latest(self, number: int) -> Sequence[Batch]:
        """The last `number` batches, newest first. Eventually consistent."""

    def announce(self, shards: int) -> None:
        """Say that schedules may be written to so many shards, before the first one is."""

    def announced(self) -> Mapping[int, datetime]:
        """Every number of shards that was ever announced, and the slot in which that was."""

    def checkpoints(self) -> Mapping[int, datetime]:
        """Of each shard that ever finished, the last slot that it is done with.

        One that cannot be read counts as none, here and above: its shard is gone through from where
        it began, which takes longer, and starts nothing twice.
        """

    def save_checkpoint(self, shard: int, slot: datetime) -> None:
        """Remember that a shard is done with `slot` and all before it; it never goes back."""

    def leave_behind(self, shard: int, slot: datetime) -> None:
        """Remember that something of a slot could not be read, and is due in it still.

        Whatever the shard is done with: each tick looks at it again.
        """

    def left_behind(self) -> Collection[tuple[int, datetime]]:
        """Shard and slot of all that was left behind."""

    def catch_up(self, shard: int, slot: datetime) -> None:
        """Remember that nothing of it is left behind any more."""


class CategoryStats(Protocol):
    """What became of the emails that showed a category, by the hour in which they were sent.

    Counts are for a threshold: what is lost on the way to them is not made up for.
    """

    def add(self, category: str, mark: Mark, sent_at: datetime) -> None:
        """Count one more of the emails that were sent at that instant.

        A bounce or a complaint counts only where one that was sent in that hour did: so what was
        sent before `forget` counts no more.
        """

    def since(self, category: str, instant: datetime) -> CategoryCounts:
        """The sum of what was sent in the hour of `instant` and later."""

    def forget(self, category: str) -> None:
        """Begin anew."""


class CategoryHolds(Protocol):
    """Which categories are on hold."""

    def active(self) -> Sequence[CategoryHold]:
        """All of them, by name."""

    def add(self, hold: CategoryHold) -> bool:
        """Put a category on hold; False where it is on hold already, and stays as it is."""

    def release(self, category: str) -> bool:
        """Release it; False where it was not on hold."""


class Engagements(Protocol):
    """What became of emails, by run. Whatever comes in any order, any number of times, ends in
    the same rows."""

    def note(self, run: Run, event: EngagementEvent, at: datetime) -> bool:
        """Remember that it happened to the email of `run`, unless it did before `at` already.

        Kept with the locale, the variant and the categories of `run`. Whether nothing was known of
        it before: True once at most for each event, and never where that answer was lost.
        """

    def of_slot(self, slot: datetime) -> Iterator[Engagement | UnreadableRow]:
        """What became of the emails that were due in a slot, those at once with them.

        Eventually consistent. An email of which nothing was reported is not among them.
        """
