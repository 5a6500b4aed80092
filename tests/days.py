"""Time passes in a world: messages become visible, and the sweep runs every five minutes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from random import Random

from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.model import RunKey

from tests.builders import NOW
from tests.world import Around, World

SWEEP_EVERY = timedelta(minutes=5)

_MINUTE = timedelta(minutes=1)
_NEVER = datetime.max.replace(tzinfo=UTC), RunKey("", "", 0)


def _unchanged(_: str, call: Callable[[], object]) -> object:
    return call()


@dataclass
class Days:
    """Time passes: messages become visible, and the sweep runs every five minutes."""

    world: World
    around: Around = _unchanged
    sent_at: list[datetime] = field(default_factory=list)
    _swept_at: datetime | None = None
    _waiting: list[tuple[datetime, RunKey]] = field(default_factory=list)

    def until(self, then: datetime) -> None:
        """Work off everything until then."""
        world = self.world
        self._swept_at = self._swept_at or world.clock()
        while True:
            for queue in (world.generate_queue, world.resend_queue):
                self._waiting += [(world.clock() + each.delay, each.key) for each in queue.sent]
                queue.sent = []
            first = min(self._waiting, default=_NEVER, key=itemgetter(0))
            next_sweep = self._swept_at + SWEEP_EVERY
            at = min(first[0], next_sweep)
            if at > then:
                world.clock.now = max(world.clock.now, then)
                return
            world.clock.now = max(world.clock.now, at)
            if next_sweep <= first[0]:
                self._swept_at = next_sweep
                world.sweep()
                continue
            self._waiting.remove(first)
            before = world.mailer.calls
            try:
                with world.watched(self.around):
                    world.generate(first[1])
            except (NotYet, Unavailable):
                self._waiting.append((world.clock() + _MINUTE, first[1]))
            self.sent_at += [world.clock()] * (world.mailer.calls - before)

    def then(self, after: timedelta, act: Callable[[], object]) -> None:
        """Let time pass until `after` the beginning, then act."""
        self.until(NOW + after)
        act()


_AFTER_THE_CLAIM = {"runs.swap", "subscribers.last_look", "suppressions.holds", "mailer.send"}


@dataclass
class Faults:
    """Workers that die before or after a call, at random."""

    random: Random
    rate: float

    def around(self, name: str, call: Callable[[], object]) -> object:
        # A death between claim and outcome has an unknown outcome, which a policy decides.
        if name in _AFTER_THE_CLAIM or self.random.random() > self.rate:
            return call()
        if self.random.random() < 0.5:
            call()
        raise Unavailable(f"The worker died at {name}.")
