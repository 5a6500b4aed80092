"""Erase a subscriber's data, and stop email that is in progress."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from gazette.domain.delivery.run import Reason, Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import address_hash, latest_run
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import (
    Subscriber,
    SubscriberStatus,
    just_after,
    was_erased,
)
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.ingest.profiles import reroute_waiting
from gazette.steps.routing.follows import forget_follow
from gazette.steps.routing.together import TimeFor, in_parts
from gazette.steps.runs import cancel
from gazette.steps.subscribers.schedules import remove_schedules, set_schedules
from gazette.steps.subscribers.unsubscribe import settle_suppression
from gazette.steps.time_budget import PIECE, unlimited

_AT_ONCE = 100
"""The number of follows that are read or deleted together."""


def erase_subscriber(
    user_id: str,
    at: datetime,
    *,
    suppressions: Suppressions,
    context: RoutingContext,
    time_left: TimeLeft = unlimited,
) -> Outcome:
    """Delete all data of a subscriber except the erasure time and suppressions. Safe to repeat.

    If an unsubscribed reader has changed the address since, the new address is suppressed too. A
    suppressed reader's address is already suppressed, unless an operator lifted the suppression.
    The stop is written first, which cancels every email whose last read takes place afterwards
    (rule 11). Then all other data is deleted. A worker that did not see the stop removes its own
    writes. Digests in progress are cancelled, so that a reader who returns does not receive them.
    If the reader has already returned, only data dated `at` or before is deleted. Raises NotYet if
    `time_left` is too short; data that was already deleted stays deleted.
    """
    time = TimeFor(time_left, PIECE)
    reader = context.subscribers.get(user_id)
    left_at: datetime | None = None
    if isinstance(reader, Subscriber) and reader.status is SubscriberStatus.UNSUBSCRIBED:
        left_at = reader.last_left_at or context.clock()
        suppressions.unsubscribe(address_hash(reader.email), user_id, left_at)
    under_way = _digests_under_way(user_id, context)
    erased = context.subscribers.erase(user_id, at)
    if not erased and isinstance(context.subscribers.get(user_id), Subscriber):
        _erase_before(user_id, at, context, time)
        if isinstance(reader, Subscriber) and left_at:
            # The reader may have returned between the read and the suppression above. A later
            # unsubscription of the address remains.
            settle_suppression(
                user_id,
                address_hash(reader.email),
                subscribers=context.subscribers,
                suppressions=suppressions,
                before=just_after(left_at),
            )
        return Outcome.OUTDATED
    for run in under_way if erased else ():
        cancel(run, Reason.ERASED, runs=context.runs)
    remove_schedules(user_id, at, context=context)
    came_back = isinstance(context.subscribers.get(user_id), Subscriber)
    until = at if came_back else None
    _forget(user_id, until, context, time)
    if came_back:
        _end_emails_with_the_past(user_id, context)
    return Outcome.ERASED if erased else Outcome.OUTDATED


def _digests_under_way(user_id: str, context: RoutingContext) -> Sequence[Run]:
    """Return the unfinished runs of each digest. They are all newer than the last sent run.

    Unreadable rows are skipped, because no worker can claim them or the runs after them.
    """
    open_runs: list[Run] = []
    for name in DIGESTS:
        with suppress(UnreadableRow):
            chain = context.runs.chain(latest_run(user_id, name))
            open_runs += (run for run in chain if not run.status.is_final)
    return open_runs


def _forget(user_id: str, until: datetime | None, context: RoutingContext, time: TimeFor) -> None:
    """Delete the reader's follows and events. With `until`, delete only data up to that instant."""
    entities = list(dict.fromkeys(context.follows.followed_by(user_id)))
    for some in in_parts(entities, _AT_ONCE):
        time.require()
        if until is None:
            context.follows.forget(user_id, some)
        else:
            _forget_until(user_id, some, until, context, time)
    after = context.events.erase(user_id, until)
    while after:
        time.require()
        after = context.events.erase(user_id, until, after=after)


def _forget_until(
    user_id: str,
    entities: Sequence[str],
    until: datetime,
    context: RoutingContext,
    time: TimeFor,
) -> None:
    """Delete a follow's changes up to `until`. Keep later changes by a reader who returned."""
    follows = context.follows.get_many([(entity, user_id) for entity in entities])
    for follow in follows.values():
        if follow.changes[0][0] <= until:
            time.require()
            forget_follow(follow.entity, user_id, until, context=context)


def _end_emails_with_the_past(user_id: str, context: RoutingContext) -> None:
    """Make workers fail at their last look if they read the data before it was deleted."""
    context.subscribers.mark_rerouted(user_id, context.clock())


def _erase_before(user_id: str, at: datetime, context: RoutingContext, time: TimeFor) -> None:
    """Erase the data up to the instant `at` of a reader who has a later profile.

    The profile is written first, so that no more data from before `at` is stored. Schedules are
    kept, because they serve the later profile, and the run of a date prevents a second digest on
    that date.
    """
    reader = _without_the_past(user_id, at, context)
    if reader is None:
        return
    _forget(user_id, at, context, time)
    _end_emails_with_the_past(user_id, context)
    set_schedules(reader, context=context)
    reroute_waiting(reader, context, time_left=time.time_left)


def _without_the_past(user_id: str, at: datetime, context: RoutingContext) -> Subscriber | None:
    """Store the profile as if it had arrived after the erasure. Earlier choices and links are void.

    Returns the profile as stored, or None if the reader has been erased again.
    """
    for _ in ATTEMPTS:
        reader = context.subscribers.get(user_id)
        if not isinstance(reader, Subscriber):
            return None
        if was_erased(reader, at):
            return reader
        service = reader.service_choices
        later = replace(
            reader,
            erased_at=at,
            addressed_after=max(reader.addressed_after or at, at),
            revision=reader.revision + 1,
        ).with_choices(
            tuple(entry for entry in service if entry[0] > at) or service[-1:],
            reader.reader_choices.after(at),
        )
        if context.subscribers.put(later, replacing=reader):
            return later
    raise kept_changing(f"The profile of {user_id}")
