"""A reader whose daily digest asks a recommendation service, and the function that asks it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gazette.domain.content.asking import ContentPlan, ContentSources
from gazette.domain.content.items import RECOMMENDATIONS, Answer, Item, Shown
from gazette.domain.content.ports import Fetch, QueuedFetch
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.errors import SourceFailed
from gazette.domain.model import DAILY, Schedule, StoredEvent
from gazette.domain.templates.settings import SourcePolicy
from gazette.steps.content.ask import AskContext, ProcessHealth
from gazette.steps.content.fetch import FetchContext, FetchResult, fetch

from tests.builders import NOW
from tests.fake_stores import FakeRateLimiter
from tests.fakes import FakeQueue, FakeSource
from tests.world import World

SOURCES = ("events", RECOMMENDATIONS)
CATEGORY = "recommendation"
DOWN = SourceFailed("The service did not answer completely within 3 s.")


def an_item(item_id: str = "a", *, score: float | None = None, title: str = "") -> Item:
    """An article of last year."""
    return Item(
        source=RECOMMENDATIONS,
        id=item_id,
        title=title or f"Title of {item_id}",
        url=f"https://example.com/{item_id}",
        published=NOW - timedelta(days=365),
        score=score,
    )


def an_answer(*item_ids: str) -> Answer:
    """These items, the best first."""
    return Answer(tuple(map(an_item, item_ids)))


@dataclass
class Asking:
    """A world with a source, and one process of the function `content`."""

    world: World = field(default_factory=lambda: World(content=ContentSources(sources=SOURCES)))
    source: FakeSource = field(default_factory=FakeSource)
    permits: FakeRateLimiter = field(default_factory=lambda: FakeRateLimiter(PacePlan(rate=10)))
    queue: FakeQueue[QueuedFetch] = field(default_factory=FakeQueue[QueuedFetch])
    health: ProcessHealth = field(default_factory=ProcessHealth)
    time_left: timedelta = timedelta(minutes=1)
    limit: int = 3
    policy: SourcePolicy = SourcePolicy.WITHOUT

    def answers(self, *answers: Answer | SourceFailed) -> None:
        """What the source says next."""
        self.source.answers.extend(answers)

    @property
    def schedule(self) -> Schedule:
        """The daily digest of Ann."""
        found = self.world.schedules.get("ann", DAILY)
        assert found
        return found

    def fetch(self, due_at: datetime | None = None, *, tries: int = 0) -> FetchResult:
        """One message on the content queue, for the next digest of Ann."""
        wanted = Fetch("ann", DAILY, due_at or self.schedule.next_due_at, tries)
        return self.work(wanted)

    def work(self, wanted: Fetch) -> FetchResult:
        """One message on the content queue."""
        return fetch(
            "the body",
            lambda: self.time_left,
            decode=lambda _: wanted,
            context=FetchContext(
                routing=self.world.context,
                asking=AskContext(
                    source=self.source,
                    rate_limiter=self.permits,
                    breaker=self.permits,
                    health=self.health,
                    waiting=lambda: 0,
                    clock=self.world.clock,
                    sleep=self.world.clock.sleep,
                    random=lambda: 0.5,
                ),
                queue=self.queue,
                plan=ContentPlan(sources=SOURCES, lead=0, fresh_for=timedelta(hours=24)),
                limit=self.limit,
                policy_of=lambda _: self.policy,
                useful_for=timedelta(minutes=30),
                max_lateness=timedelta(hours=6),
                longest=timedelta(seconds=21),
            ),
        )

    def next_occurrence(self) -> None:
        """The digest is due, and started by nobody: what waits goes on waiting."""
        due_at = self.schedule.next_due_at
        self.world.clock.now = due_at - timedelta(hours=1)
        self.world.schedules.put(
            self.schedule.advanced(due_at + timedelta(days=1)), replacing=self.schedule
        )

    def waiting(self) -> list[str]:
        """The ids of the items that wait for the daily digest of Ann."""
        rows = self.world.events.stored_under(
            "ann", DAILY, after=datetime.min.replace(tzinfo=NOW.tzinfo)
        )
        return [each.event.entity.id for each in rows if isinstance(each, StoredEvent)]

    def send(self) -> list[tuple[str, ...]]:
        """Let the next digest of Ann go out; returns the lines of the emails that went."""
        before = len(self.world.emails())
        self.world.clock.now = self.schedule.next_due_at + timedelta(minutes=1)
        self.world.send_digest()
        return [each.lines for each in self.world.emails()[before:]]

    def remembers(self, *item_ids: str) -> list[bool]:
        """Which of these items the schedule holds in its memory."""
        return held(self.schedule, item_ids)


def held(schedule: Schedule, item_ids: Iterable[str]) -> list[bool]:
    """Which items a schedule holds in its memory."""
    return [Shown(schedule.shown).holds(f"{RECOMMENDATIONS}:{each}") for each in item_ids]


def asking() -> Asking:
    """Ann is registered, and nothing was asked yet."""
    found = Asking()
    found.world.choose()
    return found
