"""The tables of subscribers, follows, activities, events, suppressions and bounces.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC. Reads are strongly consistent unless
they say otherwise. A method raises UnreadableRow for a row that cannot be read, also if it returns
a Sequence or a Mapping; an Iterator yields the UnreadableRow in its place and continues (rule 20).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Protocol

from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Event, Retracted, RunKey, Schedule, StoredEvent, Window
from gazette.domain.scheduling.calendar import Recurrence
from gazette.domain.subscribers.following import Activity, Follow
from gazette.domain.subscribers.subscriber import EarlyChoices, Reader, Subscriber
from gazette.domain.subscribers.suppression import Cause, SoftBounce, Suppression
from gazette.domain.window.briefs import StoredBrief


class Subscribers(Protocol):
    """Profiles by user id."""

    def get(self, user_id: str) -> Reader:
        """Return what is known of the user id."""

    def get_many(self, user_ids: Collection[str]) -> Mapping[str, Reader]:
        """Return what is known of each user id, however many there are."""

    def early(self, user_id: str) -> EarlyChoices | None:
        """Return what a reader chose before their profile was known, or None."""

    def put_early(self, early: EarlyChoices, *, replacing: EarlyChoices | None) -> bool:
        """Store it if there is no profile, no erasure, and still `replacing`; else False."""

    def put(self, subscriber: Subscriber, *, replacing: Reader | EarlyChoices) -> bool:
        """Store the profile if what is stored is still `replacing`; else return False.

        `replacing` None: neither a profile nor an early choice is stored. A profile replaces an
        early choice. Leaves `active_on`, `routed_for` and `routes_since` unchanged: other methods
        write them.
        """

    def mark_active(self, user_id: str, on: date) -> None:
        """Store the latest date of a sign of life, even before the profile is known."""

    def set_dormant(self, subscriber: Subscriber) -> bool:
        """Make an active subscriber dormant, if profile and last sign of life are as read."""

    def mark_routed(
        self, subscriber: Subscriber, routed_for: str, *, since: datetime | None = None
    ) -> None:
        """Store `routed_for`, and `since` as `routes_since` unless it is None.

        Changes nothing if the subscriber has changed, or a later instant is stored.
        """

    def mark_rerouted(self, user_id: str, since: datetime) -> None:
        """Store `routes_since`, if there is a profile and no later instant is stored."""

    def erase(self, user_id: str, at: datetime) -> bool:
        """Delete everything but the instant. Returns False if a newer profile is stored."""


class Follows(Protocol):
    """Follows by (entity key, user id), and by user id."""

    def get(self, entity: str, user_id: str) -> Follow | None:
        """Return the follow, even if it has ended, or None."""

    def get_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Follow]:
        """Return the follows that exist among the (entity key, user id), however many there are."""

    def put(self, follow: Follow, *, replacing: Follow | None) -> bool:
        """Store it if what is stored is still `replacing` (None: nothing); else return False."""

    def page(
        self, entity: str, *, after: str, through: str = "", limit: int
    ) -> Sequence[Follow | UnreadableRow]:
        """Return up to `limit` follows with user ids in (`after`, `through`], ordered by user id.

        An empty `through` is no bound. Fewer than `limit` means that there are no more. An
        UnreadableRow stands in the place of a follow that cannot be read.
        """

    def followed_by(
        self, user_id: str, *, after: str = "", at_most: int | None = None
    ) -> Iterator[str]:
        """Yield the keys of entities that a user follows or followed, behind `after`, in order.

        All, or `at_most` so many. Eventually consistent.
        """

    def forget(self, user_id: str, entities: Collection[str]) -> None:
        """Delete the follows of a user, whatever they say, also those that cannot be read."""

    def remove(self, follow: Follow) -> bool:
        """Delete it, if it is as it was read; else return False."""


class Activities(Protocol):
    """Activities by (key of their entity, id), and by when they occurred on each side."""

    def get(self, entity: str, activity_id: str) -> Activity | Retracted | None:
        """Return the activity; Retracted if it was withdrawn before it arrived."""

    def create(self, activity: Activity) -> tuple[bool, Activity | Retracted]:
        """Store it unless its key exists; return whether it was, and what is stored now."""

    def replace(self, before: Activity, after: Activity) -> bool:
        """Store `after` if what is stored still equals `before`; else return False."""

    def retract(self, entity: str, activity_id: str) -> Activity | Retracted:
        """Mark it as withdrawn, even before it arrives; return what is stored now."""

    def mark_walked(self, activity: Activity, side: str) -> bool:
        """Record that all followers of `side` have it or are queued for it.

        Only if the stored activity still equals `activity`; else returns False.
        """

    def get_many(
        self, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Activity | Retracted | UnreadableRow]:
        """Return what exists among the keys, however many there are."""

    def since(self, side: str, instant: datetime) -> Iterator[Activity | UnreadableRow]:
        """Yield the activities on or below an entity that occurred at `instant` or later.

        Also those that were below it before they were amended.
        """


@dataclass(frozen=True, slots=True)
class Guard:
    """Conditions and writes that share the transaction in which an event moves or leaves.

    The `open_runs` and `schedules` must be as they were read, and the epoch of each run and the
    revision of each schedule is raised: a claim whose window was read before then fails. The runs
    `not_started` must not exist. Nothing is moved after `not_after`.
    """

    open_runs: tuple[Run, ...] = ()
    schedules: tuple[Schedule, ...] = ()
    not_started: tuple[RunKey, ...] = ()
    not_after: datetime | None = None

    def __add__(self, other: "Guard") -> "Guard":
        """Combine both guards."""
        return Guard(
            open_runs=self.open_runs + other.open_runs,
            schedules=self.schedules + other.schedules,
            not_started=self.not_started + other.not_started,
            not_after=self.not_after or other.not_after,
        )

    @property
    def is_alone(self) -> bool:
        """Whether the transaction writes and checks the event only."""
        return self.items == 0

    @property
    def items(self) -> int:
        """How many items of the transaction it takes."""
        return len(self.open_runs) + len(self.schedules) + len(self.not_started)

    def once_raised(self) -> "Guard":
        """The guard of the next transaction, if nobody else changes anything after this one."""
        return replace(
            self,
            open_runs=tuple(replace(run, epoch=run.epoch + 1) for run in self.open_runs),
            schedules=tuple(replace(each, revision=each.revision + 1) for each in self.schedules),
        )


Placed = tuple[Event, str, Recurrence | None]
"""An event, the schedule to store it under, and when that is due, as `Events.store` takes them."""


MOST_IN_A_TRANSACTION = 100
"""Items, and so events and guard together.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""


