"""Editing: an event that no email can show is excluded, and the rest goes out (rule 17)."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

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
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.runs import raise_epochs

from tests.builders import NOW, a_subscriber, an_event
from tests.fakes import FakeRenderer
from tests.world import World

KEY = RunKey("ann", DAILY, 1)


@dataclass
class Choking(FakeRenderer):
    """The port `Renderer`; cannot show events with one of the excerpts, or any where `broken`.

    Nor can it show all of those in one email whose excerpts are in `together`.
    """

    excerpts: set[str] = field(default_factory=set)
    broken: bool = False
    together: set[str] = field(default_factory=set)
    renderings: int = 0

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
        is_first: bool = False,
    ) -> Edition:
        self.renderings += 1
        if self.together and self.together <= {group.latest.excerpt for group in digest.groups}:
            raise RenderingFailed("cannot show these together")
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


def test_trace_q_poison_event_is_excluded_and_other_events_are_sent() -> None:
    world = a_world(Choking({"poison", "venom"}))
    run = world.generate(KEY)
    assert run
    assert (run.status, run.events) == (Status.SENT, 2)
    [email] = world.emails()
    assert sorted(email.lines) == ["post0: 1", "post2: 1"]
    assert world.waiting() == {
        "e0": DAILY,
        "e1": Unsent.EXCLUDED,
        "e2": DAILY,
        "e3": Unsent.EXCLUDED,
    }
    assert world.events.reasons["ann", "e1"] == "cannot show 'poison'"


def test_broken_template_excludes_no_events() -> None:
    """A deployment that broke it must not empty everybody's digests."""
    world = a_world(Choking(broken=True))
    with pytest.raises(RenderingFailed):
        world.generate(KEY)
    assert set(world.waiting().values()) == {DAILY}
    assert world.runs.rows[KEY].status is Status.PENDING


def test_no_email_is_sent_if_all_events_are_poison() -> None:
    world = a_world(Choking({"poison", "venom", "fine"}))
    run = world.generate(KEY)
    assert run
    assert run.status is Status.SKIPPED
    assert set(world.waiting().values()) == {Unsent.EXCLUDED}


def test_republished_event_is_sent_after_template_is_fixed() -> None:
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


def test_all_exclusions_are_counted_despite_concurrent_cancellation() -> None:
    world = a_world(Choking({"poison", "venom"}))
    strikes = iter([False, True])

    def stop() -> None:
        if next(strikes, False):
            raise_epochs([world.runs.rows[KEY]], runs=world.runs)

    with world.meanwhile("deferred_events.exclude", stop, before=True, times=2):
        done = world.deliver(KEY)
    assert done
    assert (done.run.status, done.unsent.excluded) == (Status.SENT, 2)


def a_long_window(renderer: Choking, poison: set[int], number: int) -> World:
    """So many events, each on another entity."""
    world = World(renderer=renderer)
    world.subscribers.put(a_subscriber(), replacing=None)
    world.runs.create(Run(KEY, NOW, NOW))
    for each in range(number):
        excerpt = "poison" if each in poison else f"fine{each}"
        event = an_event(f"e{each:04}", entity_id=f"post{each:04}", excerpt=excerpt)
        happened = NOW - timedelta(hours=1) + timedelta(seconds=each)
        world.events.store(replace(event, occurred_at=happened), DAILY)
    world.clock.pass_time(minutes=3)  # so that no event has to be named
    return world


def excluded(world: World) -> set[str]:
    return {each for each, place in world.waiting().items() if place == Unsent.EXCLUDED}


@pytest.mark.parametrize(
    ("poison", "renderings"),
    [
        # The email, a harmless event, the 20 events shown; then halves of 10, 5, 3 or 2, 2, 1; and
        # the email without it.
        ({19}, 1 + 1 + 1 + 2 * 5 + 1),
        ({0}, 1 + 1 + 1 + 2 * 4 + 1),
        ({0, 19}, 1 + 1 + 1 + 2 + 2 * 3 + 2 * 4 + 1),
    ],
)
def test_poison_event_is_found_by_binary_search(poison: set[int], renderings: int) -> None:
    renderer = Choking({"poison"})
    world = a_long_window(renderer, poison, 20)
    done = world.deliver(KEY)
    assert done
    assert (done.run.status, done.unsent.excluded) == (Status.SENT, len(poison))
    assert excluded(world) == {f"e{each:04}" for each in poison}
    assert renderer.renderings == renderings


