"""Conversion of valid event details into domain commands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, assert_never, get_args

from gazette.adapters.contract.data import compact
from gazette.adapters.contract.deliveries import DeliveryReported
from gazette.adapters.contract.details import (
    ActivityCreated,
    ActorDetail,
    EntityDetail,
    EntityReference,
    EventCreated,
    EventRetracted,
    HappeningDetail,
)
from gazette.adapters.contract.digest_times import ChosenDigestDetail, CustomDetail, DigestDetail
from gazette.adapters.contract.fields import Day, FrequencyOrDefault
from gazette.adapters.contract.subscribers import (
    Choices,
    EntitySeen,
    FollowChange,
    FollowCreated,
    FollowDeleted,
    PreferencesChosen,
    SubscriberActive,
    SubscriberChanged,
    SubscriberDeleted,
)
from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    Command,
    CommandList,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    ListedCommand,
    MarkActive,
    MarkSeen,
    RetractActivity,
    RetractEvent,
)
from gazette.domain.feedback.delivery_events import DeliveryEventType
from gazette.domain.feedback.reports import DeliveryReport, read_reference
from gazette.domain.identity import address_hash
from gazette.domain.model import Actor, Entity, Event, Image, entity_key
from gazette.domain.muting.mutes import Mute, short_title
from gazette.domain.scheduling.calendar import Days, DigestTimes, week_number
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Activity, FollowState
from gazette.domain.subscribers.frequency import DEFAULT, Frequencies, Frequency, frequencies
from gazette.domain.subscribers.subscriber import Subscriber

AnyDetail = (
    DeliveryReported
    | EventCreated
    | ActivityCreated
    | EventRetracted
    | SubscriberChanged
    | PreferencesChosen
    | SubscriberActive
    | EntitySeen
    | SubscriberDeleted
    | FollowCreated
    | FollowDeleted
)


def command_for(detail: AnyDetail) -> Command | DeliveryReport:
    """Return the domain command for a detail, or the report about an email."""
    match detail:
        case DeliveryReported():
            return _report(detail)
        case EventCreated():
            return CreateEvents((event_of(detail),))
        case ActivityCreated():
            parent = _key(detail.parent) if detail.parent else None
            title = detail.parent.title or "" if detail.parent else ""
            return CreateActivity(Activity(parent=parent, parent_title=title, **_happening(detail)))
        case EventRetracted():
            return _retract(detail)
        case SubscriberChanged():
            return ChangeSubscriber(_subscriber(detail))
        case PreferencesChosen():
            return ChoosePreferences(
                detail.user_id, choice_of(detail), detail.chosen_at, mutes_of(detail)
            )
        case SubscriberActive():
            return MarkActive(detail.user_id, detail.active_at)
        case EntitySeen():
            return _see(detail)
        case SubscriberDeleted():
            return EraseSubscriber(detail.user_id, detail.deleted_at)
        case FollowCreated():
            return _start_follow(detail)
        case FollowDeleted():
            return _change_follow(detail, FollowState(False))
        case _:
            assert_never(detail)


def list_command_for(details: Sequence[AnyDetail]) -> CreateEvents | CommandList:
    """Return the domain command for the details of a list, which have the same type."""
    events: list[Event] = []
    commands: list[ListedCommand] = []
    for detail in details:
        match detail:
            case EventCreated():
                events.append(event_of(detail))
            case SubscriberChanged():
                commands.append(ChangeSubscriber(_subscriber(detail)))
            case FollowCreated():
                commands.append(_start_follow(detail))
            case EntitySeen():
                commands.append(_see(detail))
            case _:
                raise TypeError(f"{type(detail).__name__} has no list form.")
    return CreateEvents(tuple(events)) if events else CommandList(tuple(commands))


def event_of(detail: EventCreated) -> Event:
    """Return the domain event for an `event.created` detail, or for one event of a list."""
    event = Event(user_id=detail.user_id, **_happening(detail))
    activity = detail.part_of
    if activity is None or activity.id == event.id or _key(activity.entity) != event.entity.key:
        return event
    return replace(event, id=activity.id, own_id=event.id)


def _report(detail: DeliveryReported) -> DeliveryReport:
    return DeliveryReport(
        reference=read_reference(detail.reference),
        type=DeliveryEventType(detail.type),
        at=detail.at,
        recipient=address_hash(detail.recipient),
        is_permanent=detail.bounce == "permanent",
        status=detail.status or "",
    )


def _happening(detail: HappeningDetail) -> dict[str, Any]:
    """Return the common fields of an event or activity. Omitted fields get the domain's
    defaults."""
    values = {name: getattr(detail, name) for name in HappeningDetail.model_fields}
    return {name: value for name, value in values.items() if value is not None} | {
        "entity": _entity(detail.entity),
        "actor": _actor(detail.actor) if detail.actor else None,
        "data": compact(detail.data) if detail.data else "",
    }


def _entity(detail: EntityDetail) -> Entity:
    image = Image(detail.image.url, detail.image.text) if detail.image else None
    return Entity(detail.type, detail.id, detail.title, detail.url, image)


def _actor(detail: ActorDetail) -> Actor:
    return Actor(detail.id, detail.name, detail.url or "", detail.avatar or "")


def _retract(detail: EventRetracted) -> RetractEvent | RetractActivity:
    if detail.entity:
        return RetractActivity(_key(detail.entity), detail.id)
    return RetractEvent(str(detail.user_id), detail.id)


def _subscriber(detail: SubscriberChanged) -> Subscriber:
    return Subscriber(
        user_id=detail.user_id,
        email=detail.email,
        name=detail.name,
        locale=detail.locale,
        time_zone=detail.time_zone,
        changed_at=detail.changed_at,
        times=_times(detail.digest),
        quiet_hours=detail.quiet_hours,
        choices=((detail.changed_at, frequencies(detail.frequencies)),),
        active_on=detail.active_on,
    )


def _times(detail: DigestDetail) -> DigestTimes:
    return DigestTimes(
        hour=detail.hour,
        minute=detail.minute,
        weekly_on=_iso_weekday(detail.weekly.day),
        custom_on=_days(detail.custom),
        paused_until=detail.paused_until,
    )


def _frequency(detail: FrequencyOrDefault) -> Frequency:
    return DEFAULT if detail == "default" else Frequency(detail)


def _by_category(detail: Mapping[str, FrequencyOrDefault]) -> Frequencies:
    return frequencies({name: _frequency(often) for name, often in detail.items()})


def choice_of(detail: Choices) -> Choice:
    """Return the choice in a detail, or in a request to the API."""
    return Choice(
        frequency=_frequency(detail.frequency) if detail.frequency else None,
        frequencies=None if detail.frequencies is None else _by_category(detail.frequencies),
        time_zone=detail.time_zone,
        quiet_hours=detail.quiet_hours,
        **_chosen_times(detail.digest),
    )


def mutes_of(detail: Choices) -> tuple[Mute, ...]:
    """Return the changes of mutes in a detail, or in a request to the API."""
    at = detail.chosen_at
    return (
        *(Mute(_key(each), at, title=short_title(each.title or "")) for each in detail.mute or ()),
        *(Mute(_key(each), at, is_muted=False) for each in detail.unmute or ()),
    )


def _chosen_times(detail: ChosenDigestDetail | None) -> dict[str, Any]:
    """Return the digest times of a reader's choice, by the field names of `Choice`."""
    if detail is None:
        return {}
    named = detail.model_fields_set
    return {
        "clock": (detail.hour, detail.minute) if "hour" in named else None,
        "weekly_on": _iso_weekday(detail.weekly.day) if "weekly" in named else None,
        "custom_on": _days(detail.custom) if "custom" in named else None,
        "paused_until": detail.paused_until,
    }


def _days(detail: CustomDetail) -> Days:
    if detail.day_of_month is not None:
        return Days(month_day=detail.day_of_month)
    weekdays = frozenset(map(_iso_weekday, detail.days))
    phase = week_number(detail.starting) % detail.every_weeks if detail.starting else 0
    return Days(weekdays, detail.every_weeks, phase)


def _iso_weekday(day: Day) -> int:
    return get_args(Day).index(day) + 1


def _see(detail: EntitySeen) -> MarkSeen:
    return MarkSeen(detail.user_id, _key(detail.entity), detail.seen_at)


def _start_follow(detail: FollowCreated) -> ChangeFollow:
    return _change_follow(detail, FollowState(True, detail.frequency, detail.entity.title or ""))


def _change_follow(detail: FollowChange, state: FollowState) -> ChangeFollow:
    return ChangeFollow(detail.user_id, _key(detail.entity), state, detail.changed_at)


def _key(entity: EntityReference) -> str:
    return entity_key(entity.type, entity.id)
