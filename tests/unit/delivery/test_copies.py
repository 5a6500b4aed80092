"""An event is sent at most twice if the outcomes stay unknown."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import Policy, SendOutcome, Uncertain
from gazette.domain.model import DAILY, Edition, Event, Mail, RunKey
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import Unsent, immediate_schedule
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.support.words.summary import verdict
from gazette.steps.sweep.unknown import Swept

from tests.builders import an_event
from tests.explained import explained
from tests.fakes import FakeMailer, FakeRenderer
from tests.unit.delivery.test_edition import Choking
from tests.world import World

MOST = {Policy.RESEND: 2, Policy.CARRY_OVER: 2, Policy.ASSUME_SENT: 1}


@dataclass
class Deaf(FakeMailer):
    """A provider that accepts every email; its answers are lost."""

    copies: Counter[str] = field(default_factory=Counter)

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        self.calls += 1
        self.accepted.append((mail, attempt))
        lines = (line.partition(": ")[0] for line in mail.edition.text.split("\n"))
        self.copies.update(line for line in lines if line[:1] in {"e", "f"})
        return Uncertain(attempt, "ReadTimeoutError")


def a_world(policy: Policy, frequency: Frequency) -> tuple[World, Deaf]:
    mailer = Deaf()
    world = World(policy=policy, mailer=mailer)
    world.choose(comment=frequency)
    return world, mailer


def put(world: World, number: int) -> None:
    world.create(an_event(f"e{number}", entity_id=f"e{number}", occurred_at=world.clock()))


def pass_hours(world: World, hours: int, *, proven: bool) -> Counter[Swept]:
    """Messages are delivered, and the sweep comes every ten minutes."""
    done: Counter[Swept] = Counter()
    for _ in range(6 * hours):
        world.clock.pass_time(minutes=10)
        if proven:
            world.evidence_log.record(world.clock())
        world.deliver_queued()
        done += world.sweep("ann")
    return done


@pytest.mark.parametrize("proven", [True, False])
@pytest.mark.parametrize("policy", list(Policy))
def test_trace_r_immediate_event_is_sent_at_most_twice(policy: Policy, proven: bool) -> None:
    world, mailer = a_world(policy, Frequency.IMMEDIATE)
    put(world, 1)
    pass_hours(world, 48, proven=proven)
    assert mailer.copies == {"e1": MOST[policy]}


@pytest.mark.parametrize("proven", [True, False])
@pytest.mark.parametrize("policy", list(Policy))
def test_trace_r_event_is_in_at_most_two_digests(policy: Policy, proven: bool) -> None:
    world, mailer = a_world(policy, Frequency.DAILY)
    for day in range(1, 11):
        put(world, day)
        world.clock.pass_time(hours=1)
        world.send_digest()
        pass_hours(world, 8, proven=proven)
    assert set(mailer.copies) == {f"e{day}" for day in range(1, 11)}
    assert max(mailer.copies.values()) == MOST[policy]


@pytest.mark.parametrize("policy", [Policy.RESEND, Policy.CARRY_OVER])
def test_given_up_event_is_reported(policy: Policy) -> None:
    world, _ = a_world(policy, Frequency.IMMEDIATE)
    put(world, 1)
    assert pass_hours(world, 48, proven=True)[Swept.GIVEN_UP] == 1
    reasons = {run.reason for run in world.runs.rows.values() if run.status is Status.FAILED}
    assert Reason.GIVEN_UP in reasons


def test_explain_lists_given_up_events() -> None:
    world, _ = a_world(Policy.CARRY_OVER, Frequency.DAILY)
    for number in (1, 2):
        put(world, number)
        world.clock.pass_time(hours=1)
        world.send_digest()
        pass_hours(world, 8, proven=True)
    found = explained(world)
    assert [(each.category, each.count) for each in found.given_up] == [("comment", 1)]
    assert [(each.category, each.count) for each in found.waiting] == [("comment", 1)]
    assert any("Not sent again: 1 event" in line for line in verdict(found))


@pytest.mark.parametrize("policy", [Policy.RESEND, Policy.CARRY_OVER])
@pytest.mark.parametrize("amends", [False, True])
def test_trace_r_unrenderable_event_is_in_at_most_two_emails(policy: Policy, amends: bool) -> None:
    """Excluded, it would lose the stamp by which the unknown windows count it."""
    world, mailer = a_world(policy, Frequency.DAILY)
    at = world.clock()
    event = an_event("e1", entity_id="e1", excerpt="odd", occurred_at=at)
    world.create(event)
    world.send_digest()
    world.renderer = Choking({"odd"})
    pass_hours(world, 8, proven=True)
    world.send_digest()
    assert world.waiting() == {"e1": Unsent.GIVEN_UP}
    found = explained(world)
    assert [(each.category, each.count) for each in found.given_up] == [("comment", 1)]
    assert not found.waiting
    assert any("the templates can no longer show it" in line for line in verdict(found))
    world.renderer = FakeRenderer()
    if amends:
        event = replace(event, excerpt="Better", amended_at=at + timedelta(days=1))
    for _ in range(3):
        world.create(event)
        world.choose(comment=Frequency.DAILY)
        pass_hours(world, 8, proven=True)
        world.send_digest()
    assert mailer.copies == {"e1": 1}
    world.choose(comment=Frequency.NEVER)
    assert world.waiting() == {"e1": Unsent.GIVEN_UP}


class Naming(FakeRenderer):
    """The port `Renderer`: names every event by its actor, who has its id."""

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
        names = [actor.id for group in digest.groups for actor in group.actors]
        text = "\n".join([subscriber.name, *(f"{name}: 1" for name in names)])
        return Edition("", "", text, digest.categories)


def in_a_thread(event_id: str, world: World) -> Event:
    """An event on an entity that all of them share, now."""
    return an_event(event_id, entity_id="shared", actor=event_id, occurred_at=world.clock())


def a_naming_world(policy: Policy, category: str, often: Frequency) -> tuple[World, Deaf]:
    mailer = Deaf()
    critical = frozenset({"security"})
    world = World(policy=policy, mailer=mailer, renderer=Naming(), critical=critical)
    world.choose(at=world.clock(), **{category: often})
    return world, mailer


OFTEN = [
    ("comment", Frequency.DAILY),
    ("comment", Frequency.WEEKLY),
    ("comment", Frequency.IMMEDIATE),
    ("security", Frequency.DAILY),
]
"""A category, and how often it is wanted: critical events are immediate whatever is wanted."""


def send_and_wait(world: World, category: str, often: Frequency) -> None:
    """The next email goes out, and its outcome stays unknown until a policy has decided."""
    if category != "security" and often is not Frequency.IMMEDIATE:
        world.send_digest(often.value)
    pass_hours(world, 6, proven=True)


@pytest.mark.parametrize(("category", "often"), OFTEN)
@pytest.mark.parametrize("policy", [Policy.RESEND, Policy.CARRY_OVER])
def test_trace_r_event_expiring_between_attempts_is_sent_at_most_twice(
    policy: Policy, category: str, often: Frequency
) -> None:
    """Stored anew, it would be counted from zero each time that it is given more time."""
    world, mailer = a_naming_world(policy, category, often)
    event = replace(in_a_thread("e1", world), category=category)
    world.create(replace(in_a_thread("f", world), category=category))
    for round_ in range(4):
        now = world.clock()
        schedule = world.schedules.rows.get(("ann", often.value))
        due = schedule.next_due_at if schedule and category == "comment" else now
        lapses_at = max(now, due) + timedelta(minutes=15)
        event = replace(event, amended_at=now, expires_at=lapses_at)
        world.create(event)
        send_and_wait(world, category, often)
        world.create(replace(in_a_thread(f"f{round_}", world), category=category))
        send_and_wait(world, category, often)
    assert mailer.copies["e1"] in {1, 2}
    assert world.waiting()["e1"] == Unsent.GIVEN_UP
    assert any("may have been sent" in line for line in verdict(explained(world)))


@pytest.mark.parametrize(("category", "often"), OFTEN)
def test_expired_unsent_event_is_sent_after_extension(category: str, often: Frequency) -> None:
    """That another event of its email may have been sent is nothing to it."""
    world, mailer = a_naming_world(Policy.CARRY_OVER, category, often)
    world.create(replace(in_a_thread("f1", world), category=category))
    send_and_wait(world, category, often)
    now = world.clock()
    event = replace(in_a_thread("e1", world), category=category)
    world.create(replace(event, expires_at=now + timedelta(seconds=1)))
    world.create(replace(in_a_thread("f2", world), category=category))
    send_and_wait(world, category, often)
    assert mailer.copies["e1"] == 0
    assert mailer.copies["f2"]
    assert world.waiting()["e1"] == Unsent.EXPIRED
    now = world.clock()
    world.create(replace(event, amended_at=now, expires_at=now + timedelta(days=30)))
    send_and_wait(world, category, often)
    assert mailer.copies["e1"]


@pytest.mark.parametrize("policy", [Policy.RESEND, Policy.CARRY_OVER])
def test_event_claimed_before_removal_is_not_sent_third_time(
    policy: Policy,
) -> None:
    """One read it before it lapsed, another one after that; nobody knows what the first one did."""
    world, mailer = a_naming_world(policy, "comment", Frequency.DAILY)
    due = world.schedules.rows["ann", DAILY].next_due_at
    lapses_at = due + timedelta(minutes=1)
    event = replace(in_a_thread("e1", world), expires_at=lapses_at)
    world.create(event, in_a_thread("f1", world))
    world.clock.now = due + timedelta(seconds=40)
    world.fan_out(due)

    def overtake() -> None:
        world.clock.now = lapses_at
        with world.meanwhile("deferred_events.expire", claim, before=True):
            world.deliver(RunKey("ann", DAILY, 1))

    claims: list[datetime] = []

    def claim() -> None:
        claims.append(world.clock())
        world.clock.now = lapses_at - timedelta(seconds=1)
        world.deliver(RunKey("ann", DAILY, 1))
        world.clock.now = lapses_at

    overtake()
    assert claims
    assert mailer.copies["e1"] == 1
    for _ in range(3):
        pass_hours(world, 8, proven=True)
        now = world.clock()
        world.create(replace(event, amended_at=now, expires_at=now + timedelta(days=2)))
        world.send_digest()
    assert mailer.copies["e1"] <= 2


def test_next_immediate_email_omits_given_up_event() -> None:
    """The next event of the thread comes alone, and nothing of the reader is locked."""
    world, mailer = a_world(Policy.RESEND, Frequency.IMMEDIATE)
    put(world, 1)
    pass_hours(world, 4, proven=True)
    world.mailer = FakeMailer()
    world.create(an_event("e2", entity_id="e1", occurred_at=world.clock()))
    pass_hours(world, 1, proven=True)
    assert mailer.copies == {"e1": 2}
    assert [email.lines for email in world.emails()] == [("e1: 1",)]


def test_many_runs_with_unknown_outcome_do_not_block_reader() -> None:
    """However many there are: a transaction takes a hundred rows."""
    world, mailer = a_world(Policy.CARRY_OVER, Frequency.DAILY)
    for day in range(1, 131):
        put(world, day)
        world.clock.pass_time(hours=1)
        world.send_digest()
        pass_hours(world, 2, proven=False)
    world.mailer = FakeMailer()
    put(world, 131)
    world.send_digest()
    assert max(mailer.copies.values()) == 2
    assert [set(email.lines) for email in world.emails()] == [{"e130: 1", "e131: 1"}]


def test_late_delivery_event_settles_given_up_run() -> None:
    world, mailer = a_world(Policy.RESEND, Frequency.IMMEDIATE)
    put(world, 1)
    pass_hours(world, 4, proven=True)
    name = immediate_schedule("post#e1")
    chain = [run for run in world.runs.rows.values() if run.key.schedule == name]
    assert {run.reason for run in chain} == {Reason.GIVEN_UP}
    assert mailer.calls == 2


def test_digest_is_not_sent_if_all_events_were_given_up() -> None:
    world, mailer = a_world(Policy.RESEND, Frequency.DAILY)
    put(world, 1)
    world.send_digest()
    pass_hours(world, 8, proven=True)
    calls = mailer.calls
    world.send_digest()
    newest = max(world.runs.rows.values(), key=lambda run: run.key.sequence)
    assert (newest.status, newest.reason) == (Status.SKIPPED, Reason.NOTHING_WAITED)
    assert newest.key.schedule == DAILY
    assert world.schedules.rows["ann", DAILY].is_idle
    for _ in range(3):
        world.send_digest()
    assert mailer.calls == calls
    assert newest == max(world.runs.rows.values(), key=lambda run: run.key.sequence)
