"""Take one message from the bus: store it, or keep it in quarantine with the reason."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import assert_never

from gazette.domain.calendar import last_instant_of_slot, next_occurrence
from gazette.domain.commands import ChangeSubscriber, Command, CreateEvent
from gazette.domain.errors import InvalidEvent, NotYet
from gazette.domain.model import DAILY, LocalHour, Schedule, SubscriberStatus
from gazette.domain.ports import Clock, EventWriter, Quarantine, Schedules, Subscribers

_CONFLICTS = 5
_STRANDED_AFTER = timedelta(days=1)


class Ingested(StrEnum):
    """What became of a message."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    SUBSCRIBER_CHANGED = "subscriber_changed"
    OUTDATED = "outdated"
    QUARANTINED = "quarantined"


def ingest(
    body: str,
    *,
    decode: Callable[[str], Command],
    subscribers: Subscribers,
    schedules: Schedules,
    events: EventWriter,
    quarantine: Quarantine,
    clock: Clock,
) -> Ingested:
    """Apply one message. Safe to repeat, in any order and at any time.

    `decode` raises InvalidEvent for what does not fit the contract. Raises Unavailable where a
    port does: the message must then be delivered again.
    """
    try:
        command = decode(body)
    except InvalidEvent as err:
        quarantine.keep(body, str(err))
        return Ingested.QUARANTINED
    match command:
        case CreateEvent():
            stored = events.store(command.event, DAILY)
            return Ingested.STORED if stored else Ingested.DUPLICATE
        case ChangeSubscriber():
            return _change_subscriber(
                command, subscribers=subscribers, schedules=schedules, clock=clock
            )
        case _:
            assert_never(command)


def _change_subscriber(
    command: ChangeSubscriber, *, subscribers: Subscribers, schedules: Schedules, clock: Clock
) -> Ingested:
    """Profile first, then schedule: a crash between them is mended by the redelivery.

    A reader who left while the schedule was written is looked for once more: what must not be
    visited is not in the due index.
    """
    stored = subscribers.save(command.subscriber)
    if stored.changed_at > command.subscriber.changed_at:
        return Ingested.OUTDATED
    if stored.status is SubscriberStatus.ACTIVE:
        _set_schedule(command, schedules=schedules, clock=clock)
        latest = subscribers.get(stored.user_id)
        if latest is None or latest.status is not SubscriberStatus.ACTIVE:
            schedules.withdraw(stored.user_id, DAILY)
    return Ingested.SUBSCRIBER_CHANGED


def _set_schedule(command: ChangeSubscriber, *, schedules: Schedules, clock: Clock) -> None:
    """Bring the daily schedule to the wanted hour; fan-out may move it at the same time."""
    user_id, changed_at = command.subscriber.user_id, command.subscriber.changed_at
    for _ in range(_CONFLICTS):
        current = schedules.get(user_id, DAILY)
        if current is None:
            wanted = Schedule(
                user_id=user_id,
                name=DAILY,
                wanted=command.digest_at,
                next_due_at=_first_due(command.digest_at, clock),
                sequence=1,
                revision=1,
                changed_at=changed_at,
            )
        elif current.changed_at > changed_at:
            return
        else:
            wanted = _changed(current, command, clock)
            if wanted == current:
                return
        if schedules.put(wanted, replacing=current):
            return
    raise NotYet(f"The schedule of {user_id} kept changing. The message will be delivered again.")


def _changed(current: Schedule, command: ChangeSubscriber, clock: Clock) -> Schedule:
    """`current` as the command wants it; equal to it where there is nothing to change.

    A new occurrence takes a new sequence number: fan-out may have started the run of the old
    one without having advanced, and that number is then spent.
    """
    current = replace(current, changed_at=command.subscriber.changed_at)
    if current.wanted == command.digest_at and not _is_stranded(current, clock):
        return current
    return replace(
        current,
        wanted=command.digest_at,
        next_due_at=_first_due(command.digest_at, clock),
        sequence=current.sequence + 1,
        revision=current.revision + 1,
    )


def _is_stranded(schedule: Schedule, clock: Clock) -> bool:
    """Due so long ago that fan-out no longer looks there."""
    return schedule.next_due_at < clock() - _STRANDED_AFTER


def _first_due(wanted: LocalHour, clock: Clock) -> datetime:
    """The first occurrence in a slot after the open one, which fan-out may have read already."""
    return next_occurrence(wanted, after=last_instant_of_slot(clock()))
