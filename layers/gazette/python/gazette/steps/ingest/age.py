"""Refuse events and activities that are so old that a record of an earlier arrival may be gone."""

from collections.abc import Collection
from datetime import datetime, timedelta

from gazette.domain.commands import Command, CreateActivity, CreateEvents
from gazette.domain.errors import TooOld
from gazette.domain.model import Event, Retracted
from gazette.domain.ports.stores import Activities, Events


def without_outdated(
    command: Command,
    now: datetime,
    *,
    oldest: timedelta,
    activities: Activities,
    events: Events,
) -> tuple[Command, bool]:
    """Return a command that has old events without the outdated ones, and True if there are any.

    An event is outdated if it occurred more than `oldest` ago and is not stored. The row of an
    event is kept for at least `oldest`, so an event that is older may have been sent before. A row
    that exists recognises a repetition, an amendment or a retraction at any age. Raises TooOld if
    the command contains no other event. Only outdated events cost a read.
    """
    since = now - oldest
    match command:
        case CreateActivity(activity):
            if activities.get(activity.entity.key, activity.id) is None:
                raise TooOld(_reason(activity.occurred_at, oldest))
        case CreateEvents(all_events, problems):
            old = [event for event in all_events if event.occurred_at < since]
            outdated = _not_stored(old, events)
            if outdated:
                current = tuple(event for event in all_events if event not in outdated)
                reason = _reason(outdated[0].occurred_at, oldest)
                if not current:
                    raise TooOld(reason)
                return CreateEvents(current, f"{reason} {problems}".strip()), True
    return command, False


def _not_stored(old: list[Event], events: Events) -> list[Event]:
    ids: dict[str, set[str]] = {}
    for event in old:
        ids.setdefault(event.user_id, set()).add(event.own_id or event.id)
    stored = {user_id: _stored_ids(user_id, those, events) for user_id, those in ids.items()}
    return [event for event in old if (event.own_id or event.id) not in stored[event.user_id]]


def _stored_ids(user_id: str, event_ids: Collection[str], events: Events) -> set[str]:
    """Return the ids whose event or retraction is stored.

    A pointer is kept longer than the row of its happening, so this row must be stored too.
    """
    rows = events.get_many(user_id, event_ids)
    pointers = {
        event_id: row.part_of
        for event_id, row in rows.items()
        if isinstance(row, Retracted) and row.is_pointer
    }
    shared = events.get_many(user_id, set(pointers.values())) if pointers else {}
    present = rows.keys() | shared.keys()
    return {event_id for event_id in rows if pointers.get(event_id, event_id) in present}


def _reason(occurred_at: datetime, oldest: timedelta) -> str:
    return (
        f"detail.occurred_at: {occurred_at.isoformat()} is more than {oldest.days} days ago "
        "(event_retention_days), so Gazette may have sent the event before. To send it, publish it "
        "with a new id and the current time."
    )
