"""The tables of subscribers, follows, activities, events, suppressions and bounces.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC. Reads are strongly consistent unless the
method says otherwise. A method that reads one row, or returns a Sequence or a Mapping, raises
UnreadableRow for a row that cannot be read; an Iterator yields the UnreadableRow in place of the
row and continues (rule 20).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import NamedTuple, Protocol

from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.happening.rewriting import Rewrite
from gazette.domain.model import Event, Retracted, RunKey, Schedule, StoredEvent, Window
from gazette.domain.scheduling.calendar import Recurrence
from gazette.domain.scheduling.cap import Usage
from gazette.domain.subscribers.following import Activity, Follow
from gazette.domain.subscribers.subscriber import EarlyChoices, Reader, Subscriber
from gazette.domain.subscribers.suppression import Cause, SoftBounce, Suppression
from gazette.domain.window.briefs import StoredBrief
from gazette.domain.window.seen import Seen, SeenMark


class Subscribers(Protocol):
    """The store of profiles, keyed by user id."""

    def get(self, user_id: str) -> Reader:
        """Return the profile or the erasure marker of the user id, or None."""

    def get_many(self, user_ids: Collection[str]) -> Mapping[str, Reader]:
        """Return the readers by user id. Any number of user ids is allowed."""

    def early(self, user_id: str) -> EarlyChoices | None:
        """Return the choices of a reader whose profile is not known yet, or None."""

    def put_early(self, early: EarlyChoices, *, replacing: EarlyChoices | None) -> bool:
        """Store early choices if the stored choices still equal `replacing`; else return False.

        Also returns False if there is a profile or an erasure marker.
        """

    def put(self, subscriber: Subscriber, *, replacing: Reader | EarlyChoices) -> bool:
        """Store the profile if the stored value still equals `replacing`; else return False.

        If `replacing` is None, neither a profile nor an early choice may be stored. A profile
        replaces an early choice. `active_on`, `seen_until`, `routed_for` and `routes_since` are
        unchanged, because other methods write them. If the mutes differ from those of `replacing`,
        `routes_since` is stored with them, unless a later instant is stored.
        """

    def mark_active(self, user_id: str, on: date) -> None:
        """Store the latest date of the reader's activity, even if the profile is not known yet."""

    def mark_seen(self, user_id: str, until: date) -> None:
        """Store the latest date as `seen_until`, even if the profile is not known yet."""

    def set_dormant(self, subscriber: Subscriber) -> bool:
        """Make an active subscriber dormant, unless the profile or the last activity has changed
        since the read."""

    def mark_routed(
        self, subscriber: Subscriber, routed_for: str, *, since: datetime | None = None
    ) -> None:
        """Store `routed_for`. If `since` is not None, also store it as `routes_since`.

        Changes nothing if the subscriber has changed, or if a later instant is stored.
        """

    def mark_rerouted(self, user_id: str, since: datetime) -> None:
        """Store `routes_since`, if the profile exists and no later instant is stored."""

    def erase(self, user_id: str, at: datetime) -> bool:
        """Delete all of a user's data except the time of the erasure.

        Returns False if a newer profile is stored.
        """


