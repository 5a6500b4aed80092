"""Keep a subscriber's schedules in step with the profile."""

from dataclasses import replace
from datetime import datetime
from typing import TypeGuard

from gazette.domain.identity import latest_run
from gazette.domain.model import Schedule
from gazette.domain.ports.ledgers import Schedules
from gazette.domain.ports.stores import Subscribers
from gazette.domain.scheduling.calendar import (
    Recurrence,
    last_instant_of_slot,
    next_after_change,
    next_occurrence,
)
from gazette.domain.stored import is_known
from gazette.domain.subscribers.frequency import DIGESTS, Frequency, digests_in
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber, SubscriberStatus
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.reschedule import give_up, stop_pending


def ensure_schedule(subscriber: Subscriber, digest: Frequency, *, context: ScheduleContext) -> None:
    """Make sure that the subscriber has the schedule of `digest`, as the profile wants it.

    If the profile changes meanwhile, whoever changed it may not have seen the schedule, so it is
    set again.
    """
    if context.schedules.get(subscriber.user_id, digest.value) is not None:
        return
    current: Schedule | None = None
    for _ in ATTEMPTS:
        set_schedule(subscriber, digest, context=context, current=current)
        latest = withdraw_if_left(subscriber.user_id, context=context)
        if not is_active(latest) or latest.is_unchanged_since(subscriber):
            return
        subscriber, current = latest, context.schedules.get(subscriber.user_id, digest.value)
    raise kept_changing(f"The profile of {subscriber.user_id}")


def withdraw_if_left(user_id: str, *, context: ScheduleContext) -> Reader:
    """Take the schedules of a reader who left or is dormant out of the due index.

    Call it after writing a schedule: the reader may have left meanwhile, and that write did not see
    the schedule. Those of an erased reader are removed. Returns what is known of the reader now.
    """
    reader = context.subscribers.get(user_id)
    if isinstance(reader, Subscriber) and not is_active(reader):
        reader = withdraw(user_id, subscribers=context.subscribers, schedules=context.schedules)
    if isinstance(reader, Erased):
        remove_schedules(user_id, reader.erased_at, context=context)
    return reader


def withdraw(user_id: str, *, subscribers: Subscribers, schedules: Schedules) -> Reader:
    """Take the schedules of a subscriber who is not active out of the due index.

    The schedules are read before the profile, and withdrawn only as they were read: a reader who
    comes back meanwhile writes the profile first and the schedules then. The schedule that is due
    goes last: fan-out finds it again after a crash, and with it the others. Under a status that
    this version does not know nothing is withdrawn: a version that knows it may schedule digests.
    """
    while True:
        present = schedules.of_user(user_id)
        reader = subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or is_active(reader) or not is_known(reader.status):
            return reader
        latest_first = sorted(present, key=lambda each: each.next_due_at, reverse=True)
        if all(schedules.withdraw(each) for each in latest_first if each.listed):
            return reader


def is_active(reader: Reader) -> TypeGuard[Subscriber]:
    """Whether this is a subscriber whose digests are scheduled."""
    return isinstance(reader, Subscriber) and reader.status is SubscriberStatus.ACTIVE


def remove_schedules(user_id: str, until: datetime, *, context: ScheduleContext) -> None:
    """Remove the schedules last changed at `until` or before; later ones were made on a return."""
    while [
        schedule
        for schedule in context.schedules.of_user(user_id)
        if schedule.changed_at <= until and not context.schedules.remove(schedule)
    ]:
        continue


def set_schedules(
    subscriber: Subscriber, *, context: ScheduleContext, is_new: bool = False, resumes: bool = False
) -> None:
    """Bring the schedules that the choices need, and those that exist, in step with the profile.

    A schedule that only another version knows stays as it is. `is_new`: the subscriber was unknown
    before, so there is none. `resumes`: another worker may be withdrawing the schedules because
    the subscriber was dormant or had left.
    """
    if not is_active(subscriber):
        return
    there = [] if is_new else context.schedules.of_user(subscriber.user_id)
    present = {Frequency(each.name): each for each in there if each.name in DIGESTS}
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
    """Bring a schedule in step with the profile, while fan-out may be advancing it.

    `current`: the schedule as last read; None if there was none. A new schedule continues the
    sequence of its last run: a sequence is never used twice, not even after an erasure and a
    return. `is_new`: the subscriber was not known before, so there is no run. `resumes`: write even
    if nothing changes, so that no worker withdraws the schedule as it read it before. A changed
    occurrence gets a new sequence: fan-out may have started the run of the old one without having
    advanced the schedule. Raises NotYet if the schedule keeps changing.
    """
    wanted = subscriber.recurrence(digest)

    for _ in ATTEMPTS:
        if current is None:
            changed = _new(subscriber, digest, context=context, is_new=is_new)
        elif current.changed_at > subscriber.changed_at:
            return
        else:
            changed = _moved(current, wanted, subscriber.changed_at, context=context)
            if resumes:
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
    """A new schedule, first due after the open slot, which fan-out may have read already."""
    wanted = subscriber.recurrence(digest)
    chain = [] if is_new else context.runs.chain(latest_run(subscriber.user_id, digest.value))
    return Schedule(
        user_id=subscriber.user_id,
        name=digest.value,
        wanted=wanted,
        next_due_at=next_occurrence(wanted, after=last_instant_of_slot(context.clock())),
        sequence=chain[0].key.sequence + 1 if chain else 1,
        revision=1,
        changed_at=subscriber.changed_at,
        active_until=subscriber.dormant_at(context.sunset) if context.sunset else None,
    )


def _moved(
    current: Schedule, wanted: Recurrence, changed_at: datetime, *, context: ScheduleContext
) -> Schedule:
    """`current` as it is wanted now; equal to `current` if nothing changes.

    Occurrences that passed while it was out of the due index are not made up for. An overdue
    occurrence in the index is left to fan-out, which starts it even after an outage.
    """
    if current.wanted == wanted and current.listed:
        return replace(current, changed_at=changed_at)

    def change(given_up: Schedule) -> Schedule:
        next_due_at = next_after_change(
            wanted,
            after=last_instant_of_slot(context.clock()),
            last=given_up.last_due_at,
            pending=current.next_due_at if current.listed else None,
        )
        return replace(
            given_up,
            wanted=wanted,
            listed=True,
            next_due_at=next_due_at,
            sequence=given_up.sequence + (next_due_at != given_up.next_due_at),
            revision=current.revision + 1,
            changed_at=changed_at,
        )

    kept = current if current.wanted == wanted else stop_pending(current, context=context)
    changed = change(kept)
    if changed.sequence == current.sequence:
        return changed
    return change(give_up(kept, context=context))
