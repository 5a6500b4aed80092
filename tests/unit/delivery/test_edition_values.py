"""The values that an immediate email gets from its reader: the digest instead."""

from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Run
from gazette.domain.model import Edition, RunKey
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequencies, Frequency, frequencies
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.delivery.edition import fallback_of

from tests.builders import NOW, a_subscriber, an_event
from tests.fakes import FakeRenderer
from tests.world import World

KEY = RunKey("ann", immediate_schedule("post#post1"), int(NOW.timestamp()))


@dataclass
class Keeping(FakeRenderer):
    """The port `Renderer`, which keeps what it was given."""

    given: list[Links] = field(default_factory=list)

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
        self.given.append(links)
        return FakeRenderer().render(digest, subscriber, links, schedule)


def test_email_knows_the_digest_that_gets_the_events_instead() -> None:
    renderer = Keeping()
    world = World(renderer=renderer)
    world.subscribers.put(a_subscriber(), replacing=None)
    world.runs.create(Run(KEY, NOW, NOW))
    world.events.store(an_event("e1"), KEY.schedule)
    world.clock.pass_time(minutes=1)
    world.generate(KEY)
    [links] = renderer.given
    assert links.fallback == "daily"


@pytest.mark.parametrize(
    ("chosen", "defaults", "expected"),
    [
        ({}, {}, "daily"),
        ({}, {"*": Frequency.WEEKLY}, "weekly"),
        ({}, {"*": Frequency.NEVER}, ""),
        ({}, {"*": Frequency.IMMEDIATE}, ""),
        ({"*": Frequency.CUSTOM}, {"*": Frequency.WEEKLY}, "custom"),
        ({"*": Frequency.NEVER}, {}, ""),
    ],
)
def test_offered_digest_is_the_one_that_gets_the_events(
    chosen: dict[str, Frequency], defaults: dict[str, Frequency], expected: str
) -> None:
    reader = replace(a_subscriber(), choices=((NOW, frequencies(chosen)),))
    given: Frequencies = frequencies(defaults)
    assert fallback_of(Run(KEY, NOW, NOW), reader, given) == expected
    digest = Run(RunKey("ann", "daily", 1), NOW, NOW)
    assert fallback_of(digest, reader, given) == ""
