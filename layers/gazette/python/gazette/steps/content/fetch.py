"""Fetch a content source's items for one digest of one reader, and store the items as events.

The order of the steps protects the source and the reader. The first checks use only the clock and
this process's view of permits, at no cost. Then the fetch checks whether it is still needed, and
takes a permit. The schedule is marked last, so that an interrupted fetch is repeated and stores the
same events.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.content.asking import ContentPlan
from gazette.domain.content.items import RECOMMENDATIONS, Broken, Shown
from gazette.domain.content.ports import Fetch, FetchQueue, Question, QueuedFetch
from gazette.domain.delivery.pace import NoPermit, Permit
from gazette.domain.delivery.run import BEGINNING, settled_until
from gazette.domain.errors import SourceFailed
from gazette.domain.identity import latest_run
from gazette.domain.model import Schedule, StoredEvent
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import LONGEST_DELAY
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
    """The outcome of a fetch.

    After `no_permit`, `breaker_open` and `failed`, the fetch is queued again.
    """

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
    """The result of a fetch."""

    fetch: Fetch
    outcome: FetchOutcome
    items: int = 0
    """The number of items that the next digest may show."""

    requests: int = 0
    """The number of requests to the source."""

    opened: bool = False
    """True if the fetch opened the circuit breaker or kept it open."""

    broken: tuple[Broken, ...] = ()
    why: str = ""
    """The reason why the fetch failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchContext:
    """The dependencies of a fetch."""

    routing: RoutingContext
    asking: AskContext
    queue: FetchQueue
    plan: ContentPlan
    limit: int
    """The maximum number of items in a digest."""

    policy_of: Callable[[str], SourcePolicy]
    """A function that returns a user's policy for digests with missing items."""

    useful_for: timedelta
    """The maximum time that a digest with the policy `without` waits for its items.

    Digests with other policies wait for `max_lateness`.
    """

    max_lateness: timedelta
    longest: timedelta
    """The maximum duration of a fetch."""


def fetch(
    body: str,
    time_left: TimeLeft,
    *,
    decode: Callable[[str], Fetch],
    context: FetchContext,
) -> FetchResult:
    """Handle a message from the content queue. Safe to repeat, at any time.

    A fetch that cannot run now gets a new message before this message is deleted, because returning
    this message would count as a receive. Raises NotYet if too little time is left, and
    InvalidEvent if `decode` does.
    """
    request = decode(body)
    if _is_too_late(request, context):
        return FetchResult(fetch=request, outcome=FetchOutcome.TOO_LATE)
    if no_permit_near(context.asking):
        return _requeue(request, NoPermit.BUSY, context)
    schedule = _schedule_to_fetch_for(request, context)
    if isinstance(schedule, FetchOutcome):
        return FetchResult(fetch=request, outcome=schedule)
    require_time(time_left, least=context.longest)
    permit = wait_for_permit(context.asking)
    if isinstance(permit, NoPermit):
        return _requeue(request, permit, context)
    health = context.asking.health
    requests_before, opened = health.requests, health.opened
    result = _fetch(request, schedule, permit, context)
    return replace(
        result, requests=health.requests - requests_before, opened=health.opened > opened
    )


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
    result = store_items(
        [item for item in answer.items if item.lasts_until(wanted.due_at)],
        schedule=schedule,
        waiting=waiting,
        at=asked_at,
        limit=context.limit,
        context=context.routing,
    )
    _mark(wanted, result, read=schedule, since=since, context=context)
    return FetchResult(
        fetch=wanted,
        outcome=FetchOutcome.STORED if result.changed else FetchOutcome.NOTHING_NEW,
        items=len(result.offered),
        broken=answer.broken,
    )


def _is_too_late(wanted: Fetch, context: FetchContext) -> bool:
    """Return True if it is too late for any digest to wait for this fetch.

    The stage or the reader's template version sets how long a digest waits. The template version is
    read only if it can change the result.
    """
    waits = context.routing.clock() - wanted.waits_since
    if waits <= context.useful_for:
        return False
    return waits > context.max_lateness or context.policy_of(wanted.user_id) is SourcePolicy.WITHOUT


def _schedule_to_fetch_for(wanted: Fetch, context: FetchContext) -> Schedule | FetchOutcome:
    """Return the stored schedule, or the reason why the source does not need to be queried."""
    schedule = context.routing.schedules.get(wanted.user_id, wanted.schedule)
    if schedule is None or not schedule.is_asked_for(wanted.due_at):
        return FetchOutcome.NOT_ASKED
    if not context.plan.asked_by(schedule):
        return FetchOutcome.NOT_ASKED
    if context.plan.is_fetched(schedule, wanted.due_at):
        return FetchOutcome.ALREADY_FETCHED
    return schedule


def _waiting(wanted: Fetch, context: FetchContext) -> tuple[datetime, Sequence[StoredEvent]]:
    """Return the time when events were last sent, and the items that no digest has shown yet.

    The runs are read before the window, in the order in which a run reads, so that no event is
    missed between the two reads.
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
    """Mark the schedule as fetched after its items were stored. Raises NotYet.

    Changes by other workers are kept, because fan-out may have advanced the schedule and a repeated
    message may have stored the same items. A repeated message that stored other items may have
    removed the items of this fetch. So only items that are still waiting, or that were in a digest,
    are added to the memory.

    `read` is the schedule as this fetch read it. `since` is the end of earlier digests.
    """
    schedules = context.routing.schedules
    for _ in ATTEMPTS:
        schedule = schedules.get(wanted.user_id, wanted.schedule)
        if schedule is None:
            return
        offered = kept.offered
        if schedule.fetched_at != read.fetched_at:
            rows = context.routing.events.stored_under(read.user_id, read.name, after=since)
            waiting_ids = {each.event.id for each in readable(rows)}
            offered = tuple(each for each in offered if each in waiting_ids)
        removed = (*kept.removed, *(set(kept.offered) - set(offered)))
        memory = Shown(schedule.shown).without(removed).with_((*kept.had, *offered))
        now = context.routing.clock()
        fetched = schedule.fetched(now, wanted.due_at, memory.hashes)
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
