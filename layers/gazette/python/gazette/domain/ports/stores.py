"""The tables of subscribers, follows, activities, events, suppressions and bounces.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC. Reads are strongly consistent unless the
method says otherwise. A method raises UnreadableRow for a row that cannot be read, also if it
returns a Sequence or a Mapping; an Iterator yields the UnreadableRow in its place and continues
(rule 20).
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
        """Return the profile or the erasure of the user id, or None."""

    def get_many(self, user_ids: Collection[str]) -> Mapping[str, Reader]:
        """Return the reader of each user id, any number of them."""

    def early(self, user_id: str) -> EarlyChoices | None:
        """Return the choices of a reader whose profile is not known yet, or None."""

    def put_early(self, early: EarlyChoices, *, replacing: EarlyChoices | None) -> bool:
        """Store it if there is no profile, no erasure, and still `replacing`; else return False."""

    def put(self, subscriber: Subscriber, *, replacing: Reader | EarlyChoices) -> bool:
        """Store the profile if the stored value is still `replacing`; else return False.

        `replacing` None: neither a profile nor an early choice is stored. A profile replaces an
        early choice. `active_on`, `routed_for` and `routes_since` are unchanged, because other
        methods write them.
        """

    def mark_active(self, user_id: str, on: date) -> None:
        """Store the latest date of activity, even before the profile is known."""

    def set_dormant(self, subscriber: Subscriber) -> bool:
        """Make an active subscriber dormant, if profile and last activity are as read."""

    def mark_routed(
        self, subscriber: Subscriber, routed_for: str, *, since: datetime | None = None
    ) -> None:
        """Store `routed_for`, and `since` as `routes_since` unless it is None.

        Changes nothing if the subscriber has changed, or a later instant is stored.
        """

    def mark_rerouted(self, user_id: str, since: datetime) -> None:
        """Store `routes_since`, if there is a profile and no later instant is stored."""

    def erase(self, user_id: str, at: datetime) -> bool:
        """Delete everything except the instant. Returns False if a newer profile is stored."""


class Follows(Protocol):
    """Follows by (entity key, user id), and by user id."""

    def get(self, entity: str, user_id: str) -> Follow | None:
        """Return the follow, even if it has ended, or None."""

    def get_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Follow]:
        """Return the existing follows among the (entity key, user id) pairs, any number of them."""

    def put(self, follow: Follow, *, replacing: Follow | None) -> bool:
        """Store it if the stored follow is still `replacing` (None: none is stored); else return
        False.
        """

    def page(
        self, entity: str, *, after: str, through: str = "", limit: int
    ) -> Sequence[Follow | UnreadableRow]:
        """Return up to `limit` follows with user ids in (`after`, `through`], ordered by user id.

        An empty `through` means no upper bound. Fewer than `limit` results mean that there are no
        more. An UnreadableRow replaces a follow that cannot be read.
        """

    def followed_by(
        self, user_id: str, *, after: str = "", at_most: int | None = None
    ) -> Iterator[str]:
        """Yield the keys of entities that a user follows or followed, after `after`, in order.

        Yields all keys, or `at_most` of them. Eventually consistent.
        """

    def forget(self, user_id: str, entities: Collection[str]) -> None:
        """Delete the follows of a user regardless of their state, including unreadable ones."""

    def remove(self, follow: Follow) -> bool:
        """Delete it, if it has not changed since it was read; else return False."""


class Activities(Protocol):
    """Activities by (key of their entity, id), and by time on each side."""

    def get(self, entity: str, activity_id: str) -> Activity | Retracted | None:
        """Return the activity; Retracted if it was withdrawn before it arrived."""

    def create(self, activity: Activity) -> tuple[bool, Activity | Retracted]:
        """Store it unless its key exists; return True if it was stored, and the stored row."""

    def replace(self, before: Activity, after: Activity) -> bool:
        """Store `after` if the stored activity still equals `before`; else return False."""

    def retract(self, entity: str, activity_id: str) -> Activity | Retracted:
        """Mark it as withdrawn, even before it arrives; return the stored row."""

    def mark_walked(self, activity: Activity, side: str) -> bool:
        """Record that all followers of `side` have the activity, or are queued to get it.

        Only if the stored activity still equals `activity`; else return False.
        """

    def get_many(
        self, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Activity | Retracted | UnreadableRow]:
        """Return the existing rows among the keys, any number of them."""

    def since(self, side: str, instant: datetime) -> Iterator[Activity | UnreadableRow]:
        """Yield the activities on or below an entity that occurred at `instant` or later.

        Includes those that were below it before they were amended.
        """


@dataclass(frozen=True, slots=True)
class Guard:
    """Conditions and writes in the transaction that moves or removes an event.

    The transaction raises the epoch of each run and the revision of each schedule, so that a claim
    whose window was read before fails.
    """

    open_runs: tuple[Run, ...] = ()
    """Runs that must not have changed since they were read."""

    schedules: tuple[Schedule, ...] = ()
    """Schedules that must not have changed since they were read."""

    not_started: tuple[RunKey, ...] = ()
    """Runs that must not exist."""

    not_after: datetime | None = None
    """The time after which no event is moved."""

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
        """Return True if the transaction writes and checks the event only."""
        return self.items == 0

    @property
    def items(self) -> int:
        """The number of items that it adds to the transaction."""
        return len(self.open_runs) + len(self.schedules) + len(self.not_started)

    def once_raised(self) -> "Guard":
        """Return the guard of the next transaction, if no other process changes a row after this
        one.
        """
        return replace(
            self,
            open_runs=tuple(replace(run, epoch=run.epoch + 1) for run in self.open_runs),
            schedules=tuple(replace(each, revision=each.revision + 1) for each in self.schedules),
        )


Placed = tuple[Event, str, Recurrence | None]
"""An event, its schedule, and the recurrence of the schedule, as `Events.store` takes them."""


MOST_IN_A_TRANSACTION = 100
"""The largest number of items in a transaction: events and guard together.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
"""


class Events(Protocol):
    """Events by (user id, event id), each with its schedule. Expired events count as absent."""

    def store(
        self, event: Event, schedule: str, recurrence: Recurrence | None = None
    ) -> tuple[bool, StoredEvent | Retracted]:
        """Store it unless its id exists; return True if it was stored, and the stored row.

        Each attempt to write uses a new storage time. After the return, every read of a window that
        contains the storage time sees the event. The `recurrence` of the schedule extends
        its lifetime (lifetime.lasts_until).
        """

    def store_together(self, placed: Sequence[Placed]) -> Sequence[StoredEvent] | None:
        """Store up to MOST_IN_A_TRANSACTION events, all or none; None if one of them exists.

        Like `store`, with a storage time for each. Also None if the transaction conflicts with
        another one.
        """

    def get(self, user_id: str, event_id: str) -> StoredEvent | Retracted | None:
        """Return the event with its place, Retracted if it was retracted, or None."""

    def get_many(
        self, user_id: str, event_ids: Collection[str]
    ) -> Mapping[str, StoredEvent | Retracted | UnreadableRow]:
        """Return the results of `get` by event id, any number of them."""

    def amend(self, stored: StoredEvent, event: Event) -> bool:
        """Replace its content by `event` in its place, if it has not changed since `stored`."""

    def move(
        self, stored: StoredEvent, schedule: str, guard: Guard, recurrence: Recurrence | None = None
    ) -> StoredEvent | None:
        """Move it to another schedule, with a new storage time, if it is still in its place.

        In one transaction with `guard`; returns None if any condition failed. Its lifetime stays
        the same, or becomes longer if the `recurrence` of that schedule requires it.
        """

    def move_together(
        self,
        all_stored: Sequence[StoredEvent],
        schedule: str,
        guard: Guard,
        recurrence: Recurrence | None = None,
    ) -> Sequence[StoredEvent] | None:
        """Move several events like `move`, all or none, in one transaction with `guard`.

        Events and guard together are at most MOST_IN_A_TRANSACTION.
        """

    def extend(self, stored: StoredEvent, until: datetime) -> bool:
        """Extend its lifetime, if it is still in its place and does not already last longer."""

    def extend_together(self, all_stored: Sequence[StoredEvent], until: datetime) -> bool:
        """Extend up to MOST_IN_A_TRANSACTION events like `extend`, all or none."""

    def remove(self, stored: StoredEvent, guard: Guard) -> bool:
        """Delete it, if it is still in its place, in one transaction with `guard`."""

    def remove_together(self, all_stored: Sequence[StoredEvent], guard: Guard) -> bool:
        """Delete several events like `remove`, all or none, in one transaction with `guard`.

        Events and guard together are at most MOST_IN_A_TRANSACTION.
        """

    def retract(self, user_id: str, event_id: str, *, early: bool) -> Retracted | None:
        """Retract it permanently; with `early`, even before it arrives.

        None if the row did not change.
        """

    def stored_under(
        self, user_id: str, schedule: str, *, after: datetime
    ) -> Iterator[StoredEvent | UnreadableRow]:
        """Yield the events that were stored under a schedule after an instant, oldest first."""

    def erase(self, user_id: str, until: datetime | None, *, after: str = "") -> str:
        """Delete a page of a user's events and traces; with `until`, only the events up to it.

        The page has ids after `after`. Returns the id after which to continue; empty at the end.
        Retractions made after the user came back stay. Rows that cannot be read are deleted.
        """


class EventReader(Protocol):
    """A reader's events, by the window in which they were stored."""

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredEvent]:
        """Yield the events stored in `(since, until]`, oldest first, including expired and lapsed
        ones.

        Such events stay until they are counted (`DeferredEvents.expire`) or their rows are deleted.
        Raises UnreadableRow for an event that cannot be read. A sent email closes the window, so
        the event would be lost; the run waits instead (rule 20).
        """

    def skim(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredBrief]:
        """Yield the briefs of the events of `read`, any number of them, with far less CPU."""

    def load(self, user_id: str, event_ids: Collection[str]) -> Mapping[str, StoredEvent]:
        """Return the existing events among these ids, as stored now, under any schedule."""

    def holds(
        self, user_id: str, schedule: str, *, after: datetime, until: datetime | None = None
    ) -> bool:
        """Return True if `read` finds an event stored in `(after, until]`; None: no end."""


