"""The commands that Gazette decodes from messages of the event contract."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gazette.domain.model import Event
from gazette.domain.muting.mutes import Mute
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Activity, FollowState
from gazette.domain.subscribers.frequency import Frequencies
from gazette.domain.subscribers.subscriber import Subscriber


@dataclass(frozen=True, slots=True)
class CreateEvents:
    """An `event.created` message: a list of events, each for one subscriber."""

    events: tuple[Event, ...]
    problems: str = ""
    """The errors in invalid events; empty if all events are valid. `events` omits invalid
    events."""


@dataclass(frozen=True, slots=True)
class CreateActivity:
    """An `activity.created` message, which contains an activity to deliver to all followers of an
    entity."""

    activity: Activity


@dataclass(frozen=True, slots=True)
class RetractEvent:
    """An `event.retracted` message for an event of one subscriber."""

    user_id: str
    id: str


@dataclass(frozen=True, slots=True)
class RetractActivity:
    """An `event.retracted` message for an activity on the entity with the key `entity`."""

    entity: str
    id: str


@dataclass(frozen=True, slots=True)
class ChangeSubscriber:
    """A `subscriber.changed` message, which contains a subscriber's whole profile.

    `choices` contains the frequencies.
    """

    subscriber: Subscriber


@dataclass(frozen=True, slots=True)
class ChoosePreferences:
    """A `preferences.chosen` message, which contains the choice that a reader made at the time
    `at`.

    `mutes` contains the entities that the reader muted or unmuted.
    """

    user_id: str
    choice: Choice
    at: datetime
    mutes: tuple[Mute, ...] = ()
    whole_map: Frequencies | None = field(default=None, compare=False)
    """The reader's frequencies for all categories, after a choice for one category.

    This field is set only in published messages, because the previous version of Gazette reads this
    field instead of the choice (domain/subscribers/whole_maps.py).
    """


@dataclass(frozen=True, slots=True)
class MarkActive:
    """A `subscriber.active` message, which reports that a subscriber is active."""

    user_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MarkSeen:
    """An `entity.seen` message, which reports that a subscriber has seen an entity."""

    user_id: str
    entity: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EraseSubscriber:
    """A `subscriber.deleted` message, which deletes all data of a subscriber."""

    user_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ChangeFollow:
    """A `follow.created` or `follow.deleted` message. The new `state` applies from the time
    `at`."""

    user_id: str
    entity: str
    state: FollowState
    at: datetime


@dataclass(frozen=True, slots=True)
class CommandList:
    """A `subscriber.changed`, `follow.created` or `entity.seen` message that contains a list."""

    commands: "tuple[ListedCommand, ...]"
    problems: str = ""
    """The errors in invalid items; empty if all items are valid. `commands` omits invalid items."""


ListedCommand = ChangeSubscriber | ChangeFollow | MarkSeen
"""A command of a `CommandList`."""

SingleCommand = (
    CreateActivity
    | RetractEvent
    | RetractActivity
    | ChangeSubscriber
    | ChoosePreferences
    | MarkActive
    | MarkSeen
    | EraseSubscriber
    | ChangeFollow
)
"""A command that is processed on its own. Only events are processed in batches."""

Command = CreateEvents | CommandList | SingleCommand


CHANGED_CATEGORY = "gazette:changed-category:"
"""The prefix of the entries in a message's `resources` that name categories.

There is one entry for each category whose frequency the reader changed on the preference page.
"""

AHEAD = timedelta(hours=1)
"""The maximum time by which a service's clock may be ahead of Gazette's clock."""


def from_the_future(command: Command, now: datetime) -> str:
    """Return an error text if `command` is dated too far in the future, else an empty string.

    A message from the future would override all later, correct messages.
    """
    latest = latest_instant(command)
    if latest is None or latest - now <= AHEAD:
        return ""
    return (
        f"detail: {latest.isoformat()} (changed_at, chosen_at, amended_at, active_at, "
        "seen_at or deleted_at) is more than an hour ahead of now. Check the clock of the service "
        "that published the message."
    )


def has_occurred_before(command: Command, instant: datetime) -> bool:
    """Return True if `command` is an activity or has an event that occurred before `instant`."""
    match command:
        case CreateActivity(activity):
            return activity.occurred_at < instant
        case CreateEvents(events):
            return any(event.occurred_at < instant for event in events)
        case _:
            return False


def reader_of(command: SingleCommand) -> str | None:
    """Return the id of the only reader whom `command` affects.

    Return None for an activity, because its followers have not been read yet.
    """
    match command:
        case CreateActivity() | RetractActivity():
            return None
        case ChangeSubscriber(subscriber):
            return subscriber.user_id
        case _:
            return command.user_id


def latest_instant(command: Command) -> datetime | None:
    """Return the latest timestamp of a change in `command`; None if there is no such timestamp.

    A change overrides changes with earlier timestamps.
    """
    match command:
        case CreateEvents(events):
            return max((event.amended_at for event in events if event.amended_at), default=None)
        case CommandList(commands):
            return max(filter(None, map(latest_instant, commands)), default=None)
        case ChangeSubscriber(subscriber):
            return subscriber.changed_at
        case (
            ChoosePreferences(at=at)
            | MarkActive(at=at)
            | MarkSeen(at=at)
            | EraseSubscriber(at=at)
            | ChangeFollow(at=at)
        ):
            return at
        case CreateActivity(activity):
            return activity.amended_at
        case RetractEvent() | RetractActivity():
            return None
