"""One-line descriptions of domain commands."""

from datetime import datetime
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
    reader_of,
)
from gazette.domain.feedback.reports import DeliveryReport
from gazette.domain.identity import run_id
from gazette.domain.model import Event
from gazette.domain.scheduling.calendar import Days
from gazette.domain.subscribers.following import Activity
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.support.words.phrases import DAYS, listed

_NOUNS = {ChangeSubscriber: "profiles", ChangeFollow: "follows", MarkSeen: "visits"}


def in_words(command: Command | DeliveryReport) -> str:
    """Describe the effect of `command`."""
    match command:
        case DeliveryReport(reference, kind, at):
            return (
                f"{kind} at {instant(at)}: attempt {reference.attempt} of run "
                f"{run_id(reference.run)}, if the stage made the reference"
            )
        case CreateEvents(events=(event,)):
            return f"{_happening(event)} for {event.user_id}"
        case CreateEvents(events):
            readers = sorted({event.user_id for event in events})
            return f"{len(events)} events for {listed(readers)}"
        case CommandList(commands=(only,)):
            return in_words(only)
        case CommandList(commands):
            noun = _NOUNS[type(commands[0])]
            readers = sorted({str(reader_of(each)) for each in commands})
            return f"{len(commands)} {noun} of {listed(readers)}"
        case CreateActivity(activity):
            return f"{_happening(activity)} for the followers of {' and '.join(activity.sides)}"
        case RetractEvent(user_id, event_id):
            return f"retracts event {event_id} of {user_id}, unless it was sent"
        case RetractActivity(entity, activity_id):
            return (
                f"retracts activity {activity_id} on {entity} for all followers, unless it was sent"
            )
        case ChangeSubscriber(subscriber):
            return _profile(subscriber)
        case ChoosePreferences():
            return _choice(command)
        case MarkActive(user_id, at):
            return f"{user_id} was active at {instant(at)}"
        case MarkSeen(user_id, entity, at):
            return f"{user_id} has seen {entity}, and its events up to {instant(at)}"
        case EraseSubscriber(user_id, at):
            return f"erases {user_id}, unless the profile changed after {instant(at)}"
        case ChangeFollow():
            return _follow(command)
        case _:
            assert_never(command)


def instant(at: datetime) -> str:
    """Format an instant in UTC for people, such as `21 November 2026, 07:10 UTC`."""
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _happening(what: Event | Activity) -> str:
    amended = f" (amended {instant(what.amended_at)})" if what.amended_at else ""
    return f"{what.category} {what.id} on {what.entity.key}{amended}"


def _profile(subscriber: Subscriber) -> str:
    daily = subscriber.recurrence(Frequency.DAILY)
    chosen = ", ".join(
        f"{category} {_often(subscriber, frequency)}" for category, frequency in subscriber.chosen
    )
    until = daily.paused_until
    paused = f", and no email before {until.day} {until:%B %Y}" if until else ""
    return (
        f"{subscriber.email} gets daily digests at {daily.hour:02}:{daily.minute:02} "
        f"{subscriber.time_zone}{paused}" + (f"; {chosen}" if chosen else "")
    )


def _choice(command: ChoosePreferences) -> str:
    choice, parts = command.choice, []
    if choice.frequency:
        parts.append(f"everything else {choice.frequency}")
    if choice.frequencies:
        parts.append(listed([f"{category} {often}" for category, often in choice.frequencies]))
    if choice.clock:
        hour, minute = choice.clock
        parts.append(
            f"between {hour:02}:00 and {hour:02}:50"
            if minute is None
            else f"at {hour:02}:{minute:02}"
        )
    if choice.weekly_on:
        parts.append(f"weekly on {DAYS[choice.weekly_on - 1]}")
    if choice.custom_on:
        parts.append(f"custom {_on(choice.custom_on)}")
    if choice.paused_until:
        parts.append(f"no email before {choice.paused_until.day} {choice.paused_until:%B %Y}")
    if choice.time_zone:
        parts.append(choice.time_zone)
    if choice.quiet_hours:
        parts.append(f"quiet hours {choice.quiet_hours}")
    if muted := [each.entity for each in command.mutes if each.is_muted]:
        parts.append(f"mutes {listed(muted)}")
    if unmuted := [each.entity for each in command.mutes if not each.is_muted]:
        parts.append(f"unmutes {listed(unmuted)}")
    return f"{command.user_id} chose at {instant(command.at)}: {'; '.join(parts) or 'nothing'}"


def _often(subscriber: Subscriber, frequency: Frequency) -> str:
    if frequency not in (Frequency.WEEKLY, Frequency.CUSTOM):
        return frequency.value
    return f"{frequency} {_on(subscriber.recurrence(frequency).days)}"


def _on(days: Days) -> str:
    if days.month_day is not None:
        return f"on day {days.month_day} of the month"
    weeks = "" if days.every == 1 else f" of every {days.every} weeks"
    return f"on {listed([DAYS[day - 1] for day in sorted(days.weekdays)])}{weeks}"


def _follow(change: ChangeFollow) -> str:
    since = f"from {instant(change.at)} on"
    if not change.state.following:
        return f"{change.user_id} no longer follows {change.entity} {since}"
    how = change.state.frequency
    often = {None: "as often as its category", Frequency.NEVER: ("and mutes the entity")}.get(
        how, how
    )
    return f"{change.user_id} follows {change.entity} {since}, {often}"
