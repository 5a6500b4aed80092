"""Each message through the real handler: it must be stored or quarantined, never lost."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from gazette.adapters.contract import decode
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
    reader_of,
)
from gazette.domain.errors import InvalidEvent
from gazette.domain.model import Event, Retracted
from gazette.domain.subscribers.following import effective_frequency
from gazette.domain.subscribers.frequency import EVERYTHING, Frequencies, Frequency
from gazette.domain.subscribers.subscriber import Erased, Subscriber
from gazette.steps.routing.route import Routed

import functions.ingest.handler as handler
from tests.functions.conftest import Context
from tests.functions.messages import records
from tests.world import World


@dataclass
class Tally:
    """What became of the messages: each counts once, and a list that half fits as both.

    `batches`: those in which something was lost.
    """

    examples: int = 0
    stored: int = 0
    quarantined: int = 0
    lost: int = 0
    raised: int = 0
    batches: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"fuzz: examples={self.examples} stored={self.stored} "
            f"quarantined={self.quarantined} lost={self.lost} raised={self.raised}"
        )


@dataclass
class Fuzz:
    """The handler on a world that remembers everything that was put before."""

    world: World
    tally: Tally

    def put(self, *bodies: str) -> None:
        """Process up to ten messages in one invocation, as the queue delivers them."""
        self.tally.examples += len(bodies)
        kept = len(self.world.quarantine.kept)
        commands = [_command(body) for body in bodies]
        muted = set().union(*map(self._muted, commands))
        lost = self.tally.lost
        returned = self._handle(*bodies)
        self.tally.raised += len(returned)
        quarantined = {entry for entry, _ in self.world.quarantine.kept[kept:]}
        for number, (body, command) in enumerate(zip(bodies, commands, strict=True)):
            if number not in returned:
                stored = command is not None and (
                    is_accounted_for(self.world, command)
                    or (
                        len(bodies) > 1
                        and (self._was_erased(command) or self._was_muted(command, muted))
                    )
                )
                self._judge(stored=stored, is_quarantined=body in quarantined)
        if self.tally.lost > lost:
            self.tally.batches.append("\n".join(bodies))

    def _muted(self, command: Command | None) -> set[tuple[str, str]]:
        """Readers, and what is or was muted for them before the command, or is by it.

        Nothing is stored of what is muted when it comes, even if a later one of several messages
        says that it was not: that is the one thing whose order matters.
        """
        known: list[tuple[str, Frequencies]] = []
        match command:
            case ChangeSubscriber(reader):
                known = [(reader.user_id, chosen) for _, chosen in reader.choices]
            case ChoosePreferences(user_id, choice):
                known = [(user_id, choice.frequencies or ())]
                if choice.frequency:
                    known.append((user_id, ((EVERYTHING, choice.frequency),)))
            case CreateEvents(events):
                for event in events:
                    found = self.world.subscribers.get(event.user_id)
                    if isinstance(found, Subscriber):
                        known += [(event.user_id, chosen) for _, chosen in found.choices]
        return {
            (user_id, category)
            for user_id, chosen in known
            for category, often in chosen
            if often is Frequency.NEVER
        }

    def _was_muted(self, command: Command, muted: set[tuple[str, str]]) -> bool:
        return isinstance(command, CreateEvents) and all(
            _has(self.world, event)
            or muted & {(event.user_id, event.category), (event.user_id, EVERYTHING)}
            for event in command.events
        )

    def _was_erased(self, command: Command) -> bool:
        """Of several messages, an earlier or later one may have erased their reader."""
        readers = (
            {reader_of(command)}
            if not isinstance(command, CreateEvents)
            else {event.user_id for event in command.events}
        )
        found = [self.world.subscribers.get(reader) for reader in readers if reader]
        return any(reader and reader.erased_at for reader in found)

    def _judge(self, *, stored: bool, is_quarantined: bool) -> None:
        self.tally.quarantined += is_quarantined
        self.tally.stored += stored and not is_quarantined
        self.tally.lost += not (is_quarantined or stored)

    def _handle(self, *bodies: str) -> Collection[int]:
        """The numbers of the messages that come again."""
        vars(handler)["build"] = self._build
        try:
            answer: Any = handler.lambda_handler(records(*bodies), Context())
        except Exception:  # noqa: BLE001 -- what is counted here
            return range(len(bodies))
        return {int(each["itemIdentifier"][1:]) for each in answer["batchItemFailures"]}

    def _build(self) -> Callable[[Sequence[str], object], list[Routed]]:
        return lambda bodies, _: self.world.ingest_all(bodies, decode)


def _command(body: str) -> Command | None:
    try:
        return decode(body)
    except InvalidEvent:
        return None


def is_accounted_for(world: World, command: Command) -> bool:
    """Whether the tables show the command, or why they need not."""
    match command:
        case CreateEvents(events):
            return all(_has(world, event) for event in events)
        case CreateActivity(activity):
            return world.activities.get(activity.entity.key, activity.id) is not None
        case RetractActivity(entity, activity_id):
            found = world.activities.get(entity, activity_id)
            return isinstance(found, Retracted) or (found is not None and found.retracted)
        case RetractEvent(user_id, event_id):
            erased = isinstance(world.subscribers.get(user_id), Erased)
            return erased or isinstance(world.events.get(user_id, event_id), Retracted)
        case ChangeSubscriber(given):
            reader = world.subscribers.get(given.user_id)
            if isinstance(reader, Subscriber):
                return reader.changed_at >= given.changed_at
            return isinstance(reader, Erased) and reader.erased_at >= given.changed_at
        case EraseSubscriber(user_id, at):
            reader = world.subscribers.get(user_id)
            if isinstance(reader, Subscriber):
                return reader.changed_at > at
            return isinstance(reader, Erased) and reader.erased_at >= at
        case ChoosePreferences(user_id, choice, at):
            reader = world.subscribers.get(user_id)
            if (
                reader
                and reader.erased_at
                and (isinstance(reader, Erased) or reader.erased_at >= at)
            ):
                return True
            known = reader if isinstance(reader, Subscriber) else world.subscribers.early(user_id)
            return known is not None and known.reader_choices == known.reader_choices.with_choice(
                at, choice
            )
        case MarkActive(user_id, at):
            reader = world.subscribers.get(user_id)
            return isinstance(reader, Erased) or (
                user_id in world.subscribers.active
                and (world.subscribers.active[user_id] >= at.date())
            )
        case ChangeFollow(user_id, entity, state, at):
            if isinstance(world.subscribers.get(user_id), Erased):
                return world.follows.get(entity, user_id) is None
            follow = world.follows.get(entity, user_id)
            reader = world.subscribers.get(user_id)
            if isinstance(reader, Subscriber) and reader.erased_at and reader.erased_at >= at:
                return True
            if follow is None:
                return False
            return (
                (at, state) in follow.changes
                or at < follow.changes[0][0]
                or len(follow.changes) > 1
            )


def _has(world: World, event: Event) -> bool:
    if world.events.get(event.user_id, event.id):
        return True
    reader = world.subscribers.get(event.user_id)
    if not isinstance(reader, Subscriber):
        return isinstance(reader, Erased)
    if reader.erased_at and event.occurred_at <= reader.erased_at:
        return True
    frequency = effective_frequency(event, choices=reader.choices, follows=(), defaults=())
    return frequency is Frequency.NEVER
