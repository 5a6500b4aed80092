"""Determine the target of an event from its reader's choices and follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from types import MappingProxyType

from gazette.domain.identity import address_hash
from gazette.domain.links import NEW_LINK
from gazette.domain.model import DAILY, Event
from gazette.domain.muting.muted import is_muted
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import Recurrence
from gazette.domain.scheduling.growing import lapses_soon
from gazette.domain.scheduling.kinds import (
    Unsent,
    critical_schedule,
    immediate_schedule,
    is_same_thread,
    is_urgent,
    urgent_schedule,
)
from gazette.domain.subscribers.following import Follow, effective_frequency
from gazette.domain.subscribers.frequency import Frequencies, Frequency
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber
from gazette.steps.context import RoutingContext

LATE_AFTER = timedelta(days=1)
"""The age from which an event is not sent immediately, but with the daily digest."""


@dataclass(frozen=True, slots=True)
class Target:
    """The schedule under which an event is stored."""

    schedule: str
    recurrence: Recurrence | None = None
    """The recurrence of the schedule, or None if it is not a digest."""

    is_capped: bool = False
    """True if the schedule is a digest because of the limit of immediate emails (rule 28)."""

    def keeps(self, schedule: str) -> bool:
        """Return True if an event under `schedule` does not move to this target.

        An event of a thread stays where it is, whether or not it has become urgent since. Its run
        may be about to be sent.
        """
        return schedule == self.schedule or is_same_thread(schedule, self.schedule)

    def keeps_new_version(self, schedule: str) -> bool:
        """Return True if an event under `schedule` does not move to this target, although it may
        have been amended.

        An amended event can become urgent. It does not become less urgent.
        """
        return schedule == self.schedule or (is_urgent(schedule) and self.keeps(schedule))


@dataclass(frozen=True, slots=True)
class RoutingInputs:
    """The inputs that determine an event's target: its reader, and the follows that led to the
    event.
    """

    reader: Reader
    follows: tuple[Follow | None, ...]

    def decides_like(self, other: "RoutingInputs") -> bool:
        """Return True if both inputs result in the same target and lifetime for every event."""
        return (_deciding(self.reader), self.follows) == (_deciding(other.reader), other.follows)


_DECIDING = attrgetter("choices", "mutes", "status", "times", "pause", "resumed_at", "erased_at")


def _deciding(reader: Reader) -> object:
    return _DECIDING(reader) if isinstance(reader, Subscriber) else reader


def routing_inputs(
    events: Sequence[Event],
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
) -> list[RoutingInputs]:
    """Return the routing inputs of each event.

    `known` contains follows that were just read, by (entity key, user id).
    """
    readers = context.subscribers.get_many({event.user_id for event in events})
    keys = {(entity, event.user_id) for event in events for entity in event.via} - known.keys()
    follows = {**known, **(context.follows.get_many(keys) if keys else {})}
    return [
        RoutingInputs(
            readers[event.user_id],
            tuple(follows.get((entity, event.user_id)) for entity in event.via),
        )
        for event in events
    ]


def daily_target(reader: Reader) -> Target:
    """Return the target of an event for which the limit allows no immediate email.

    Only subscribers have events for immediate emails.
    """
    known = reader if isinstance(reader, Subscriber) else None
    return Target(DAILY, known.recurrence(Frequency.DAILY) if known else None, is_capped=True)


def target_of(
    event: Event, inputs: RoutingInputs, context: RoutingContext, *, is_capped: bool = False
) -> Target | Outcome:
    """Return the target of the event, or an Outcome if it has no target.

    An event only gets older, so an event that was late is late whenever it is routed again.
    `is_capped` is the mark of the stored event (rule 28). An event with this mark waits for the
    same digest as a late event, whatever its reader chooses.
    """
    choices: History[Frequencies] = ()
    defaults: Frequencies = ()
    paused_or_dormant = False
    critical = event.category in context.critical
    match inputs.reader:
        case Erased():
            return Outcome.ERASED
        case Subscriber() as reader:
            if reader.erased_at and event.counts_at <= reader.erased_at:
                return Outcome.ERASED
            if reader.has_left and not (critical and _may_go_to(reader, context)):
                return Outcome.UNSUBSCRIBED
            if event.category == NEW_LINK:
                return Target(urgent_schedule(event.entity.key))
            if reader.mutes and is_muted(event, reader.mutes, context.critical):
                return Outcome.MUTED
            choices, defaults = reader.choices, context.defaults
            paused_or_dormant = reader.paused_or_dormant_at(event.counts_at, sunset=context.sunset)
        case None:
            pass
    frequency = effective_frequency(
        event,
        choices=choices,
        follows=inputs.follows,
        defaults=defaults,
        paused_or_dormant=paused_or_dormant,
        late=is_capped or context.clock() - event.counts_at > LATE_AFTER,
        critical=critical,
    )
    match frequency:
        case None:
            return Outcome.NOT_FOLLOWED
        case Frequency.NEVER:
            return Outcome.MUTED
        case _ if not isinstance(inputs.reader, Subscriber):
            return Target(Unsent.WAITING)
        case _ if critical:
            return Target(critical_schedule(event.entity.key))
        case Frequency.IMMEDIATE if lapses_soon(event, context.clock()):
            return Target(urgent_schedule(event.entity.key))
        case Frequency.IMMEDIATE:
            return Target(immediate_schedule(event.entity.key))
        case _:
            return Target(frequency.value, inputs.reader.recurrence(frequency))


def _may_go_to(reader: Subscriber, context: RoutingContext) -> bool:
    """Return True if critical email may be sent to the address of an unsubscribed reader.

    Without this check, each event would start a run that ends as suppressed. The worker repeats the
    check before it sends (rule 11).
    """
    if context.suppressions is None:
        return True
    return not context.suppressions.holds(address_hash(reader.email), critical=True)
