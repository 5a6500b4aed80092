"""The behaviours of a recommendation service, good or bad, each as a function of a request."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proofs.sources.service import Asked, Behaviour, Reply, items

ITEMS = 3
"""The number of items in an answer: more than none, and fewer than a digest shows."""

_FAST = 0.05
"""The seconds of an ordinary answer."""


def item_ids(user_id: str) -> list[str]:
    """Return the service's items for a reader, which no other reader has."""
    return [f"{user_id}x{number}" for number in range(ITEMS)]


def well(asked: Asked) -> Reply:
    """Answer with the reader's items."""
    return Reply(body=items(*item_ids(asked.user_id)), delay=_FAST)


def slow(asked: Asked) -> Reply:
    """Answer shortly before the deadline of a second."""
    return Reply(body=items(*item_ids(asked.user_id)), delay=0.7)


def broken(asked: Asked) -> Reply:
    """Answer with an item without a title among others, and a picture at an http address."""
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
    """A service that rejects for a time and requests a pause, and then answers."""

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
    """A service that slows down with more requests, and whose autoscaler flaps.

    An instance answers one request a second in 0.2 s. The time grows with the cube of the rate in
    the last two seconds. Every eight seconds the autoscaler runs two instances if there were more
    than eight requests, else one, and is too late each time.
    """

    instances: int = 1
    looked: float = field(default_factory=time.monotonic)
    came: list[float] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        """Answer after a time that depends on the load."""
        self.came.append(asked.at)
        if asked.at - self.looked > 8:
            self.instances = 2 if sum(at > self.looked for at in self.came) > 8 else 1
            self.looked = asked.at
        recent = sum(at > asked.at - 2 for at in self.came)
        load = max(1.0, recent / 2 / self.instances)
        return Reply(body=items(*item_ids(asked.user_id)), delay=min(0.2 * load**3, 3))


BEHAVIOURS: Mapping[str, Callable[[], Behaviour]] = {
    "well": lambda: well,
    "slow": lambda: slow,
    "broken items": lambda: broken,
    "failing": Failing,
    "refusing": Refusing,
    "thrashing": Thrashing,
    "down": lambda: down,
}
"""The behaviours by name. Each is created anew. The last one first leaves digests without items."""
