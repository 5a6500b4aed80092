"""The event bus on which Gazette publishes readers' choices and activity.

The details are built without the contract's models, so that the preference page does not import
them. A test decodes every entry that this module writes.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.clients import Patience, client
from gazette.domain.commands import CHANGED_CATEGORY, ChoosePreferences, MarkActive
from gazette.domain.errors import Unavailable
from gazette.domain.model import entity_reference
from gazette.domain.ports.bus import BusCommand
from gazette.domain.scheduling.calendar import Days, week_number
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    MOST_CATEGORIES,
    Frequencies,
    Frequency,
)

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

PATIENCE = Patience(connect=1, read=2, attempts=2)
"""The time-outs and retry limit for calls to the bus. A reader may be waiting for a page, and
botocore's default time-out of one minute per call would exceed the feedback function's time for ten
messages.
https://docs.aws.amazon.com/botocore/latest/reference/config.html"""

_ENTRIES_A_CALL = 10
_ATTEMPTS = 3

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def events_client() -> "EventBridgeClient":
    """Return an EventBridge client with time-outs of a few seconds."""
    events: EventBridgeClient = client("events", PATIENCE)
    return events


class EventBridgeBus:
    """Implementation of the `Bus` port backed by EventBridge.

    `source` is the `source` field of the published events.
    """

    def __init__(self, client: "EventBridgeClient", name: str, *, source: str) -> None:
        self._client = client
        self._name = name
        self._source = source

    def put(self, commands: Sequence[BusCommand]) -> bool:
        """Publish the entries with one PutEvents per ten entries. Retry rejected entries up to
        twice.

        The bus accepts or rejects each entry separately. The results are in the order of the
        entries.
        https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html
        """
        return put_entries(self._client, map(self._entry, commands))

    def _entry(self, command: BusCommand) -> "PutEventsRequestEntryTypeDef":
        detail_type, detail = encode(command)
        entry: PutEventsRequestEntryTypeDef = {
            "EventBusName": self._name,
            "Source": self._source,
            "DetailType": detail_type,
            "Detail": json.dumps(detail),
        }
        return (
            {**entry, "Resources": changed} if (changed := changed_categories(command)) else entry
        )


def put_entries(
    client: "EventBridgeClient", entries: "Iterable[PutEventsRequestEntryTypeDef]"
) -> bool:
    """Publish entries with one PutEvents per ten entries. Return False if the bus accepted none.

    Raises Unavailable if the bus rejected some entries, or if the result is unknown.
    """
    remaining = iter(entries)
    accepted = 0
    while ten := list(islice(remaining, _ENTRIES_A_CALL)):
        refused = _put(client, ten)
        accepted += len(ten) - len(refused)
        if refused and accepted:
            raise Unavailable(f"The bus rejected {len(refused)} entries and accepted {accepted}.")
        if refused:
            return False
    return True


def _put(
    client: "EventBridgeClient", entries: "list[PutEventsRequestEntryTypeDef]"
) -> "list[PutEventsRequestEntryTypeDef]":
    """Publish the entries. Return the entries that the bus rejected at every attempt."""
    for _ in range(_ATTEMPTS):
        try:
            answer = client.put_events(Entries=entries)
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The bus did not answer: {err}") from err
        results = zip(entries, answer["Entries"], strict=True)
        entries = [entry for entry, result in results if "ErrorCode" in result]
        if not entries:
            break
    return entries


def encode(command: BusCommand) -> tuple[str, dict[str, Any]]:
    """Return the detail type and the detail of the event that publishes a command."""
    if isinstance(command, ChoosePreferences):
        chosen: dict[str, Any] = {"user_id": command.user_id, "chosen_at": _instant(command.at)}
        if command.choice.frequencies is not None:
            chosen |= {"frequencies": dict(_whole_map(command))}
        chosen |= dict(_choice(command.choice, command.at)) | dict(_mutes(command))
        return "preferences.chosen", chosen
    if isinstance(command, MarkActive):
        sign = {"user_id": command.user_id, "active_at": _instant(command.at)}
        return "subscriber.active", sign
    detail: dict[str, Any] = {
        "user_id": command.user_id,
        "entity": reference(command.entity),
        "changed_at": _instant(command.at),
    }
    if not command.state.following:
        return "follow.deleted", detail
    if command.state.title:
        detail["entity"]["title"] = command.state.title
    if command.state.frequency:
        detail["frequency"] = command.state.frequency
    return "follow.created", detail


