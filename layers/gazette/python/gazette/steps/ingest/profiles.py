"""Process profiles of new and changed subscribers."""

import hashlib
import json
from dataclasses import replace
from datetime import date, datetime
from operator import itemgetter

from gazette.domain.identity import address_hash
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.stores import Suppressions
from gazette.domain.scheduling.lifetime import is_rare
from gazette.domain.stored import is_known
from gazette.domain.subscribers.choices import Preferences, ReaderChoices, without_ended
from gazette.domain.subscribers.history import History, remember, without_repeats
from gazette.domain.subscribers.subscriber import (
    EarlyChoices,
    Erased,
    Reader,
    Subscriber,
    SubscriberStatus,
)
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.reroute import reroute
from gazette.steps.subscribers.schedules import set_schedules, withdraw_if_left
from gazette.steps.subscribers.suppress import stop_if_suppressed
from gazette.steps.time_budget import unlimited


def change_subscriber(
    given: Subscriber,
    *,
    suppressions: Suppressions,
    context: RoutingContext,
    time_left: TimeLeft = unlimited,
) -> Outcome:
    """Store the profile, then the schedules, then route the waiting events. Safe to repeat.

    Profiles may arrive in any order. After a crash, the redelivered message completes the remaining
    steps. The profile is read again at the end, because it may have changed or the reader may have
    unsubscribed in between. So no unwanted schedule stays in the due index. Raises NotYet if the
    profile keeps changing, or `time_left` is too short to route the waiting events.
    """
    for number in ATTEMPTS:
        current: Reader | EarlyChoices = context.subscribers.get(given.user_id)
        if current is None and number:  # an early choice caused the first write to fail
            current = context.subscribers.early(given.user_id)
        suppressed = suppressions.holds(address_hash(given.email))
        today = context.clock().date()
        merged = _merged(current, given, suppressed=suppressed, today=today)
        if merged is None:
            return Outcome.ERASED
        resumes = merged.status is SubscriberStatus.DORMANT and not _stays_dormant(merged, context)
        if resumes:
            merged = replace(merged.resumed(context.clock()), revision=merged.revision + 1)
        if merged != current and not context.subscribers.put(merged, replacing=current):
            continue
        is_new = current is None or isinstance(current, EarlyChoices)
        set_schedules(merged, context=context, is_new=is_new, resumes=resumes)
        reroute_waiting(merged, context, only_arrived=is_new, time_left=time_left)
        stop_if_suppressed(
            merged,
            suppressions=suppressions,
            subscribers=context.subscribers,
            schedules=context.schedules,
        )
        if is_still(merged, context):
            outdated = merged.changed_at > given.changed_at
            return Outcome.OUTDATED if outdated else Outcome.CHANGED
    raise kept_changing(f"The profile of {given.user_id}")


def is_still(merged: Subscriber, context: RoutingContext) -> bool:
    """Return True if profile and status have not changed since they were stored."""
    latest = withdraw_if_left(merged.user_id, context=context)
    return isinstance(latest, Subscriber) and latest.is_unchanged_since(merged)


def latest_of(*dates: date | None) -> date | None:
    """Return the latest of the dates, ignoring None. Return None if all are None."""
    return max(filter(None, dates), default=None)


def _merged(
    current: Reader | EarlyChoices, given: Subscriber, *, suppressed: bool, today: date
) -> Subscriber | None:
    """Return the stored profile merged with the new profile, or `current` itself if there is no
    change.

    Returns None if the subscriber was erased later. Of two profiles with the same instant, always
    the same profile wins. An unsubscribed reader stays unsubscribed, and a reader whose address is
    suppressed becomes suppressed.
    """
    match current:
        case Erased() | EarlyChoices() | None:
            erased_at = current.erased_at if isinstance(current, Erased) else None
            if erased_at and given.changed_at <= erased_at:
                return None
            early = current if isinstance(current, EarlyChoices) else None
            chosen = early.reader_choices if early else ReaderChoices()
            status = _status(SubscriberStatus.ACTIVE, suppressed=suppressed)
            return replace(
                given,
                status=status,
                registered_on=min(given.active_on or today, today),
                active_on=None,  # only `mark_active` stores it
                paused_last=latest_of(given.times.paused_until, chosen.paused_last),
                mutes=early.mutes if early else (),
                erased_at=erased_at,
                addressed_after=erased_at,
            ).with_choices(given.service_choices, chosen)
        case Subscriber():
            if current.erased_at and given.changed_at <= current.erased_at:
                return None
    latest, service = max(current, given, key=_precedence), _service_choices(current, given)
    kept_status = current.status is SubscriberStatus.UNSUBSCRIBED or latest is current
    merged = replace(
        latest,
        status=current.status if kept_status else _status(current.status, suppressed=suppressed),
        mutes=current.mutes,
        registered_on=current.registered_on,
        paused_last=latest_of(current.paused_last, given.times.paused_until),
        active_on=current.active_on,
        resumed_at=current.resumed_at,
        left_at=current.left_at,
        left_again_at=current.left_again_at,
        consented_at=current.consented_at,
        returned_at=current.returned_at,
        routed_for=current.routed_for,
        routes_since=current.routes_since,
        revision=current.revision,
        erased_at=current.erased_at,
        addressed_after=_addressed_after(current, given),
    ).with_choices(service, _choices_left(current, service))
    return merged if merged == current else replace(merged, revision=current.revision + 1)