class Follows(Protocol):
    """The store of follows, keyed by entity key and user id, with an index by user id."""

    def get(self, entity: str, user_id: str) -> Follow | None:
        """Return the follow, even if it has ended, or None."""

    def get_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Follow]:
        """Return the existing follows for these pairs of entity key and user id.

        Any number of pairs is allowed.
        """

    def put(self, follow: Follow, *, replacing: Follow | None) -> bool:
        """Store the follow if the stored follow still equals `replacing`; else return False.

        If `replacing` is None, no follow may be stored yet.
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
        """Yield the keys of entities that a user follows or has followed, in order, after the key
        `after`.

        Yields all keys, or the first `at_most` keys. Eventually consistent.
        """

    def forget(self, user_id: str, entities: Collection[str]) -> None:
        """Delete all follows of a user, including ended and unreadable follows."""

    def remove(self, follow: Follow) -> bool:
        """Delete the follow if it has not changed since it was read; else return False."""


class Activities(Protocol):
    """The store of activities, keyed by entity key and id, with an index by side and time."""

    def get(self, entity: str, activity_id: str) -> Activity | Retracted | None:
        """Return the stored activity, a Retracted marker, or None.

        The marker means that the activity was retracted before it arrived.
        """

    def create(self, activity: Activity) -> tuple[bool, Activity | Retracted]:
        """Store the activity unless its key exists.

        Returns two values: True if the activity was stored, and the stored row.
        """

    def replace(self, before: Activity, after: Activity) -> bool:
        """Store `after` if the stored activity still equals `before`; else return False."""

    def retract(self, entity: str, activity_id: str) -> Activity | Retracted:
        """Mark an activity as retracted, even before it arrives. Return the stored row."""

    def mark_walked(self, activity: Activity, side: str) -> bool:
        """Record that all followers of `side` have the activity or are queued to get the activity.

        Returns False if the stored activity no longer equals `activity`.
        """

    def get_many(
        self, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Activity | Retracted | UnreadableRow]:
        """Return the existing rows with these keys. Any number of keys is allowed."""

    def since(self, side: str, instant: datetime) -> Iterator[Activity | UnreadableRow]:
        """Yield activities on an entity or its children that occurred at `instant` or later.

        Includes activities that belonged to a child of the entity before an amendment.
        """


@dataclass(frozen=True, slots=True)
class Guard:
    """The additional conditions and writes of a transaction that moves or removes an event.

    The transaction raises the epoch of each run and the revision of each schedule, so that claims
    based on earlier reads fail.
    """

    open_runs: tuple[Run, ...] = ()
    """The runs that must not have changed since they were read."""

    schedules: tuple[Schedule, ...] = ()
    """The schedules that must not have changed since they were read."""

    not_started: tuple[RunKey, ...] = ()
    """The keys of runs that must not exist."""

    not_after: datetime | None = None
    """The time after which no event may be moved."""

    def __add__(self, other: "Guard") -> "Guard":
        """Return a guard with the conditions and writes of both guards."""
        return Guard(
            open_runs=self.open_runs + other.open_runs,
            schedules=self.schedules + other.schedules,
            not_started=self.not_started + other.not_started,
            not_after=self.not_after or other.not_after,
        )

    @property
    def is_alone(self) -> bool:
        """Return True if the guard is empty, so that the transaction contains only the event."""
        return self.items == 0

    @property
    def items(self) -> int:
        """The number of items that the guard adds to the transaction."""
        return len(self.open_runs) + len(self.schedules) + len(self.not_started)

    def once_raised(self) -> "Guard":
        """Return the guard for the next transaction, assuming that no other process has changed a
        row."""
        return replace(
            self,
            open_runs=tuple(replace(run, epoch=run.epoch + 1) for run in self.open_runs),
            schedules=tuple(replace(each, revision=each.revision + 1) for each in self.schedules),
        )


class EventToStore(NamedTuple):
    """An event to store, with its schedule and the schedule's recurrence."""

    event: Event
    schedule: str
    recurrence: Recurrence | None = None
    is_capped: bool = False
    """True if the event is in a digest because of the limit of immediate emails (rule 28)."""


MOST_IN_A_TRANSACTION = 100
"""The maximum number of items in a transaction, counting events and guard together.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
"""


