"""Events out about readers, derived from the rows of `subscribers` before and after a change. Pure.

Only a higher revision is a change. A row that is restored from a copy has a lower one, so it is not
published.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from gazette.domain.events_out.events import (
    By,
    EventOut,
    EventType,
    PreferencesChanged,
    Setting,
    SubscriberEvent,
)
from gazette.domain.muting.mutes import Mutes, in_force
from gazette.domain.scheduling.calendar import AT_EIGHT
from gazette.domain.stored import is_known
from gazette.domain.subscribers.choices import VALUE_OF, Preferences
from gazette.domain.subscribers.frequency import DEFAULT, Frequencies, difference
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber, SubscriberStatus

_FIRST = 1
"""The revision of a new profile."""

_NEVER_ERASED = datetime.min.replace(tzinfo=UTC)

_TYPES = {
    SubscriberStatus.ACTIVE: EventType.SUBSCRIBER_RETURNED,
    SubscriberStatus.DORMANT: EventType.SUBSCRIBER_RETURNED,
    SubscriberStatus.UNSUBSCRIBED: EventType.SUBSCRIBER_LEFT,
    SubscriberStatus.SUPPRESSED: EventType.SUBSCRIBER_SUPPRESSED,
}
"""The event that a reader's status corresponds to. A dormant reader has not left."""


def reader_events(before: Reader, after: Reader, at: datetime) -> Iterator[EventOut]:
    """Yield the events of a change of a reader that was stored at `at`.

    For a new profile, the events contain the preferences that differ from the defaults. For a new
    profile after an erasure, they contain all preferences, because consumers may have kept earlier
    ones. An erasure is not published, because the service that ordered it already knows.
    """
    if not isinstance(after, Subscriber):
        return
    if before is None:
        if after.revision == _FIRST:
            yield from _changes(None, after, at)
    elif isinstance(before, Erased) or before.erased_at != after.erased_at:
        if _erased(after) >= _erased(before):
            yield from present_state(after, at)
    elif after.revision > before.revision:
        yield from _changes(before, after, at)


def present_state(reader: Reader, at: datetime) -> Iterator[EventOut]:
    """Yield events that describe the present state of a reader, whatever was published before."""
    if not isinstance(reader, Subscriber):
        return
    if type_ := _TYPES.get(reader.status):
        yield _status_event(type_, reader, at, by=None, is_retold=True)
    yield PreferencesChanged(
        user_id=reader.user_id,
        revision=reader.revision,
        erased_at=reader.erased_at,
        at=at,
        by=None,
        is_retold=True,
        frequencies=_published(reader.chosen),
        settings=frozenset(Setting),
        mutes=in_force(reader.mutes),
        preferences=_preferences(reader),
    )


def _erased(reader: Subscriber | Erased) -> datetime:
    return reader.erased_at or _NEVER_ERASED


def _changes(before: Subscriber | None, after: Subscriber, at: datetime) -> Iterator[EventOut]:
    yield from _status_events(before, after, at)
    yield from _preference_events(before, after, at)


def _status_events(
    before: Subscriber | None, after: Subscriber, at: datetime
) -> Iterator[SubscriberEvent]:
    """Yield an event if the reader left, returned or was suppressed.

    A status that this version does not know is not published. The next known status is published,
    even if it is the one before, because consumers may know the unknown status from a newer
    version.
    """
    type_ = _TYPES.get(after.status)
    earlier = _TYPES.get(before.status) if before else EventType.SUBSCRIBER_RETURNED
    if type_ and type_ is not earlier:
        yield _status_event(type_, after, at, by=_who_changed_status(type_, before, after))


def _status_event(
    type_: EventType, reader: Subscriber, at: datetime, *, by: By | None, is_retold: bool = False
) -> SubscriberEvent:
    left_at = reader.left_at if type_ is EventType.SUBSCRIBER_LEFT else None
    return SubscriberEvent(
        type=type_,
        user_id=reader.user_id,
        revision=reader.revision,
        erased_at=reader.erased_at,
        at=left_at or at,
        by=by,
        address=reader.email,
        is_retold=is_retold,
    )


def _is_by_consent(before: Subscriber, after: Subscriber) -> bool:
    arrived, left_at = after.returned_at, before.last_left_at
    return arrived is not None and (
        arrived != before.returned_at or (left_at is not None and left_at <= arrived)
    )


def _who_changed_status(type_: EventType, before: Subscriber | None, after: Subscriber) -> By:
    """Return the party that changed the status.

    A service ends an unsubscription by a consent, whose arrival is stored with the change or before
    it, and a suppression by a profile with another address, which changes `changed_at`. No other
    profile changes a status.
    """
    match type_:
        case EventType.SUBSCRIBER_SUPPRESSED:
            return By.GAZETTE
        case EventType.SUBSCRIBER_RETURNED if before and (
            before.changed_at != after.changed_at or _is_by_consent(before, after)
        ):
            return By.SERVICE
        case _:
            return By.READER


def _preference_events(
    before: Subscriber | None, after: Subscriber, at: datetime
) -> Iterator[PreferencesChanged]:
    """Yield an event if other preferences are in force than before.

    The time zone of a new profile is not a preference that differs from another one.
    """
    now = _preferences(after)
    earlier = _preferences(before) if before else Preferences((), AT_EIGHT, after.time_zone)
    changed = _published(difference(dict(earlier.frequencies), dict(now.frequencies)))
    values = _values(now)
    settings = frozenset(
        setting for setting, value in _values(earlier).items() if values[setting] != value
    )
    mutes = _changed_mutes(before.mutes if before else (), after.mutes)
    if changed or settings or mutes:
        yield PreferencesChanged(
            user_id=after.user_id,
            revision=after.revision,
            erased_at=after.erased_at,
            at=at,
            by=_who_chose(before, after),
            frequencies=changed,
            settings=settings,
            mutes=mutes,
            preferences=now,
        )


def _changed_mutes(before: Mutes, after: Mutes) -> Mutes:
    """Return the mutes that began, and the ends of those that are no longer in force."""
    was, now = ({mute.entity: mute for mute in in_force(mutes)} for mutes in (before, after))
    began = (mute for entity, mute in now.items() if entity not in was)
    ended = (mute.ended for entity, mute in was.items() if entity not in now)
    return (*began, *ended)


def _who_chose(before: Subscriber | None, after: Subscriber) -> By:
    """Return the party whose choice changed the preferences.

    A reader's choice leaves the record of the service's choices as it is.
    """
    if before and before.service_choices == after.service_choices:
        return By.READER
    return By.SERVICE


def _preferences(reader: Subscriber) -> Preferences:
    return Preferences(reader.chosen, reader.times, reader.time_zone, reader.quiet_hours)


def _values(of: Preferences) -> dict[Setting, object]:
    return {setting: VALUE_OF[setting](of) for setting in Setting}


def _published(changed: Frequencies) -> Frequencies:
    """Return the frequencies that this version knows. The others have no name in the contract."""
    return tuple(
        (category, often) for category, often in changed if often == DEFAULT or is_known(often)
    )
