"""What the preference page shows, and what its button does."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from gazette.domain.commands import ChangeFollow, ChoosePreferences, CreateActivity
from gazette.domain.errors import Unavailable
from gazette.domain.model import DAILY
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import DEFAULT, Frequency
from gazette.domain.subscribers.overview import Notice, Overview
from gazette.domain.subscribers.preference_form import (
    follow_field,
    shown_fields,
    written_fields,
)
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.steps.preferences.page import SHOWN, read_overview

from tests.builders import NOW, a_link, an_activity, an_event
from tests.world import World, crashes, interleavings

POST = "post#post1"
WEEKLY = Choice(frequency=Frequency.WEEKLY)


def known() -> World:
    """Ann has been there for a day."""
    world = World()
    world.choose(at=NOW - timedelta(days=1))
    return world


@pytest.fixture
def world() -> World:
    return known()


def seen(world: World) -> Overview:
    overview = world.read_overview()
    assert overview
    return overview


# What is shown.


def test_page_is_not_shown_for_unknown_or_erased_reader() -> None:
    world = World()
    assert world.read_overview() is None
    world.erase()
    assert world.read_overview() is None


def test_next_digest_comes_from_stored_schedules(world: World) -> None:
    assert seen(world).next_due_at == datetime(2026, 11, 23, 7, 0, tzinfo=UTC)


def test_unused_schedule_is_not_shown_as_next_digest(world: World) -> None:
    """The daily schedule stays; with everything weekly, Monday's is the next."""
    world.save(Choice(frequency=Frequency.WEEKLY, weekly_on=5))
    assert ("ann", "daily") in world.schedules.rows
    assert seen(world).next_due_at == datetime(2026, 11, 27, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize("often", [Frequency.NEVER, Frequency.IMMEDIATE])
def test_reader_without_digests_has_no_next_digest(world: World, often: Frequency) -> None:
    world.save(Choice(frequency=often))
    assert seen(world).next_due_at is None


def test_single_category_or_follow_can_require_a_digest(world: World) -> None:
    world.save(Choice(frequency=Frequency.NEVER, frequencies=(("like", Frequency.WEEKLY),)))
    assert seen(world).next_due_at == datetime(2026, 11, 23, 7, 0, tzinfo=UTC)
    world.save(Choice(frequencies=(("like", DEFAULT),)))
    assert seen(world).next_due_at is None
    world.save(NOTHING, (POST, FollowState(True, Frequency.DAILY)))
    assert seen(world).next_due_at == datetime(2026, 11, 23, 7, 0, tzinfo=UTC)


def test_immediate_events_during_pause_join_next_digest(world: World) -> None:
    world.save(Choice(frequency=Frequency.IMMEDIATE, paused_until=date(2026, 12, 1)))
    assert seen(world).is_paused
    assert seen(world).next_due_at == datetime(2026, 12, 1, 7, 0, tzinfo=UTC)


def test_unsubscribed_reader_has_no_next_digest(world: World) -> None:
    world.unsubscribe()
    assert seen(world).next_due_at is None


def test_idle_schedule_shows_next_possible_digest(world: World) -> None:
    """Never that no digest is planned: nothing waits, which nobody asked for."""
    for day in (23, 24, 25):
        assert seen(world).next_due_at == datetime(2026, 11, day, 7, 0, tzinfo=UTC)
        world.clock.now = datetime(2026, 11, day, 7, 1, tzinfo=UTC)
        world.fan_out(slot_of(world.clock.now))
        assert world.schedules.rows["ann", DAILY].is_idle
    told = seen(world).next_due_at
    world.create(an_event())
    assert world.schedules.rows["ann", DAILY].next_due_at == told == seen(world).next_due_at


def test_hour_change_applies_immediately_to_idle_schedule(world: World) -> None:
    world.send_digest()
    world.save(Choice(clock=(19, 30)))
    assert world.schedules.rows["ann", DAILY].is_idle
    assert seen(world).next_due_at == datetime(2026, 11, 23, 18, 30, tzinfo=UTC)


def test_dormant_reader_is_notified_and_resumes_by_saving() -> None:
    """Nothing waits for them, so nobody has looked: their row says active."""
    world = World(sunset=timedelta(days=45))
    world.choose()
    world.send_digest()
    world.clock.pass_time(days=45)
    overview = seen(world)
    assert overview.subscriber.status is SubscriberStatus.DORMANT
    assert overview.next_due_at is None
    world.save(NOTHING)
    assert seen(world).subscriber.status is SubscriberStatus.ACTIVE
    assert seen(world).next_due_at == datetime(2027, 1, 8, 7, 0, tzinfo=UTC)


def test_resume_button_reactivates_dormant_reader_without_event() -> None:
    world = World(sunset=timedelta(days=45))
    world.choose()
    world.send_digest()
    world.clock.pass_time(days=45)
    shown = world.submit(a_link(), {"act": ["wake"]})
    assert shown.notice is Notice.AWAKE
    assert shown.overview.subscriber.status is SubscriberStatus.ACTIVE
    assert shown.overview.subscriber.resumed_at == world.clock(), "nothing comes at once late"
    assert shown.overview.next_due_at is not None
    assert not world.bus.taken


def follow_many(world: World, number: int, *, ended: int = 0) -> list[str]:
    """Follows of so many posts in force, behind some that have ended; their entities in order."""
    entities = [f"post#{each:05}" for each in range(ended + number)]
    for place, entity in enumerate(entities):
        title = f"Title {99999 - place}"
        changes = ((NOW - timedelta(days=2), FollowState(True, None, title)),)
        over = ((NOW - timedelta(days=1), FollowState(False)),) if place < ended else ()
        world.follows.put(Follow(entity, "ann", (*changes, *over)), replacing=None)
    return entities[ended:]


def test_active_follows_are_counted_and_sorted_by_title(world: World) -> None:
    follow_many(world, SHOWN, ended=5)
    world.follow("bo", "post#other")
    overview = seen(world)
    assert overview.has_all_follows
    assert overview.follow_count == SHOWN
    titles = [follow.title for follow in overview.follows]
    assert titles == sorted(titles)


@pytest.mark.parametrize("number", [SHOWN + 1, 2 * SHOWN, 2 * SHOWN + 1, 1234])
@pytest.mark.parametrize("ended", [0, 250, 700])
def test_all_follows_are_reachable_through_pagination(
    world: World, number: int, ended: int
) -> None:
    entities = follow_many(world, number, ended=ended)
    found: list[str] = []
    after, pages = "", 0
    while pages == 0 or after:
        with world.calls() as calls:
            page = read_overview("ann", context=world.context, follows_after=after)
        assert page
        assert not page.has_all_follows
        assert len(page.follows) <= SHOWN
        assert calls.count("follows.followed_by") == 1
        assert calls.count("follows.get_many") <= 5
        found += [follow.entity for follow in page.follows]
        after, pages = page.more_follows, pages + 1
    assert sorted(found) == entities
    assert len(set(found)) == len(found)


def test_page_view_cost_is_independent_of_follow_count(world: World) -> None:
    costs = []
    for number in (150, 5000):
        follow_many(world, number)
        with world.calls() as calls:
            seen(world)
        costs.append(len(calls))
    assert costs[0] == costs[1]


def test_next_digest_includes_follows_beyond_shown_page(
    world: World,
) -> None:
    """And none that nothing uses is, where all follows are read."""
    entities = follow_many(world, 3 * SHOWN)
    world.follow(entity=entities[-1], often=Frequency.WEEKLY)
    world.choose(at=NOW + timedelta(minutes=1), comment=Frequency.NEVER)
    world.save(Choice(frequency=Frequency.NEVER))
    world.create(an_event(via=(entities[-1],)))
    assert world.schedules.listed >= {("ann", "weekly")}
    weekly = world.schedules.rows["ann", "weekly"]
    assert seen(world).next_due_at == weekly.next_due_at


def test_saving_page_changes_only_shown_fields(world: World) -> None:
    entities = follow_many(world, 3 * SHOWN)
    before = dict(world.follows.rows)
    page = read_overview("ann", context=world.context, follows_after=entities[SHOWN - 1])
    assert page
    form = {**shown_fields(page, ()), "act": ("save",)}
    form["was"] = (written_fields(shown_fields(page, ())),)
    form[follow_field(entities[SHOWN])] = ("unfollow",)
    form[follow_field(entities[SHOWN + 1])] = ("weekly",)
    shown = world.submit(a_link(), form, follows_after=entities[SHOWN - 1])
    assert shown.notice is Notice.SAVED
    changed = {key[0]: row.latest for key, row in world.follows.rows.items() if row != before[key]}
    assert set(changed) == {entities[SHOWN], entities[SHOWN + 1]}
    assert not changed[entities[SHOWN]].following
    assert changed[entities[SHOWN + 1]].frequency is Frequency.WEEKLY
    assert entities[SHOWN - 1] not in [follow.entity for follow in shown.overview.follows]


def test_shown_follow_is_saved_after_page_boundaries_move(world: World) -> None:
    entities = follow_many(world, 2 * SHOWN)
    page = seen(world)
    form = {**shown_fields(page, ()), "act": ("save",)}
    form["was"] = (written_fields(shown_fields(page, ())),)
    last = entities[SHOWN - 1]
    form[follow_field(last)] = ("unfollow",)
    for number in range(20):
        world.follow(entity=f"post#!{number}")
    assert last not in [follow.entity for follow in seen(world).follows]
    assert world.submit(a_link(), form).notice is Notice.SAVED
    follow = world.follows.get(last, "ann")
    assert follow
    assert not follow.latest.following
    assert sum(not row.latest.following for row in world.follows.rows.values()) == 1


def test_follow_title_is_kept_if_omitted_from_update(world: World) -> None:
    titled = FollowState(True, None, "On digests")
    world.say(ChangeFollow("ann", POST, titled, NOW - timedelta(hours=1)))
    world.follow(often=Frequency.WEEKLY)
    (follow,) = seen(world).follows
    assert (follow.title, follow.latest.frequency) == ("On digests", Frequency.WEEKLY)


# What is saved.


def test_choice_is_published_and_applied_immediately(world: World) -> None:
    assert world.save(WEEKLY, (POST, FollowState(True, Frequency.NEVER)))
    assert world.bus.taken == [
        ChoosePreferences("ann", WEEKLY, NOW),
        ChangeFollow("ann", POST, FollowState(True, Frequency.NEVER), NOW),
    ]
    assert seen(world).subscriber.reader_choices.frequency == ((NOW, Frequency.WEEKLY),)
    assert world.follows.rows[POST, "ann"].latest.frequency is Frequency.NEVER
    assert ("ann", "weekly") in world.schedules.rows


def test_choice_moves_waiting_events_before_its_bus_message(world: World) -> None:
    world.create(an_event(occurred_at=NOW - timedelta(hours=1)))
    world.save(WEEKLY)
    assert world.waiting() == {"e1": "weekly"}
    before = seen(world).subscriber, dict(world.events.rows)
    world.work_off_bus()
    assert (seen(world).subscriber, world.events.rows) == before


def test_unfollow_on_page_withdraws_waiting_events(world: World) -> None:
    world.follow(at=NOW - timedelta(hours=1))
    world.say(CreateActivity(an_activity()))
    assert world.events.rows
    world.save(NOTHING, (POST, FollowState(False)))
    assert not world.events.rows
    before = world.follows.rows[POST, "ann"]
    world.work_off_bus()
    assert world.follows.rows[POST, "ann"] == before


def test_unchanged_page_publishes_no_event(world: World) -> None:
    with world.calls() as calls:
        assert world.save()
    assert calls == ["subscribers.get", "subscribers.mark_active"], "a visit is a sign of life"
    assert not world.bus.taken


def test_event_bus_rejection_leaves_choices_unchanged(world: World) -> None:
    before = seen(world)
    world.bus.answers.append(False)
    assert not world.save(WEEKLY, (POST, FollowState(True)))
    assert seen(world) == before
    assert not world.bus.taken


def test_unknown_event_bus_outcome_leaves_choices_unchanged(world: World) -> None:
    before = seen(world)
    world.bus.answers.append(Unavailable("no answer"))
    with pytest.raises(Unavailable):
        world.save(WEEKLY)
    assert seen(world) == before


def test_published_choice_survives_a_crash() -> None:
    """It counts in any case once ingest has had it; before the bus had it, nothing is done."""
    ends = set()
    for world, where in crashes(known, lambda world: world.save(WEEKLY)):
        taken = bool(world.bus.taken)
        world.work_off_bus()
        reader = world.subscribers.get("ann")
        assert isinstance(reader, Subscriber)
        assert bool(reader.reader_choices.frequency) == taken, where
        assert (("ann", "weekly") in world.schedules.rows) == taken, where
        ends.add(taken)
    assert ends == {True, False}


# What the page says.


MUTED = Choice(frequencies=(("comment", Frequency.NEVER),))
UNFOLLOWED = (POST, FollowState(False))


def at_once() -> World:
    """Ann follows post1, and a comment on it is about to go out."""
    world = World()
    world.choose(at=NOW - timedelta(days=1), comment=Frequency.IMMEDIATE)
    world.follow(at=NOW - timedelta(days=1))
    world.say(CreateActivity(an_activity()))
    world.clock.pass_time(seconds=5)
    return world


def due() -> World:
    """The same in a digest that fan-out has started."""
    world = World()
    world.choose(at=NOW - timedelta(days=1))
    world.follow(at=NOW - timedelta(days=1))
    world.say(CreateActivity(an_activity()))
    schedule = world.schedules.rows["ann", "daily"]
    world.clock.now = schedule.next_due_at + timedelta(minutes=1)
    world.fan_out(slot_of(schedule.next_due_at))
    assert world.generate_queue.sent
    return world


def press_all(world: World, notice: list[Notice]) -> None:
    """A choice and a follow at once."""
    notice.append(world.press(MUTED, UNFOLLOWED))


@pytest.mark.parametrize("make", [at_once, due])
@pytest.mark.parametrize(
    ("choice", "follows"),
    [
        (MUTED, ()),
        (NOTHING, (UNFOLLOWED,)),
        (NOTHING, ((POST, FollowState(True, Frequency.NEVER)),)),
    ],
    ids=["category", "unfollowed", "muted"],
)
def test_trace_w_saved_change_applies_to_every_later_claim(
    make: Callable[[], World], choice: Choice, follows: tuple[tuple[str, FollowState], ...]
) -> None:
    world = make()
    assert world.press(choice, *follows) is Notice.SAVED
    world.deliver_queued()
    assert not world.emails()
    world.work_off_bus()
    world.send_everything()
    assert not world.emails()


@pytest.mark.parametrize("make", [at_once, due])
def test_delivery_ignoring_new_choice_was_claimed_before_save_completed(
    make: Callable[[], World],
) -> None:
    for world, where in interleavings(
        make, lambda world: press_all(world, []), World.deliver_queued
    ):
        emails = len(world.emails())
        world.deliver_queued()
        world.work_off_bus()
        world.send_everything()
        assert len(world.emails()) == emails, where


@pytest.mark.parametrize("make", [at_once, due])
def test_trace_w_interrupted_save_is_completed_by_ingest(
    make: Callable[[], World],
) -> None:
    notice: list[Notice] = []
    for world, where in crashes(make, lambda world: press_all(world, notice)):
        assert notice.pop() is Notice.UNSURE, where
        taken = bool(world.bus.taken)
        world.work_off_bus()
        assert bool(seen(world).subscriber.reader_choices.frequencies) == taken, where
        assert world.follows.rows[POST, "ann"].latest.following != taken, where
        world.send_everything()
        assert bool(world.waiting()) != taken, where
        assert bool(world.emails()) != taken, where
    assert notice == [Notice.SAVED]


def test_page_does_not_report_saved_if_time_runs_out() -> None:
    world = due()
    world.time_left = lambda: timedelta(seconds=7)
    assert world.press(MUTED) is Notice.UNSURE
    assert world.waiting(), "not moved here"
    assert world.press(NOTHING, UNFOLLOWED) is Notice.UNSURE
    world.time_left = lambda: timedelta(seconds=60)
    world.work_off_bus()
    assert not world.waiting()


def test_ingest_resumes_save_interrupted_by_timeout() -> None:
    world = known()
    at = NOW - timedelta(hours=1)
    world.create(*(an_event(f"e{number}", occurred_at=at) for number in range(250)))

    def run_short() -> None:
        if len(world.waiting()) < 100:
            world.time_left = lambda: timedelta(seconds=1)

    with world.meanwhile("events.remove_together", run_short, times=2):
        assert world.press(MUTED) is Notice.UNSURE
    assert 0 < len(world.waiting()) < 100
    world.time_left = lambda: timedelta(seconds=60)
    world.work_off_bus()
    assert not world.waiting()


def test_unreadable_event_prevents_saved_notice_but_remaining_events_move() -> None:
    world = known()
    for number in range(3):
        world.create(an_event(f"e{number}", occurred_at=NOW - timedelta(hours=1)))
    world.events.unreadable.add(("ann", "e1"))
    assert world.press(MUTED) is Notice.UNSURE
    assert list(world.waiting()) == ["e1"]