class Events(Protocol):
    """The store of events, keyed by user id and event id. Expired events count as absent."""

    def store(
        self,
        event: Event,
        schedule: str,
        recurrence: Recurrence | None = None,
        *,
        is_capped: bool = False,
    ) -> tuple[bool, StoredEvent | Retracted]:
        """Store an event unless its id exists.

        Returns two values: True if the event was stored, and the stored row. Each attempt to write
        uses a new storage time. After the return, every read of a window that contains the storage
        time sees the event. The `recurrence` of the schedule extends the event's lifetime
        (lifetime.lasts_until). `is_capped` is stored with the event.
        """

    def store_together(self, placed: Sequence[EventToStore]) -> Sequence[StoredEvent] | None:
        """Store up to MOST_IN_A_TRANSACTION new events in one transaction.

        Each event gets its own storage time, as in `store`. Returns None if one of the events
        exists or the transaction conflicts with another one.
        """

    def get(self, user_id: str, event_id: str) -> StoredEvent | Retracted | None:
        """Return the stored event, a Retracted marker if it was retracted, or None."""

    def get_many(
        self, user_id: str, event_ids: Collection[str]
    ) -> Mapping[str, StoredEvent | Retracted | UnreadableRow]:
        """Return the results of `get`, by event id. Any number of event ids is allowed."""

    def amend(self, stored: StoredEvent, event: Event) -> bool:
        """Replace the content of a stored event with `event`, unless the row has changed since
        `stored`."""

    def rewrite(self, change: Rewrite, guard: Guard) -> tuple[bool, StoredEvent | None]:
        """Write the row of a happening and a pointer, unless one of them has changed since the
        read.

        Uses one transaction with `guard`. Returns two values: True if the row was written, and the
        row as stored now. The second value is None if the row has no bodies or was not written.
        """

    def move(
        self, stored: StoredEvent, schedule: str, guard: Guard, recurrence: Recurrence | None = None
    ) -> StoredEvent | None:
        """Move an event to a different schedule, with a new storage time, unless another process
        has moved it or changed the bodies of its happening.

        Uses one transaction with `guard`, and returns None if any condition failed. The event's
        lifetime stays the same, or becomes longer if the `recurrence` of the new schedule requires
        it. `stored.is_capped` is stored with the event.
        """

    def move_together(
        self,
        all_stored: Sequence[StoredEvent],
        schedule: str,
        guard: Guard,
        recurrence: Recurrence | None = None,
    ) -> Sequence[StoredEvent] | None:
        """Move several events to a different schedule in one transaction with `guard`.

        The conditions are the same as for `move`. Events and guard together are at most
        MOST_IN_A_TRANSACTION items.
        """

    def cap(self, stored: StoredEvent) -> bool:
        """Store `is_capped` for an event that stays where it is, unless it has moved."""

    def extend(self, stored: StoredEvent, until: datetime) -> bool:
        """Extend an event's lifetime, unless the event has moved or already lasts longer."""

    def extend_together(self, all_stored: Sequence[StoredEvent], until: datetime) -> bool:
        """Extend the lifetimes of up to MOST_IN_A_TRANSACTION events in one transaction.

        The conditions are the same as for `extend`.
        """

    def remove(self, stored: StoredEvent, guard: Guard) -> bool:
        """Delete an event in one transaction with `guard`, unless another process has moved it or
        changed the bodies of its happening."""

    def remove_together(self, all_stored: Sequence[StoredEvent], guard: Guard) -> bool:
        """Delete several events in one transaction with `guard`, unless another process has moved
        one or changed the bodies of its happening.

        Events and guard together are at most MOST_IN_A_TRANSACTION items.
        """

    def retract(
        self, user_id: str, event_id: str, *, early: bool
    ) -> Retracted | StoredEvent | None:
        """Retract an event permanently. With `early`, this works even before the event arrives.

        Returns the row as stored now, or None if there is no row. A pointer becomes the marker of a
        retraction, which keeps `part_of`. The row of a happening with several bodies, or with a
        body that has an own id, is returned unchanged.
        """

    def stored_under(
        self, user_id: str, schedule: str, *, after: datetime
    ) -> Iterator[StoredEvent | UnreadableRow]:
        """Yield the events that were stored under a schedule after an instant, oldest first."""

    def erase(self, user_id: str, until: datetime | None, *, after: str = "") -> str:
        """Delete one page of a user's rows. With `until`, delete only events up to that time.

        The page begins after the id `after`. Returns the id after which the next page begins; empty
        at the end. Retractions made after the user returned are kept. Rows that cannot be read are
        deleted.
        """


