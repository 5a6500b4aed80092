"""What the steps need from the tables, in the domain's words.

Every port may raise `Unavailable`; the caller then cannot know whether a write was made, and
does the same again. All instants are timezone-aware UTC. Reads are strongly consistent unless
they say otherwise. A row that cannot be read is raised as UnreadableRow, also by a Sequence or a
Mapping; an Iterator tells it in its place, and goes on (rule 20).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Event, Placed, Retracted, RunKey, Schedule, Window
from gazette.domain.scheduling.recurrence import Recurrence
from gazette.domain.subscribers.following import Activity, Follow
from gazette.domain.subscribers.subscriber import Early, Reader, Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, Suppression


class Subscribers(Protocol):
    """Profiles by user id."""

    def get(self, user_id: str) -> Reader:
        """What is known of the user id."""

    def get_many(self, user_ids: Collection[str]) -> Mapping[str, Reader]:
        """What is known of each, however many they are."""

    def early(self, user_id: str) -> Early | None:
        """What they chose, where nothing else is known of them yet."""

    def put_early(self, early: Early, *, replacing: Early | None) -> bool:
        """Store it if there is no profile, no erasure, and still `replacing`; False where not."""

    def put(self, subscriber: Subscriber, *, replacing: Reader | Early) -> bool:
        """Store the profile if what is there is still `replacing`; False where not.

        None is neither a profile nor an early choice, whose place a profile takes. Leaves
        `active_on` and `routed_for` as they are: they have writers of their own.
        """

    def set_status(self, user_id: str, status: SubscriberStatus) -> bool:
        """Change the status alone. False where there is no such subscriber."""

    def mark_active(self, user_id: str, on: date) -> None:
        """Remember the latest date of a sign of life, also before the profile is known."""

    def set_dormant(self, subscriber: Subscriber) -> bool:
        """Let an active subscriber rest, if profile and last sign of life are still as read."""

    def mark_routed(self, subscriber: Subscriber, routed_for: str) -> None:
        """Remember `routed_for` unless the subscriber has changed."""

    def erase(self, user_id: str, at: datetime) -> bool:
        """Leave nothing but the instant. False where a profile is there that is newer."""


class Follows(Protocol):
    """Follows by (entity key, user id), and by user id."""

    def get(self, entity: str, user_id: str) -> Follow | None:
        """The follow, also one that has ended, or None."""

    def get_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Follow]:
        """Those of the (entity key, user id) that exist, however many they are."""

    def put(self, follow: Follow, *, replacing: Follow | None) -> bool:
        """Store it if what is there is still `replacing` (None: nothing); False where not."""

    def page(
        self, entity: str, *, after: str, through: str = "", limit: int
    ) -> Sequence[Follow | UnreadableRow]:
        """Up to `limit` follows with user ids in (`after`, `through`], in order of user id.

        An empty `through` is no bound. Fewer than `limit` means that there are no more. One that
        cannot be read is in its place.
        """

    def followed_by(self, user_id: str) -> Iterator[str]:
        """The keys of the entities that a user follows or followed. Eventually consistent."""

    def remove(self, follow: Follow) -> bool:
        """Leave no trace of it, if it is as it was read; else False."""


class Activities(Protocol):
    """Activities by (key of their entity, id), and by when they occurred on each side."""

    def get(self, entity: str, activity_id: str) -> Activity | Retracted | None:
        """The activity; Retracted where it was withdrawn before it came."""

    def create(self, activity: Activity) -> tuple[bool, Activity | Retracted]:
        """Store it unless its key exists; whether it was stored, and what is there now."""

    def replace(self, before: Activity, after: Activity) -> bool:
        """Store `after` if what is there still says what `before` says. False where not."""

    def retract(self, entity: str, activity_id: str) -> Activity | Retracted:
        """Mark it as withdrawn, also before it came; returns what is stored now."""

    def mark_walked(self, activity: Activity, side: str) -> bool:
        """Remember that all followers of `side` have it or are queued for it.

        Only if it still says what `activity` says; else False.
        """

    def since(self, side: str, instant: datetime) -> Iterator[Activity | UnreadableRow]:
        """The activities on an entity, or below it, that occurred at `instant` or later."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What holds, and what is done, together with an event's leaving one schedule and arriving
    under another.

    So no run is claimed whose window was read before: the epoch of each of the `open_runs` is
    raised, and the revision of each of the `schedules`, which are as they were read; the runs
    `not_started` do not exist. Nothing is moved after `not_after`.
    """

    open_runs: tuple[Run, ...] = ()
    schedules: tuple[Schedule, ...] = ()
    not_started: tuple[RunKey, ...] = ()
    not_after: datetime | None = None

    def __add__(self, other: "Guard") -> "Guard":
        """All of what both ask for."""
        return Guard(
            open_runs=self.open_runs + other.open_runs,
            schedules=self.schedules + other.schedules,
            not_started=self.not_started + other.not_started,
            not_after=self.not_after or other.not_after,
        )

    @property
    def is_alone(self) -> bool:
        """Whether the event is all that is written or looked at."""
        return not (self.open_runs or self.schedules or self.not_started)


class Events(Protocol):
    """Events by (user id, event id), and where each waits. Expired ones are not there."""

    def store(
        self, event: Event, schedule: str, wanted: Recurrence | None = None
    ) -> tuple[bool, Placed | Retracted]:
        """Store unless the id is there already; whether it was stored, and what is there now.

        The storage time is taken anew for each attempt to write. When this returns, every
        later read of a window that contains the storage time sees the event. It lasts the longer
        where the schedule is due as `wanted` (lifetime.lasts_until).
        """

    def get(self, user_id: str, event_id: str) -> Placed | Retracted | None:
        """The event and where it is, the trace of one that was retracted, or None."""

    def amend(self, placed: Placed, event: Event) -> bool:
        """Let it say what `event` says, in its place, if it still is as in `placed`."""

    def move(
        self, placed: Placed, schedule: str, guard: Guard, wanted: Recurrence | None = None
    ) -> Placed | None:
        """Put it under another schedule, with a new storage time, if it still is in its place.

        All of what `guard` asks for with it, or nothing; None where any of it did not hold. It
        lasts as long as before, or as it must where that schedule is due as `wanted`.
        """

    def extend(self, placed: Placed, until: datetime) -> bool:
        """Let it last until then, if it still is in its place and does not last longer."""

    def remove(self, placed: Placed, guard: Guard) -> bool:
        """Leave no trace of it, if it still is in its place: with all of `guard`, or not at all."""

    def retract(self, user_id: str, event_id: str, *, early: bool) -> Retracted | None:
        """Withdraw it for good, `early` also before it came; None where nothing was done."""

    def placed(
        self, user_id: str, schedule: str, *, after: datetime
    ) -> Iterator[Placed | UnreadableRow]:
        """What was put under a schedule after an instant, oldest first."""

    def erase(self, user_id: str, until: datetime | None) -> None:
        """Leave no event and no trace of this user; with `until`, take only the events up to it.

        What was retracted after a return stays retracted; what cannot be read goes.
        """


class EventReader(Protocol):
    """A reader's events, by the window in which they were stored."""

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[Placed]:
        """The events stored in `(since, until]`, oldest first, those that have expired with them.

        Those stay until they are counted (`DeferredEvents.expire`), or until their rows are
        deleted. One that cannot be read is raised: what is sent closes the window, and nothing may
        lie behind that. So the run waits as it is (rule 20).
        """

    def holds(self, user_id: str, schedule: str, window: Window) -> bool:
        """Whether any was stored in it; also one that has expired, and was not counted yet."""


