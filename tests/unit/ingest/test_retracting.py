"""Amended and retracted events: the old content is in no email claimed afterwards."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.commands import RetractEvent
from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import BEGINNING, Reason, Status, name_of
from gazette.domain.model import DAILY, Edition, Event, Retracted, StoredEvent, Window
from gazette.domain.outcome import Outcome
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import Unsent, immediate_schedule
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import KEY, NOW, SettableClock, a_run, a_stored_event, an_event
from tests.fakes import FakeRenderer
from tests.world import World, crashes, interleavings

NEVER, IMMEDIATE = Frequency.NEVER, Frequency.IMMEDIATE
HEARD = [frequency for frequency in Frequency if frequency is not NEVER]
NOW_POST1 = immediate_schedule("post#post1")
LATER = NOW + timedelta(minutes=5)
A_MINUTE = timedelta(minutes=1)
SENT = replace(
    a_run(),
    status=Status.SENT,
    reason=Reason.ACCEPTED,
    attempt=1,
    window=Window(BEGINNING, NOW),
)
RETRACT = RetractEvent("ann", "e1")


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def emailed(world: World) -> list[str]:
    """Every line of every email, once all that is queued or due has gone out."""
    world.send_everything()
    return [line for email in world.emails() for line in email.lines]


def a_reader(frequency: Frequency = Frequency.DAILY) -> World:
    """Ann registered a day ago."""
    world = World()
    world.choose(at=NOW - timedelta(days=1), comment=frequency)
    return world


def one_event(frequency: Frequency = Frequency.DAILY) -> World:
    """An event waits for Ann."""
    world = a_reader(frequency)
    world.create(an_event())
    return world


def create(world: World) -> None:
    world.create(an_event())


def retract(world: World) -> None:
    world.say(RETRACT)


# Retracted.


@pytest.mark.parametrize("frequency", HEARD)
def test_retracted_event_is_in_no_email(frequency: Frequency) -> None:
    world = one_event(frequency)
    assert world.say(RETRACT) == [Outcome.RETRACTED]
    assert world.waiting() == {}
    assert emailed(world) == []


def test_only_id_of_retracted_event_is_kept(world: World) -> None:
    world.choose()
    world.create(an_event(excerpt="a secret"))
    world.say(RETRACT)
    assert world.events.rows == {("ann", "e1"): Retracted("e1", DAILY)}


def test_event_retracted_before_arrival_is_rejected(world: World) -> None:
    world.choose()
    assert world.say(RETRACT) == [Outcome.RETRACTED]
    assert world.create(an_event()) == [Outcome.RETRACTED]
    assert world.create(edited()) == [Outcome.RETRACTED]
    assert emailed(world) == []


def test_event_retracted_while_waiting_for_profile_is_never_sent(world: World) -> None:
    world.create(an_event())
    assert world.waiting() == {"e1": Unsent.WAITING}
    world.say(RETRACT)
    world.choose(comment=IMMEDIATE)
    assert world.create(an_event()) == [Outcome.RETRACTED]
    assert emailed(world) == []


def test_retracted_event_stays_retracted() -> None:
    world = one_event()
    for _ in range(2):
        assert world.say(RETRACT) == [Outcome.RETRACTED]
        assert world.create(an_event(), edited()) == [Outcome.RETRACTED] * 2
    assert emailed(world) == []


def test_retraction_for_erased_reader_is_not_stored(world: World) -> None:
    world.choose()
    world.erase()
    assert world.say(RETRACT) == [Outcome.ERASED]
    assert not world.events.rows


def test_retraction_raises_epoch_of_affected_run() -> None:
    world = one_event()
    world.runs.create(a_run())
    world.runs.rows[SENT.key] = SENT
    world.runs.create(a_run(2))
    world.say(RETRACT)
    assert world.runs.rows[SENT.key] == SENT
    assert world.runs.rows[a_run(2).key].epoch == 1


@pytest.mark.parametrize("frequency", HEARD)
def test_retraction_during_delivery_precedes_claim_or_is_too_late(
    frequency: Frequency,
) -> None:
    """Never is an email sent that was not claimed when the retraction was acknowledged."""

    def make() -> World:
        world = one_event(frequency)
        if frequency is not IMMEDIATE:
            world.runs.create(replace(a_run(), key=replace(KEY, schedule=frequency.value)))
        world.clock.pass_time(minutes=2)
        return world

    claimed: list[bool] = []

    def retract_now(world: World) -> None:
        claimed.append(any(run.status is Status.SENDING for run in world.runs.rows.values()))
        retract(world)

    for world, where in interleavings(
        make, lambda world: world.deliver(next(iter(world.runs.rows))), retract_now
    ):
        world.send_everything()
        assert bool(world.emails()) == claimed[-1], where
    assert set(claimed) == {True, False}


@pytest.mark.parametrize(("act", "other"), [(create, retract), (retract, create)])
def test_event_arriving_during_its_retraction_ends_retracted(
    act: Callable[[World], object], other: Callable[[World], object]
) -> None:
    for world, where in interleavings(a_reader, act, other):
        assert world.waiting() == {}, where
        assert emailed(world) == [], where


# Amended.


class Excerpts(FakeRenderer):
    """A renderer that shows what the latest event of each group says."""

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
        lines = [f"{group.latest.entity.id}: {group.latest.excerpt}" for group in digest.groups]
        return Edition("", "", "\n".join([subscriber.name, *lines, schedule, links.unsubscribe]))


@pytest.fixture
def amended(clock: SettableClock) -> World:
    """One event waits that was amended a minute ago; emails show what events say."""
    world = World(clock, renderer=Excerpts())
    world.choose(like=Frequency.WEEKLY, secret=NEVER, mention=IMMEDIATE)
    world.create(an_event(excerpt="first"))
    world.clock.pass_time(minutes=5)
    assert world.create(edited()) == [Outcome.AMENDED]
    return world


def edited(excerpt: str = "second", minutes: float = 1, category: str = "comment") -> Event:
    """The event as it was amended some minutes after it occurred."""
    amended_at = NOW + minutes * A_MINUTE
    return an_event(excerpt=excerpt, amended_at=amended_at, category=category)


def test_later_version_replaces_event_in_place(amended: World) -> None:
    before = amended.events.rows["ann", "e1"]
    assert isinstance(before, StoredEvent)
    assert amended.create(edited("third", 2)) == [Outcome.AMENDED]
    assert amended.events.rows["ann", "e1"] == replace(before, event=edited("third", 2))
    assert emailed(amended) == ["post1: third"]


@pytest.mark.parametrize(
    "stale",
    [
        an_event(excerpt="first"),
        an_event(excerpt="undated"),
        edited("as old", 1),
        edited("older", 0.5),
    ],
    ids=lambda event: event.excerpt,
)
def test_undated_or_older_version_changes_nothing(amended: World, stale: Event) -> None:
    before = amended.events.rows.copy()
    assert amended.create(stale) == [Outcome.DUPLICATE]
    assert amended.events.rows == before


def test_amendment_may_arrive_before_original_event(world: World) -> None:
    world.choose()
    assert world.create(edited()) == [Outcome.STORED]
    assert world.create(an_event(excerpt="first")) == [Outcome.DUPLICATE]
    assert world.events.get("ann", "e1") == a_stored_event(edited(), DAILY, NOW)


def test_amendment_before_claim_is_included_in_email(amended: World) -> None:
    """A worker that read the event before it was amended fails at its claim, and reads anew."""
    amended.clock.pass_time(minutes=5)
    amended.runs.create(a_run())
    with amended.meanwhile("rate_limiter.reserve", lambda: amended.create(edited("third", 2))):
        amended.deliver(KEY)
    assert [email.lines for email in amended.emails()] == [("post1: third",)]


def test_amendment_after_claim_causes_no_second_email(amended: World) -> None:
    amended.send_digest()
    amended.create(edited("third", 2))
    assert emailed(amended) == ["post1: second"]


@pytest.mark.parametrize(
    ("category", "schedule"), [("like", "weekly"), ("mention", NOW_POST1), ("other", DAILY)]
)
def test_amended_category_moves_the_event(amended: World, category: str, schedule: str) -> None:
    assert amended.create(edited("third", 2, category)) == [Outcome.AMENDED]
    assert amended.waiting() == {"e1": schedule}
    amended.create(edited())
    amended.create(an_event(excerpt="first"))
    assert amended.waiting() == {"e1": schedule}
    assert emailed(amended) == ["post1: third"]


def test_amendment_into_muted_category_withdraws_event(amended: World) -> None:
    assert amended.create(edited("third", 2, "secret")) == [Outcome.MUTED]
    assert amended.waiting() == {}
    assert emailed(amended) == []


def test_original_category_does_not_mute_amended_event(amended: World) -> None:
    assert amended.create(an_event(category="secret")) == [Outcome.MUTED]
    assert emailed(amended) == ["post1: second"]


@pytest.mark.parametrize("status", [Status.SENDING, Status.UNKNOWN, Status.SENT])
def test_amendment_does_not_move_possibly_sent_event(amended: World, status: Status) -> None:
    amended.runs.rows[KEY] = replace(SENT, status=status, newest=(name_of("e1"),))
    amended.create(edited("third", 2, "like"))
    assert amended.waiting() == {"e1": DAILY}


def test_amendment_of_event_waiting_for_profile_is_sent(world: World) -> None:
    world.renderer = Excerpts()
    world.create(an_event(excerpt="first"))
    world.create(edited())
    world.choose()
    assert emailed(world) == ["post1: second"]


def test_later_of_two_concurrent_amendments_wins() -> None:
    def make() -> World:
        world = a_reader()
        world.renderer = Excerpts()
        world.create(an_event(excerpt="first"))
        return world

    for world, where in interleavings(
        make, lambda world: world.create(edited("third", 2)), lambda world: world.create(edited())
    ):
        assert emailed(world) == ["post1: third"], where
    for world, where in interleavings(
        make, lambda world: world.create(edited()), lambda world: world.create(edited("third", 2))
    ):
        assert emailed(world) == ["post1: third"], where


def test_redelivery_completes_interrupted_amendment() -> None:
    def make() -> World:
        world = a_reader()
        world.renderer = Excerpts()
        world.create(an_event(excerpt="first"))
        return world

    for world, where in crashes(make, lambda world: world.create(edited(category="like"))):
        world.create(edited(category="like"))
        assert emailed(world) == ["post1: second"], where


@pytest.mark.parametrize(
    "stop",
    [
        lambda world: world.create(edited()),
        lambda world: world.choose(at=LATER, comment=NEVER),
        retract,
    ],
    ids=["amended", "muted", "retracted"],
)
def test_redelivery_of_interrupted_stop_raises_epoch_of_open_runs(
    stop: Callable[[World], object],
) -> None:
    """Rule 11: whatever is acknowledged has raised the epoch, also the second time."""

    def make() -> World:
        world = a_reader()
        world.create(an_event())
        world.runs.create(a_run())
        world.clock.pass_time(minutes=5)
        return world

    for world, where in crashes(make, stop):
        stop(world)
        assert world.runs.rows[KEY].epoch > 0, where
