"""Submit a choice of preferences for a reader, as the preference page does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from gazette.domain.api.answers import Chosen
from gazette.domain.commands import from_the_future
from gazette.domain.errors import NotYet, OutcomeUnknown, Unavailable, UnreadableRow
from gazette.domain.muting.mutes import Mute, changed
from gazette.domain.outcome import Outcome
from gazette.domain.ports.bus import Bus
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.subscriber import Subscriber, was_erased
from gazette.steps.context import RoutingContext
from gazette.steps.ingest.choices import choose_preferences
from gazette.steps.preferences.page import choice_command


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceContext:
    """The dependencies for submitting a choice."""

    routing: RoutingContext
    bus: Bus
    announce: Callable[[], None]
    """A function that stores the number of shards for fan-out, before the first schedule is
    written."""


def choose(
    user_id: str,
    choice: Choice,
    at: datetime,
    mutes: Sequence[Mute] = (),
    *,
    context: ChoiceContext,
    time_left: TimeLeft,
) -> Chosen:
    """Submit a choice that a reader made at `at`, and changes of mutes. Repeating the same choice
    has no effect.

    The choice is published to the event bus first, so that ingest applies it even if this process
    fails. Then it is applied here, also to waiting events. Raises OutcomeUnknown if it is unknown
    whether the bus accepted the choice. Raises Unavailable and UnreadableRow before any change.
    """
    routing = context.routing
    reader = routing.subscribers.get(user_id)
    if not isinstance(reader, Subscriber) or was_erased(reader, at):
        return Chosen.UNKNOWN_READER
    command = replace(choice_command(user_id, choice, at, reader), mutes=tuple(mutes))
    if from_the_future(command, routing.clock()):
        return Chosen.IN_THE_FUTURE
    if changed(reader.mutes, mutes).refused:
        return Chosen.TOO_MANY_MUTED
    context.announce()
    try:
        is_published = context.bus.put([command])
    except Unavailable as err:
        raise OutcomeUnknown(str(err)) from err
    if not is_published:
        return Chosen.NOT_ACCEPTED
    try:
        outcome = choose_preferences(command, context=routing, time_left=time_left)
    except (NotYet, Unavailable, UnreadableRow):
        return Chosen.ACCEPTED
    return _CHOSEN.get(outcome, Chosen.IN_FORCE)


_CHOSEN = {
    Outcome.ERASED: Chosen.UNKNOWN_READER,
    Outcome.TOO_MANY_MUTED: Chosen.TOO_MANY_MUTED,
}
