"""How a recommendation service behaves, well or badly: each a function of a request."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proofs.sources.service import Asked, Behaviour, Reply, items

ITEMS = 3
"""Of each answer: more than none, fewer than a digest shows."""

_FAST = 0.05
"""Seconds that an answer takes."""


def item_ids(user_id: str) -> list[str]:
    """What the service has for a reader: nobody else has it."""
    return [f"{user_id}x{number}" for number in range(ITEMS)]


def well(asked: Asked) -> Reply:
    """Answer with the reader's items."""
    return Reply(body=items(*item_ids(asked.user_id)), delay=_FAST)


def slow(asked: Asked) -> Reply:
    """Answer shortly before the deadline of a second."""
    return Reply(body=items(*item_ids(asked.user_id)), delay=0.7)


def broken(asked: Asked) -> Reply:
    """One item without a title among the others, and a picture at an http address."""
    listed = items(*item_ids(asked.user_id), image={"url": "http://example.com/a.png"})
    return Reply(body=listed.replace(b'"items": [', b'"items": [{"id": "broken"}, '), delay=_FAST)


def down(asked: Asked) -> Reply:
    """Accept, and never answer in time."""
    del asked
    return Reply(delay=3)


@dataclass
class Failing:
    """Fail four requests in ten, at random but the same each time."""

    drawn: random.Random = field(default_factory=lambda: random.Random(20))

    def __call__(self, asked: Asked) -> Reply:
        """Answer, or fail."""
        if self.drawn.random() < 0.4:
            return Reply(status=500, body=b"{}", delay=_FAST)
        return well(asked)


@dataclass
class Refusing:
    """Refuse for a time, and ask to be left alone for so long; then answer."""

    seconds: float = 20.0
    began: float = 0.0

    def __call__(self, asked: Asked) -> Reply:
        """Answer, or refuse."""
        self.began = self.began or asked.at
        left = self.began + self.seconds - asked.at
        if left > 0:
            return Reply(status=429, headers={"Retry-After": str(int(left) + 1)})
        return well(asked)


@dataclass
class Thrashing:
    """The more requests are in progress, the longer each takes; an autoscaler flaps below it.

    Within its capacity a request takes 0.1 s, and beyond it the cube of how often that is in
    progress. The autoscaler looks every eight seconds at what came since: it doubles its one
    instance where that was more than one a second, and takes the other away where it was less.
    """

    capacity: int = 1
    looked: float = field(default_factory=time.monotonic)
    came: int = 0

    def __call__(self, asked: Asked) -> Reply:
        """Answer after as long as the load makes it."""
        self.came += 1
        if asked.at - self.looked > 8:
            self.capacity = 2 if self.came > 8 else 1
            self.looked, self.came = asked.at, 0
        load = asked.in_progress / self.capacity
        return Reply(body=items(*item_ids(asked.user_id)), delay=0.1 * max(1.0, load) ** 3)


BEHAVIOURS: Mapping[str, Callable[[], Behaviour]] = {
    "well": lambda: well,
    "slow": lambda: slow,
    "broken items": lambda: broken,
    "failing": Failing,
    "refusing": Refusing,
    "thrashing": Thrashing,
    "down": lambda: down,
}
"""By name; each is made anew, and the last one first leaves digests without their items."""