class EventReader(Protocol):
    """A port that reads a subscriber's events by storage time."""

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredEvent]:
        """Yield the events stored in the window, oldest first, including expired and lapsed events.

        Such events remain stored until they are counted (`DeferredEvents.expire`) or their rows are
        deleted. Raises UnreadableRow for an event that cannot be read. If the email were sent, the
        window would close and the event would be lost. The run therefore waits (rule 20).
        """

    def skim(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredBrief]:
        """Yield the briefs of all events that `read` yields. This takes far less CPU time."""

    def load(self, user_id: str, event_ids: Collection[str]) -> Mapping[str, StoredEvent]:
        """Return the current events with these ids, under any schedule. Missing events are
        omitted."""

    def holds(
        self, user_id: str, schedule: str, *, after: datetime, until: datetime | None = None
    ) -> bool:
        """Return True if `read` finds an event stored in `(after, until]`.

        If `until` is None, the period has no end.
        """


EVENTS_AT_ONCE = 49
"""The maximum number of events in one transaction. The transaction also contains their run.

This is half of DynamoDB's limit, because a transaction must not exceed 4 MB.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
"""


class DeferredEvents(Protocol):
    """The store that removes excluded, expired, withdrawn and deferred events from a run's
    window."""

    def exclude(self, event: Event, run: Run, why: str, *, for_good: bool = False) -> Run | None:
        """Remove an event from the schedule of `run`, and store the reason `why`.

        One transaction checks that event and run are unchanged and raises the run's epoch. The
        event therefore cannot leave a window that another worker has claimed. Returns the new run;
        None if a row had changed or has other bodies, and no write was made. From then on, no
        window contains the event. If its producer publishes the event again, it returns to its
        schedule. With `for_good`, it
        does not return, because it may have been sent. If it returned, the number of emails that
        included it would be lost.
        """

    def expire(
        self, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str] = ()
    ) -> Run | None:
        """Remove up to EVENTS_AT_ONCE expired or lapsed events from the schedule of `run`.

        One transaction checks that each event has not moved and is still over, because an amendment
        may have given a lapsed event more time. Like `exclude`, it checks the run and raises its
        epoch, so that no other worker claims a window with the events. Returns the new run; None if
        a row had changed and no write was made. Each event is therefore counted once. From then on,
        no window contains the event. If an amendment gives the event more time, it returns to its
        schedule, unless its id is in `for_good`.
        """

    def withdraw(
        self, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str] = ()
    ) -> Run | None:
        """Remove up to EVENTS_AT_ONCE withdrawn events from the schedule of `run`, and store the
        `withdrawn_at` of each.

        One transaction checks that each event has not moved and is unchanged. Like `exclude`, it
        checks the run and raises its epoch, because a worker with an older list of withdrawals may
        be sending the events. Returns the new run; None if a row had changed and no write was made.
        From then on, no window contains the event. If its producer publishes the event again, it
        returns to its schedule, unless its id is in `for_good`.
        """

    def leave_out(self, stored: StoredEvent, *, for_good: bool = False) -> bool:
        """Remove an event whose entity the reader has seen, unless the row has changed since
        `stored`. Stores `seen_at`. Return False if the row has changed.

        From then on, no window contains the event. The caller first raises the epoch of its run, so
        that no other worker claims a window with the event. If an amendment makes the event later
        than `seen_at`, it returns to its schedule. With `for_good`, it does not return, because it
        may have been sent.
        """

    def defer(self, event_ids: Sequence[str], run: Run) -> Run | None:
        """Move events of `run` to the next window, by storing them again under the run's schedule.

        Each transaction checks that the run is unchanged and raises its epoch. A worker that has
        read the events can then no longer claim the run, and no event is deferred after a claim.
        Returns the new run; None if the run or an event had changed. Some events may then have been
        deferred.
        """


class SeenReader(Protocol):
    """A port that reads which entities a reader has seen."""

    def of(self, user_id: str, entities: Collection[str]) -> Seen:
        """Return the latest time at which the reader saw each of these entities, by entity key.

        Entities without a mark are omitted. Any number of entities is allowed.
        """


