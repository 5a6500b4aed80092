"""Process one message from the bus, or quarantine it with the reason."""

from collections.abc import Callable
from datetime import datetime
from typing import assert_never

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
    from_the_future,
)
from gazette.domain.errors import ForeignEvent, InvalidEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import FollowersQueue, Quarantine
from gazette.domain.ports.stores import Activities, Suppressions
from gazette.steps.context import RoutingContext
from gazette.steps.ingest.activities import change_follow, create_activity, retract_activity
from gazette.steps.ingest.choices import choose_preferences
from gazette.steps.ingest.erasure import erase_subscriber
from gazette.steps.ingest.profiles import change_subscriber
from gazette.steps.routing.route import retract_event, route
from gazette.steps.subscribers.sunset import mark_active
from gazette.steps.time_budget import require_time


def ingest(
    body: str,
    time_left: TimeLeft,
    *,
    decode: Callable[[str], Command],
    activities: Activities,
    suppressions: Suppressions,
    followers_queue: FollowersQueue,
    quarantine: Quarantine,
    context: RoutingContext,
) -> list[Outcome]:
    """Apply one message; returns its outcome, or one outcome for each event of a list.

    Safe to repeat, in any order and at any time. `decode` raises InvalidEvent for a message that
    does not fit the contract, ForeignEvent for one that its source may not put: both are
    quarantined. Raises Unavailable if a port does, and NotYet if something kept changing or
    `time_left` is too short: the message must then be delivered again.
    """
    require_time(time_left)
    try:
        command = _without_the_future(decode(body), context.clock())
    except InvalidEvent as err:
        quarantine.keep(body, str(err))
        return [Outcome.FOREIGN if isinstance(err, ForeignEvent) else Outcome.QUARANTINED]
    match command:
        case CreateEvents(events, problems):
            outcomes = route(events, context=context)
            if problems:
                quarantine.keep(body, problems)
                outcomes.append(Outcome.QUARANTINED)
            return outcomes
        case CreateActivity(activity):
            outcome = create_activity(
                activity, activities=activities, followers_queue=followers_queue, context=context
            )
        case RetractEvent(user_id, event_id):
            outcome = retract_event(user_id, event_id, context=context)
        case RetractActivity():
            outcome = retract_activity(
                command, activities=activities, followers_queue=followers_queue, context=context
            )
        case ChangeSubscriber(subscriber):
            outcome = change_subscriber(subscriber, suppressions=suppressions, context=context)
        case ChoosePreferences():
            outcome = choose_preferences(command, context=context)
        case MarkActive(user_id, at):
            outcome = mark_active(user_id, at, context=context)
        case EraseSubscriber(user_id, at):
            outcome = erase_subscriber(user_id, at, suppressions=suppressions, context=context)
        case ChangeFollow():
            outcome = change_follow(command, activities=activities, context=context)
        case _:
            assert_never(command)
    return [outcome]


def _without_the_future(command: Command, now: datetime) -> Command:
    """A list without the events dated ahead. Raises InvalidEvent for anything else dated ahead."""
    reason = from_the_future(command, now)
    if not reason:
        return command
    if isinstance(command, CreateEvents):
        timely = tuple(
            event for event in command.events if not from_the_future(CreateEvents((event,)), now)
        )
        if timely:
            return CreateEvents(timely, f"{reason} {command.problems}".strip())
    raise InvalidEvent(reason)
