"""The ports of one life, for its workers and for the checks that read its tables."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from gazette.domain.content import items
from gazette.domain.content.asking import ContentPlan
from gazette.domain.content.items import EVENTS, RECOMMENDATIONS, Item
from gazette.domain.content.ports import Question
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.signals import Policy, SendOutcome
from gazette.domain.errors import RenderingFailed, SourceFailed
from gazette.domain.identity import shard_of
from gazette.domain.model import Edition, Mail
from gazette.domain.ports.rendering import Links
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.templates.settings import SourcePolicy
from gazette.domain.window import folded

from proofs.prove import without
from proofs.prove.provider import Answer, Provider
from proofs.prove.queues import (
    BusMessages,
    FetchMessages,
    FollowerMessages,
    GivenUp,
    Queue,
    RunMessages,
    ShardMessages,
    SweepMessages,
)
from proofs.prove.strikes import Calls, unavailable
from tests.fake_stores import PARTITIONS, FakeRateLimiter
from tests.fakes import FakeBacklog, FakeCanary, FakeMailer, FakeRenderer, FakeSource
from tests.world import World


@dataclass(frozen=True)
class Wiring:
    """The configuration of a land, and the recorders for calls and emails."""

    clock: Any
    policy: Policy
    lateness: timedelta
    spread: timedelta
    sunset: timedelta | None
    readers: tuple[str, ...]
    queues: Mapping[str, Queue]
    provider: Provider
    calls: Calls
    source: "OfferingSource | None"
    source_policy: SourcePolicy


ITEMS = ("i1", "i2")
"""The items that the content source returns for each reader and each request."""

_PLAN = ContentPlan(sources=(EVENTS, RECOMMENDATIONS), lead=0, fresh_for=timedelta(hours=2))


class OfferingSource(FakeSource):
    """The port `ContentSource`, which fails several times, then returns the same items to all."""

    def __init__(self, down: int) -> None:
        super().__init__()
        self._down = down

    def ask(self, question: Question) -> items.Answer:
        self.asked.append(question)
        if len(self.asked) <= self._down:
            raise SourceFailed("It is down.")
        return items.Answer(tuple(map(_item, ITEMS)))


def _item(name: str) -> Item:
    return Item(
        source=RECOMMENDATIONS,
        id=name,
        title=f"Title of {name}",
        url=f"https://example.com/{name}",
        published=datetime(2026, 1, 1, tzinfo=UTC),
    )


@dataclass(frozen=True)
class Land:
    """The ports of the workers (`world`) and uncounted reads of the same tables (`onlooker`)."""

    world: World
    onlooker: World


@dataclass(frozen=True)
class Ground:
    """A kind of ports: our fakes, or the real adapters.

    `answerless(provider, name, call, done)` performs a call whose answer is lost. `claims` names
    the calls that may be a claim.
    """

    make: Callable[[Wiring], Land]
    answerless: Callable[[Provider, str, Callable[[], object], bool], object]
    claims: frozenset[str]


class ProvidedMailer(FakeMailer):
    """The port `Mailer` in front of the scripted provider."""

    def __init__(self, provider: Provider) -> None:
        super().__init__()
        self._provider = provider

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        return self._provider.take(dict(mail.tags)["run"], attempt, mail.edition.text)


@dataclass
class Register(FakeRenderer):
    """The port `Renderer`, which lists the shown events by their actors, named by event id.

    For the latest event of a group it also shows the text. The `mark` follows the reader's name.

    It raises for an event in `cannot_show`, like a template that was changed.
    """

    cannot_show: set[str] = field(default_factory=set)

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
        is_first: bool = False,
    ) -> Edition:
        events = [
            each
            for group in digest.groups
            for each in ([actor.id for actor in group.actors] or [group.latest.id])
        ]
        if odd := self.cannot_show.intersection(events):
            raise RenderingFailed(f"cannot show {sorted(odd)}")
        texts = {
            group.actors[0].id: f"\t{group.latest.excerpt}"
            for group in digest.groups
            if group.actors
        }
        lines = [f"{event}{texts.get(event, '')}" for event in events]
        text = "\n".join([f"{subscriber.name}{self.mark}", *lines, schedule, links.unsubscribe])
        return Edition("", "", text, digest.categories)


@contextmanager
def naming_everybody() -> Iterator[None]:
    """Name all people in a line, so that the email lists every event that it counts."""
    before, folded.NAMED = folded.NAMED, sys.maxsize
    try:
        yield
    finally:
        folded.NAMED = before


class HeardCanary(FakeCanary):
    """The port `Canary` in front of the scripted provider."""

    def __init__(self, provider: Provider) -> None:
        super().__init__()
        self._provider = provider

    def send(self) -> None:
        self._provider.take_canary()


class QueuedEvidence(FakeBacklog):
    """The port `EvidenceBacklog`, which reads the simulated feedback queue."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue

    def is_clear(self, grace: Any) -> bool:
        now = self._queue.clock()
        return not self._queue.dead and all(
            now - message.sent_at <= grace for message in self._queue.messages
        )


def on_fakes(wiring: Wiring) -> Land:
    """Return a land whose ports are our fakes."""
    queues, calls = wiring.queues, wiring.calls
    inhabited = frozenset(shard_of(reader, PARTITIONS) for reader in wiring.readers)
    rate_limiter = FakeRateLimiter(PacePlan(rate=500))
    world = World(
        clock=wiring.clock,
        rate_limiter=rate_limiter,
        immediate_rate_limiter=rate_limiter
        if without.ONE_BREAKER
        else FakeRateLimiter(PacePlan(rate=500)),
        policy=wiring.policy,
        max_lateness=wiring.lateness,
        spread=wiring.spread,
        sunset=wiring.sunset,
        renderer=Register(),
        generate_queue=RunMessages(queues["generate"]),
        resend_queue=RunMessages(queues["resend"]),
        failed_runs=GivenUp(queues["resend"]),
        followers_queue=FollowerMessages(queues["followers"]),
        shard_queue=ShardMessages(queues["fanout"]),
        bus=BusMessages(queues["ingest"]),
        sweep_queue=SweepMessages(queues["sweep"], inhabited),
        mailer=ProvidedMailer(wiring.provider),
        canary=HeardCanary(wiring.provider),
        backlog=QueuedEvidence(queues["feedback"]),
        content=_PLAN if wiring.source else None,
        source=wiring.source or FakeSource(),
        source_policy=wiring.source_policy,
        fetch_queue=FetchMessages(queues["content"]),
    )
    world.events.around = calls.around
    return Land(world.seen_through(calls.around), world)


def _answerless(provider: Provider, name: str, call: Callable[[], object], done: bool) -> object:
    """Drop a fake's answer. `Mailer` raises an unknown outcome, other ports are unavailable."""
    if name != "mailer.send":
        return unavailable(name, call, done)
    provider.forced = Answer.LOST if done else Answer.NEITHER
    return call()


FAKES = Ground(on_fakes, _answerless, frozenset({"runs.swap", "runs.swap_together"}))
"""The ground that keeps all state in memory."""