class ImmediateUsage(Protocol):
    """The store of the usage of the readers' limits of immediate emails (rule 28).

    A row is deleted as soon as it allows as much as no row, and when the reader is erased.
    """

    def get(self, user_id: str) -> Usage | None:
        """Return the usage of a reader, or None."""

    def put(self, user_id: str, usage: Usage, *, replacing: Usage | None) -> bool:
        """Store the usage if the stored usage still equals `replacing`; else return False."""


class SeenMarks(Protocol):
    """The store of the entities that readers have seen.

    An erasure of a reader's events also deletes the marks (`Events.erase`).
    """

    kept_for: timedelta
    """The time for which a mark is kept."""

    def put(self, mark: SeenMark) -> None:
        """Store the mark, unless a later one of the same entity is stored."""

    def remove(self, mark: SeenMark) -> None:
        """Delete the mark of the entity, unless a later one is stored."""


class Suppressions(Protocol):
    """The store of suppressed addresses, which get no email.

    All methods take the hash of an address (identity.address_hash), or the `address` of a
    Suppression that the port itself returned.
    """

    def add(self, address_hash: str, cause: Cause, since: datetime | None = None) -> bool:
        """Suppress an address, from now or from `since`. Return False if the suppression did not
        change.

        A stronger cause replaces a weaker cause; a weaker or equal cause changes nothing, except
        that the time of the latest unsubscription is kept. The result therefore does not depend on
        the order of calls. The readers who unsubscribed are kept.
        """

    def unsubscribe(self, address_hash: str, user_id: str, at: datetime | None = None) -> None:
        """Suppress an address because this reader unsubscribed, now or at `at`.

        The row keeps all readers of the address who unsubscribed, and the time of the latest
        unsubscription. A stronger cause is unchanged.
        """

    def resubscribe(
        self, address_hash: str, user_id: str, *, before: datetime | None = None
    ) -> None:
        """Undo the unsubscription of this reader.

        Lifts the suppression if no other reader of the address unsubscribed. A suppression without
        a known reader is lifted, because it was imported, or requested by an earlier owner of the
        address. A stronger cause is not lifted. With `before`, the suppression is lifted only if
        the latest unsubscription of the address, by any of its readers, is before that time.
        """

    def holds(self, address_hash: str, *, critical: bool = False) -> bool:
        """Return True if the address is suppressed, even if the cause cannot be read.

        `critical` is for an email that is sent even if the reader, or another reader of the
        address, has unsubscribed.
        """

    def get(self, address_hash: str) -> Suppression | None:
        """Return the cause and time of the suppression; None if the address is not suppressed."""

    def lift(self, address_hash: str, cause: Cause) -> None:
        """Lift the suppression of an address for all its readers, if the cause is still `cause`.

        If the cause is stronger than `UNSUBSCRIBED`, the unsubscriptions of readers remain.
        """

    def each(self) -> Iterator[Suppression | UnreadableRow]:
        """Yield all suppressions, in no particular order.

        Eventually consistent. Reads the whole table.
        """


class LastLook(Protocol):
    """A function that re-reads the reader and the suppression between claiming and sending."""

    def __call__(
        self, user_id: str, address_hash: str, *, critical: bool = False
    ) -> tuple[Reader, bool]:
        """Return the current reader, and True if the address is suppressed.

        The arguments and the second result have the same meaning as in `Suppressions.holds`.
        """


class Bounces(Protocol):
    """The store of soft bounces, keyed by the hash of the address.

    Methods accept the same hashes as `Suppressions`.
    """

    def remember(self, address_hash: str, bounce: SoftBounce) -> Collection[SoftBounce]:
        """Store a bounce. Return the bounces of the address, including this one.

        A message counts once, even if its bounce arrives several times. While further bounces
        arrive, no bounce is deleted.
        """

    def forget(self, address_hash: str) -> None:
        """Delete all stored bounces of the address."""