class DeferredEvents(Protocol):
    """Where events lie that no email can show, or showed in time; and what lets others wait."""

    def exclude(self, event: Event, run: Run, why: str, *, for_good: bool = False) -> Run | None:
        """Take it out of the schedule of `run`, with the reason, if it is there as in `event`.

        Only together with the epoch of the run, which is raised, and while that is as in `run`: so
        nobody takes out what somebody else has claimed, or what was mended meanwhile. Returns the
        run as it is then; None where anything was found changed, and nothing was done. No window
        has the event any more. Put again by its producer, it goes back to where it belongs, but
        `for_good` stays: it may have gone out, and nobody would know any more in how many emails.
        """

    def expire(self, placed: Placed) -> bool:
        """Take it out of its schedule, if it still is in its place and has expired; else False.

        So each is counted once, by whoever is told True. No window has it any more.
        """

    def defer(self, events: Sequence[Event], run: Run) -> Run | None:
        """Store them anew under the schedule of `run`, as of now: they lie behind its window.

        Only together with its epoch, which is raised, and while it is as in `run`: so nobody who
        has read them claims it, and nothing is deferred once somebody has. Returns the run as it
        is then; None where it, or any event, was found changed. Then some may have been deferred.
        """


class Suppressions(Protocol):
    """Addresses that must not be written to, as hashes (identity.address_hash)."""

    def add(self, address_hash: str, cause: Cause, since: datetime | None = None) -> bool:
        """Suppress an address, since now or `since`. False where nothing changed.

        A greater cause takes the place of a lesser one; a lesser or the same changes nothing. So
        whatever is added in whatever order, the greatest cause stays.
        """

    def holds(self, address_hash: str) -> bool:
        """Whether the address is suppressed: also where nobody can read why."""

    def get(self, address_hash: str) -> Suppression | None:
        """Why and since when it is; None where it is not."""

    def lift(self, address_hash: str, cause: Cause) -> None:
        """Suppress the address no longer, if it was for `cause`, and for no other."""

    def each(self) -> Iterator[Suppression | UnreadableRow]:
        """All of them, in no order. Eventually consistent; reads the whole table."""


class Bounces(Protocol):
    """Messages that bounced without proving that an address takes none, by the address's hash."""

    def remember(
        self, address_hash: str, message_id: str, sent_at: datetime
    ) -> Collection[datetime]:
        """When the messages were sent of which that is known, this one with them.

        One message counts once, however often it comes; none is forgotten while others still
        come.
        """

    def forget(self, address_hash: str) -> None:
        """Begin anew."""
