"""A process may stop at any point and go on hours later: it goes by nothing that has changed since.

Lambda freezes a process between invocations, and a machine may stop one in the middle.
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from gazette.adapters.cached import READ_INTERVAL, Cached
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import RefusedForNow
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.experiment import DEFAULT_VARIANT, experiment
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import Edition
from gazette.domain.ports.rendering import Links, VersionTemplates
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.templates.versions import DEPLOYED, Candidate, InForce, Version

from tests.builders import KEY, SettableClock, an_event
from tests.fakes import FakeRenderer
from tests.world import World

SIX, SEVEN, EIGHT, NINE = (Version(number, str(number) * 64) for number in (6, 7, 8, 9))


@dataclass
class Sleepy(FakeRenderer):
    """Falls asleep while it renders its first email; `meanwhile` is what happens then."""

    meanwhile: list[Callable[[], object]] = field(default_factory=list)
    rendered: int = 0

    def render(
        self, digest: Digest, subscriber: Subscriber, links: Links, schedule: str, **more: object
    ) -> Edition:
        self.rendered += 1
        edition = super().render(digest, subscriber, links, schedule)
        while self.meanwhile:
            self.meanwhile.pop()()
        return edition


def a_world(meanwhile: Callable[[World], object]) -> World:
    """A digest is due; version 7 is in force when its email is rendered."""
    world = World()
    world.choose()
    world.create(an_event("e1"), an_event("e2", entity_id="post2", category="like"))
    sleepy = Sleepy(mark=" v7", meanwhile=[lambda: slept(world, meanwhile)])
    world.pushed.update({7: VersionTemplates(7, sleepy)})
    world.pushed.update({n: VersionTemplates(n, FakeRenderer(mark=f" v{n}")) for n in (6, 8)})
    world.template_versions.current = InForce(SEVEN, revision=7)
    return world


def slept(world: World, meanwhile: Callable[[World], object]) -> None:
    world.clock.pass_time(minutes=2)
    meanwhile(world)


def put_in_force(
    version: Version | None, candidate: Candidate | None = None
) -> Callable[..., None]:
    def change(world: World) -> None:
        world.template_versions.current = InForce(version or DEPLOYED, candidate)

    return change


@pytest.mark.parametrize(
    ("after", "mark"),
    [
        (put_in_force(SIX), " v6"),
        (put_in_force(DEPLOYED), ""),
        (put_in_force(EIGHT), " v8"),
        (put_in_force(SEVEN, Candidate(EIGHT, 99)), " v8"),
        (put_in_force(SEVEN, Candidate(EIGHT, 0)), " v7"),
    ],
    ids=["rolled back", "all rolled back", "pushed", "a candidate", "a candidate of others"],
)
def test_run_is_claimed_with_the_version_in_force_at_its_claim(
    after: Callable[[World], None], mark: str
) -> None:
    world = a_world(after)
    world.send_digest()
    ((mail, _),) = world.mailer.accepted
    assert mail.edition.subject == f"2 updates{mark}"
    run = world.runs.get(KEY)
    assert run is not None
    assert run.templates == int(mark.strip(" v") or 0)


def test_category_held_during_rendering_is_not_in_the_email() -> None:
    world = a_world(
        lambda world: world.category_holds.add(category_hold("like", "why", world.clock()))
    )
    world.send_digest()
    ((mail, _),) = world.mailer.accepted
    assert mail.edition.subject == "1 updates v7"
    assert world.waiting() == {"e1": "daily", "e2": "daily"}


def test_experiment_stopped_during_rendering_is_not_recorded() -> None:
    world = a_world(lambda world: world.experiments.stop(world.clock()))
    world.experiments.start(experiment("x", {2: 100}, world.clock()))
    world.send_digest()
    run = world.runs.get(KEY)
    assert run is not None
    assert run.variant == DEFAULT_VARIANT


def test_retried_run_keeps_its_version_despite_changes() -> None:
    world = a_world(lambda _: None)
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.send_digest()
    sleepy = world.pushed[7].renderer
    assert isinstance(sleepy, Sleepy)
    sleepy.meanwhile.append(lambda: slept(world, put_in_force(SIX)))
    world.clock.pass_time(minutes=20)
    world.deliver(KEY)
    ((mail, _),) = world.mailer.accepted
    assert mail.edition.subject == "2 updates v7"
    assert sleepy.rendered == 2


def test_email_is_rendered_once_if_settings_are_unchanged() -> None:
    world = a_world(lambda _: None)
    world.send_digest()
    assert len(world.mailer.accepted) == 1
    sleepy = world.pushed[7].renderer
    assert isinstance(sleepy, Sleepy)
    assert sleepy.rendered == 1


@pytest.mark.parametrize(
    "missed",
    [[SIX, EIGHT], [DEPLOYED, EIGHT], [SIX, SEVEN, SIX, EIGHT], [EIGHT, NINE]],
    ids=["one", "all", "again", "pushed twice"],
)
def test_process_that_missed_a_rollback_does_not_fall_back(
    missed: list[Version],
) -> None:
    """It may have missed it: then what was deployed stands in for a version that is broken."""
    world = a_world(lambda _: None)
    choose, run = world.run_templates(), Run(KEY, world.clock(), world.clock())
    assert choose(run).templates.number == 7
    for revision, current in enumerate(missed, start=8):
        world.template_versions.current = InForce(current, revision=revision)
    world.broken_versions.update({8: Unavailable("no answer"), 9: Unavailable("no answer")})
    assert choose(run).templates.number == 0
    assert choose(run).templates.number == 0


def test_process_that_missed_no_change_falls_back_to_the_previous_version() -> None:
    world = a_world(lambda _: None)
    choose, run = world.run_templates(), Run(KEY, world.clock(), world.clock())
    assert choose(run).templates.number == 7
    world.template_versions.current = InForce(SEVEN, Candidate(EIGHT, 0), revision=8)
    assert choose(run).templates.number == 7
    world.broken_versions[8] = Unavailable("no answer")
    world.template_versions.current = InForce(EIGHT, revision=9)
    assert choose(run).templates.number == 7
    world.template_versions.current = InForce(EIGHT, Candidate(NINE, 0), revision=10)
    assert choose(run).templates.number == 7


@pytest.mark.parametrize("passed", [READ_INTERVAL, timedelta(hours=3), -timedelta(seconds=1)])
def test_cached_value_is_read_again_after_sleep_or_clock_reset(
    passed: timedelta,
) -> None:
    """By a clock that was ahead, an old value would stay for as long as that was."""
    clock, source = SettableClock(), ["before"]
    cached = Cached(lambda: source[0], clock=clock)
    source[0] = "after"
    assert cached.get() == "before"
    clock.now += passed
    assert cached.get() == "after"
