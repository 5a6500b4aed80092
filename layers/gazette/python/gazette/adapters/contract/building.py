"""Turns a valid detail into a command of the domain."""

from collections.abc import Mapping
from typing import Any, assert_never, get_args

from gazette.adapters.contract.data import compact
from gazette.adapters.contract.details import (
    ActivityCreated,
    ActorDetail,
    EntityDetail,
    EntityReference,
    EventCreated,
    EventRetracted,
    EventsCreated,
    HappeningDetail,
)
from gazette.adapters.contract.digest_times import ChosenDigestDetail, CustomDetail, DigestDetail
from gazette.adapters.contract.fields import Day, FrequencyOrDefault
from gazette.adapters.contract.subscribers import (
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
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    RetractActivity,
    RetractEvent,
)
from gazette.domain.model import Actor, Entity, Event, Image, entity_key
from gazette.domain.scheduling.calendar import Days, DigestTimes, week_number
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Activity, FollowState
from gazette.domain.subscribers.frequency import DEFAULT, Frequencies, Frequency, frequencies
from gazette.domain.subscribers.subscriber import Subscriber

AnyDetail = (
    EventCreated
    | EventsCreated
    | ActivityCreated
    | EventRetracted
    | SubscriberChanged
    | PreferencesChosen
    | SubscriberActive
    | SubscriberDeleted
    | FollowCreated
    | FollowDeleted
)


def command_for(given: AnyDetail) -> Command:
    """The command that `given` asks for."""
    match given:
        case EventCreated():
            return CreateEvents((event_of(given),))
        case EventsCreated():
            return CreateEvents(tuple(map(event_of, given.events)))
        case ActivityCreated():
            parent = _key(given.parent) if given.parent else None
            title = given.parent.title or "" if given.parent else ""
            return CreateActivity(Activity(parent=parent, parent_title=title, **_happening(given)))
        case EventRetracted():
            return _retract(given)
        case SubscriberChanged():
            return ChangeSubscriber(_subscriber(given))
        case PreferencesChosen():
            return ChoosePreferences(given.user_id, _choice(given), given.chosen_at)
        case SubscriberActive():
            return MarkActive(given.user_id, given.active_at)
        case SubscriberDeleted():
            return EraseSubscriber(given.user_id, given.deleted_at)
        case FollowCreated():
            return _change_follow(
                given, FollowState(True, given.frequency, given.entity.title or "")
            )
        case FollowDeleted():
            return _change_follow(given, FollowState(False))
        case _:
            assert_never(given)


def event_of(given: EventCreated) -> Event:
    """The event that a detail, or one of a list, describes."""
    return Event(user_id=given.user_id, **_happening(given))


def _happening(given: HappeningDetail) -> dict[str, Any]:
    return {
        "id": given.id,
        "category": given.category,
        "entity": _entity(given.entity),
        "actor": _actor(given.actor) if given.actor else None,
        "occurred_at": given.occurred_at,
        "excerpt": given.excerpt,
        "amended_at": given.amended_at,
        "importance": given.importance,
        "expires_at": given.expires_at,
        "data": compact(given.data) if given.data else "",
    }


def _entity(given: EntityDetail) -> Entity:
    image = Image(given.image.url, given.image.text) if given.image else None
    return Entity(given.type, given.id, given.title, given.url, image)


def _actor(given: ActorDetail) -> Actor:
    return Actor(given.id, given.name, given.url or "", given.avatar or "")


def _retract(given: EventRetracted) -> RetractEvent | RetractActivity:
    if given.entity:
        return RetractActivity(_key(given.entity), given.id)
    return RetractEvent(str(given.user_id), given.id)


def _subscriber(given: SubscriberChanged) -> Subscriber:
    return Subscriber(
        user_id=given.user_id,
        email=given.email,
        name=given.name,
        locale=given.locale,
        time_zone=given.time_zone,
        changed_at=given.changed_at,
        times=_times(given.digest),
        choices=((given.changed_at, frequencies(given.frequencies)),),
    )


def _times(given: DigestDetail) -> DigestTimes:
    return DigestTimes(
        hour=given.hour,
        minute=given.minute,
        weekly_on=_iso_weekday(given.weekly.day),
        custom_on=_days(given.custom),
        paused_until=given.paused_until,
    )


def _frequency(given: FrequencyOrDefault) -> Frequency:
    return DEFAULT if given == "default" else Frequency(given)


def _by_category(given: Mapping[str, FrequencyOrDefault]) -> Frequencies:
    return frequencies({name: _frequency(often) for name, often in given.items()})


def _choice(given: PreferencesChosen) -> Choice:
    return Choice(
        frequency=_frequency(given.frequency) if given.frequency else None,
        frequencies=None if given.frequencies is None else _by_category(given.frequencies),
        time_zone=given.time_zone,
        **_chosen_times(given.digest),
    )


def _chosen_times(given: ChosenDigestDetail | None) -> dict[str, Any]:
    """The fields of `Choice` that the detail sets, by name."""
    if given is None:
        return {}
    named = given.model_fields_set
    return {
        "clock": (given.hour, given.minute) if "hour" in named else None,
        "weekly_on": _iso_weekday(given.weekly.day) if "weekly" in named else None,
        "custom_on": _days(given.custom) if "custom" in named else None,
        "paused_until": given.paused_until,
    }


def _days(given: CustomDetail) -> Days:
    if given.day_of_month is not None:
        return Days(month_day=given.day_of_month)
    weekdays = frozenset(map(_iso_weekday, given.days))
    phase = week_number(given.starting) % given.every_weeks if given.starting else 0
    return Days(weekdays, given.every_weeks, phase)


def _iso_weekday(day: Day) -> int:
    return get_args(Day).index(day) + 1


def _change_follow(given: FollowChange, state: FollowState) -> ChangeFollow:
    return ChangeFollow(given.user_id, _key(given.entity), state, given.changed_at)


def _key(entity: EntityReference) -> str:
    return entity_key(entity.type, entity.id)