class Events(Protocol):
    """Events by (user id, event id), each with its schedule. Expired events count as absent."""

    def store(
        self, event: Event, schedule: str, wanted: Recurrence | None = None
    ) -> tuple[bool, StoredEvent | Retracted]:
        """Store it unless its id exists; return whether it was, and what is stored now.

        Each attempt to write takes a new storage time. After the return, every read of a window
        that contains the storage time sees the event. The recurrence `wanted` of the schedule
        extends its lifetime (lifetime.lasts_until).
        """

    def store_together(self, placed: Sequence[Placed]) -> Sequence[StoredEvent] | None:
        """Store up to MOST_IN_A_TRANSACTION events, all or none; None if one of them exists.

        As `store` does, with a storage time for each. Also None if the transaction conflicts with
        another one.
        """

    def get(self, user_id: str, event_id: str) -> StoredEvent | Retracted | None:
        """Return the event with its place, Retracted if it was retracted, or None."""

    def get_many(
        self, user_id: str, event_ids: Collection[str]
    ) -> Mapping[str, StoredEvent | Retracted | UnreadableRow]:
        """Return what `get` finds, by event id, however many there are."""

    def amend(self, stored: StoredEvent, event: Event) -> bool:
        """Replace its content by `event`, in its place, if it is still as in `stored`."""

    def move(
        self, stored: StoredEvent, schedule: str, guard: Guard, wanted: Recurrence | None = None
    ) -> StoredEvent | None:
        """Put it under another schedule, with a new storage time, if it is still in its place.

        In one transaction with `guard`; returns None if any condition failed. Its lifetime stays,
        or becomes longer if the recurrence `wanted` of that schedule requires it.
        """

    def move_together(
        self,
        all_stored: Sequence[StoredEvent],
        schedule: str,
        guard: Guard,
        wanted: Recurrence | None = None,
    ) -> Sequence[StoredEvent] | None:
        """Move several events as `move` does, all or none, in one transaction with `guard`.

        Events and guard together are at most MOST_IN_A_TRANSACTION.
        """

    def extend(self, stored: StoredEvent, until: datetime) -> bool:
        """Extend its lifetime, if it is still in its place and does not last longer already."""

    def extend_together(self, all_stored: Sequence[StoredEvent], until: datetime) -> bool:
        """Extend up to MOST_IN_A_TRANSACTION events as `extend` does, all or none."""

    def remove(self, stored: StoredEvent, guard: Guard) -> bool:
        """Delete it, if it is still in its place, in one transaction with `guard`."""

    def remove_together(self, all_stored: Sequence[StoredEvent], guard: Guard) -> bool:
        """Delete several events as `remove` does, all or none, in one transaction with `guard`.

        Events and guard together are at most MOST_IN_A_TRANSACTION.
        """

    def retract(self, user_id: str, event_id: str, *, early: bool) -> Retracted | None:
        """Retract it for good; with `early`, even before it arrives. None if nothing was done."""

    def stored_under(
        self, user_id: str, schedule: str, *, after: datetime
    ) -> Iterator[StoredEvent | UnreadableRow]:
        """Yield the events that were put under a schedule after an instant, oldest first."""

    def erase(self, user_id: str, until: datetime | None, *, after: str = "") -> str:
        """Delete a page of a user's events and traces; with `until`, only the events up to it.

        Those with an id after `after`. Returns after which one to continue; empty at the end.
        Retractions made after the user came back stay. Rows that cannot be read are deleted.
        """


