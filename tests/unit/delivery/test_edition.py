"""Editing: an event that no email can show is excluded, and the rest goes out (rule 17)."""

from dataclasses import dataclass, field
from datetime import datetime

import pytest
from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Run, Status
from gazette.domain.errors import RenderingFailed
from gazette.domain.model import DAILY, Edition, RunKey
from gazette.domain.outcome import Outcome
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.runs import raise_epochs

from tests.builders import NOW, a_subscriber, an_event
from tests.fakes import FakeRenderer
from tests.world import World

KEY = RunKey("ann", DAILY, 1)


@dataclass
class Choking(FakeRenderer):
    """The port `Renderer`; cannot show events with one of the excerpts, or any where `broken`."""

    excerpts: set[str] = field(default_factory=set)
    broken: bool = False

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        return of_stage

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
    ) -> Edition:
        for group in digest.groups:
            if self.broken or group.latest.excerpt in self.excerpts:
                raise RenderingFailed(f"cannot show {group.latest.excerpt!r}")
        return FakeRenderer().render(digest, subscriber, links, schedule)


def a_world(renderer: Choking) -> World:
    world = World(renderer=renderer)
    world.subscribers.put(a_subscriber(), replacing=None)
    world.runs.create(Run(KEY, NOW, NOW))
    for number, excerpt in enumerate(["fine", "poison", "fine", "venom"]):
        event = an_event(f"e{number}", entity_id=f"post{number}", excerpt=excerpt)
        world.events.store(event, DAILY)
    world.clock.pass_time(minutes=1)
    return world


def test_trace_q_a_poison_event_is_excluded_and_the_rest_goes_out() -> None:
    world = a_world(Choking({"poison", "venom"}))
    run = world.generate(KEY)
    assert run
    assert run.status is Status.SENT
    [email] = world.emails()
    assert sorted(email.lines) == ["post0: 1", "post2: 1"]
    assert world.waiting() == {
        "e0": DAILY,
        "e1": Unsent.EXCLUDED,
        "e2": DAILY,
        "e3": Unsent.EXCLUDED,
    }
    assert world.events.reasons["ann", "e1"] == "cannot show 'poison'"


def test_a_template_that_can_show_nothing_excludes_nothing() -> None:
    """A deployment that broke it must not empty everybody's digests."""
    world = a_world(Choking(broken=True))
    with pytest.raises(RenderingFailed):
        world.generate(KEY)
    assert set(world.waiting().values()) == {DAILY}
    assert world.runs.rows[KEY].status is Status.PENDING


def test_where_all_are_poison_nothing_is_sent() -> None:
    world = a_world(Choking({"poison", "venom", "fine"}))
    run = world.generate(KEY)
    assert run
    assert run.status is Status.SKIPPED
    assert set(world.waiting().values()) == {Unsent.EXCLUDED}


def test_what_is_put_again_comes_back_once_it_can_be_shown() -> None:
    renderer = Choking({"poison", "venom"})
    world = a_world(renderer)
    world.choose(at=NOW)
    world.generate(KEY)
    renderer.excerpts.clear()
    event = an_event("e1", entity_id="post1", excerpt="poison")
    assert world.create(event) == [Outcome.DUPLICATE]
    assert world.waiting()["e1"] == DAILY
    world.send_everything()
    assert [line for email in world.emails() for line in email.lines].count("post1: 1") == 1


def test_a_stop_between_two_exclusions_hides_none_of_them_from_the_count() -> None:
    world = a_world(Choking({"poison", "venom"}))
    strikes = iter([False, True])

    def stop() -> None:
        if next(strikes, False):
            raise_epochs([world.runs.rows[KEY]], runs=world.runs)

    with world.meanwhile("deferred_events.exclude", stop, before=True, times=2):
        done = world.deliver(KEY)
    assert done
    assert (done.run.status, done.excluded) == (Status.SENT, 2)
