"""The pasts of one reader: so many of one kind of row, written as the steps leave them."""

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

from tests.builders import NOW, RETENTION, an_activity, an_event

READER = "ann"
EMAIL = "ann@example.com"
SOME = "comment"
"""A category that comes in the daily digest."""
AT_ONCE = "like"
CRITICAL = "alert"
BUSY = "post#busy"
"""What the reader follows."""
HOT = "post#hot"
"""A thread of immediate emails."""
VAULT = "post#vault"
"""What critical events are about."""

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
    """What is stored of the reader, beside profile and schedules.

    `bounced`: the address is suppressed. `is_due`: the daily digest is due now, and not tomorrow.
    """

    runs: tuple[Run, ...] = ()
    events: tuple[StoredEvent, ...] = ()
    follows: tuple[Follow, ...] = ()
    activities: tuple[Activity, ...] = ()
    bounced: bool = False
    is_due: bool = False
    status: SubscriberStatus = SubscriberStatus.ACTIVE

    @property
    def is_armed(self) -> bool:
        """Whether the daily digest has something to send."""
        until = max((run.window.until for run in self._daily() if run.window), default=BEGINNING)
        return any(each.schedule == DAILY and each.stored_at > until for each in self.events)

    @property
    def sequence(self) -> int:
        """Of the next daily digest."""
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
        )

    def without_follow(self, entity: str) -> "Past":
        """The same, but for a follow."""
        kept = tuple(follow for follow in self.follows if follow.entity != entity)
        return replace(self, follows=kept)


def stored(event: Event, schedule: str, at: datetime) -> StoredEvent:
    """An event as it is stored."""
    return StoredEvent(event, schedule, at, at + RETENTION)


def comment(name: str, at: datetime, *, category: str = SOME, on: str = "post#post1") -> Event:
    """An event for the reader on an entity."""
    return an_event(
        name, user_id=READER, category=category, entity_id=on.partition("#")[2], occurred_at=at
    )


def waiting(number: int) -> Past:
    """Events that have waited for the next daily digest for hours."""
    return _waiting(number, "w", _HOURS, _LATEST)


def just_now(number: int, named: str = "new") -> Past:
    """Events that have waited for it for minutes: no digest of any past had them."""
    return _waiting(number, named, NOW - 45 * _MINUTE, NOW - 15 * _MINUTE)


def _waiting(number: int, named: str, since: datetime, until: datetime) -> Past:
    return Past(
        events=tuple(
            stored(comment(f"{named}{each}", at), DAILY, at)
            for each, at in enumerate(_instants(since, until, number))
        )
    )


def follow(entity: str, *, at: datetime = _DAYS) -> Follow:
    """A follow of the reader that goes on."""
    return Follow(entity, READER, ((at, FollowState(True)),))


def pending(schedule: str, sequence: int, at: datetime) -> Run:
    """A run that nobody has claimed."""
    return Run(
        key=RunKey(READER, schedule, sequence),
        due_at=at,
        check_at=at + _LOOKED_AT,
        created_at=at,
    )


def sent(run: Run, window: Window) -> Run:
    """The run after its email was accepted."""
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
    """Sent digests, each of one event."""
    runs, events, since = list[Run](), list[StoredEvent](), BEGINNING
    for number, at in enumerate(instants, start=1):
        until = at - timedelta(seconds=15)
        runs.append(sent(pending(DAILY, number, at), Window(since, until)))
        before = until - timedelta(seconds=1)
        events.append(stored(comment(f"d{number}", before), DAILY, before))
        since = until
    return Past(tuple(runs), tuple(events))


def runs(size: int) -> Past:
    """Daily digests that were sent."""
    return _digests(_instants(_DAYS, _YESTERDAY, size))


def threads(size: int) -> Past:
    """Immediate emails that were sent, each on an entity of its own."""
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
    """Activities of the last day on what the reader follows, that a digest had."""
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
    """Follows of things on which nothing happened."""
    return _one_digest() + Past(follows=tuple(follow(f"post#f{each}") for each in range(size)))


def suppressed(size: int) -> Past:
    """Critical events on one thing, whose emails were not sent: the address has bounced.

    As a version before left them, which stored such events.
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
    """Occurrences of the daily digest for which nothing waited; none was ever sent."""
    return Past(
        with_heads(
            replace(pending(DAILY, each, at), status=Status.SKIPPED, reason=Reason.NOTHING_WAITED)
            for each, at in enumerate(_instants(_DAYS, _YESTERDAY, size), start=1)
        )
    )


def paused(size: int) -> Past:
    """Events of one thread that wait, because immediate email is stopped.

    Runs of it start a quarter of an hour apart. The last two wait, and each of the others was
    superseded by the next.
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
    """Threads with an event and a run that wait, because immediate email is stopped."""
    found, events = list[Run](), list[StoredEvent]()
    for number, at in enumerate(_instants(_HOURS, _LATEST, size)):
        events.append(_on_hold(f"post#stopped{number}", number, at))
        found.append(pending(events[-1].schedule, int(at.timestamp()), at + _COLLAPSE))
    return _one_digest() + Past(tuple(found), tuple(events))


def _on_hold(entity: str, number: int, at: datetime) -> StoredEvent:
    event = comment(f"p{number}", at, category=AT_ONCE, on=entity)
    return stored(event, immediate_schedule(entity), at)


def with_heads(runs: Iterable[Run], *, waiting: int = 0) -> tuple[Run, ...]:
    """The runs of a schedule, the first one first, each with the head that its creator stores.

    The last `waiting` before it had not ended by then.
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
}
"""By what there is `size` of."""


@cache
def past(kind: str, size: int) -> Past:
    """So many of one kind; the reader follows what is busy in any."""
    return PASTS[kind](size) + Past(follows=(follow(BUSY),))
