"""Which version a run is made with: once chosen it stays, and no broken one reaches a reader."""

from dataclasses import dataclass, field, replace

import pytest
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import RefusedForNow, Uncertain
from gazette.domain.errors import RenderingFailed, Unavailable, VersionUnusable
from gazette.domain.model import Edition
from gazette.domain.ports.rendering import Links, VersionTemplates
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.templates.settings import VersionSettings, version_settings
from gazette.domain.templates.versions import Candidate, InForce, Version, version_for
from gazette.settings.ranges import RANGES

from tests.builders import KEY, an_event
from tests.fakes import FakeRenderer
from tests.world import World

SIX, SEVEN, EIGHT = (Version(number, str(number) * 64) for number in (6, 7, 8))


def templates(number: int, settings: VersionSettings | None = None) -> VersionTemplates:
    renderer = FakeRenderer(mark=f" v{number}")
    return VersionTemplates(number, renderer, settings or VersionSettings())


@pytest.fixture
def world() -> World:
    """Ann, for whom two events on two posts wait; versions 6 to 8 can be had, 7 is in force."""
    world = World()
    world.choose()
    world.create(an_event("e1"), an_event("e2", entity_id="post2"))
    world.pushed.update({number: templates(number) for number in (6, 7, 8)})
    in_force(world, SEVEN)
    return world


def in_force(world: World, current: Version, candidate: Candidate | None = None) -> None:
    world.template_versions.current = InForce(current, candidate)


def subjects(world: World) -> list[str]:
    """Of the emails that were accepted; each is made of one version alone."""
    for mail, _ in world.mailer.accepted:
        subject, _, mark = mail.edition.subject.partition(" v")
        assert subject
        for part in (mail.edition.html, mail.edition.text):
            assert part.partition(" v")[2] == mark
    return [mail.edition.subject for mail, _ in world.mailer.accepted]


def run_of(world: World) -> Run:
    run = world.runs.get(KEY)
    assert run is not None
    return run


def test_email_and_run_record_the_version_in_force(world: World) -> None:
    world.send_digest()
    assert subjects(world) == ["2 updates v7"]
    assert (run_of(world).templates, run_of(world).status) == (7, Status.SENT)


def test_run_records_no_version_if_none_was_pushed(world: World) -> None:
    world.template_versions.current = InForce()
    world.send_digest()
    assert subjects(world) == ["2 updates"]
    assert run_of(world).templates == 0


@pytest.mark.parametrize(
    "outcome",
    [RefusedForNow(1, "Throttling"), Uncertain(1, "time-out")],
    ids=["refused", "unknown"],
)
@pytest.mark.parametrize("later", [InForce(EIGHT), InForce()], ids=["pushed", "rolled back"])
def test_run_is_retried_with_the_version_of_its_first_claim(
    world: World, outcome: RefusedForNow | Uncertain, later: InForce
) -> None:
    world.mailer.script.append(outcome)
    world.send_digest()
    assert run_of(world).templates == 7
    world.template_versions.current = later
    repeat(world)
    assert subjects(world) == ["2 updates v7"]
    assert (run_of(world).attempt, run_of(world).templates) == (2, 7)


def repeat(world: World) -> None:
    """Until the run has ended: its pauses pass, and evidence is looked for."""
    for _ in range(40):
        run = run_of(world)
        if run.status.is_final:
            return
        world.clock.pass_time(minutes=20)
        if run.status is Status.UNKNOWN:
            world.runs.swap(run, replace(run, status=Status.RETRYING, reason=Reason.POLICY_RESEND))
        world.deliver(KEY)


def test_run_started_with_deployed_templates_is_retried_without_a_version(world: World) -> None:
    world.template_versions.current = InForce()
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.send_digest()
    in_force(world, SEVEN)
    repeat(world)
    assert subjects(world) == ["2 updates"]


def test_run_waits_for_its_pinned_version(world: World) -> None:
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.send_digest()
    world.clock.pass_time(minutes=20)
    for err in (Unavailable("S3 does not answer"), VersionUnusable("its checksum is another")):
        world.broken_versions[7] = err
        with pytest.raises(type(err)):
            world.deliver(KEY)
    assert run_of(world).status is Status.RETRYING
    assert subjects(world) == []
    world.broken_versions.clear()
    world.deliver(KEY)
    assert subjects(world) == ["2 updates v7"]


def test_run_with_a_deleted_version_uses_the_current_version(world: World) -> None:
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.send_digest()
    del world.pushed[7]
    in_force(world, EIGHT)
    repeat(world)
    assert subjects(world) == ["2 updates v8"]
    assert (run_of(world).templates, run_of(world).templates_gone) == (8, 7)
    assert world.unusable == [7]


@pytest.mark.parametrize("err", [Unavailable("no answer"), VersionUnusable("broken")])
def test_unavailable_version_falls_back_to_the_previous_version(
    world: World, err: Exception
) -> None:
    choose = world.run_templates()
    run = run_like(world)
    assert choose(run).templates.number == 7
    in_force(world, EIGHT)
    world.broken_versions[8] = err
    assert choose(run).templates.number == 7
    assert world.run_templates()(run).templates.number == 0  # a process that has none before
    in_force(world, SEVEN)
    del world.broken_versions[8]
    assert choose(run).templates.number == 7


