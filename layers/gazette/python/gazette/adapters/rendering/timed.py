"""How long it takes to make an email."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.delivery.compose import Digest, Ranking
from gazette.domain.model import Edition
from gazette.domain.ports.outside import Links, Renderer
from gazette.domain.subscribers.subscriber import Subscriber


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedRenderer:
    """The port `Renderer` on another one; `tell` is told how long each email took to make.

    Not where it could not be made. `stopwatch` returns seconds that only ever go on.
    """

    renderer: Renderer
    stopwatch: Callable[[], float]
    tell: Callable[[timedelta], None]

    def ranking(self, variation: int) -> Ranking:
        """As the other one says."""
        return self.renderer.ranking(variation)

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
    ) -> Edition:
        """As the other one makes it."""
        began = self.stopwatch()
        edition = self.renderer.render(digest, subscriber, links, schedule, variation=variation)
        self.tell(timedelta(seconds=self.stopwatch() - began))
        return edition
