"""Keep a subscriber's schedules consistent with the profile."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeGuard

from gazette.domain.identity import latest_run
from gazette.domain.model import Schedule, ScheduleState
from gazette.domain.ports.ledgers import ScheduleKey, Schedules
from gazette.domain.ports.stores import Subscribers
from gazette.domain.scheduling.calendar import (
    Recurrence,
    last_instant_of_slot,
    next_after_change,
    next_occurrence,
)
from gazette.domain.stored import is_known, is_of_one_row, readable, require_readable
from gazette.domain.subscribers.frequency import DIGESTS, Frequency, digests_in
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber, SubscriberStatus
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.reschedule import give_up, stop_pending


def arm(readers: Mapping[ScheduleKey, Subscriber], *, context: ScheduleContext) -> None:
    """Ensure that fan-out finds these schedules, because events are waiting in them (rule 23).

    Call this function after storing or moving events, even if they were stored before, because the
    process that stored them may have failed before this call. A process that armed the schedule of
    a reader who unsubscribed in between may also have failed. `readers` contains the schedules'
    readers as read before. Raises NotYet if a row keeps changing. If one schedule causes an error,
    the error is raised after all other schedules are armed.
    """
    if not readers:
        return
    rows = context.schedules.get_many(readers.keys())
    existing = {(schedule.user_id, schedule.name): schedule for schedule in readable(rows)}
    failed: list[Exception] = []
    for key, reader in readers.items():
        if key not in existing and len(existing) < len(rows):
            continue  # the schedule may be the unreadable row
        current = existing.get(key)
        try:
            if _must_be_armed(current, reader):
                _arm(reader, Frequency(key[1]), current, context)
            elif current and current.listed and not is_active(reader):
                withdraw_if_left(reader.user_id, context=context)
        except Exception as err:
            if not is_of_one_row(err):
                raise
            failed.append(err)
    require_readable(rows)
    if failed:
        raise failed[0]


def _arm(
    reader: Subscriber, digest: Frequency, current: Schedule | None, context: ScheduleContext
) -> None:
    """Write an armed schedule, then read the profile, because the reader may have unsubscribed.

    If the profile has changed, the process that changed it may not have seen the schedule, so the
    schedule is updated again.
    """
    for _ in ATTEMPTS:
        base = current or _new(reader, digest, context=context, is_new=False)
        armed = base.armed(base.due_after(context.clock()))
        armed = replace(armed, changed_at=max(armed.changed_at, reader.changed_at))
        if context.schedules.put(armed, replacing=current):
            latest = withdraw_if_left(reader.user_id, context=context)
            if not is_active(latest) or latest.is_unchanged_since(reader):
                return
            reader = latest
            current = context.schedules.get(reader.user_id, digest.value)
            set_schedule(reader, digest, context=context, current=current)
        current = context.schedules.get(reader.user_id, digest.value)
        if not _must_be_armed(current, reader):
            return
    raise kept_changing(f"The schedule {digest} of {reader.user_id}")


def _must_be_armed(current: Schedule | None, reader: Subscriber) -> bool:
    """Return True if fan-out may miss a schedule that has a waiting event, so that it must be
    armed.

    When an inactive reader becomes active, the withdrawn schedules are armed. This function finds a
    schedule that another process withdraws a moment later, after reading that the reader is
    inactive.
    """
    if current is None or current.state in {ScheduleState.LEAVING, ScheduleState.IDLE}:
        return True
    return current.is_withdrawn and is_active(reader)


def withdraw_if_left(user_id: str, *, context: ScheduleContext) -> Reader:
    """Take the schedules of an unsubscribed or dormant reader out of the due index.

    Call this function after writing a schedule, because the reader may have unsubscribed in
    between, before the schedule was visible. Schedules of an erased reader are removed. Returns the
    current reader.
    """
    reader = context.subscribers.get(user_id)
    if isinstance(reader, Subscriber) and not is_active(reader):
        reader = withdraw(user_id, subscribers=context.subscribers, schedules=context.schedules)
    if isinstance(reader, Erased):
        remove_schedules(user_id, reader.erased_at, context=context)
    return reader


def withdraw(user_id: str, *, subscribers: Subscribers, schedules: Schedules) -> Reader:
    """Take the schedules of an inactive subscriber out of the due index.

    The schedules are read before the profile, and withdrawn only if they have not changed. A reader
    who becomes active in between writes the profile first and then the schedules. The schedule that
    is due is withdrawn last, so that fan-out finds all of them again after a crash. An idle
    schedule stays idle. Under an unknown status no schedule is withdrawn, because a version that
    knows the status may schedule digests. Raises NotYet if the schedules keep changing.
    """
    for _ in ATTEMPTS:
        present = schedules.of_user(user_id)
        reader = subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or is_active(reader) or not is_known(reader.status):
            return reader
        latest_first = sorted(present, key=lambda each: each.next_due_at, reverse=True)
        if all(schedules.withdraw(each) for each in latest_first if each.listed):
            return reader
    raise kept_changing(f"A schedule of {user_id}")


def is_active(reader: Reader) -> TypeGuard[Subscriber]:
    """Return True if the subscriber's digests are scheduled."""
    return isinstance(reader, Subscriber) and reader.status is SubscriberStatus.ACTIVE


