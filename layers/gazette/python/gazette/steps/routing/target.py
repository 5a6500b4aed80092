"""Where an event belongs: what its reader chose and follows, and what that comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from gazette.domain.identity import WAITING, immediate_schedule
from gazette.domain.model import Event
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.recurrence import Recurrence
from gazette.domain.subscribers.following import Follow, effective_frequency
from gazette.domain.subscribers.frequency import DIGESTS, Frequencies, Frequency
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber
from gazette.steps.context import RoutingContext


@dataclass(frozen=True, slots=True)
class RoutingInputs:
    """What decides where an event of one reader belongs; `follows` are those of its `via`."""

    reader: Reader
    follows: tuple[Follow | None, ...]

    def decides_like(self, other: "RoutingInputs") -> bool:
        """Whether nothing that matters has changed between the two."""
        return self._deciding() == other._deciding()

    def recurrence_of(self, schedule: str) -> Recurrence | None:
        """When the schedule is due for the reader; None where it has no hour."""
        if isinstance(self.reader, Subscriber) and schedule in set(DIGESTS):
            return self.reader.recurrence(Frequency(schedule))
        return None

    def _deciding(self) -> object:
        reader = self.reader
        if isinstance(reader, Subscriber):
            return (
                reader.choices,
                reader.status,
                reader.pause,
                reader.resumed_at,
                reader.erased_at,
                self.follows,
            )
        return reader, self.follows


def routing_inputs(
    events: Sequence[Event],
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
) -> list[RoutingInputs]:
    """Those of some events. `known` are follows, by (entity key, user id), that were just read."""
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


def target_of(event: Event, inputs: RoutingInputs, context: RoutingContext) -> str | Outcome:
    """The schedule that the event belongs under, or why it belongs nowhere."""
    choices: History[Frequencies] = ()
    defaults: Frequencies = ()
    paused_or_dormant = False
    match inputs.reader:
        case Erased():
            return Outcome.ERASED
        case Subscriber() as reader:
            if reader.erased_at and event.occurred_at <= reader.erased_at:
                return Outcome.ERASED
            if reader.has_left:
                return Outcome.UNSUBSCRIBED
            choices, defaults = reader.choices, context.defaults
            paused_or_dormant = reader.paused_or_dormant_at(event.occurred_at)
        case None:
            pass
    frequency = effective_frequency(
        event,
        choices=choices,
        follows=inputs.follows,
        defaults=defaults,
        paused_or_dormant=paused_or_dormant,
    )
    match frequency:
        case None:
            return Outcome.NOT_FOLLOWED
        case Frequency.NEVER:
            return Outcome.MUTED
        case _ if inputs.reader is None:
            return WAITING
        case Frequency.IMMEDIATE:
            return immediate_schedule(event.entity.key)
        case _:
            return frequency.value
