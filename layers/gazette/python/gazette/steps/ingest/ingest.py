"""Process the messages of an invocation: apply each message, or quarantine it with the reason."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar, assert_never

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
    SingleCommand,
    from_the_future,
    reader_of,
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
from gazette.steps.routing.reroute import retract_event
from gazette.steps.routing.route import Routed, route_lists
from gazette.steps.subscribers.sunset import mark_active
from gazette.steps.time_budget import require_time, share

DoneT = TypeVar("DoneT")


def ingest(
    bodies: Sequence[str],
    time_left: TimeLeft,
    *,
    decode: Callable[[str], Command],
    activities: Activities,
    suppressions: Suppressions,
    followers_queue: FollowersQueue,
    quarantine: Quarantine,
    context: RoutingContext,
) -> list[Routed]:
    """Apply the messages, and return the results in the order of the messages.

    A result is an outcome, a list of outcomes for a list of events, or the error that requires a
    retry of the message. The error is Unavailable if a port raised it, and NotYet if a row kept
    changing or `time_left` was too short to begin. No message fails because of another message.
    Safe to repeat, in any order and at any time. `decode` raises InvalidEvent for a message that
    violates the contract, and ForeignEvent for a message that its source may not publish; both are
    quarantined.

    Events of several messages are routed together, and each reader's messages are applied in the
    order in which they arrived here.
    """
    commands: dict[int, Command] = {}
    results: dict[int, Routed] = {}
    for number, body in enumerate(bodies):
        command_or_result = _attempt(
            partial(_read, body, time_left, decode, quarantine, context.clock())
        )
        if isinstance(command_or_result, list | Exception):
            results[number] = command_or_result
        else:
            commands[number] = command_or_result
    for step in in_order(commands):
        if isinstance(step, tuple):
            number, command = step
            apply = partial(
                _apply,
                command,
                time_left=time_left,
                activities=activities,
                suppressions=suppressions,
                followers_queue=followers_queue,
                context=context,
            )
            results[number] = _attempt(apply)
            continue
        lists = [listed.events for listed in step.values()]
        all_routed = route_lists(lists, context=context, time_left=time_left)
        for (number, listed), routed in zip(step.items(), all_routed, strict=True):
            keep = partial(_keep_problems, listed, bodies[number], routed, quarantine)
            results[number] = _attempt(keep)
    return [results[number] for number in range(len(bodies))]


def in_order(
    commands: Mapping[int, Command],
) -> list[dict[int, CreateEvents] | tuple[int, SingleCommand]]:
    """Return the steps in order. Each step applies the events of several messages, or one command.

    Messages are identified by their number in the order of arrival. Events join earlier events and
    may overtake commands of other readers, because the queue does not guarantee an order either.
    They never overtake a command about one of their readers, or an activity, which may concern any
    reader.
    """
    steps: list[dict[int, CreateEvents] | tuple[int, SingleCommand]] = []
    events: dict[int, CreateEvents] | None = None
    since: set[str] = set()
    for number, command in commands.items():
        if not isinstance(command, CreateEvents):
            steps.append((number, command))
            reader = reader_of(command)
            if reader is None:
                events = None
            else:
                since.add(reader)
        elif events is not None and since.isdisjoint(event.user_id for event in command.events):
            events[number] = command
        else:
            events, since = {number: command}, set()
            steps.append(events)
    return steps


def _attempt(act: Callable[[], DoneT]) -> DoneT | Exception:
    """Return the result of one message, or its error. An error does not affect other messages."""
    try:
        return act()
    except Exception as err:  # noqa: BLE001 -- the caller distinguishes unexpected errors
        return err


def _read(
    body: str,
    time_left: TimeLeft,
    decode: Callable[[str], Command],
    quarantine: Quarantine,
    now: datetime,
) -> Command | list[Outcome]:
    """Return the command in a message, or the outcome if the message contains no command."""
    require_time(time_left)
    try:
        return _without_the_future(decode(body), now)
    except InvalidEvent as err:
        quarantine.keep(body, str(err))
        return [Outcome.FOREIGN if isinstance(err, ForeignEvent) else Outcome.QUARANTINED]


def _keep_problems(
    command: CreateEvents, body: str, routed: Routed, quarantine: Quarantine
) -> Routed:
    """Quarantine a list that contains invalid events. Its valid events were already routed."""
    if isinstance(routed, Exception) or not command.problems:
        return routed
    quarantine.keep(body, command.problems)
    return [*routed, Outcome.QUARANTINED]


def _apply(
    command: SingleCommand,
    *,
    time_left: TimeLeft,
    activities: Activities,
    suppressions: Suppressions,
    followers_queue: FollowersQueue,
    context: RoutingContext,
) -> list[Outcome]:
    require_time(time_left)
    time_left = share(time_left)
    match command:
        case CreateActivity(activity):
            outcome = create_activity(
                activity,
                activities=activities,
                followers_queue=followers_queue,
                context=context,
                time_left=time_left,
            )
        case RetractEvent(user_id, event_id):
            outcome = retract_event(user_id, event_id, context=context)
        case RetractActivity():
            outcome = retract_activity(
                command,
                activities=activities,
                followers_queue=followers_queue,
                context=context,
                time_left=time_left,
            )
        case ChangeSubscriber(subscriber):
            outcome = change_subscriber(
                subscriber, suppressions=suppressions, context=context, time_left=time_left
            )
        case ChoosePreferences():
            outcome = choose_preferences(command, context=context, time_left=time_left)
        case MarkActive(user_id, at):
            outcome = mark_active(user_id, at, context=context)
        case EraseSubscriber(user_id, at):
            outcome = erase_subscriber(
                user_id, at, suppressions=suppressions, context=context, time_left=time_left
            )
        case ChangeFollow():
            outcome = change_follow(
                command,
                activities=activities,
                followers_queue=followers_queue,
                context=context,
                time_left=time_left,
            )
        case _:
            assert_never(command)
    return [outcome]


def _without_the_future(command: Command, now: datetime) -> Command:
    """Return a list without the events that are dated in the future.

    Raises InvalidEvent for any other command that is dated in the future.
    """
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
