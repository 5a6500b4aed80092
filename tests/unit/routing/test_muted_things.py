"""A muted thing: no email about it is claimed, whatever its category and whichever way it comes."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChoosePreferences, CreateActivity, RetractEvent
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.model import DAILY, Entity, StoredEvent
from gazette.domain.muting.mutes import MOST_MUTED, Mute
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.choices import NOTHING
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import NOW, an_activity, an_event
from tests.world import World, crashes, interleavings

DAY = timedelta(days=1)
POST = "post#post1"
THREAD = immediate_schedule(POST)
OTHER = "post#other"
AFTER_THE_LAST_READ = ("before suppressions.holds", "before mailer.send")
"""The calls after the last read of the reader, up to that of the provider. The real adapter reads
the reader and the suppression with one call."""


def the_reader(world: World) -> Subscriber:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


def mute(world: World, entity: str = POST) -> None:
    world.mute(entity)


def registered(often: Frequency) -> World:
    world = World()
    world.choose(at=NOW - DAY, comment=often)
    return world


def waiting(often: Frequency) -> World:
    """An event about the post waits, and so does one about another post."""
    world = registered(often)
    world.create(an_event(occurred_at=world.clock()))
    world.create(an_event("e2", entity_id="other", occurred_at=world.clock()))
    world.clock.pass_time(minutes=1)
    return world


def in_emails(world: World) -> list[str]:
    """The things that are in the reader's emails, once for each email."""
    return sorted(line.split(":")[0] for email in world.emails("ann") for line in email.lines)


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY, Frequency.WEEKLY])
def test_events_about_muted_thing_are_not_stored(often: Frequency) -> None:
    world = registered(often)
    mute(world)
    assert world.create(an_event(occurred_at=world.clock())) == [Outcome.MUTED]
    assert world.create(an_event("e2", category="mention")) == [Outcome.MUTED]
    assert world.create(an_event("e3", entity_id="other")) == [Outcome.STORED]


def test_mute_needs_no_additional_read() -> None:
    counts = []
    for is_muted in (False, True):
        world = registered(Frequency.DAILY)
        if is_muted:
            mute(world, OTHER)
        with world.calls() as made:
            world.create(an_event(occurred_at=world.clock()))
        counts.append(made)
    assert counts[0] == counts[1]


@pytest.mark.parametrize("muted", ["post#p1", "blog#b1"])
def test_activity_on_muted_thing_or_below_it_is_not_stored(muted: str) -> None:
    world = registered(Frequency.DAILY)
    world.follow("ann", "blog#b1", at=NOW - DAY)
    world.follow("ann", "post#p1", at=NOW - DAY)
    mute(world, muted)
    activity = an_activity("a1", entity_id="p1", parent="blog#b1", occurred_at=world.clock())
    world.say(CreateActivity(activity))
    world.work_off_followers()
    assert not world.waiting()


def test_critical_events_about_muted_thing_are_sent() -> None:
    world = World()
    world.context = replace(world.context, critical=frozenset({"password"}))
    world.choose(at=NOW - DAY)
    mute(world)
    assert world.create(an_event(category="password")) == [Outcome.STORED]
    world.send_everything()
    assert in_emails(world) == ["post1"]


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_waiting_events_about_muted_thing_are_not_sent(often: Frequency) -> None:
    world = waiting(often)
    mute(world)
    world.send_everything()
    assert in_emails(world) == ["other"]


def test_digest_with_only_muted_events_is_empty() -> None:
    world = registered(Frequency.DAILY)
    world.create(an_event(occurred_at=world.clock()))
    mute(world)
    world.send_everything()
    (run,) = world.runs.rows.values()
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.EMPTY)


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_undo_before_the_next_email_loses_nothing(often: Frequency) -> None:
    world = waiting(often)
    mute(world)
    world.unmute(POST)
    world.send_everything()
    assert in_emails(world) == ["other", "post1"]


def test_muted_event_that_is_amended_to_another_thing_is_sent() -> None:
    world = registered(Frequency.DAILY)
    mute(world)
    event = an_event(occurred_at=world.clock())
    world.create(event)
    moved = replace(
        event, entity=Entity("post", "other", "T", "https://example.com"), amended_at=world.clock()
    )
    assert world.create(moved) == [Outcome.STORED]


