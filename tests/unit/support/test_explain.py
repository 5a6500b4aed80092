"""Explain: what the real steps did for a reader, read from their tables."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber, ChoosePreferences
from gazette.domain.delivery.run import BEGINNING, Reason, Status
from gazette.domain.delivery.signals import Uncertain
from gazette.domain.explanation import Choice, Due, Explanation, Outlook
from gazette.domain.model import DAILY
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.scheduling.kinds import Unsent, immediate_schedule
from gazette.domain.stored import readable
from gazette.domain.subscribers.choices import Choice as OwnChoice
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Erased, Subscriber, SubscriberStatus
from gazette.steps.support.explain import LAST
from gazette.steps.support.words.summary import verdict

from tests.builders import KEY, NOW, a_run, a_subscriber, an_event
from tests.explained import explained
from tests.world import World

SECOND = timedelta(seconds=1)
AT_ONCE = immediate_schedule("post#post1")


@pytest.fixture
def world() -> World:
    """Ann is registered: every day at eight in Berlin. On 23 November first, as an event came.

    It was taken back since.
    """
    world = World()
    world.choose()
    world.arm()
    return world


def register(world: World, time_zone: str, times: DigestTimes) -> None:
    profile = replace(a_subscriber(changed_at=world.clock(), times=times), time_zone=time_zone)
    world.say(ChangeSubscriber(profile))


def send_three(world: World) -> tuple[datetime, ...]:
    """An event before each of the next three digests; returns when the digests were due."""
    for number in range(3):
        world.create(an_event(f"e{number}"))
        world.send_digest()
    runs = readable(world.runs.of_user("ann"))
    return tuple(sorted(run.due_at for run in runs if run.status is Status.SENT))


def outlook(world: World, on: date | None = None, name: str = DAILY) -> Outlook:
    (found,) = [each for each in explained(world, on).outlooks if each.schedule.name == name]
    return found


def reasons(found: Explanation) -> list[tuple[Status, Reason]]:
    return [(entry.run.status, entry.run.reason) for entry in found.runs]


def test_explain_shows_the_coverage_of_a_sent_digest(world: World) -> None:
    world.create(an_event("e1"), an_event("e2"), an_event("e3", category="like"))
    world.send_digest()
    world.create(an_event("e4"))
    (entry,) = explained(world).runs
    assert entry.run == world.runs.rows[KEY]
    assert (entry.run.status, entry.run.reason) == (Status.SENT, Reason.ACCEPTED)
    assert entry.covers == (("comment", 2), ("like", 1))
    assert entry.about == ""


def test_events_after_the_last_sent_window_are_waiting(world: World) -> None:
    world.create(an_event("e1"))
    world.send_digest()
    world.clock.pass_time(hours=1)
    first = world.clock()
    world.create(an_event("e2"), an_event("e3", category="like"))
    world.clock.pass_time(hours=1)
    world.create(an_event("e4"))
    comments, likes = explained(world).waiting
    assert (comments.schedule, comments.category, comments.count) == (DAILY, "comment", 2)
    assert (comments.oldest, comments.newest) == (first, world.clock())
    assert (likes.category, likes.count, likes.oldest, likes.newest) == ("like", 1, first, first)


def test_occurrence_without_waiting_events_is_a_skipped_run(world: World) -> None:
    world.send_digest()
    found = explained(world)
    assert reasons(found) == [(Status.SKIPPED, Reason.NOTHING_WAITED)]
    assert found.waiting == ()


def test_idle_schedule_shows_its_next_occurrence_if_an_event_arrives(world: World) -> None:
    world.send_digest()
    world.clock.pass_time(days=3, hours=3)
    idle = outlook(world)
    assert (idle.due, [each.date().day for each in idle.next]) == (Due.IDLE, [27, 28, 29])
    world.create(an_event())
    armed = outlook(world)
    assert (armed.due, armed.next) == (Due.PLANNED, idle.next)
    assert armed.schedule.next_due_at == idle.next[0]


def test_date_without_waiting_events_shows_the_idle_period(world: World) -> None:
    """From the occurrence at which the schedule was taken out to the next event, or to now."""
    world.send_digest()
    since = datetime(2026, 11, 23, 7, tzinfo=UTC)
    world.clock.pass_time(days=3, hours=3)
    quiet = [date(2026, 11, day) for day in (24, 25, 26)]
    for on in quiet:
        assert outlook(world, on).quiet == (since, world.clock()), on
    for on in (date(2026, 11, 22), date(2026, 11, 27)):
        assert outlook(world, on).quiet is None, on
    came = world.clock()
    world.create(an_event())
    for _ in range(2):
        assert [outlook(world, on).quiet for on in quiet] == [(since, came)] * 3
        assert outlook(world, date(2026, 11, 27)).quiet is None
        world.send_digest()
    assert reasons(explained(world, date(2026, 11, 27))) == [(Status.SENT, Reason.ACCEPTED)]


def test_idle_period_of_a_new_reader_starts_with_the_profile() -> None:
    """No run tells of it: nobody has visited them yet."""
    world = World()
    world.choose()
    world.clock.pass_time(days=3, hours=3)
    came = world.clock()
    quiet = [date(2026, 11, day) for day in (23, 24, 25)]
    assert [outlook(world, on).quiet for on in quiet] == [(NOW, came)] * 3
    for on in (date(2026, 11, 21), date(2026, 11, 26)):
        assert outlook(world, on).quiet is None, on
    world.create(an_event())
    for _ in range(2):
        assert [outlook(world, on).quiet for on in quiet] == [(NOW, came)] * 3
        assert outlook(world, date(2026, 11, 26)).quiet is None
        world.send_digest()
    world.runs.rows.clear()
    assert outlook(world, quiet[0]).quiet is None, "what was before is not stored any more"


def test_missed_digest_is_not_an_idle_period(world: World) -> None:
    world.clock.pass_time(days=3)
    assert outlook(world, date(2026, 11, 23)).quiet is None
    assert outlook(world, date(2026, 11, 24)).quiet is None


def test_date_is_matched_to_the_surrounding_idle_period(world: World) -> None:
    at = []
    for number in range(2):
        world.send_digest()
        world.clock.pass_time(days=2)
        world.create(an_event(f"e{number}"))
        at.append(world.clock())
        world.send_digest()
    for on, quiet in (
        (24, (datetime(2026, 11, 23, 7, tzinfo=UTC), at[0])),
        (28, (datetime(2026, 11, 27, 7, tzinfo=UTC), at[1])),
    ):
        assert outlook(world, date(2026, 11, on)).quiet == quiet


def test_idle_period_is_read_from_the_schedule_after_runs_expire(world: World) -> None:
    """A reader for whom nothing has waited for longer than runs are kept."""
    world.send_digest()
    world.clock.pass_time(days=400)
    world.runs.rows.clear()
    since = datetime(2026, 11, 23, 7, tzinfo=UTC)
    assert outlook(world, date(2027, 11, 20)).quiet == (since, world.clock())


def test_event_in_the_slot_of_a_digest_ends_the_idle_period(
    world: World,
) -> None:
    times = DigestTimes(8, 5)
    world.say(ChangeSubscriber(a_subscriber(changed_at=NOW + SECOND, times=times)))
    world.send_digest()
    world.clock.now = came = datetime(2026, 11, 24, 7, 2, tzinfo=UTC)
    world.create(an_event())
    assert outlook(world).next[0] == datetime(2026, 11, 25, 7, 5, tzinfo=UTC)
    assert outlook(world, date(2026, 11, 24)).quiet == (
        datetime(2026, 11, 23, 7, 5, tzinfo=UTC),
        came,
    )


def test_event_in_an_idle_schedule_is_reported(world: World) -> None:
    """Its worker died between the event and the schedule."""
    world.send_digest()
    world.clock.pass_time(hours=1)
    world.events.store(an_event(), DAILY)
    assert (outlook(world).due, outlook(world).next) == (Due.UNLISTED, ())
    world.create(an_event())
    assert outlook(world).due is Due.PLANNED, "put again, it arms the schedule"


def test_events_of_a_late_skipped_run_still_wait(world: World) -> None:
    world.max_lateness = timedelta(hours=6)
    world.create(an_event())
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.now = due + timedelta(hours=7)
    world.fan_out(slot_of(due))
    found = explained(world)
    assert reasons(found) == [(Status.SKIPPED, Reason.TOO_LATE)]
    assert [each.count for each in found.waiting] == [1]


def test_unknown_outcome_shows_its_coverage_and_keeps_events_waiting(
    world: World,
) -> None:
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.create(an_event())
    world.send_digest()
    found = explained(world)
    (entry,) = found.runs
    assert (entry.run.status, entry.run.reason) == (Status.UNKNOWN, Reason.UNCERTAIN)
    assert entry.run.detail == "ReadTimeoutError"
    assert entry.covers == (("comment", 1),)
    assert [each.count for each in found.waiting] == [1]


def test_immediate_run_is_shown_with_its_entity(world: World) -> None:
    world.choose(comment=Frequency.IMMEDIATE, at=NOW + SECOND)
    world.create(an_event("e1"), an_event("e2"))
    (waiting,) = explained(world).waiting
    assert (waiting.schedule, waiting.about, waiting.count) == (AT_ONCE, "post#post1", 2)
    world.deliver_queued()
    found = explained(world)
    assert found.waiting == ()
    (entry,) = found.runs
    assert (entry.run.status, entry.about) == (Status.SENT, "post#post1")
    assert entry.covers == (("comment", 2),)


def test_immediate_event_without_a_run_is_found(world: World) -> None:
    """Its worker died between the event and the run."""
    world.events.store(an_event(), AT_ONCE)
    (waiting,) = explained(world).waiting
    assert (waiting.schedule, waiting.about) == (AT_ONCE, "post#post1")


def test_user_id_without_data_is_unknown(world: World) -> None:
    found = explained(world, user_id="nobody")
    assert (found.status, found.erased_at, found.time_zone) == (None, None, "")
    assert (found.zone.key, found.outlooks, found.runs) == ("UTC", (), ())
    assert (found.choices, found.waiting, found.follows) == ((), (), 0)


def test_events_without_a_profile_wait_for_the_profile(world: World) -> None:
    world.create(an_event(user_id="cy"))
    found = explained(world, user_id="cy")
    assert found.status is None
    assert [(each.schedule, each.count) for each in found.waiting] == [(Unsent.WAITING, 1)]


def test_erased_reader_shows_only_erasure_time_and_runs(world: World) -> None:
    world.create(an_event())
    world.send_digest()
    world.clock.pass_time(hours=1)
    world.erase()
    found = explained(world)
    assert isinstance(world.subscribers.get("ann"), Erased)
    assert (found.status, found.erased_at) == (None, world.clock())
    assert reasons(found) == [(Status.SENT, Reason.ACCEPTED)]
    assert (found.outlooks, found.waiting, found.runs[0].covers) == ((), (), ())


def test_returned_reader_is_active_and_was_erased(world: World) -> None:
    world.erase()
    world.clock.pass_time(hours=1)
    world.choose()
    found = explained(world)
    assert (found.status, found.erased_at) == (SubscriberStatus.ACTIVE, NOW)


def test_unsubscribed_reader_has_no_next_email(world: World) -> None:
    world.create(an_event())
    world.unsubscribe()
    found = explained(world)
    assert found.status is SubscriberStatus.UNSUBSCRIBED
    assert [(each.due, each.next) for each in found.outlooks] == [(Due.OFF, ())]


@pytest.mark.parametrize(
    ("time_zone", "times"),
    [
        ("Europe/Berlin", DigestTimes(hour=2, minute=30)),
        ("America/Havana", DigestTimes(hour=0, minute=0)),
        ("Australia/Lord_Howe", DigestTimes(hour=1, minute=40)),
    ],
)
@pytest.mark.parametrize("month", [3, 4, 10, 11])
def test_next_three_digests_match_fan_out(time_zone: str, times: DigestTimes, month: int) -> None:
    """From the eve of each clock change in these months, also where it skips or repeats one."""
    for day in range(1, 31):
        world = World()
        world.clock.now = datetime(2026, month, day, 12, tzinfo=UTC)
        register(world, time_zone, times)
        predicted = outlook(world).next
        assert send_three(world) == predicted


@pytest.mark.parametrize("month", [3, 10])
def test_next_three_digests_of_an_idle_schedule_match_fan_out(
    month: int,
) -> None:
    for day in range(1, 31):
        world = World()
        world.clock.now = datetime(2026, month, day, 12, tzinfo=UTC)
        register(world, "Europe/Berlin", DigestTimes(hour=2, minute=30))
        world.send_digest()
        world.clock.pass_time(hours=20)
        idle = outlook(world)
        assert idle.due is Due.IDLE
        assert send_three(world) == idle.next


def test_clock_change_moves_utc_but_not_the_readers_hour() -> None:
    world = World()
    world.clock.now = datetime(2026, 10, 23, 12, tzinfo=UTC)
    register(world, "Europe/Berlin", DigestTimes(hour=8, minute=0))
    found = explained(world)
    assert [each.hour for each in found.outlooks[0].next] == [6, 7, 7]
    assert {each.astimezone(found.zone).hour for each in found.outlooks[0].next} == {8}


def test_schedule_without_a_tick_is_overdue(world: World) -> None:
    due = world.schedules.rows["ann", DAILY].next_due_at
    for after, expected in (
        (timedelta(0), Due.PLANNED),
        (timedelta(minutes=19), Due.PLANNED),
        (timedelta(minutes=21), Due.OVERDUE),
        (timedelta(days=3), Due.OVERDUE),
    ):
        world.clock.now = due + after
        assert outlook(world).due is expected, after
        assert outlook(world).next[0] == due


def test_next_digest_after_an_overdue_digest_matches_fan_out(world: World) -> None:
    world.create(an_event())
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.now = due + timedelta(hours=23, minutes=59)
    predicted = outlook(world).next
    world.fan_out(slot_of(due))
    assert world.schedules.rows["ann", DAILY].next_due_at == predicted[1]


def test_schedule_missing_from_the_due_index_is_reported(world: World) -> None:
    world.schedules.withdraw(world.schedules.rows["ann", DAILY])
    assert (outlook(world).due, outlook(world).next) == (Due.UNLISTED, ())
    assert any("missing from the due index" in each for each in verdict(explained(world)))


def test_pause_and_dormancy_are_reported(world: World) -> None:
    paused = DigestTimes(minute=0, paused_until=date(2026, 12, 24))
    world.say(ChangeSubscriber(a_subscriber(changed_at=NOW + SECOND, times=paused)))
    assert "paused email until 2026-12-24" in verdict(explained(world))[0]
    assert outlook(world).next[0].date() == date(2026, 12, 24)
    world.subscribers.set_status("ann", SubscriberStatus.DORMANT)
    assert verdict(explained(world))[0].startswith("ann is dormant")
    assert (outlook(world).due, outlook(world).next) == (Due.OFF, ())


def test_inactive_reader_is_reported_as_dormant_before_a_visit() -> None:
    """Nothing waits for them, so fan-out does not look, and their row says active."""
    world = World(sunset=timedelta(days=45))
    world.choose()
    world.send_digest()
    world.clock.pass_time(days=43)
    assert (explained(world).status, outlook(world).due) == (SubscriberStatus.ACTIVE, Due.IDLE)
    world.clock.pass_time(days=2)
    found = explained(world)
    assert found.status is SubscriberStatus.DORMANT
    assert (outlook(world).due, outlook(world).next) == (Due.OFF, ())
    stored = world.subscribers.get("ann")
    assert isinstance(stored, Subscriber)
    assert stored.status is SubscriberStatus.ACTIVE
    assert verdict(found)[0].startswith("ann is dormant after a long time without activity")


def test_explain_lists_latest_runs_of_all_schedules_newest_first(
    world: World,
) -> None:
    world.choose(like=Frequency.WEEKLY, comment=Frequency.IMMEDIATE, at=NOW + SECOND)
    for number in range(6):
        some = {"comment": f"e{number}", "like": f"l{number}", "share": f"s{number}"}
        now = world.clock()
        world.create(*(an_event(id_, category=name, occurred_at=now) for name, id_ in some.items()))
        world.deliver_queued()
        world.send_digest()
    world.send_digest("weekly")
    runs = [entry.run for entry in explained(world).runs]
    assert len(runs) == LAST < len(world.runs.rows)
    assert runs == sorted(world.runs.rows.values(), key=lambda run: run.due_at)[: -LAST - 1 : -1]
    assert {run.key.schedule for run in runs} == {DAILY, "weekly", AT_ONCE}


def test_open_run_is_listed_at_any_age(world: World) -> None:
    """It holds up all that came after it."""
    world.mailer.script.append(Uncertain(1))
    for number in range(LAST + 3):
        world.create(an_event(f"e{number}"))
        world.send_digest()
    stories = explained(world).runs
    assert [entry.run.key.sequence for entry in stories] == [*range(LAST + 3, 3, -1), 1]
    assert stories[-1].run.status is Status.UNKNOWN


def test_date_is_interpreted_in_the_readers_time_zone() -> None:
    """Midnight in Auckland is noon of the day before in UTC."""
    world = World()
    register(world, "Pacific/Auckland", DigestTimes(hour=0, minute=0))
    for number in range(2):
        world.create(an_event(f"e{number}"))
        world.send_digest()
    first, second = sorted(world.runs.rows.values(), key=lambda run: run.due_at)
    assert first.due_at.date() == date(2026, 11, 22) < date(2026, 11, 23)
    for on, shown in (
        (date(2026, 11, 22), []),
        (date(2026, 11, 23), [first]),
        (date(2026, 11, 24), [second]),
    ):
        assert [entry.run for entry in explained(world, on).runs] == shown
    assert outlook(world, date(2026, 11, 24)).on_date == second.due_at


@pytest.mark.parametrize(
    ("zone", "wanted", "utc"),
    [
        ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29T01:00Z"),
        ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25T00:30Z"),
        ("Africa/Cairo", "2026-04-24 00:00", "2026-04-23T22:00Z"),
        ("Africa/Cairo", "2026-10-29 23:00", "2026-10-29T20:00Z"),
        ("America/Havana", "2026-11-01 00:00", "2026-11-01T04:00Z"),
    ],
)
def test_date_with_a_clock_change_has_a_single_digest(zone: str, wanted: str, utc: str) -> None:
    """Where the hour is skipped or comes twice, also around midnight."""
    world, due, local = World(), datetime.fromisoformat(utc), datetime.fromisoformat(wanted)
    world.clock.now = due - timedelta(hours=20)
    register(world, zone, DigestTimes(local.hour, local.minute))
    world.arm()
    on = local.date()
    predicted = outlook(world, on).on_date
    for _ in range(3):
        world.send_digest()
    (entry,) = explained(world, on).runs
    assert entry.run.due_at == predicted == due


def test_date_excluded_by_the_schedule_has_no_digest(world: World) -> None:
    world.choose(like=Frequency.WEEKLY, at=NOW + SECOND)
    monday, tuesday = date(2026, 11, 23), date(2026, 11, 24)
    assert outlook(world, monday, "weekly").on_date == datetime(2026, 11, 23, 7, tzinfo=UTC)
    assert outlook(world, tuesday, "weekly").on_date is None
    assert outlook(world, tuesday).on_date == datetime(2026, 11, 24, 7, tzinfo=UTC)
    assert outlook(world).on_date is None, "no date was asked for"


def test_date_omitted_by_the_time_zone_has_no_digest() -> None:
    """Samoa went from 29 to 31 December 2011."""
    world = World()
    world.clock.now = datetime(2011, 12, 20, tzinfo=UTC)
    register(world, "Pacific/Apia", DigestTimes(hour=8, minute=0))
    assert outlook(world, date(2011, 12, 30)).on_date is None
    assert outlook(world, date(2011, 12, 31)).on_date is not None


def test_unknown_time_zone_is_reported_with_all_remaining_data(world: World) -> None:
    world.create(an_event())
    world.send_digest()
    profile, schedule = world.subscribers.rows["ann"], world.schedules.rows["ann", DAILY]
    assert not isinstance(profile, Erased)
    world.subscribers.rows["ann"] = replace(profile, time_zone="Mars/Base")
    wanted = replace(schedule.recurrence, time_zone="Mars/Base")
    world.schedules.rows["ann", DAILY] = replace(schedule, recurrence=wanted)
    found = explained(world, date(2026, 11, 23))
    assert (found.time_zone, found.zone.key) == ("Mars/Base", "UTC")
    assert [each.hour for each in found.outlooks[0].next] == [7, 8, 8]
    assert found.outlooks[0].on_date == datetime(2026, 11, 23, 8, tzinfo=UTC)
    assert len(found.runs) == 1


def test_choice_falls_back_to_the_stage_default_and_daily() -> None:
    world = World(defaults=(("like", Frequency.NEVER), ("mention", Frequency.IMMEDIATE)))
    world.choose(mention=Frequency.WEEKLY)
    world.create(an_event(category="comment"))
    found = explained(world)
    assert found.choices == (
        Choice("comment", Frequency.DAILY, None, None),
        Choice("like", Frequency.NEVER, None, Frequency.NEVER),
        Choice("mention", Frequency.WEEKLY, Frequency.WEEKLY, Frequency.IMMEDIATE),
    )
    assert found.chosen_at == NOW


def test_general_choice_is_listed_first_and_applied_to_categories() -> None:
    world = World()
    world.choose(at=NOW - timedelta(days=2), comment=Frequency.DAILY)
    choice = OwnChoice(frequency=Frequency.WEEKLY)
    world.say(ChoosePreferences("ann", choice, NOW))
    world.create(an_event(category="like"))
    assert [(each.category, each.frequency, each.chosen) for each in explained(world).choices] == [
        ("*", Frequency.WEEKLY, Frequency.WEEKLY),
        ("comment", Frequency.DAILY, Frequency.DAILY),
        ("like", Frequency.WEEKLY, Frequency.WEEKLY),
    ]


def test_reader_without_choices_has_no_choice_time(world: World) -> None:
    assert explained(world).chosen_at is None


def test_follows_are_counted_and_frequency_overrides_listed(world: World) -> None:
    for number in range(3):
        world.follow(entity=f"post#{number}")
    world.clock.pass_time(hours=1)
    world.follow(entity="post#1", often=Frequency.NEVER)
    world.follow(entity="post#2", following=False)
    found = explained(world)
    assert found.follows == 2
    (muted,) = found.overrides
    assert (muted.entity, muted.frequency) == ("post#1", Frequency.NEVER)
    assert muted.since == world.clock()


def test_last_activity_and_profile_age_are_reported(world: World) -> None:
    world.subscribers.mark_active("ann", date(2026, 11, 20))
    found = explained(world)
    assert (found.active_on, found.changed_at) == (date(2026, 11, 20), NOW)
    assert found.now == NOW


def test_explanation_contains_no_address_or_content(world: World) -> None:
    world.create(an_event(excerpt="a secret", actor="Bo"))
    world.send_digest()
    world.create(an_event("e2", excerpt="a secret", actor="Bo"))
    told = repr(explained(world))
    assert not [
        word for word in ("@example.com", "secret", "Title of", "'Ann'", "Bo") if word in told
    ]


def test_explain_writes_no_data(world: World) -> None:
    world.follow()
    world.create(an_event())
    world.send_digest()
    with world.calls() as called:
        explained(world)
        explained(world, date(2026, 11, 23))
    assert set(called) == {
        "category_holds.active",
        "subscribers.get",
        "suppressions.get",
        "schedules.of_user",
        "runs.of_user",
        "events.of_user",
        "follows.followed_by",
        "follows.get_many",
    }


def test_run_of_another_reader_is_not_shown(world: World) -> None:
    world.runs.create(a_run(user_id="bo"))
    world.runs.create(replace(a_run(), due_at=BEGINNING))
    assert [entry.run.key.user_id for entry in explained(world).runs] == ["ann"]


def test_muted_things_and_their_waiting_events_are_listed(world: World) -> None:
    world.create(an_event("e1"), an_event("e2", entity_id="other"))
    world.mute()
    found = explained(world)
    assert [mute.entity for mute in found.mutes] == ["post#post1"]
    assert [each.count for each in found.muted] == [each.count for each in found.waiting] == [1]
    said = " ".join(verdict(found))
    assert "1 event about things that the reader muted will not be sent." in said
    world.send_digest()
    assert not explained(world).muted


def test_empty_digest_names_the_muted_things(world: World) -> None:
    world.create(an_event("e1"))
    world.mute()
    world.send_digest()
    assert "Muted by the reader: post#post1. Their events are not sent." in verdict(
        explained(world)
    )


def test_critical_event_about_a_muted_thing_counts_as_waiting() -> None:
    world = World(critical=frozenset({"password"}))
    world.choose()
    world.mute()
    world.create(an_event("e1", category="password"))
    assert [each.count for each in explained(world).waiting] == [1]
