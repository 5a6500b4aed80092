"""What services may ask for, once decoded: the event contract in the domain's words."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.model import Event
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Activity, FollowState
from gazette.domain.subscribers.subscriber import Subscriber


@dataclass(frozen=True, slots=True)
class CreateEvents:
    """`event.created`: events, each for one subscriber.

    `problems` says in words what is wrong with those of a list that are not among `events`.
    """

    events: tuple[Event, ...]
    problems: str = ""


@dataclass(frozen=True, slots=True)
class CreateActivity:
    """`activity.created`: something for every follower of an entity."""

    activity: Activity


@dataclass(frozen=True, slots=True)
class RetractEvent:
    """`event.retracted`, for an event that was addressed to one subscriber."""

    user_id: str
    id: str


@dataclass(frozen=True, slots=True)
class RetractActivity:
    """`event.retracted`, for an activity on the entity with the key `entity`."""

    entity: str
    id: str


@dataclass(frozen=True, slots=True)
class ChangeSubscriber:
    """`subscriber.changed`: the whole profile, with what was chosen in `choices`."""

    subscriber: Subscriber


@dataclass(frozen=True, slots=True)
class ChoosePreferences:
    """`preferences.chosen`: what the reader chose themself at that instant."""

    user_id: str
    choice: Choice
    at: datetime


@dataclass(frozen=True, slots=True)
class MarkActive:
    """`subscriber.active`: a sign of life."""

    user_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EraseSubscriber:
    """`subscriber.deleted`: everything about them goes."""

    user_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ChangeFollow:
    """`follow.created` and `follow.deleted`: `state` holds from `at` on."""

    user_id: str
    entity: str
    state: FollowState
    at: datetime


Command = (
    CreateEvents
    | CreateActivity
    | RetractEvent
    | RetractActivity
    | ChangeSubscriber
    | ChoosePreferences
    | MarkActive
    | EraseSubscriber
    | ChangeFollow
)


AHEAD = timedelta(hours=1)
"""How far ahead of ours the clock of a service may run."""


def from_the_future(command: Command, now: datetime) -> str:
    """What is wrong, in words, where `command` is dated too far ahead of `now`; else nothing.

    Such a message would outlast every later, true one.
    """
    said = latest_instant(command)
    if said is None or said - now <= AHEAD:
        return ""
    return (
        f"detail: {said.isoformat()}, which decides what came last (changed_at, chosen_at, "
        "amended_at, active_at or deleted_at), is more than an hour ahead of now. Check the clock "
        "of the service that put it."
    )


def latest_instant(command: Command) -> datetime | None:
    """The instant in `command` that is compared with others to tell which came last."""
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