EVENTS_AT_ONCE = 49
"""The number of events in one transaction, in addition to their run.

It is half of DynamoDB's limit, because a transaction must not exceed 4 MB.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
"""


class DeferredEvents(Protocol):
    """The events that are excluded, expired or deferred, and so taken out of a run's window."""

    def exclude(self, event: Event, run: Run, why: str, *, for_good: bool = False) -> Run | None:
        """Take the event out of the schedule of `run` and store the reason `why`.

        One transaction checks that event and run are as given and raises the run's epoch, so that
        no event leaves a window that another worker has claimed. Returns the new run; None if a row
        had changed and no write was made. No window has the event from then on. If its producer
        publishes it again, it returns to its schedule. With `for_good` it does not, because it may
        have been sent, and the number of its emails would be lost.
        """

    def expire(
        self, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str] = ()
    ) -> Run | None:
        """Take up to EVENTS_AT_ONCE out of the schedule of `run`: all of them, or none.

        Each must still be in its place and be over. A lapsed event must still be lapsed, because an
        amendment may have given it more time. Like `exclude`, one transaction checks the run and
        raises its epoch, so that no other worker claims a window with the events. Returns the new
        run; None if a row had changed and no write was made. So each event is counted once. No
        window has it from then on. If an amendment gives it more time, it returns to its schedule,
        unless its id is in `for_good`.
        """

    def defer(self, event_ids: Sequence[str], run: Run) -> Run | None:
        """Store the events again under the schedule of `run`, as of now, so that they follow its
        window.

        Each transaction checks that the run is as given and raises its epoch. A worker that has
        read the events can then no longer claim it, and no event is deferred after a claim. Returns
        the new run; None if the run or an event had changed. Some events may then have been
        deferred.
        """


