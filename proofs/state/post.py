"""Simulated SQS, with late, duplicated and reordered messages, and a dead-letter queue."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.queues import QueuedRun

from tests.fakes import FakeQueue

_VISIBILITY = timedelta(minutes=6)
_RECEIVES = 4


@dataclass(eq=False)
class Letter:
    """One message. `was_given_up` marks one redriven from the dead letters of `resend`."""

    key: RunKey
    visible_at: datetime
    was_given_up: bool = False
    receives: int = 0


@dataclass
class Post(FakeQueue[QueuedRun]):
    """The port `RunQueue`, with the simulated queue behind it."""

    clock: Clock = field(kw_only=True)
    letters: list[Letter] = field(default_factory=list)
    dead: list[Letter] = field(default_factory=list)

    def send(self, messages: Iterable[QueuedRun]) -> None:
        runs = list(messages)
        super().send(runs)
        self.letters += [Letter(run.key, self.clock() + run.delay) for run in runs]

    def visible(self) -> list[Letter]:
        """Return the messages that a worker can receive now."""
        return [letter for letter in self.letters if letter.visible_at <= self.clock()]

    def receive(self, letter: Letter) -> bool:
        """Hide a message for a while. Return False if it became a dead letter after too many
        receives.
        """
        letter.receives += 1
        if letter.receives > _RECEIVES:
            self.give_up(letter)
            return False
        self.hide(letter, _VISIBILITY)
        return True

    def give_up(self, letter: Letter) -> None:
        """Move a message to the dead-letter queue."""
        self.letters.remove(letter)
        self.dead.append(letter)

    def hide(self, letter: Letter, pause: timedelta) -> None:
        """Make a message visible again after a pause."""
        letter.visible_at = self.clock() + pause

    def delete(self, letter: Letter) -> None:
        """Delete a processed message. A copy of it may have been deleted before."""
        if letter in self.letters:
            self.letters.remove(letter)

    def redrive(self) -> None:
        """Redrive all dead letters, like the button of the console."""
        for letter in self.dead:
            letter.receives, letter.visible_at = 0, self.clock()
        self.letters += self.dead
        self.dead = []


@dataclass
class FailedLetters(FakeQueue[RunKey]):
    """The port `FailedRuns` with its own queue, redriven together with the dead letters."""

    post: Post = field(kw_only=True)

    def send(self, messages: Iterable[RunKey]) -> None:
        for key in messages:
            super().send([key])
            self.post.dead.append(Letter(key, self.post.clock(), was_given_up=True))