def remove_schedules(user_id: str, until: datetime, *, context: ScheduleContext) -> None:
    """Remove the schedules that were last changed at `until` or before.

    Later schedules were created after a return. Raises NotYet if the schedules keep changing.
    """
    for _ in ATTEMPTS:
        if not [
            schedule
            for schedule in context.schedules.of_user(user_id)
            if schedule.changed_at <= until and not context.schedules.remove(schedule)
        ]:
            return
    raise kept_changing(f"A schedule of {user_id}")


def set_schedules(
    subscriber: Subscriber, *, context: ScheduleContext, is_new: bool = False, resumes: bool = False
) -> None:
    """Create missing schedules, and update existing schedules to match the profile.

    A schedule that only another version knows does not change. `is_new` means that the subscriber
    was unknown before, so there are no schedules. `resumes` means that another worker may be
    withdrawing the schedules because the subscriber was dormant or had unsubscribed.
    """
    if not is_active(subscriber):
        return
    stored = [] if is_new else context.schedules.of_user(subscriber.user_id)
    present = {Frequency(each.name): each for each in stored if each.name in DIGESTS}
    for digest in sorted(present.keys() | digests_in((subscriber.chosen, context.defaults))):
        current = present.get(digest)
        set_schedule(
            subscriber, digest, context=context, current=current, is_new=is_new, resumes=resumes
        )


def set_schedule(
    subscriber: Subscriber,
    digest: Frequency,
    *,
    context: ScheduleContext,
    current: Schedule | None,
    is_new: bool = False,
    resumes: bool = False,
) -> None:
    """Update a schedule to match the profile, while fan-out may be advancing it.

    `current` is the schedule as last read, or None if there was none. A new schedule continues the
    sequence of its last run, because a sequence is never used twice, not even after an erasure and
    a return. `is_new` means that the subscriber was unknown before, so there are no runs. `resumes`
    forces a write even if the schedule does not change, so that no worker withdraws it based on an
    earlier read. A changed occurrence gets a new sequence, because fan-out may have started the old
    sequence's run without having advanced the schedule. An idle schedule stays idle, unless it
    queries a content source. Raises NotYet if the schedule keeps changing.
    """
    recurrence = subscriber.recurrence(digest)
    sources = sources_of(subscriber, digest, context=context)

    for _ in ATTEMPTS:
        if current is None:
            changed = _new(subscriber, digest, context=context, is_new=is_new)
        elif current.changed_at > subscriber.changed_at:
            return
        else:
            moved = _moved(current, recurrence, subscriber.changed_at, context)
            changed = _asking(moved, sources, current, subscriber.changed_at, context)
            if resumes and not current.is_idle:
                changed = replace(changed, revision=current.revision + 1)
            if changed == current:
                return
        if context.schedules.put(changed, replacing=current):
            return
        current = context.schedules.get(subscriber.user_id, digest.value)
    raise kept_changing(f"The schedule {digest} of {subscriber.user_id}")


