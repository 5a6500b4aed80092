"""The messages of the event contract, decoded into the domain's types."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gazette.domain.model import Event
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Activity, FollowState
from gazette.domain.subscribers.frequency import Frequencies
from gazette.domain.subscribers.subscriber import Subscriber


@dataclass(frozen=True, slots=True)
class CreateEvents:
    """`event.created`: events, each for one subscriber."""

    events: tuple[Event, ...]
    problems: str = ""
    """The errors in the invalid events of the list, which are omitted. Empty if there are none."""


@dataclass(frozen=True, slots=True)
class CreateActivity:
    """`activity.created`: an activity for all followers of an entity."""

    activity: Activity


@dataclass(frozen=True, slots=True)
class RetractEvent:
    """`event.retracted` of an event for one subscriber."""

    user_id: str
    id: str


@dataclass(frozen=True, slots=True)
class RetractActivity:
    """`event.retracted` of an activity on the entity with the key `entity`."""

    entity: str
    id: str


@dataclass(frozen=True, slots=True)
class ChangeSubscriber:
    """`subscriber.changed`: the whole profile, with the frequencies in `choices`."""

    subscriber: Subscriber


@dataclass(frozen=True, slots=True)
class ChoosePreferences:
    """`preferences.chosen`: the reader's choice at that instant."""

    user_id: str
    choice: Choice
    at: datetime
    whole_map: Frequencies | None = field(default=None, compare=False)
    """The complete frequencies after a choice by category.

    Set only for the bus, because the version before reads it instead of the choice
    (domain/subscribers/whole_maps.py).
    """


@dataclass(frozen=True, slots=True)
class MarkActive:
    """`subscriber.active`: a subscriber's activity."""

    user_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EraseSubscriber:
    """`subscriber.deleted`: delete all data of the subscriber."""

    user_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ChangeFollow:
    """`follow.created` and `follow.deleted`: `state` applies from `at` on."""

    user_id: str
    entity: str
    state: FollowState
    at: datetime


SingleCommand = (
    CreateActivity
    | RetractEvent
    | RetractActivity
    | ChangeSubscriber
    | ChoosePreferences
    | MarkActive
    | EraseSubscriber
    | ChangeFollow
)
"""A command that is processed alone. Only the events of several messages are routed together."""

Command = CreateEvents | SingleCommand


CHANGED_CATEGORY = "gazette:changed-category:"
"""The prefix of envelope resources that name the categories changed on the preference page."""

AHEAD = timedelta(hours=1)
"""The largest time by which a service's clock may be ahead of ours."""


def from_the_future(command: Command, now: datetime) -> str:
    """Return an error text if `command` is dated too far ahead of `now`; empty if it is not.

    Such a message would override all later, correct ones.
    """
    latest = latest_instant(command)
    if latest is None or latest - now <= AHEAD:
        return ""
    return (
        f"detail: {latest.isoformat()}, which orders messages (changed_at, chosen_at, "
        "amended_at, active_at or deleted_at), is more than an hour ahead of now. Check the clock "
        "of the service that published it."
    )


def reader_of(command: SingleCommand) -> str | None:
    """Return the id of the only reader whose events and emails depend on `command`.

    None for an activity, because its followers have not been read yet.
    """
    match command:
        case CreateActivity() | RetractActivity():
            return None
        case ChangeSubscriber(subscriber):
            return subscriber.user_id
        case _:
            return command.user_id


def latest_instant(command: Command) -> datetime | None:
    """Return the instant in `command` that decides which of two messages is later."""
    match command:
        case ChangeSubscriber(subscriber):
            return subscriber.changed_at
        case (
            ChoosePreferences(at=at)
            | MarkActive(at=at)
            | EraseSubscriber(at=at)
            | ChangeFollow(at=at)
        ):
            return at
        case CreateActivity(activity):
            return activity.amended_at
        case CreateEvents(events):
            return max((event.amended_at for event in events if event.amended_at), default=None)
        case RetractEvent() | RetractActivity():
            return None
