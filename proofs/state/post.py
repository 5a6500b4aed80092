"""SQS as it may behave: messages come late, twice, in any order, and end among the dead letters."""

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
    """One message. `was_given_up`: it was brought back from where `resend` had put it."""

    key: RunKey
    visible_at: datetime
    was_given_up: bool = False
    receives: int = 0


@dataclass
class Post(FakeQueue[QueuedRun]):
    """The port `RunQueue`, and what SQS does behind it."""

    clock: Clock = field(kw_only=True)
    letters: list[Letter] = field(default_factory=list)
    dead: list[Letter] = field(default_factory=list)

    def send(self, messages: Iterable[QueuedRun]) -> None:
        runs = list(messages)
        super().send(runs)
        self.letters += [Letter(run.key, self.clock() + run.delay) for run in runs]

    def visible(self) -> list[Letter]:
        """What a worker may get now."""
        return [letter for letter in self.letters if letter.visible_at <= self.clock()]

    def receive(self, letter: Letter) -> bool:
        """Hide it for a while. False where it was received too often: it is a dead letter now."""
        letter.receives += 1
        if letter.receives > _RECEIVES:
            self.give_up(letter)
            return False
        self.hide(letter, _VISIBILITY)
        return True

    def give_up(self, letter: Letter) -> None:
        """Put it among the dead letters."""
        self.letters.remove(letter)
        self.dead.append(letter)

    def hide(self, letter: Letter, pause: timedelta) -> None:
        """Let it come again after a pause."""
        letter.visible_at = self.clock() + pause

    def delete(self, letter: Letter) -> None:
        """It was worked off; a copy of it may have been deleted before."""
        if letter in self.letters:
            self.letters.remove(letter)

    def redrive(self) -> None:
        """What the button of the console does."""
        for letter in self.dead:
            letter.receives, letter.visible_at = 0, self.clock()
        self.letters += self.dead
        self.dead = []


@dataclass
class FailedLetters(FakeQueue[RunKey]):
    """The port `FailedRuns` beside a queue, redriven with its dead letters."""

    post: Post = field(kw_only=True)

    def send(self, messages: Iterable[RunKey]) -> None:
        for key in messages:
            super().send([key])
            self.post.dead.append(Letter(key, self.post.clock(), was_given_up=True))