def _new(
    subscriber: Subscriber, digest: Frequency, *, context: ScheduleContext, is_new: bool
) -> Schedule:
    """Return a new schedule, which is idle until its first event arms it (rule 23).

    A schedule that queries a content source is armed immediately, because no event would arm it.
    """
    recurrence = subscriber.recurrence(digest)
    sources = sources_of(subscriber, digest, context=context)
    chain = [] if is_new else context.runs.chain(latest_run(subscriber.user_id, digest.value))
    return Schedule(
        user_id=subscriber.user_id,
        name=digest.value,
        recurrence=recurrence,
        next_due_at=next_occurrence(recurrence, after=last_instant_of_slot(context.clock())),
        sequence=chain[0].key.sequence + 1 if chain else 1,
        revision=1,
        changed_at=subscriber.changed_at,
        active_until=subscriber.dormant_at(context.sunset) if context.sunset else None,
        state=ScheduleState.ARMED if sources else ScheduleState.IDLE,
        sources=sources,
    )


def sources_of(
    subscriber: Subscriber, digest: Frequency, *, context: ScheduleContext
) -> tuple[str, ...]:
    """Return the ordered content sources of a reader's digest, or none if it shows only events."""
    if context.content is None:
        return ()
    return context.content.sources_for(digest, chosen=subscriber.chosen, defaults=context.defaults)


def _asking(
    moved: Schedule,
    sources: tuple[str, ...],
    current: Schedule,
    changed_at: datetime,
    context: ScheduleContext,
) -> Schedule:
    """Return the schedule `moved` with its content sources.

    If it queries a source and is not in the due index, it is armed. A schedule that no longer
    queries a source is taken out of the index at its next occurrence.
    """
    if sources == moved.sources and not (sources and moved.is_idle):
        return moved
    asking = replace(moved, sources=sources, changed_at=changed_at, revision=current.revision + 1)
    if not (sources and asking.is_idle):
        return asking
    armed = asking.armed(asking.due_after(context.clock()))
    return replace(armed, revision=asking.revision)


def _moved(
    current: Schedule, recurrence: Recurrence, changed_at: datetime, context: ScheduleContext
) -> Schedule:
    """Return `current` with the wanted recurrence, or an equal schedule if there is no change.

    Occurrences that passed while the schedule was not in the due index are not made up for. An
    overdue occurrence in the index is left to fan-out, which starts it even after an outage. If no
    event is waiting, only the recurrence changes, because the next event computes the next
    occurrence.
    """
    if current.is_idle:
        idle = replace(
            current, recurrence=recurrence, changed_at=changed_at, revision=current.revision + 1
        )
        return current if current.recurrence == recurrence else idle
    if current.recurrence == recurrence and current.listed:
        return replace(current, changed_at=changed_at)

    def change(given_up: Schedule) -> Schedule:
        next_due_at = next_after_change(
            recurrence,
            after=last_instant_of_slot(context.clock()),
            last=given_up.last_due_at,
            pending=current.next_due_at if current.listed else None,
        )
        return replace(
            given_up,
            recurrence=recurrence,
            state=ScheduleState.ARMED,
            next_due_at=next_due_at,
            sequence=given_up.sequence + (next_due_at != given_up.next_due_at),
            revision=current.revision + 1,
            changed_at=changed_at,
        )

    base = current if current.recurrence == recurrence else stop_pending(current, context=context)
    changed = change(base)
    if changed.sequence == current.sequence:
        return changed
    return change(give_up(base, context=context))