def test_rolled_back_version_is_not_a_fallback(
    world: World,
) -> None:
    choose, run = world.run_templates(), run_like(world)
    assert choose(run).templates.number == 7
    in_force(world, SIX)
    world.broken_versions[6] = Unavailable("no answer")
    assert choose(run).templates.number == 0
    in_force(world, EIGHT)
    world.broken_versions[8] = VersionUnusable("broken")
    assert choose(run).templates.number == 0


def test_unavailable_candidate_falls_back_to_the_current_version(world: World) -> None:
    in_force(world, SEVEN, Candidate(EIGHT, 99))
    reader = next(
        f"u{each}"
        for each in range(1000)
        if version_for(f"u{each}", world.template_versions.current) == EIGHT
    )
    run = replace(run_like(world), key=replace(KEY, user_id=reader))
    choose = world.run_templates()
    assert choose(run).templates.number == 8
    world.broken_versions[8] = VersionUnusable("broken")
    assert choose(run).templates.number == 7


def test_broken_push_after_a_rollback_falls_back_to_deployed_templates(world: World) -> None:
    choose, run = world.run_templates(), run_like(world)
    assert choose(run).templates.number == 7
    world.template_versions.current = InForce()
    assert choose(run).templates.number == 0
    in_force(world, EIGHT)
    world.broken_versions[8] = VersionUnusable("broken")
    assert choose(run).templates.number == 0


def run_like(world: World) -> Run:
    return Run(KEY, world.clock(), world.clock())


def test_block_settings_of_a_version_apply_to_its_emails(world: World) -> None:
    one = version_settings({"max_blocks": 1}, ranges=RANGES)
    world.pushed[7] = templates(7, one)
    world.send_digest()
    ((mail, _),) = world.mailer.accepted
    assert "post2: 1" in mail.edition.text or "post1: 1" in mail.edition.text
    assert not ("post2: 1" in mail.edition.text and "post1: 1" in mail.edition.text)


@dataclass
class Choking(FakeRenderer):
    """Cannot show the events with one of these excerpts, or any."""

    excerpts: set[str] = field(default_factory=set)
    broken: bool = False

    def render(
        self, digest: Digest, subscriber: Subscriber, links: Links, schedule: str, **more: object
    ) -> Edition:
        found = {group.latest.excerpt for group in digest.groups}
        if self.broken or found & self.excerpts:
            raise RenderingFailed("it chokes")
        return super().render(digest, subscriber, links, schedule)


def test_pushed_version_that_fails_is_replaced_by_deployed_templates(world: World) -> None:
    """No event is left out because of a push."""
    world.create(an_event("e3", entity_id="post3", excerpt="odd"))
    world.pushed[7] = VersionTemplates(7, Choking(mark=" v7", excerpts={"odd"}))
    world.send_digest()
    assert subjects(world) == ["3 updates"]
    assert run_of(world).templates == 0
    assert world.unusable == [7]


def test_version_that_renders_no_event_loses_no_event(world: World) -> None:
    world.pushed[7] = VersionTemplates(7, Choking(broken=True))
    world.send_digest()
    assert subjects(world) == ["2 updates"]


def test_event_that_fails_in_every_version_is_omitted(world: World) -> None:
    world.create(an_event("e3", entity_id="post3", excerpt="odd"))
    world.renderer = Choking(excerpts={"odd"})
    world.pushed[7] = VersionTemplates(7, Choking(mark=" v7", excerpts={"odd"}))
    world.send_digest()
    assert subjects(world) == ["2 updates v7"]
    assert world.unusable == []


def test_pinned_run_waits_if_its_version_can_no_longer_render(world: World) -> None:
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.send_digest()
    world.pushed[7] = VersionTemplates(7, Choking(broken=True))
    world.clock.pass_time(minutes=20)
    with pytest.raises(RenderingFailed):
        world.deliver(KEY)
    assert world.unusable == [7]
    assert world.waiting() == {"e1": "daily", "e2": "daily"}


def test_candidate_readers_get_the_collapse_window_of_the_candidate(world: World) -> None:
    slow = version_settings({"collapse": 90}, ranges=RANGES)
    in_force(world, SEVEN, Candidate(replace(EIGHT, settings=slow), 50))
    due = {}
    for number in range(20):
        reader = f"u{number}"
        world.choose(reader, comment=Frequency.IMMEDIATE)
        world.create(an_event("now", user_id=reader, category="comment"))
        (run,) = [each for each in world.runs.of_user(reader) if isinstance(each, Run)]
        due[reader] = (run.due_at - run.created_at).total_seconds() if run.created_at else 0
    wanted = {
        reader: 90.0 if version_for(reader, world.template_versions.current).number == 8 else 20.0
        for reader in due
    }
    assert due == wanted
    assert set(wanted.values()) == {90.0, 20.0}
