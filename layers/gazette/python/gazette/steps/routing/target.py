"""Where an event belongs: what its reader chose and follows, and what that comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from gazette.domain.identity import WAITING, immediate_schedule
from gazette.domain.model import Event
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.recurrence import Cadence
from gazette.domain.subscribers.following import Follow, wish_for
from gazette.domain.subscribers.frequency import DIGESTS, Frequencies, Frequency
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber
from gazette.steps.context import Places


@dataclass(frozen=True, slots=True)
class Standing:
    """What decides where an event of one reader belongs; `follows` are those of its `via`."""

    reader: Reader
    follows: tuple[Follow | None, ...]

    def decides_like(self, other: "Standing") -> bool:
        """Whether nothing that matters has changed between the two."""
        return self._deciding() == other._deciding()

    def wants(self, schedule: str) -> Cadence | None:
        """When the schedule is due for the reader; None where it has no hour."""
        if isinstance(self.reader, Subscriber) and schedule in set(DIGESTS):
            return self.reader.cadence(Frequency(schedule))
        return None

    def _deciding(self) -> object:
        reader = self.reader
        if isinstance(reader, Subscriber):
            return (
                reader.choices,
                reader.status,
                reader.pause,
                reader.awake_since,
                reader.erased_at,
                self.follows,
            )
        return reader, self.follows


def standings_of(
    events: Sequence[Event],
    places: Places,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
) -> list[Standing]:
    """Those of some events. `known` are follows, by (entity key, user id), that were just read."""
    readers = places.subscribers.get_many({event.user_id for event in events})
    keys = {(entity, event.user_id) for event in events for entity in event.via} - known.keys()
    follows = {**known, **(places.follows.get_many(keys) if keys else {})}
    return [
        Standing(
            readers[event.user_id],
            tuple(follows.get((entity, event.user_id)) for entity in event.via),
        )
        for event in events
    ]


def target_of(event: Event, standing: Standing, places: Places) -> str | Outcome:
    """The schedule that the event belongs under, or why it belongs nowhere."""
    choices: History[Frequencies] = ()
    defaults: Frequencies = ()
    resting = False
    match standing.reader:
        case Erased():
            return Outcome.ERASED
        case Subscriber() as reader:
            if reader.erased_at and event.occurred_at <= reader.erased_at:
                return Outcome.ERASED
            if reader.has_left:
                return Outcome.UNSUBSCRIBED
            choices, defaults = reader.choices, places.defaults
            resting = reader.rests_through(event.occurred_at)
        case None:
            pass
    wish = wish_for(
        event, choices=choices, follows=standing.follows, defaults=defaults, resting=resting
    )
    match wish:
        case None:
            return Outcome.NOT_FOLLOWED
        case Frequency.NEVER:
            return Outcome.MUTED
        case _ if standing.reader is None:
            return WAITING
        case Frequency.IMMEDIATE:
            return immediate_schedule(event.entity.key)
        case _:
            return wish.value
