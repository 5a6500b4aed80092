"""A run of messages through the real handler, which must store or quarantine each of them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gazette.adapters.contract import decode
from gazette.domain.commands import Command, CommandList, CreateEvents, from_the_future
from gazette.domain.errors import InvalidEvent
from gazette.steps.routing.route import Routed

import functions.ingest.handler as handler
from proofs.fuzz.moments import watched_invocation
from proofs.fuzz.oracle import Oracle
from tests.functions.conftest import Context
from tests.functions.messages import records
from tests.world import World


@dataclass
class Tally:
    """The outcomes of messages. Each counts once; a list with both valid and invalid events, twice.

    `batches` are those that lost something.
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
    """The handler on a world that remembers all earlier messages."""

    world: World
    tally: Tally

    def put(self, *bodies: str) -> None:
        """Process up to ten messages in one invocation, as the queue delivers them."""
        self.tally.examples += len(bodies)
        kept = len(self.world.quarantine.kept)
        lost = self.tally.lost
        taken = [_taken(body, self.world.clock()) for body in bodies]
        with watched_invocation(self.world) as seen:
            returned = self._handle(*bodies)
        self.tally.raised += len(returned)
        quarantined = {entry for entry, _ in self.world.quarantine.kept[kept:]}
        oracle = Oracle(self.world, seen, [command for command in taken if command])
        for number, (body, command) in enumerate(zip(bodies, taken, strict=True)):
            if number not in returned:
                self._judge(
                    is_taken=command is not None,
                    is_stored=command is not None and oracle.is_accounted_for(command),
                    is_quarantined=body in quarantined,
                )
        if self.tally.lost > lost:
            self.tally.batches.append("\n".join(bodies))

    def _judge(self, *, is_taken: bool, is_stored: bool, is_quarantined: bool) -> None:
        self.tally.quarantined += is_quarantined
        self.tally.stored += is_stored
        self.tally.lost += not (is_stored if is_taken else is_quarantined)

    def _handle(self, *bodies: str) -> Collection[int]:
        """Return the numbers of the messages to be delivered again."""
        vars(handler)["build"] = self._build
        try:
            answer: Any = handler.lambda_handler(records(*bodies), Context())
        except Exception:  # noqa: BLE001 -- what is counted here
            return range(len(bodies))
        return {int(each["itemIdentifier"][1:]) for each in answer["batchItemFailures"]}

    def _build(self) -> Callable[[Sequence[str], object], list[Routed]]:
        return lambda bodies, _: self.world.ingest_all(bodies, decode)


def _taken(body: str, now: datetime) -> Command | None:
    """Return the command in a message, without refused items of a list; None if all are
    refused."""
    try:
        command = decode(body)
    except InvalidEvent:
        return None
    if isinstance(command, CommandList):
        current = [each for each in command.commands if not from_the_future(each, now)]
        return CommandList(tuple(current)) if current else None
    if not isinstance(command, CreateEvents):
        return None if from_the_future(command, now) else command
    timely = [each for each in command.events if not from_the_future(CreateEvents((each,)), now)]
    return CreateEvents(tuple(timely)) if timely else None