@pytest.mark.parametrize("number", [200, 2_500])
def test_number_of_renderings_is_independent_of_hidden_events(number: int) -> None:
    """What came last is shown first here; the poison that nobody is shown harms nobody."""
    renderer = Choking({"poison"})
    world = a_long_window(renderer, {3, number - 1}, number)
    done = world.deliver(KEY)
    assert done
    assert (done.run.status, done.unsent.excluded) == (Status.SENT, 1)
    assert excluded(world) == {f"e{number - 1:04}"}
    assert renderer.renderings == 1 + 1 + 1 + 2 * 5 + 1
    assert world.emails()[0].lines[0] == f"post{number - 2:04}: 1"


def test_events_that_fail_only_together_are_not_excluded() -> None:
    renderer = Choking(together={"fine3", "fine4"})
    world = a_long_window(renderer, set(), 8)
    with pytest.raises(RenderingFailed, match="together"):
        world.generate(KEY)
    assert not excluded(world)
    assert renderer.renderings == 1 + 1 + 1 + 2
    assert world.runs.rows[KEY].status is Status.PENDING


def test_second_poison_event_in_group_is_also_excluded() -> None:
    """The likes of one post: one after another represents them."""
    renderer = Choking({"poison"})
    world = World(renderer=renderer)
    world.subscribers.put(a_subscriber(), replacing=None)
    world.runs.create(Run(KEY, NOW, NOW))
    for each in range(30):
        excerpt = "poison" if each > 9 else "fine"
        happened = NOW + timedelta(seconds=each)
        event = replace(an_event(f"e{each}", actor=f"Person {each}"), occurred_at=happened)
        world.events.store(replace(event, excerpt=excerpt), DAILY)
    world.clock.pass_time(minutes=1)
    done = world.deliver(KEY)
    assert done
    assert (done.run.status, done.unsent.excluded) == (Status.SENT, 20)
    assert world.emails()[0].lines == ("post1: 10",)


def test_poison_search_resumes_with_next_message_if_time_runs_out() -> None:
    world = a_world(Choking({"poison", "venom"}))
    world.time_left = lambda: timedelta(seconds=25)
    done = world.deliver(KEY)
    assert done
    assert (done.run.status, done.unsent.excluded) == (Status.PENDING, 2)
    assert (done.again_at, done.waiting_for) == (world.clock.now, WaitingFor.REMOVAL)
    assert done.run == world.runs.rows[KEY]
    world.time_left = lambda: timedelta(seconds=60)
    last = world.deliver(KEY)
    assert last
    assert (last.run.status, last.unsent.excluded) == (Status.SENT, 0)


@dataclass
class Noting(FakeRenderer):
    """The port `Renderer`, which notes whether an email is the first digest."""

    firsts: list[bool] = field(default_factory=list)

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
        self.firsts.append(is_first)
        return FakeRenderer().render(digest, subscriber, links, schedule)


@pytest.mark.parametrize(("days", "is_first"), [(None, False), (0, True), (30, True), (31, False)])
def test_first_digest_is_of_a_reader_who_registered_in_the_last_thirty_days(
    days: int | None,
    is_first: bool,
) -> None:
    renderer = Noting()
    world = World(renderer=renderer)
    on = None if days is None else NOW.date() - timedelta(days=days)
    world.subscribers.put(replace(a_subscriber(), registered_on=on), replacing=None)
    for number in (1, 2):
        world.events.store(an_event(f"e{number}"), DAILY)
        run = Run(RunKey("ann", DAILY, number), world.clock(), world.clock())
        world.runs.create(run)
        world.clock.pass_time(minutes=1)
        world.generate(run.key)
    assert renderer.firsts == [is_first, False]
