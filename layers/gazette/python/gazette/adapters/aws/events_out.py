"""The event bus on which Gazette publishes events about readers and emails."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from json import dumps
from typing import TYPE_CHECKING, Any

from gazette.adapters.aws.bus import custom_days, day_name, put_entries, reference
from gazette.domain.errors import Unavailable
from gazette.domain.events_out.events import (
    EmailEvent,
    EventOut,
    OfReader,
    PreferencesChanged,
    Setting,
    SubscriberEvent,
)
from gazette.domain.identity import run_id
from gazette.domain.subscribers.frequency import DEFAULT, EVERYTHING

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

VERSION = 1
"""The version of the contract of events out.

Within a version, fields are only added. The schemas in docs/events have the version in their names.
"""

_FIRST_WEEK = datetime(2026, 1, 5, tzinfo=UTC)
"""The start of the weeks in which `starting` is searched, so that equal days are equal texts."""


class EventBridgeOut:
    """Implementation of the `EventsOut` port backed by EventBridge.

    `source` is the `source` field of the published events. With `with_address`, events about
    subscribers contain the reader's address.
    """

    def __init__(
        self, client: "EventBridgeClient", name: str, *, source: str, with_address: bool
    ) -> None:
        self._client = client
        self._name = name
        self._source = source
        self._with_address = with_address

    def publish(self, events: Sequence[EventOut]) -> None:
        """Publish events with one PutEvents per ten events. Retry rejected events up to twice."""
        if not put_entries(self._client, map(self._entry, events)):
            raise Unavailable(f"The bus {self._name} accepted none of the events.")

    def _entry(self, event: EventOut) -> "PutEventsRequestEntryTypeDef":
        return {
            "EventBusName": self._name,
            "Source": self._source,
            "DetailType": event.type.value,
            "Detail": dumps(detail_of(event, with_address=self._with_address)),
        }


def detail_of(event: EventOut, *, with_address: bool) -> dict[str, Any]:
    """Return the detail of an event. Fields without a value are omitted."""
    return {"version": VERSION, "id": event.id, **dict(_fields(event, with_address=with_address))}


def _fields(event: EventOut, *, with_address: bool) -> Iterator[tuple[str, Any]]:
    match event:
        case SubscriberEvent():
            yield from _of_reader(event)
            if with_address:
                yield "email", event.address
        case PreferencesChanged():
            yield from _of_reader(event)
            yield from _preferences(event)
        case EmailEvent():
            yield from _email(event)


def _of_reader(event: OfReader) -> Iterator[tuple[str, Any]]:
    yield "user_id", event.user_id
    yield "revision", event.revision
    if event.erased_at:
        yield "erased_at", _instant(event.erased_at)
    yield "at", _instant(event.at)
    if event.by:
        yield "by", event.by.value
    if event.is_retold:
        yield "retold", True


def _preferences(event: PreferencesChanged) -> Iterator[tuple[str, Any]]:
    """Yield the changed preferences. The fields are those of `preferences.chosen`."""
    by_category = {name: often.value for name, often in event.frequencies}
    of_others = by_category.pop(EVERYTHING, DEFAULT.value if event.is_retold else None)
    if of_others:
        yield "frequency", of_others
    if by_category or event.is_retold:
        yield "frequencies", by_category
    if Setting.TIME_ZONE in event.settings:
        yield "time_zone", event.preferences.time_zone
    if Setting.QUIET_HOURS in event.settings:
        yield "quiet_hours", event.preferences.quiet_hours
    if digest := dict(_digest(event)):
        yield "digest", digest
    muted = [reference(each.entity) for each in event.mutes if each.is_muted]
    if muted or event.is_retold:
        yield "mute", muted
    if ended := [reference(each.entity) for each in event.mutes if not each.is_muted]:
        yield "unmute", ended


def _digest(event: PreferencesChanged) -> Iterator[tuple[str, Any]]:
    times = event.preferences.times
    if Setting.CLOCK in event.settings:
        yield "hour", times.hour
        yield "minute", times.minute
    if Setting.WEEKLY_ON in event.settings:
        yield "weekly", {"day": day_name(times.weekly_on)}
    if Setting.CUSTOM_ON in event.settings:
        yield "custom", custom_days(times.custom_on, _FIRST_WEEK)
    if Setting.PAUSED_UNTIL in event.settings:
        yield "paused_until", times.paused_until.isoformat() if times.paused_until else None


def _email(event: EmailEvent) -> Iterator[tuple[str, Any]]:
    yield "user_id", event.run.user_id
    yield "email", run_id(event.run)
    yield "schedule", event.run.schedule
    yield "slot", _instant(event.slot)
    yield "at", _instant(event.at)
    if event.categories:
        yield "categories", [*event.categories]
    if event.events is not None:
        yield "events", event.events
    if event.certainty:
        yield "certainty", event.certainty.value
    if event.reason:
        yield "reason", event.reason


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