class Suppressions(Protocol):
    """Addresses that get no email.

    All methods take the hash of an address (identity.address_hash), or the `address` of a
    Suppression that the port itself returned.
    """

    def add(self, address_hash: str, cause: Cause, since: datetime | None = None) -> bool:
        """Suppress an address, from now or `since`. Return False if the suppression is unchanged.

        A greater cause replaces a lesser one; a lesser or equal cause changes nothing. So the
        greatest cause stays, regardless of the order of calls. The readers who asked for it are
        kept.
        """

    def unsubscribe(self, address_hash: str, user_id: str) -> None:
        """Suppress an address from now on, because this reader unsubscribed.

        All readers of the address who unsubscribed are kept, also if a greater cause applies, which
        is unchanged.
        """

    def resubscribe(self, address_hash: str, user_id: str) -> None:
        """Undo the unsubscription of this reader; lift it if no other reader of the address
        unsubscribed.

        A suppression without a known reader is lifted, because it was imported, or requested by an
        earlier owner of the address. A greater cause is not lifted.
        """

    def holds(self, address_hash: str, *, critical: bool = False) -> bool:
        """Return True if the address is suppressed, even if the cause cannot be read.

        `critical`: for an email that is sent even if the reader, or another one of the address, has
        unsubscribed.
        """

    def get(self, address_hash: str) -> Suppression | None:
        """Return the cause and time of the suppression; None if the address is not suppressed."""

    def lift(self, address_hash: str, cause: Cause) -> None:
        """Lift the suppression of the address if its cause is `cause`, for all readers of the
        address.

        If the cause is greater than `UNSUBSCRIBED`, the unsubscriptions of readers remain.
        """

    def each(self) -> Iterator[Suppression | UnreadableRow]:
        """Yield all suppressions, in no order. Eventually consistent; reads the whole table."""


class LastLook(Protocol):
    """A joint read of a reader and the suppression of an address, after a claim and before the
    call.
    """

    def __call__(
        self, user_id: str, address_hash: str, *, critical: bool = False
    ) -> tuple[Reader, bool]:
        """Return the reader of the user id, and True if the address is suppressed.

        The arguments and the second result are those of `Suppressions.holds`.
        """


class Bounces(Protocol):
    """Soft bounces by the hash of the address. Arguments are those of `Suppressions`."""

    def remember(self, address_hash: str, bounce: SoftBounce) -> Collection[SoftBounce]:
        """Store a bounce; return the bounces of the address, including this one.

        One message counts once, however often its bounce arrives. No bounce is deleted while others
        still arrive.
        """

    def forget(self, address_hash: str) -> None:
        """Delete the bounces of the address."""