def reference(entity: str) -> dict[str, str]:
    """Return the contract's reference to an entity with this key."""
    kind, entity_id = entity_reference(entity)
    return {"type": kind, "id": entity_id}


def _mutes(command: ChoosePreferences) -> Iterator[tuple[str, Any]]:
    muted = [each for each in command.mutes if each.is_muted]
    if muted:
        yield (
            "mute",
            [
                {**reference(each.entity), **({"title": each.title} if each.title else {})}
                for each in muted
            ],
        )
    ended = [each for each in command.mutes if not each.is_muted]
    if ended:
        yield "unmute", [reference(each.entity) for each in ended]


def changed_categories(command: BusCommand) -> list[str]:
    """Return the categories that the reader changed, for the envelope's `resources` field.

    The detail contains the frequencies of all categories, because the previous version expects
    them. It quarantines a detail that contains `default`, and ignores `resources`. From version
    0.3.0 on, the detail contains only the changes, so `resources` is no longer needed.
    https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html
    """
    if not isinstance(command, ChoosePreferences):
        return []
    chosen = command.choice.frequencies or ()
    if chosen == _whole_map(command):
        return []
    return [CHANGED_CATEGORY + name for name, _ in chosen]


def _whole_map(command: ChoosePreferences) -> Frequencies:
    """Return all frequencies by category that apply after a choice, up to the size limit of a
    detail.

    If the limit is exceeded, chosen categories take precedence, followed by muted categories.
    """
    chosen = dict(command.choice.frequencies or ())
    whole = {**dict(command.whole_map or ()), **chosen}
    named = [each for each in whole.items() if each[1] != DEFAULT]
    named.sort(key=lambda each: (each[0] not in chosen, each[1] is not Frequency.NEVER, each[0]))
    return tuple(sorted(named[:MOST_CATEGORIES]))


def _choice(choice: Choice, at: datetime) -> Iterator[tuple[str, Any]]:
    if choice.frequency:
        yield "frequency", choice.frequency
    if choice.time_zone:
        yield "time_zone", choice.time_zone
    if choice.quiet_hours:
        yield "quiet_hours", choice.quiet_hours
    digest = dict(_digest(choice, at))
    if digest:
        yield "digest", digest


def _digest(choice: Choice, at: datetime) -> Iterator[tuple[str, Any]]:
    if choice.clock:
        hour, minute = choice.clock
        yield "hour", hour
        if minute is not None:
            yield "minute", minute
    if choice.weekly_on:
        yield "weekly", {"day": day_name(choice.weekly_on)}
    if choice.custom_on:
        yield "custom", custom_days(choice.custom_on, at)
    if choice.paused_until:
        yield "paused_until", choice.paused_until.isoformat()


def day_name(number: int) -> str:
    """Return the contract's name of a weekday. Monday is 1 and Sunday is 7."""
    return _DAYS[number - 1]


def custom_days(days: Days, at: datetime) -> dict[str, Any]:
    """Return the days of custom digests as the contract specifies them, for a choice at `at`."""
    if days.month_day is not None:
        return {"day_of_month": days.month_day}
    weeks = (at.date() + timedelta(weeks=number) for number in range(days.every))
    starting = next(day for day in weeks if week_number(day) % days.every == days.phase)
    return {
        "days": [day_name(day) for day in sorted(days.weekdays)],
        "every_weeks": days.every,
        "starting": starting.isoformat(),
    }


def _instant(at: datetime) -> str:
    return at.isoformat()