def _addressed_after(current: Subscriber, given: Subscriber) -> datetime | None:
    """Return the time at which the address in the newer profile replaced a different address."""
    if address_hash(current.email) == address_hash(given.email):
        return current.addressed_after
    earlier = min(current, given, key=_precedence)
    return max(filter(None, (current.addressed_after, earlier.changed_at)))


def _service_choices(current: Subscriber, given: Subscriber) -> History[Preferences]:
    """Return the service's choices over time, including those in `given`."""
    choices = current.service_choices
    for at, preferences in given.service_choices:
        choices = remember(choices, at, preferences)
    return choices


def _choices_left(current: Subscriber, service: History[Preferences]) -> ReaderChoices:
    """Return the reader's choices, except those that a forgotten choice of the service overrode."""
    if not current.service_choices or current.service_choices[0] in service:
        return current.reader_choices
    known = sorted({*current.service_choices, *service}, key=itemgetter(0))
    return without_ended(current.reader_choices, tuple(known), until=service[0][0])


def _stays_dormant(reader: Subscriber, context: RoutingContext) -> bool:
    """Return True if a dormant reader remains dormant.

    If `sunset_days` was increased, the reader's last activity may be recent enough to be active.
    """
    return context.sunset is not None and reader.dormant_at(context.sunset) <= context.clock()


def _status(before: SubscriberStatus, *, suppressed: bool) -> SubscriberStatus:
    """Return the reader's status after a new profile arrives.

    A dormant reader stays dormant, because a profile is not activity. A status that only another
    version knows is also kept.
    """
    if suppressed:
        return SubscriberStatus.SUPPRESSED
    if not is_known(before):
        return before
    dormant = before is SubscriberStatus.DORMANT
    return SubscriberStatus.DORMANT if dormant else SubscriberStatus.ACTIVE


def _precedence(profile: Subscriber) -> tuple[datetime, str]:
    content = (profile.email, profile.name, profile.locale)
    return profile.changed_at, repr(content)


def reroute_waiting(
    subscriber: Subscriber,
    context: RoutingContext,
    *,
    only_arrived: bool = False,
    time_left: TimeLeft = unlimited,
) -> None:
    """Route the waiting events again if the values that determined their schedules have changed.

    These values are the choices, the pause, and days more than a week apart. The mark stores the
    time of the change. Runs that are prepared from then on route earlier events again (rule 15).
    Raises NotYet if `time_left` is too short.
    """
    choices = _digest_of(subscriber)
    if subscriber.routed_for == choices:
        return
    reroute(subscriber.user_id, context=context, only_arrived=only_arrived, time_left=time_left)
    since = None if only_arrived else context.clock()
    context.subscribers.mark_routed(subscriber, choices, since=since)


def _digest_of(subscriber: Subscriber) -> str:
    """Return a short hash of the choices, the pause, and a custom recurrence less frequent than
    weekly.
    """
    content: list[object] = [
        [at.isoformat(), dict(chosen)] for at, chosen in without_repeats(subscriber.choices)
    ]
    if subscriber.pause:
        content.append([subscriber.pause.until.isoformat(), subscriber.pause.time_zone])
    if is_rare(days := subscriber.times.custom_on):
        content.append([sorted(days.weekdays), days.every, days.phase, days.month_day])
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
