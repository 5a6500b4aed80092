"""Explain why a reader did or did not get an email, based on all relevant rows.

Makes no writes. The result contains no addresses and no content of events.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from gazette.domain.delivery.run import Reason, Run, given_up_until, is_given_up
from gazette.domain.errors import UnreadableRow
from gazette.domain.explanation import (
    Choice,
    Due,
    EventHistory,
    ExplainedRun,
    Explanation,
    Outlook,
    Override,
    Waiting,
)
from gazette.domain.identity import address_hash
from gazette.domain.links import NEW_LINK
from gazette.domain.model import Schedule, StoredEvent
from gazette.domain.muting.muted import is_muted
from gazette.domain.muting.mutes import Mutes, in_force
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import CurrentWithdrawals, HeldCategories
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Follows, Subscribers, Suppressions
from gazette.domain.scheduling.calendar import (
    SLOT,
    last_instant_of_slot,
    next_occurrence,
    next_on_another_date,
    slot_of,
    zone_of,
)
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, kind_of
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.stored import readable
from gazette.domain.subscribers.addresses import EVERYONE, AllowedRecipients
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import (
    ASKED_CATEGORIES,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequency_for,
    in_digest,
)
from gazette.domain.subscribers.subscriber import Reader, Subscriber, SubscriberStatus
from gazette.domain.withdrawing.withdrawn import Withdrawn
from gazette.steps.subscribers.schedules import is_active
from gazette.steps.support.late import is_late, may_be_late
from gazette.steps.support.pending import by_schedule, runs_by_schedule, unsent

LAST = 10
"""The number of runs to show if no date is specified, in addition to unfinished runs."""

_AHEAD = 3


def explain(
    user_id: str,
    on: date | None,
    *,
    subscribers: Subscribers,
    suppressions: Suppressions,
    follows: Follows,
    schedules: Schedules,
    runs: Runs,
    events: EventHistory,
    held_categories: HeldCategories,
    withdrawals: CurrentWithdrawals,
    clock: Clock,
    defaults: Frequencies,
    sunset: timedelta | None,
    critical: Collection[str] = (),
    allowed: AllowedRecipients = EVERYONE,
    quiet_hours: QuietHours | None = None,
) -> Explanation:
    """Explain why a reader's emails were or were not sent.

    With `on`, explain the runs due on this date in the reader's time zone. `defaults` contains the
    installation's frequencies. `sunset` is the period of inactivity after which a reader counts as
    dormant, even if that is not stored yet. `critical` contains the categories that are sent
    regardless of the reader's choice, and `allowed` the only recipients of the stage.
    `quiet_hours` are those of readers without their own choice.
    """
    now, reader = clock(), subscribers.get(user_id)
    if isinstance(reader, Subscriber):
        reader = reader.as_of(now, sunset=sunset)
    profile = reader if isinstance(reader, Subscriber) else None
    zone = zone_of(profile.time_zone if profile else "UTC")
    runs_read, events_read = list(runs.of_user(user_id)), list(events.of_user(user_id))
    present = schedules.of_user(
        user_id
    )  # read after the events, because a process that stores an event then arms its schedule
    all_runs = list(readable(runs_read))
    stored = by_schedule(readable(events_read))
    waiting_or_over = [
        each
        for each in unsent(stored, all_runs)
        if each.schedule != Unsent.GIVEN_UP and not _is_seen(each) and not _is_withdrawn(each)
    ]
    mutes, applying = in_force(profile.mutes) if profile else (), Withdrawn(withdrawals(), now)
    to_send, muted, over = list[StoredEvent](), list[StoredEvent](), list[StoredEvent]()
    withdrawn = list(filter(_is_withdrawn, readable(events_read)))
    for each in waiting_or_over:
        if not each.is_over(now) and applying.at(each.event):
            withdrawn.append(each)
        elif not each.is_over(now):
            (muted if _is_muted(each, mutes, critical) else to_send).append(each)
        elif each.schedule != Unsent.EXCLUDED:
            over.append(each)
    waiting = _counted(to_send, stored)
    followed = _followed(user_id, follows)

    def is_sent_later(each: StoredEvent) -> bool:
        if profile is None or not may_be_late(each, now, critical):
            return False
        its = tuple(map(followed.get, each.event.via))
        return is_late(each, profile, its, defaults=defaults, sunset=sunset)

    sent_later = list(filter(is_sent_later, to_send))
    chosen = profile.chosen if profile else ()
    return Explanation(
        user_id=user_id,
        now=now,
        on=on,
        zone=zone,
        time_zone=profile.time_zone if profile else "",
        status=profile.status if profile else None,
        suppression=suppressions.get(address_hash(profile.email)) if profile else None,
        erased_at=reader.erased_at if reader else None,
        changed_at=profile.changed_at if profile else None,
        chosen_at=profile.choices[-1][0] if profile and chosen else None,
        registered_on=profile.registered_on if profile else None,
        active_on=profile.active_on if profile else None,
        paused_until=_paused_until(profile, now),
        quiet_hours=profile.quiet_hours_in_force(quiet_hours) if profile else None,
        dormant_at=_dormant_at(profile, sunset),
        is_allowed=profile is None or allowed.allow(profile.email),
        outlooks=tuple(
            _outlook(
                each,
                reader,
                sunset,
                _due(each, reader, now, waits=any(one.schedule == each.name for one in waiting)),
                on,
                now,
                runs=[run for run in all_runs if run.key.schedule == each.name],
                events=stored.get(each.name, ()),
            )
            for each in present
        ),
        choices=_choices(
            chosen,
            defaults,
            stored,
            critical,
            asked=ASKED_CATEGORIES if any(each.sources for each in present) else (),
        ),
        critical=tuple(sorted(critical)),
        follows=len(followed),
        overrides=_overrides(followed.values()),
        runs=tuple(
            ExplainedRun(run, _covered(run, stored), _about(run.key.schedule, stored))
            for run in _shown(all_runs, on, zone)
        ),
        mutes=mutes,
        waiting=waiting,
        late=_counted((each for each in sent_later if not each.is_capped), stored),
        over_limit=_counted((each for each in sent_later if each.is_capped), stored),
        muted=_counted(muted, stored),
        given_up=_counted(_given_up(stored, all_runs), stored),
        expired=_counted((each for each in over if not each.event.has_lapsed(now)), stored),
        lapsed=_counted((each for each in over if each.event.has_lapsed(now)), stored),
        seen=_counted(filter(_is_seen, readable(events_read)), stored),
        withdrawn=_counted(withdrawn, stored),
        merged=_counted(_merged(readable(events_read)), stored),
        unreadable=tuple(
            str(row) for row in (*runs_read, *events_read) if isinstance(row, UnreadableRow)
        ),
        held_categories=tuple(sorted({each.category for each in waiting} & set(held_categories()))),
    )


def _merged(all_stored: Iterable[StoredEvent]) -> Iterator[StoredEvent]:
    """Yield each event that another event of its happening replaces in emails, with its place."""
    for stored in all_stored:
        yield from (replace(stored, event=body, others=()) for body in stored.others)


def _is_seen(stored: StoredEvent) -> bool:
    return stored.schedule == Unsent.EXCLUDED and stored.seen_at is not None


def _is_withdrawn(stored: StoredEvent) -> bool:
    return stored.schedule == Unsent.EXCLUDED and stored.withdrawn_at is not None


def _is_muted(stored: StoredEvent, mutes: Mutes, critical: Collection[str]) -> bool:
    """Return True if the next run of a waiting event removes it because its entity is muted."""
    if kind_of(stored.schedule) is ScheduleKind.UNSENT:
        return False
    return is_muted(stored.event, mutes, critical)


def _dormant_at(profile: Subscriber | None, sunset: timedelta | None) -> datetime | None:
    if profile is None or sunset is None or profile.status is not SubscriberStatus.ACTIVE:
        return None
    return profile.dormant_at(sunset)


def _paused_until(profile: Subscriber | None, now: datetime) -> date | None:
    """Return the first date after the pause, or None if there is no pause at `now`."""
    if profile is None or profile.pause is None or not profile.pause.holds_at(now):
        return None
    return profile.pause.until


def _shown(runs: Iterable[Run], on: date | None, zone: ZoneInfo) -> list[Run]:
    newest_first = sorted(
        runs, key=lambda run: (run.due_at, run.key.schedule, run.key.sequence), reverse=True
    )
    if on is None:
        return newest_first[:LAST] + [run for run in newest_first[LAST:] if not run.status.is_final]
    return [run for run in newest_first if run.due_at.astimezone(zone).date() == on]


def _outlook(
    schedule: Schedule,
    reader: Reader,
    sunset: timedelta | None,
    due: Due,
    on: date | None,
    now: datetime,
    *,
    runs: Sequence[Run],
    events: Sequence[StoredEvent],
) -> Outlook:
    comes = due in {Due.PLANNED, Due.OVERDUE, Due.IDLE}
    following: list[datetime] = [schedule.due_after(now)] if comes else []
    while 0 < len(following) < _AHEAD:
        # Like fan-out, continue after an occurrence.
        last = following[-1]
        after = last_instant_of_slot(max(last, now))
        following.append(next_on_another_date(schedule.recurrence, after=after, last=last))
    on_date = _occurrence_on(on, schedule) if on else None
    quiet = _quiet_around(on_date, schedule, now, runs, events) if on_date else None
    with_notice = tuple(
        at
        for at in following
        if isinstance(reader, Subscriber)
        and reader.digests_end_on(Frequency(schedule.name), at, sunset)
    )
    return Outlook(schedule, due, tuple(following), on_date, with_notice, quiet)


def _quiet_around(
    due: datetime,
    schedule: Schedule,
    now: datetime,
    runs: Sequence[Run],
    events: Sequence[StoredEvent],
) -> tuple[datetime, datetime] | None:
    """Return the period without waiting events that includes `due`, if any.

    The period begins at an occurrence without waiting events. It begins when the profile changed if
    the first run has not started, or is still stored. An event that arrives within a digest's slot
    goes into the next digest.
    """
    if schedule.is_withdrawn or (schedule.listed and due >= schedule.next_due_at):
        return None
    taken_out = [run.due_at for run in runs if run.reason is Reason.NOTHING_WAITED]
    if schedule.is_idle and schedule.sequence > 1:
        taken_out.append(schedule.next_due_at)
    if min([schedule.sequence, *(run.key.sequence for run in runs)]) == 1:
        taken_out.append(schedule.changed_at)
    since = max((at for at in taken_out if at <= due), default=None)
    if since is None:
        return None
    came = [*(run.due_at for run in runs), *(event.stored_at for event in events)]
    until = min((at for at in came if at > since), default=now)
    return (since, until) if slot_of(due) <= until else None


def _due(schedule: Schedule, reader: Reader, now: datetime, *, waits: bool) -> Due:
    """Return the state of the next occurrence. An occurrence is overdue if two ticks failed to
    start its run.

    `waits` means that an event is waiting, so the schedule should be in the due index.
    """
    if not is_active(reader):
        return Due.OFF
    if schedule.is_idle and not waits:
        return Due.IDLE
    if not schedule.listed:
        return Due.UNLISTED
    overdue = now > last_instant_of_slot(schedule.next_due_at) + SLOT
    return Due.OVERDUE if overdue else Due.PLANNED


def _occurrence_on(on: date, schedule: Schedule) -> datetime | None:
    zone = zone_of(schedule.recurrence.time_zone)
    midnight = datetime.combine(on, time(), zone).astimezone(UTC)
    due = next_occurrence(schedule.recurrence, after=midnight - timedelta(microseconds=1))
    return due if due.astimezone(zone).date() == on else None


def _choices(
    chosen: Frequencies,
    defaults: Frequencies,
    stored: Mapping[str, Sequence[StoredEvent]],
    critical: Collection[str],
    *,
    asked: Collection[str],
) -> tuple[Choice, ...]:
    """Return the choice for each category that was chosen, has a default, or has an event.

    The choice for all other categories comes first. Critical categories are immediate regardless of
    the choice. Categories in `asked` come from queried sources and are sent in a digest.
    """

    def counts(category: str) -> Frequency:
        if category in critical:
            return Frequency.IMMEDIATE
        often = frequency_for(category, chosen=chosen, defaults=defaults)
        return in_digest(often) if category in asked else often

    own, by_default = dict(chosen), dict(defaults)
    seen = {each.event.category for events in stored.values() for each in events} - {NEW_LINK}
    return tuple(
        Choice(
            category,
            counts(category),
            own.get(category) or own.get(EVERYTHING),
            by_default.get(category),
        )
        for category in sorted(own.keys() | by_default.keys() | seen | {*critical})
    )


def _followed(user_id: str, follows: Follows) -> Mapping[str, Follow]:
    """Return the active follows by entity."""
    entities = sorted(set(follows.followed_by(user_id)))
    stored = follows.get_many([(entity, user_id) for entity in entities]) if entities else {}
    return {each.entity: each for each in stored.values() if each.changes[-1][1].following}


def _overrides(followed: Iterable[Follow]) -> tuple[Override, ...]:
    """Return the follows that have a separate frequency."""
    overrides = [
        Override(follow.entity, state.frequency, since)
        for follow in followed
        for since, state in follow.changes[-1:]
        if state.frequency
    ]
    return tuple(sorted(overrides, key=lambda each: each.entity))


def _given_up(
    stored: Mapping[str, Sequence[StoredEvent]], runs: Sequence[Run]
) -> list[StoredEvent]:
    given_up = list(stored.get(Unsent.GIVEN_UP, ()))
    chains = runs_by_schedule(runs)
    for schedule, events in stored.items():
        chain = chains.get(schedule, ())
        until = given_up_until(chain)  # usually BEGINNING, so that no run is read for each event
        given_up += (
            each
            for each in events
            if each.stored_at <= until and is_given_up(each.stored_at, chain)
        )
    return given_up


def _counted(
    some: Iterable[StoredEvent], stored: Mapping[str, Sequence[StoredEvent]]
) -> tuple[Waiting, ...]:
    instants: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    for each in some:
        instants[each.schedule, each.event.category].append(each.stored_at)
    return tuple(
        Waiting(schedule, _about(schedule, stored), category, len(at), min(at), max(at))
        for (schedule, category), at in sorted(instants.items())
    )


def _covered(run: Run, stored: Mapping[str, Sequence[StoredEvent]]) -> tuple[tuple[str, int], ...]:
    window = run.window
    if window is None:
        return ()
    counted = Counter(
        each.event.category
        for each in stored.get(run.key.schedule, ())
        if window.since < each.stored_at <= window.until
    )
    return tuple(sorted(counted.items()))


def _about(schedule: str, stored: Mapping[str, Sequence[StoredEvent]]) -> str:
    """Return the entity key of an immediate schedule if one of its events is stored, or an empty
    string.
    """
    if kind_of(schedule) is not ScheduleKind.IMMEDIATE:
        return ""
    return next((each.event.entity.key for each in stored.get(schedule, ())), "")
