"""Process the messages of an invocation: apply each message, or quarantine it with the reason."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import assert_never

from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    Command,
    CommandList,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    MarkSeen,
    RetractActivity,
    RetractEvent,
    SingleCommand,
    from_the_future,
    has_occurred_before,
)
from gazette.domain.errors import ForeignEvent, InvalidEvent, NotYet, TooOld
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import FollowersQueue, Quarantine
from gazette.domain.ports.stores import Activities, SeenMarks, Suppressions
from gazette.steps.context import RoutingContext
from gazette.steps.ingest.activities import change_follow, create_activity, retract_activity
from gazette.steps.ingest.age import without_outdated
from gazette.steps.ingest.choices import choose_preferences
from gazette.steps.ingest.erasure import erase_subscriber
from gazette.steps.ingest.order import Events, Part, in_order
from gazette.steps.ingest.profiles import change_subscriber
from gazette.steps.ingest.seen import mark_seen
from gazette.steps.routing.reroute import retract_event
from gazette.steps.routing.route import Routed, route_lists
from gazette.steps.subscribers.sunset import mark_active
from gazette.steps.time_budget import require_time, result_or_error, share

RunAll = Callable[[Callable[[Sequence[Part]], object], Sequence[Sequence[Part]]], None]
"""A function that calls a given function for each reader's commands, and returns after all calls
have ended."""


def ingest(
    bodies: Sequence[str],
    time_left: TimeLeft,
    *,
    decode: Callable[[str], Command],
    activities: Activities,
    suppressions: Suppressions,
    seen_marks: SeenMarks,
    followers_queue: FollowersQueue,
    quarantine: Quarantine,
    context: RoutingContext,
    oldest: timedelta,
    run_all: RunAll,
) -> list[Routed]:
    """Apply the messages, and return the results in the order of the messages.

    A result is an outcome, a list of outcomes for a list of events, or the error that requires a
    retry of the message. The error is Unavailable if a port raised it, and NotYet if a row kept
    changing or `time_left` was too short to begin. No message fails because of another message.
    Safe to repeat, in any order and at any time. `decode` raises InvalidEvent for a message that
    violates the contract, and ForeignEvent for a message that its source may not publish; both are
    quarantined. An event that occurred more than `oldest` ago is quarantined too, unless it is
    stored.

    Events of several messages are routed together. Commands of different readers are applied by
    `run_all`, which may run them concurrently. Each reader's messages are applied in the order in
    which they arrived here.
    """
    commands: dict[int, Command] = {}
    results: dict[int, Routed] = {}
    problem: dict[int, Outcome] = {}

    def read(body: str) -> tuple[Command, bool] | list[Outcome]:
        require_time(time_left)
        now = context.clock()
        try:
            command = _without_the_future(decode(body), now)
            if not has_occurred_before(command, now - oldest):
                return command, False
            return without_outdated(
                command, now, oldest=oldest, activities=activities, events=context.events
            )
        except InvalidEvent as err:
            quarantine.keep(body, str(err))
            return [_outcome_of(err)]

    for number, body in enumerate(bodies):
        command_or_result = result_or_error(partial(read, body))
        if isinstance(command_or_result, list | Exception):
            results[number] = command_or_result
        else:
            commands[number], has_outdated = command_or_result
            problem[number] = Outcome.TOO_OLD if has_outdated else Outcome.QUARANTINED
    outcomes: dict[Part, list[Outcome] | Exception] = {}

    def apply(parts: Sequence[Part]) -> None:
        for part in parts:
            outcomes[part] = result_or_error(
                partial(
                    _apply,
                    part.command,
                    time_left=time_left,
                    activities=activities,
                    suppressions=suppressions,
                    seen_marks=seen_marks,
                    followers_queue=followers_queue,
                    context=context,
                )
            )

    applied: dict[int, list[Part]] = {number: [] for number in commands}
    routed: dict[int, Routed] = {}
    for step in in_order(commands):
        if isinstance(step, Events):
            lists = [listed.events for listed in step.lists.values()]
            all_routed = route_lists(lists, context=context, time_left=time_left)
            routed.update(zip(step.lists, all_routed, strict=True))
            continue
        run_all(apply, [*step.by_reader.values()])
        for parts in step.by_reader.values():
            for part in parts:
                applied[part.message].append(part)
    for number, command in commands.items():
        if number not in routed:
            routed[number] = _joined([outcomes.get(part) for part in applied[number]])
        keep = partial(
            _keep_problems, command, bodies[number], routed[number], quarantine, problem[number]
        )
        results[number] = result_or_error(keep)
    return [results[number] for number in range(len(bodies))]


def _joined(outcomes: Sequence[list[Outcome] | Exception | None]) -> Routed:
    """Return the outcomes of a message's parts, or the error that requires a retry of the message.

    An error that is not NotYet takes precedence, because NotYet is expected. None means that the
    thread of a part ended without an outcome.
    """
    errors = [each for each in outcomes if isinstance(each, Exception)]
    if None in outcomes:
        errors.append(RuntimeError("A thread ended without an outcome."))
    if errors:
        return min(errors, key=lambda err: isinstance(err, NotYet))
    return [outcome for each in outcomes if isinstance(each, list) for outcome in each]


def _outcome_of(err: InvalidEvent) -> Outcome:
    """Return the outcome of a message that is quarantined because of an error."""
    match err:
        case ForeignEvent():
            return Outcome.FOREIGN
        case TooOld():
            return Outcome.TOO_OLD
        case _:
            return Outcome.QUARANTINED


def _keep_problems(
    command: Command, body: str, routed: Routed, quarantine: Quarantine, problem: Outcome
) -> Routed:
    """Quarantine a list that contains invalid items. Its valid items were already applied."""
    if isinstance(routed, Exception) or not isinstance(command, CreateEvents | CommandList):
        return routed
    if not command.problems:
        return routed
    quarantine.keep(body, command.problems)
    return [*routed, problem]


def _apply(
    command: SingleCommand,
    *,
    time_left: TimeLeft,
    activities: Activities,
    suppressions: Suppressions,
    seen_marks: SeenMarks,
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
        case MarkSeen():
            outcome = mark_seen(command, seen_marks=seen_marks, context=context)
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
    """Return a list without the items that are dated in the future.

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
    if isinstance(command, CommandList):
        current = tuple(each for each in command.commands if not from_the_future(each, now))
        if current:
            return CommandList(current, f"{reason} {command.problems}".strip())
    raise InvalidEvent(reason)
