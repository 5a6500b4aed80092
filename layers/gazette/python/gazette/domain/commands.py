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
    """`event.created`: events, each for one subscriber.

    `problems`: in words, what is wrong with the events of the list that were left out.
    """

    events: tuple[Event, ...]
    problems: str = ""


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
    """`preferences.chosen`: what the reader chose at that instant.

    `whole_map`: of a choice by category that goes on the bus, what counts after it. The version
    before reads it in the place of the choice (domain/subscribers/whole_maps.py).
    """

    user_id: str
    choice: Choice
    at: datetime
    whole_map: Frequencies | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class MarkActive:
    """`subscriber.active`: a sign of life."""

    user_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EraseSubscriber:
    """`subscriber.deleted`: delete everything of the subscriber."""

    user_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ChangeFollow:
    """`follow.created` and `follow.deleted`: `state` is in force from `at` on."""

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
"""What is applied by itself; the events of several messages are routed together."""

Command = CreateEvents | SingleCommand


CHANGED_CATEGORY = "gazette:changed-category:"
"""Resources of an envelope that begin so name the categories that a choice of our page changes."""

AHEAD = timedelta(hours=1)
"""How far the clock of a service may be ahead of ours."""


def from_the_future(command: Command, now: datetime) -> str:
    """In words, that `command` is dated too far ahead of `now`; empty if it is not.

    Such a message would prevail over all later, correct ones.
    """
    latest = latest_instant(command)
    if latest is None or latest - now <= AHEAD:
        return ""
    return (
        f"detail: {latest.isoformat()}, which decides what came last (changed_at, chosen_at, "
        "amended_at, active_at or deleted_at), is more than an hour ahead of now. Check the clock "
        "of the service that put it."
    )


def reader_of(command: SingleCommand) -> str | None:
    """The user id of the only reader whose events and emails depend on `command`.

    None for an activity: nobody knows its followers before they are read.
    """
    match command:
        case CreateActivity() | RetractActivity():
            return None
        case ChangeSubscriber(subscriber):
            return subscriber.user_id
        case _:
            return command.user_id


def latest_instant(command: Command) -> datetime | None:
    """The instant in `command` by which the later of two messages is told."""
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
