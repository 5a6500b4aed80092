"""Pasts of one reader: a number of rows of one kind, as the steps would have stored them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import count, repeat

from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status
from gazette.domain.identity import latest_run
from gazette.domain.model import DAILY, Event, RunKey, StoredEvent, Window
from gazette.domain.scheduling.chain import back_to_end, head_for
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from gazette.domain.subscribers.following import Activity, Follow, FollowState
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.window.seen import SeenMark

from tests.builders import NOW, RETENTION, an_activity, an_event

READER = "ann"
EMAIL = "ann@example.com"
SOME = "comment"
"""A category that is included in the daily digest."""
AT_ONCE = "like"
CRITICAL = "alert"
BUSY = "post#busy"
"""The entity that the reader follows."""
HOT = "post#hot"
"""A thread of immediate emails."""
VAULT = "post#vault"
"""The entity of critical events."""

_DAYS = NOW - timedelta(days=30)
_HOURS = NOW - timedelta(hours=20)
_LATEST = NOW - timedelta(hours=1)
_YESTERDAY = NOW - timedelta(days=1)
_COLLAPSE = timedelta(seconds=20)
_STOPPED = timedelta(minutes=15)
_LOOKED_AT = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Past:
    """The stored rows of the reader, in addition to profile and schedules."""

    runs: tuple[Run, ...] = ()
    events: tuple[StoredEvent, ...] = ()
    follows: tuple[Follow, ...] = ()
    activities: tuple[Activity, ...] = ()
    marks: tuple[SeenMark, ...] = ()
    """The things that the reader has seen."""

    bounced: bool = False
    """True if the address is suppressed."""

    is_due: bool = False
    """True if the daily digest is due now, False if it is due tomorrow."""

    status: SubscriberStatus = SubscriberStatus.ACTIVE

    @property
    def is_armed(self) -> bool:
        """Return True if the daily digest has an event to send."""
        until = max((run.window.until for run in self._daily() if run.window), default=BEGINNING)
        return any(each.schedule == DAILY and each.stored_at > until for each in self.events)

    @property
    def sequence(self) -> int:
        """Return the sequence of the next daily digest."""
        return max((run.key.sequence for run in self._daily()), default=0) + 1

    def _daily(self) -> Iterator[Run]:
        return (run for run in self.runs if run.key.schedule == DAILY)

    def __add__(self, more: "Past") -> "Past":
        return replace(
            self,
            runs=self.runs + more.runs,
            events=self.events + more.events,
            follows=self.follows + more.follows,
            activities=self.activities + more.activities,
            marks=self.marks + more.marks,
        )

    def without_follow(self, entity: str) -> "Past":
        """Return the same past without one follow."""
        kept = tuple(follow for follow in self.follows if follow.entity != entity)
        return replace(self, follows=kept)


def stored(event: Event, schedule: str, at: datetime) -> StoredEvent:
    """Return an event as it is stored."""
    return StoredEvent(event, schedule, at, at + RETENTION)


def comment(name: str, at: datetime, *, category: str = SOME, on: str = "post#post1") -> Event:
    """Return an event for the reader on an entity."""
    return an_event(
        name, user_id=READER, category=category, entity_id=on.partition("#")[2], occurred_at=at
    )


def waiting(number: int) -> Past:
    """Return events that have waited several hours for the next daily digest."""
    return _waiting(number, "w", _HOURS, _LATEST)


def just_now(number: int, named: str = "new") -> Past:
    """Return events that have waited for minutes. They are in no digest of any past."""
    return _waiting(number, named, NOW - 45 * _MINUTE, NOW - 15 * _MINUTE)


def _waiting(number: int, named: str, since: datetime, until: datetime) -> Past:
    return Past(
        events=tuple(
            stored(comment(f"{named}{each}", at), DAILY, at)
            for each, at in enumerate(_instants(since, until, number))
        )
    )


def follow(entity: str, *, at: datetime = _DAYS) -> Follow:
    """Return an active follow of the reader."""
    return Follow(entity, READER, ((at, FollowState(True)),))


def pending(schedule: str, sequence: int, at: datetime) -> Run:
    """Return a run that is not claimed."""
    return Run(
        key=RunKey(READER, schedule, sequence),
        due_at=at,
        check_at=at + _LOOKED_AT,
        created_at=at,
    )


def sent(run: Run, window: Window) -> Run:
    """Return the run after its email was accepted."""
    return replace(
        run,
        status=Status.SENT,
        reason=Reason.ACCEPTED,
        attempt=1,
        window=window,
        deadline=run.due_at + _MINUTE,
        nonce=f"nonce{run.key.sequence}",
        claimed_at=run.due_at,
        sent_at=run.due_at,
        message_id=f"message{run.key.sequence}",
        locale="en",
        categories=(SOME,),
    )


def _instants(since: datetime, until: datetime, number: int) -> Iterator[datetime]:
    step = (until - since) / (number + 1)
    return (since + step * (each + 1) for each in range(number))


def _digests(instants: Iterable[datetime]) -> Past:
    """Return sent digests of one event each."""
    runs, events, since = list[Run](), list[StoredEvent](), BEGINNING
    for number, at in enumerate(instants, start=1):
        until = at - timedelta(seconds=15)
        runs.append(sent(pending(DAILY, number, at), Window(since, until)))
        before = until - timedelta(seconds=1)
        events.append(stored(comment(f"d{number}", before), DAILY, before))
        since = until
    return Past(tuple(runs), tuple(events))


def runs(size: int) -> Past:
    """Return daily digests that were sent."""
    return _digests(_instants(_DAYS, _YESTERDAY, size))


def threads(size: int) -> Past:
    """Return sent immediate emails, each about a different entity."""
    found = [
        _thread(f"post#thread{number}", f"t{number}", at)
        for number, at in enumerate(_instants(_DAYS, _YESTERDAY, size))
    ]
    more = Past(tuple(run for run, _ in found), tuple(event for _, event in found))
    return _one_digest() + more


def _thread(entity: str, name: str, at: datetime) -> tuple[Run, StoredEvent]:
    schedule = immediate_schedule(entity)
    due_at = at + _COLLAPSE
    run = pending(schedule, int(at.timestamp()), due_at)
    event = stored(comment(name, at, category=AT_ONCE, on=entity), schedule, at)
    return sent(run, Window(BEGINNING, due_at)), event


def activities(size: int) -> Past:
    """Return activities of the last day on followed entities. A digest has included them."""
    found = tuple(
        replace(
            an_activity(f"a{each}", category=SOME, entity_id="busy", occurred_at=at),
            walked=frozenset({BUSY}),
        )
        for each, at in enumerate(_instants(_HOURS, _LATEST, size))
    )
    events = tuple(stored(each.event_for(READER), DAILY, each.occurred_at) for each in found)
    at = NOW - 50 * _MINUTE
    run = sent(pending(DAILY, 2, at), Window(_YESTERDAY, at - _MINUTE))
    return _one_digest() + Past((run,), events, activities=found)


def follows(size: int) -> Past:
    """Return follows of entities that have no activities."""
    return _one_digest() + Past(follows=tuple(follow(f"post#f{each}") for each in range(size)))


def marks(size: int) -> Past:
    """Return visits of the reader, each to a different entity."""
    found = (
        SeenMark(READER, f"post#seen{each}", at)
        for each, at in enumerate(_instants(_DAYS, _YESTERDAY, size))
    )
    return _one_digest() + Past(marks=tuple(found))


def suppressed(size: int) -> Past:
    """Return critical events on one entity, not sent because the address has bounced.

    An earlier version of Gazette stored such events.
    """
    schedule = critical_schedule(VAULT)
    runs_, events = list[Run](), list[StoredEvent]()
    for each, at in enumerate(_instants(_DAYS, _YESTERDAY, size)):
        run = pending(schedule, int(at.timestamp()), at + _COLLAPSE)
        ended = sent(run, Window(BEGINNING, run.due_at))
        ended = replace(
            ended, status=Status.SKIPPED, reason=Reason.SUPPRESSED, sent_at=None, message_id=""
        )
        runs_.append(ended)
        events.append(stored(comment(f"s{each}", at, category=CRITICAL, on=VAULT), schedule, at))
    past = _one_digest() + Past(tuple(runs_), tuple(events))
    return replace(past, bounced=True, status=SubscriberStatus.SUPPRESSED)


def skipped(size: int) -> Past:
    """Return skipped daily digests, which had no waiting events."""
    return Past(
        with_heads(
            replace(pending(DAILY, each, at), status=Status.SKIPPED, reason=Reason.NOTHING_WAITED)
            for each, at in enumerate(_instants(_DAYS, _YESTERDAY, size), start=1)
        )
    )


def paused(size: int) -> Past:
    """Return waiting events of one thread while immediate email is stopped.

    The runs of the thread start a quarter of an hour apart. The last two runs wait, and each
    earlier run was superseded by the next.
    """
    schedule = immediate_schedule(HOT)
    at = list(_instants(_HOURS, _LATEST, size))
    starts = at[:1]
    for each in at:
        if each - starts[-1] >= _STOPPED:
            starts.append(each)
    found = [pending(schedule, int(each.timestamp()), each + _COLLAPSE) for each in starts]
    ended = [replace(run, status=Status.CANCELLED, reason=Reason.SUPERSEDED) for run in found[:-2]]
    return _one_digest() + Past(
        with_heads([*ended, *found[-2:]], waiting=1), tuple(map(_on_hold, repeat(HOT), count(), at))
    )


def stopped(size: int) -> Past:
    """Return threads with a waiting event and run while immediate email is stopped."""
    found, events = list[Run](), list[StoredEvent]()
    for number, at in enumerate(_instants(_HOURS, _LATEST, size)):
        events.append(_on_hold(f"post#stopped{number}", number, at))
        found.append(pending(events[-1].schedule, int(at.timestamp()), at + _COLLAPSE))
    return _one_digest() + Past(tuple(found), tuple(events))


def _on_hold(entity: str, number: int, at: datetime) -> StoredEvent:
    event = comment(f"p{number}", at, category=AT_ONCE, on=entity)
    return stored(event, immediate_schedule(entity), at)


def with_heads(runs: Iterable[Run], *, waiting: int = 0) -> tuple[Run, ...]:
    """Return the runs of a schedule, oldest first, with the heads that their creators store.

    When a run is created, the `waiting` runs before it have not ended.
    """
    found = list[Run]()
    for run in runs:
        chain = back_to_end(reversed(found), of=latest_run(READER, run.key.schedule))
        head = head_for(chain[waiting:], run.created_at or run.due_at)
        found.append(replace(run, head=head))
    return tuple(found)


def _one_digest() -> Past:
    return _digests([_YESTERDAY])


PASTS: Mapping[str, Callable[[int], Past]] = {
    "runs": runs,
    "threads": threads,
    "activities": activities,
    "follows": follows,
    "suppressed": suppressed,
    "waiting": lambda size: _one_digest() + waiting(size),
    "skipped": skipped,
    "paused": paused,
    "stopped": stopped,
    "marks": marks,
}
"""The functions that create a past, by kind of row."""


@cache
def past(kind: str, size: int) -> Past:
    """Return a past of this size. In every past, the reader follows the busy entity."""
    return PASTS[kind](size) + Past(follows=(follow(BUSY),))