def test_waiting_event_that_is_amended_to_muted_thing_is_withdrawn() -> None:
    world = registered(Frequency.DAILY)
    event = an_event(entity_id="other", occurred_at=world.clock())
    world.create(event)
    mute(world)
    moved = an_event(occurred_at=event.occurred_at, amended_at=world.clock())
    assert world.create(moved) == [Outcome.MUTED]
    assert not world.waiting()


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_mute_at_every_call_of_a_delivery(often: Frequency) -> None:
    """Only an email whose last look was before the mute shows the thing (rule 11)."""
    shown_at: list[bool] = []

    def mute_here(world: World) -> None:
        shown_at.append("post1" in in_emails(world))
        mute(world)

    def queued() -> World:
        world = waiting(often)
        if often is Frequency.DAILY:
            schedule = world.schedules.rows["ann", DAILY]
            world.clock.now = schedule.next_due_at + timedelta(minutes=2)
            world.fan_out(slot_of(schedule.next_due_at))
        return world

    places = interleavings(queued, World.deliver_queued, mute_here)
    for number, (world, where) in enumerate(places):
        world.send_everything()
        shown = in_emails(world)
        assert shown.count("other") == 1, (where, shown)
        is_shown = shown_at[number] or ("post1" in shown and where.startswith(AFTER_THE_LAST_READ))
        assert shown.count("post1") == is_shown, (where, shown)
    assert {*shown_at} == {False, True}


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_mute_at_every_call_of_the_writer(often: Frequency) -> None:
    """Whichever came first, the event about the muted thing is in no email."""

    def write(world: World) -> None:
        world.create(an_event(occurred_at=NOW), an_event("e2", entity_id="other", occurred_at=NOW))

    for world, where in interleavings(lambda: registered(often), write, mute):
        mute(world)
        world.send_everything()
        assert in_emails(world) == ["other"], where


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_unmute_at_every_call_of_the_writer_loses_no_event(often: Frequency) -> None:
    """The writer reads the reader again after it, so the event that it dropped is stored."""

    def muted() -> World:
        world = registered(often)
        mute(world)
        return world

    places = interleavings(
        muted, lambda world: world.create(an_event(occurred_at=NOW)), World.unmute
    )
    for world, where in places:
        world.send_everything()
        assert in_emails(world) == ["post1"], where


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_crash_of_a_mute_leaves_it_stored_or_not(often: Frequency) -> None:
    """The one write has all of it: a mute that is stored is in force for what waits."""
    for world, where in crashes(lambda: waiting(often), mute):
        is_stored = bool(the_reader(world).mutes)
        world.send_everything()
        assert in_emails(world) == (["other"] if is_stored else ["other", "post1"]), where


def test_two_mutes_at_once_are_both_stored() -> None:
    for world, _ in interleavings(
        lambda: registered(Frequency.DAILY), mute, lambda world: mute(world, OTHER)
    ):
        assert {each.entity for each in the_reader(world).mutes} == {POST, OTHER}


def with_mutes(number: int) -> World:
    world = registered(Frequency.DAILY)
    for place in range(number):
        world.say(ChoosePreferences("ann", NOTHING, NOW, (Mute(f"post#{place}", NOW),)))
    return world


def test_two_mutes_for_the_last_place_store_one_and_refuse_one() -> None:
    for world, _ in interleavings(
        lambda: with_mutes(MOST_MUTED - 1), mute, lambda world: mute(world, OTHER)
    ):
        entities = {each.entity for each in the_reader(world).mutes}
        assert len(entities) == MOST_MUTED
        assert len(entities & {POST, OTHER}) == 1


def test_message_that_mutes_too_many_is_counted_and_changes_nothing_else() -> None:
    world = with_mutes(MOST_MUTED)
    before = the_reader(world).mutes
    outcome = world.say(ChoosePreferences("ann", NOTHING, NOW, (Mute(POST, NOW),)))
    assert outcome == [Outcome.TOO_MANY_MUTED]
    assert the_reader(world).mutes == before


def test_mute_before_the_profile_is_in_force_from_its_first_event() -> None:
    world = World()
    world.say(ChoosePreferences("ann", NOTHING, NOW - DAY, (Mute(POST, NOW - DAY),)))
    world.create(an_event(occurred_at=world.clock()))
    world.choose(at=NOW - DAY)
    assert not world.waiting()


def test_profile_keeps_mutes_and_erasure_deletes_them() -> None:
    world = registered(Frequency.DAILY)
    mute(world)
    world.choose(at=world.clock() + timedelta(minutes=1), comment=Frequency.WEEKLY)
    assert [each.entity for each in the_reader(world).mutes] == [POST]
    world.clock.pass_time(minutes=2)
    world.erase()
    world.clock.pass_time(minutes=2)
    world.choose(at=world.clock())
    assert not the_reader(world).mutes


def test_retraction_of_a_muted_event_works() -> None:
    world = waiting(Frequency.DAILY)
    mute(world)
    world.say(RetractEvent("ann", "e1"))
    world.send_everything()
    assert in_emails(world) == ["other"]


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_event_that_may_have_been_sent_stays_with_its_run(often: Frequency) -> None:
    world = waiting(often)
    stored = world.events.get("ann", "e1")
    assert isinstance(stored, StoredEvent)
    world.send_everything()
    mute(world)
    assert isinstance(world.events.get("ann", "e1"), StoredEvent)
    assert stored.schedule in {THREAD, DAILY}
