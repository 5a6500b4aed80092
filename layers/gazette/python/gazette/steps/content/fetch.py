"""Fetch what a content source has for one digest of one reader, and store it as events.

The order is what protects the source and the reader: first the clock and what this process knows
of permits, at no cost; then whether the fetch is still wanted; then a permit; and only then
everything else. The schedule is marked last, so that a fetch that died is made again, and puts the
same events.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.content import (
    RECOMMENDATIONS,
    Broken,
    Fetch,
    Question,
    Shown,
)
from gazette.domain.delivery.pace import NoPermit, Permit
from gazette.domain.delivery.run import BEGINNING, settled_until
from gazette.domain.errors import SourceFailed
from gazette.domain.identity import latest_run
from gazette.domain.model import Schedule, StoredEvent
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.content import FetchQueue, QueuedFetch
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.scheduling.asking import ContentPlan
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.templates.settings import SourcePolicy
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.content.ask import (
    AskContext,
    again_after,
    again_after_failure,
    ask,
    no_permit_near,
    still_in_time,
    wait_for_permit,
)
from gazette.steps.content.store import Kept, store_items
from gazette.steps.context import RoutingContext
from gazette.steps.subscribers.schedules import is_active
from gazette.steps.time_budget import require_time


class FetchOutcome(StrEnum):
    """What became of a fetch. After the last three it is on the queue again."""

    STORED = "stored"
    NOTHING_NEW = "nothing_new"
    ALREADY_FETCHED = "already_fetched"
    NOT_ASKED = "not_asked"
    TOO_LATE = "too_late"
    NO_PERMIT = "no_permit"
    BREAKER_OPEN = "breaker_open"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """What became of a fetch.

    `items`: how many the next digest may show. `requests`: how many were made. `opened`: whether
    that opened the circuit breaker, or left it open. `why`: of a failure.
    """

    fetch: Fetch
    outcome: FetchOutcome
    items: int = 0
    requests: int = 0
    opened: bool = False
    broken: tuple[Broken, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchContext:
    """What a fetch needs.

    `limit`: how many items a digest shows at most. `policy_of`: what the digests of a user id do
    whose items are not there. `useful_for`: how long they may wait for them if they go without them
    then; else it is `max_lateness`. `longest`: how long a fetch may take.
    """

    routing: RoutingContext
    asking: AskContext
    queue: FetchQueue
    plan: ContentPlan
    limit: int
    policy_of: Callable[[str], SourcePolicy]
    useful_for: timedelta
    max_lateness: timedelta
    longest: timedelta


def fetch(
    body: str,
    time_left: TimeLeft,
    *,
    decode: Callable[[str], Fetch],
    context: FetchContext,
) -> FetchResult:
    """Handle a message from the content queue. Safe to repeat, at any time.

    A fetch that cannot be made now gets a new message before this one is deleted: returning this
    one would use up its receives. Raises NotYet if too little time is left, and InvalidEvent if
    `decode` does.
    """
    wanted = decode(body)
    if _is_too_late(wanted, context):
        return FetchResult(fetch=wanted, outcome=FetchOutcome.TOO_LATE)
    if no_permit_near(context.asking):
        return _requeue(wanted, NoPermit.BUSY, context)
    schedule = _schedule_to_ask_for(wanted, context)
    if isinstance(schedule, FetchOutcome):
        return FetchResult(fetch=wanted, outcome=schedule)
    require_time(time_left, least=context.longest)
    permit = wait_for_permit(context.asking)
    if isinstance(permit, NoPermit):
        return _requeue(wanted, permit, context)
    health = context.asking.health
    made, opened = health.requests, health.opened
    result = _fetch(wanted, schedule, permit, context)
    return replace(result, requests=health.requests - made, opened=health.opened > opened)


def _fetch(wanted: Fetch, schedule: Schedule, permit: Permit, context: FetchContext) -> FetchResult:
    reader = context.routing.subscribers.get(wanted.user_id)
    if not is_active(reader):
        return FetchResult(fetch=wanted, outcome=FetchOutcome.NOT_ASKED)
    since, waiting = _waiting(wanted, context)
    in_time = still_in_time(permit, context.asking)
    if isinstance(in_time, NoPermit):
        return _requeue(wanted, in_time, context)
    asked_at = context.routing.clock()
    try:
        answer = ask(_question(wanted, reader, since, context), in_time, context=context.asking)
    except SourceFailed as err:
        return _failed(wanted, err, context)
    kept = store_items(
        [item for item in answer.items if item.lasts_until(wanted.due_at)],
        schedule=schedule,
        waiting=waiting,
        at=asked_at,
        limit=context.limit,
        context=context.routing,
    )
    _mark(wanted, kept, read=schedule, since=since, context=context)
    return FetchResult(
        fetch=wanted,
        outcome=FetchOutcome.STORED if kept.put else FetchOutcome.NOTHING_NEW,
        items=len(kept.offered),
        broken=answer.broken,
    )


def _is_too_late(wanted: Fetch, context: FetchContext) -> bool:
    """Whether no digest waits for it any more. How long one does is said by the stage, or by the
    version of the templates that its reader gets: that is asked only where it matters.
    """
    waits = context.routing.clock() - wanted.waits_since
    if waits <= context.useful_for:
        return False
    return waits > context.max_lateness or context.policy_of(wanted.user_id) is SourcePolicy.WITHOUT


def _schedule_to_ask_for(wanted: Fetch, context: FetchContext) -> Schedule | FetchOutcome:
    """The schedule as stored now, or why the source need not be asked for it any more."""
    schedule = context.routing.schedules.get(wanted.user_id, wanted.schedule)
    if schedule is None or not schedule.is_asked_for(wanted.due_at):
        return FetchOutcome.NOT_ASKED
    if not context.plan.asked_by(schedule):
        return FetchOutcome.NOT_ASKED
    if context.plan.is_fetched(schedule, wanted.due_at):
        return FetchOutcome.ALREADY_FETCHED
    return schedule


def _waiting(wanted: Fetch, context: FetchContext) -> tuple[datetime, Sequence[StoredEvent]]:
    """Up to when events were in a digest, and the items that no digest has shown yet.

    The runs are read first, as a run reads its window: no event is between two looks.
    """
    user_id, name = wanted.user_id, wanted.schedule
    since = settled_until(context.routing.runs.chain(latest_run(user_id, name)))
    rows = context.routing.events.stored_under(user_id, name, after=since)
    return since, [each for each in readable(rows) if each.event.source == RECOMMENDATIONS]


def _question(
    wanted: Fetch, reader: Subscriber, since: datetime, context: FetchContext
) -> Question:
    return Question(
        user_id=wanted.user_id,
        schedule=wanted.schedule,
        since=None if since == BEGINNING else since,
        until=wanted.due_at,
        limit=context.limit,
        locale=reader.locale,
        time_zone=reader.time_zone,
    )


def _mark(
    wanted: Fetch, kept: Kept, *, read: Schedule, since: datetime, context: FetchContext
) -> None:
    """Write into the schedule what was fetched, after it was stored. Raises NotYet.

    What another worker has written meanwhile stays: fan-out advances the schedule, and a repeated
    message may have brought the same items. If it has brought others, it may have taken back what
    this one stored: a reader is remembered to have had only what still waits, or was in a digest.
    `read`, `since`: the schedule, and up to when events were in a digest, as this fetch read them.
    """
    schedules = context.routing.schedules
    for _ in ATTEMPTS:
        schedule = schedules.get(wanted.user_id, wanted.schedule)
        if schedule is None:
            return
        offered = kept.offered
        if schedule.fetched_at != read.fetched_at:
            rows = context.routing.events.stored_under(read.user_id, read.name, after=since)
            there = {each.event.id for each in readable(rows)}
            offered = tuple(each for each in offered if each in there)
        gone = (*kept.gone, *(set(kept.offered) - set(offered)))
        shown = Shown(schedule.shown).without(gone).with_((*kept.had, *offered))
        now = context.routing.clock()
        fetched = schedule.fetched(now, wanted.due_at, shown.hashes)
        if schedules.put(fetched, replacing=schedule):
            return
    raise kept_changing(f"The schedule {wanted.schedule} of {wanted.user_id}")


def _requeue(wanted: Fetch, why: NoPermit, context: FetchContext) -> FetchResult:
    delay = min(again_after(why, context.asking), LONGEST_DELAY)
    context.queue.send([QueuedFetch(wanted, delay)])
    is_open = why is NoPermit.BREAKER_OPEN
    outcome = FetchOutcome.BREAKER_OPEN if is_open else FetchOutcome.NO_PERMIT
    return FetchResult(fetch=wanted, outcome=outcome)


def _failed(wanted: Fetch, err: SourceFailed, context: FetchContext) -> FetchResult:
    again = replace(wanted, tries=wanted.tries + 1)
    delay = min(again_after_failure(again.tries, context.asking), LONGEST_DELAY)
    context.queue.send([QueuedFetch(again, delay)])
    return FetchResult(fetch=again, outcome=FetchOutcome.FAILED, why=str(err))