class EventReader(Protocol):
    """A reader's events, by the window in which they were stored."""

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredEvent]:
        """Yield the events stored in `(since, until]`, oldest first, those that are over included.

        Such events stay until they are counted (`DeferredEvents.expire`) or their rows are
        deleted. Raises UnreadableRow for an event that cannot be read: a sent email closes the
        window, and the event would be lost behind it. So the run waits (rule 20).
        """

    def skim(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredBrief]:
        """Yield the briefs of what `read` yields, however many there are, for far less CPU."""

    def load(self, user_id: str, event_ids: Collection[str]) -> Mapping[str, StoredEvent]:
        """Return the events that exist of these ids, as they are now, wherever they are."""

    def holds(
        self, user_id: str, schedule: str, *, after: datetime, until: datetime | None = None
    ) -> bool:
        """Whether `read` finds an event that was stored in `(after, until]`; None: without end."""


EVENTS_AT_ONCE = 49
"""Events in one transaction, beside their run: half of DynamoDB's limit, because all of it together
must not exceed 4 MB.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""


class DeferredEvents(Protocol):
    """Excludes, expires and defers events: takes them out of a run's window."""

    def exclude(self, event: Event, run: Run, why: str, *, for_good: bool = False) -> Run | None:
        """Take the event out of the schedule of `run` and store the reason `why`.

        One transaction checks that event and run are as given and raises the run's epoch, so that
        no event leaves a window that another worker has claimed. Returns the run as it is then;
        None if something had changed, and nothing was done. No window has the event any more. If
        its producer puts it again, it returns to its schedule, unless `for_good`: it may have gone
        out, and nobody could tell any more in how many emails it was.
        """

    def expire(
        self, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str] = ()
    ) -> Run | None:
        """Take up to EVENTS_AT_ONCE out of the schedule of `run`: all of them, or none.

        Each must still be in its place and be over. An event that has lapsed must still say so: an
        amendment may have given it more time. As in `exclude`, one transaction checks the run and
        raises its epoch, so that no other worker claims a window with the events. Returns the run
        as it is then; None if something had changed, and nothing was done. So each event is counted
        once. No window has it any more. If an amendment gives it more time, it returns to its
        schedule, unless its id is in `for_good`, as in `exclude`.
        """

    def defer(self, event_ids: Sequence[str], run: Run) -> Run | None:
        """Store the events anew under the schedule of `run`, as of now: behind its window.

        Each transaction checks that the run is as given and raises its epoch: a worker that has
        read the events can no longer claim it, and nothing is deferred after a claim. Returns the
        run as it is then; None if the run or an event had changed. Some events may then have been
        deferred.
        """


class Suppressions(Protocol):
    """Addresses that get no email.

    All methods take the hash of an address (identity.address_hash), or the `address` of a
    Suppression that the port itself returned.
    """

    def add(self, address_hash: str, cause: Cause, since: datetime | None = None) -> bool:
        """Suppress an address, from now or `since`. Returns False if nothing changed.

        A greater cause replaces a lesser one; a lesser or equal cause changes nothing. So the
        greatest cause stays, in whatever order causes are added. Who asked for it is kept.
        """

    def unsubscribe(self, address_hash: str, user_id: str) -> None:
        """Suppress an address, from now, because this reader of it asked for no more email.

        Of several readers of an address, all who asked for it are kept, also behind a greater
        cause, which stays as it is.
        """

    def resubscribe(self, address_hash: str, user_id: str) -> None:
        """Take back what this reader of the address asked for; lift it if nobody else asked for it.

        A suppression of which nobody knows who asked for it is lifted: it was imported, or asked
        for by somebody who had the address before. A greater cause is not lifted.
        """

    def holds(self, address_hash: str, *, critical: bool = False) -> bool:
        """Whether the address is suppressed, even if the cause cannot be read.

        `critical`: for an email that comes although its reader, or another one of the address, has
        unsubscribed.
        """

    def get(self, address_hash: str) -> Suppression | None:
        """Return why and since when the address is suppressed; None if it is not."""

    def lift(self, address_hash: str, cause: Cause) -> None:
        """Lift the suppression of the address, if its cause is `cause`, whoever asked for it.

        Behind a greater cause than `UNSUBSCRIBED`, what readers asked for remains.
        """

    def each(self) -> Iterator[Suppression | UnreadableRow]:
        """Yield all suppressions, in no order. Eventually consistent; reads the whole table."""


class LastLook(Protocol):
    """Reads a reader and the suppression of an address at once: after a claim, before the call."""

    def __call__(
        self, user_id: str, address_hash: str, *, critical: bool = False
    ) -> tuple[Reader, bool]:
        """Return what is known of the user id, and whether the address is suppressed.

        The arguments and the second answer are those of `Suppressions.holds`.
        """


class Bounces(Protocol):
    """Soft bounces, by the hash of the address. Takes what `Suppressions` takes."""

    def remember(self, address_hash: str, bounce: SoftBounce) -> Collection[SoftBounce]:
        """Store a bounce; return the bounces of the address, this one included.

        One message counts once, however often its bounce arrives. None is forgotten while others
        still arrive.
        """

    def forget(self, address_hash: str) -> None:
        """Forget the bounces of the address."""
