"""Critical categories: they come whatever the reader chose, and stop with the address alone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest
from gazette.domain.commands import (
    ChangeSubscriber,
    ChoosePreferences,
    CreateActivity,
    EraseSubscriber,
)
from gazette.domain.delivery.pace import PacePlan, Quota
from gazette.domain.delivery.redrive import RedriveResult
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.identity import address_hash, parse_run_id, run_id
from gazette.domain.model import RunKey, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule, is_critical
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.support.dry_run import dry_run
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import (
    KEY,
    NOW,
    a_bounce,
    a_complaint,
    a_follow,
    a_subscriber,
    an_activity,
    an_event,
)
from tests.fake_stores import FakeRateLimiter
from tests.world import World, crashes, events_in

DAY = timedelta(days=1)
SECURITY = frozenset({"security"})
CRITICAL = critical_schedule("post#post1")
ANN = address_hash("ann@example.com")

Act = Callable[[World], object]


def a_world(**given: object) -> World:
    """Ann hears of mentions at once, of the rest daily; the stage lists `security` as critical."""
    world = World(critical=SECURITY, **given)  # type: ignore[arg-type]
    world.choose(at=NOW - 2 * DAY, mention=Frequency.IMMEDIATE)
    return world


def put(world: World, event_id: str = "alert", **fields: str) -> list[Outcome]:
    """A new password, say."""
    given = {"category": "security"} | fields
    return world.create(an_event(event_id, occurred_at=world.clock(), **given))  # type: ignore[arg-type]


def sent(world: World) -> list[tuple[str, int]]:
    """The schedule of each email, and how many events it shows."""
    return [(email.schedule, events_in(email.lines)) for email in world.emails()]


def mute(world: World) -> None:
    world.choose(at=NOW - DAY, security=Frequency.NEVER)


def mute_everything(world: World) -> None:
    chosen = Choice(frequency=Frequency.NEVER, frequencies=())
    world.say(ChoosePreferences("ann", chosen, NOW - DAY))


def get_weekly(world: World) -> None:
    world.choose(at=NOW - DAY, security=Frequency.WEEKLY)


def pause(world: World) -> None:
    world.say(ChoosePreferences("ann", Choice(paused_until=date(2027, 1, 1)), NOW - DAY))


def become_dormant(world: World) -> None:
    reader = world.subscribers.rows["ann"]
    assert isinstance(reader, Subscriber)
    world.subscribers.set_dormant(reader)


def leave(world: World) -> None:
    world.unsubscribe()


def leave_at_the_same_address(world: World) -> None:
    """Bo has it too, and nobody asked Ann."""
    world.say(ChangeSubscriber(a_subscriber("bo", email="ann@example.com")))
    world.unsubscribe("bo")


def leave_and_put_the_profile_again(world: World) -> None:
    """By this profile Ann's status becomes `suppressed`."""
    leave_at_the_same_address(world)
    world.choose(at=world.clock())
    world.stop_if_suppressed()


STOPS_OF_READERS = [
    mute,
    mute_everything,
    get_weekly,
    pause,
    become_dormant,
    leave,
    leave_at_the_same_address,
    leave_and_put_the_profile_again,
]


@pytest.mark.parametrize("stop", STOPS_OF_READERS)
def test_critical_event_is_sent_immediately_and_once_despite_all_choices(stop: Act) -> None:
    world = a_world(sunset=45 * DAY)
    stop(world)
    assert put(world) == [Outcome.STORED]
    put(world)
    world.send_everything()
    world.clock.pass_time(days=8)
    world.send_everything()
    assert sent(world) == [(CRITICAL, 1)]


@pytest.mark.parametrize("stop", STOPS_OF_READERS)
def test_choice_made_while_a_critical_event_waits_does_not_stop_delivery(stop: Act) -> None:
    world = a_world(sunset=45 * DAY)
    put(world)
    stop(world)
    world.send_everything()
    assert sent(world) == [(CRITICAL, 1)]


@pytest.mark.parametrize("stop", STOPS_OF_READERS)
def test_critical_email_contains_no_other_events(stop: Act) -> None:
    """Not even what waited on the same entity at once, before the stop."""
    world = a_world(sunset=45 * DAY)
    put(world)
    put(world, "mentioned", category="mention")
    put(world, "liked", category="like")
    assert world.waiting() == {
        "alert": CRITICAL,
        "mentioned": immediate_schedule("post#post1"),
        "liked": "daily",
    }
    stop(world)
    put(world, "alert2")
    world.deliver_queued()
    critical = [email for email in sent(world) if is_critical(email[0])]
    assert critical == [(CRITICAL, 2)]
    if stop in {leave, leave_at_the_same_address, leave_and_put_the_profile_again}:
        world.send_everything()
        assert sent(world) == critical


def leave_and_put(world: World) -> None:
    world.unsubscribe()
    put(world)


def test_critical_event_is_sent_once_if_unsubscribing_and_publishing_crash() -> None:
    """The message of each comes again."""
    for world, where in crashes(a_world, leave_and_put):
        leave_and_put(world)
        world.send_everything()
        assert sent(world) == [(CRITICAL, 1)], where


def come_back(world: World) -> None:
    world.resubscribe()


def deliver(world: World) -> None:
    world.clock.pass_time(seconds=15)
    world.deliver_queued()


def put_both(world: World) -> None:
    """A critical event and another one, on one entity, at once."""
    number = int(world.clock().timestamp())
    put(world, f"alert{number}")
    put(world, f"mention{number}", category="mention")


@given(st.lists(st.sampled_from([*STOPS_OF_READERS, come_back, deliver, put_both, put_both])))
@settings(max_examples=100, deadline=None)
def test_every_history_sends_each_critical_event_in_a_separate_email(acts: list[Act]) -> None:
    world = a_world(sunset=45 * DAY)
    for act in acts:
        act(world)
        world.clock.pass_time(seconds=3)
    world.send_everything()
    alerts = {
        event_id: stored
        for (_, event_id), stored in world.events.rows.items()
        if event_id.startswith("alert") and isinstance(stored, StoredEvent)
    }
    assert len(alerts) == acts.count(put_both)
    assert {stored.schedule for stored in alerts.values()} <= {CRITICAL}
    critical = [number for schedule, number in sent(world) if schedule == CRITICAL]
    assert sum(critical) == len(alerts)
    for run in world.runs.rows.values():
        if run.key.is_critical and run.status is Status.SENT:
            assert run.categories == ("security",)


def bounce(world: World) -> None:
    world.suppressions.add(ANN, Cause.BOUNCED)


def complain(world: World) -> None:
    world.suppressions.add(ANN, Cause.COMPLAINED)


def suppress(world: World) -> None:
    world.suppressions.add(ANN, Cause.MANUAL)


def suppress_for_a_later_cause(world: World) -> None:
    world.suppressions.add(ANN, as_stored(Cause, "moved"))


def leave_then_bounce(world: World) -> None:
    world.unsubscribe()
    world.suppressions.add(ANN, Cause.BOUNCED)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    "stop", [bounce, complain, suppress, suppress_for_a_later_cause, leave_then_bounce]
)
def test_bounce_complaint_or_manual_suppression_stops_critical_email(stop: Act, late: bool) -> None:
    world = a_world()
    if late:
        put(world)
    stop(world)
    world.stop_if_suppressed()
    put(world, "alert2")
    world.send_everything()
    assert not sent(world)
    ended = [(run.status, run.reason) for run in world.runs.rows.values()]
    assert ended == [(Status.SKIPPED, Reason.SUPPRESSED)] * late


@pytest.mark.parametrize(
    "stop", [bounce, complain, suppress, suppress_for_a_later_cause, leave_then_bounce]
)
def test_each_event_for_a_suppressed_address_has_the_same_cost(stop: Act) -> None:
    world = a_world()
    stop(world)
    world.stop_if_suppressed()
    costs = set()
    for number in range(40):
        with world.calls() as called:
            assert put(world, f"alert{number}") == [Outcome.UNSUBSCRIBED]
        costs.add(tuple(called))
        world.clock.pass_time(minutes=1)
        world.deliver_queued()
    (cost,) = costs
    assert len(cost) == 4
    assert not world.runs.rows
    assert not world.events.rows


def test_activity_for_a_suppressed_follower_starts_no_run() -> None:
    world = a_world()
    world.follow("ann", "post#post1")
    bounce(world)
    world.stop_if_suppressed()
    for number in range(3):
        activity = an_activity(f"alert{number}", category="security")
        assert world.say(CreateActivity(activity)) == [Outcome.STORED]
    assert not world.runs.rows
    assert not world.events.rows


def test_events_published_after_a_suppression_is_lifted_are_sent() -> None:
    world = a_world()
    world.unsubscribe()
    bounce(world)
    assert put(world) == [Outcome.UNSUBSCRIBED]
    world.suppressions.lift(ANN, Cause.BOUNCED)
    assert put(world, "alert2") == [Outcome.STORED]
    assert put(world) == [Outcome.STORED]
    world.send_everything()
    assert sent(world) == [(CRITICAL, 2)]


def test_critical_event_is_kept_if_the_suppression_lookup_fails() -> None:
    world = a_world()
    world.unsubscribe()

    def around(name: str, call: Callable[[], object]) -> object:
        if name == "suppressions.holds":
            raise Unavailable("no answer")
        return call()

    with world.watched(around), pytest.raises(Unavailable):
        put(world)
    assert put(world) == [Outcome.STORED]


def test_bounce_of_a_critical_email_stops_the_next_email() -> None:
    for report in (a_bounce, a_complaint):
        world = a_world()
        world.unsubscribe()
        put(world)
        world.send_everything()
        (run,) = world.runs.rows.values()
        world.feedback(report(run=run.key))
        world.clock.pass_time(minutes=5)
        put(world, "alert2")
        world.send_everything()
        assert sent(world) == [(CRITICAL, 1)]


def test_noncritical_run_is_not_sent_after_unsubscribing_even_if_unsuppressed() -> None:
    world = a_world()
    put(world, "mentioned", category="mention")
    leave(world)
    world.suppressions.lift(ANN, Cause.UNSUBSCRIBED)
    world.send_everything()
    assert not sent(world)


def test_new_owner_of_a_user_id_gets_no_earlier_critical_events() -> None:
    world = a_world()
    world.clock.pass_time(minutes=1)
    world.say(EraseSubscriber("ann", world.clock()))
    world.clock.pass_time(minutes=1)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), email="new@example.com")))
    late = an_event("alert", category="security", occurred_at=NOW)
    assert world.create(late) == [Outcome.ERASED]
    world.send_everything()
    assert not sent(world)


@pytest.mark.parametrize("late", [False, True])
def test_erased_reader_gets_no_critical_email(late: bool) -> None:
    world = a_world()
    if late:
        put(world)
    world.erase(at=world.clock())
    assert put(world, "alert2") == [Outcome.ERASED]
    world.send_everything()
    assert not sent(world)


def test_republished_profile_at_an_unsubscribed_address_is_suppressed() -> None:
    """So the status does not tell why nothing else comes; the cause at the address does."""
    world = a_world()
    leave_and_put_the_profile_again(world)
    reader = world.subscribers.rows["ann"]
    assert isinstance(reader, Subscriber)
    assert reader.status is SubscriberStatus.SUPPRESSED


def test_critical_event_waits_for_the_profile_and_ignores_earlier_choices() -> None:
    world = World(critical=SECURITY)
    world.say(ChoosePreferences("ann", Choice(frequency=Frequency.NEVER, frequencies=()), NOW))
    assert put(world) == [Outcome.STORED]
    world.send_everything()
    assert not sent(world)
    world.choose(at=NOW)
    world.send_everything()
    assert sent(world) == [(CRITICAL, 1)]


def test_critical_activity_reaches_followers_despite_muted_follows() -> None:
    world = a_world()
    muted = FollowState(True, Frequency.NEVER)
    world.follows.put(replace(a_follow(), changes=((NOW - DAY, muted),)), replacing=None)
    through = an_event("alert", category="security", via=("post#post1",))
    other = an_event("other", category="security", via=("post#post2",))
    assert world.create(through, other) == [Outcome.STORED, Outcome.NOT_FOLLOWED]
    world.send_everything()
    assert sent(world) == [(CRITICAL, 1)]


def test_reader_with_only_critical_events_is_not_visited_by_fan_out() -> None:
    world = a_world()
    world.send_everything()
    before = dict(world.schedules.rows)
    put(world)
    assert world.schedules.rows == before


def test_domain_warmup_does_not_delay_critical_email() -> None:
    world = a_world()
    plan = PacePlan(rate=500, warmup_from=world.clock().date(), warmup_daily=1)
    world.immediate_rate_limiter = FakeRateLimiter(plan)
    for number in range(2):
        put(world, f"alert{number}", entity_id=f"post{number}")
        put(world, f"mention{number}", entity_id=f"thing{number}", category="mention")
    world.deliver_queued()
    assert [is_critical(schedule) for schedule, _ in sent(world)].count(True) == 2
    world.clock.pass_time(days=3)
    world.deliver_queued()
    assert len(sent(world)) == 4, "what waited for the next day comes, and nothing twice"


def test_critical_email_waits_for_the_account_quota_and_is_not_dropped() -> None:
    world = a_world()
    world.immediate_rate_limiter = FakeRateLimiter(PacePlan(rate=500))
    quota = Quota(rate=500, daily=200, left=1)
    world.immediate_rate_limiter.row.set_quota(quota, world.clock() + timedelta(minutes=5))
    for number in range(2):
        put(world, f"alert{number}", entity_id=f"post{number}")
    world.deliver_queued()
    assert len(sent(world)) == 1
    world.clock.pass_time(days=1)
    world.deliver_queued()
    assert len(sent(world)) == 2


def test_redriven_critical_run_is_sent_after_unsubscribing() -> None:
    for stopped, bounced, result in (
        (leave, False, RedriveResult.STARTED),
        (leave_at_the_same_address, False, RedriveResult.STARTED),
        (pause, False, RedriveResult.STARTED),
        (leave, True, RedriveResult.RECEIVES_NO_EMAIL),
    ):
        world = a_world()
        put(world)
        stopped(world)
        (run,) = world.runs.rows.values()
        failed = replace(run, status=Status.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED)
        world.runs.rows[run.key] = failed
        if bounced:
            world.suppressions.add(ANN, Cause.BOUNCED)
        assert world.redrive(failed).result is result


@pytest.mark.parametrize("stop", [leave, leave_at_the_same_address, pause])
def test_failed_noncritical_run_is_not_redriven_for_opted_out_reader(stop: Act) -> None:
    world = a_world()
    put(world, "mentioned", category="mention")
    (run,) = world.runs.rows.values()
    stop(world)
    failed = replace(run, status=Status.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED)
    world.runs.rows[run.key] = failed
    assert world.redrive(failed).result is not RedriveResult.STARTED


def test_noncritical_events_are_not_stored_after_unsubscribing() -> None:
    world = a_world()
    leave(world)
    assert put(world, "mentioned", category="mention") == [Outcome.UNSUBSCRIBED]
    assert not world.events.rows


def test_dry_run_reports_whether_a_critical_run_would_be_sent() -> None:
    for category, cause, would_send in (
        ("security", Cause.UNSUBSCRIBED, True),
        ("security", Cause.BOUNCED, False),
        ("mention", Cause.UNSUBSCRIBED, False),
    ):
        world = a_world()
        put(world, category=category)
        leave_at_the_same_address(world)
        world.suppressions.add(ANN, cause)
        world.clock.pass_time(minutes=1)
        (key,) = world.runs.rows
        said = dry_run(key, context=world.dry_run_context())
        assert said
        assert said.would_send is would_send


def test_preference_change_moves_events_of_a_newly_critical_category() -> None:
    world = World()
    world.choose(at=NOW - 2 * DAY)
    put(world)
    assert world.waiting() == {"alert": "daily"}
    world.context = replace(world.context, critical=SECURITY)
    mute(world)
    assert world.waiting() == {"alert": CRITICAL}
    world.send_everything()
    assert sent(world) == [(CRITICAL, 1)]


def test_formerly_critical_category_obeys_opt_outs() -> None:
    world = a_world()
    put(world)
    world.context = replace(world.context, critical=frozenset())
    mute(world)
    world.send_everything()
    assert not sent(world)


def amend_to_a_like(world: World) -> list[Outcome]:
    at = NOW + timedelta(seconds=1)
    return world.create(replace(an_event("alert", category="like"), amended_at=at))


def a_world_with_an_alert() -> World:
    world = a_world()
    put(world)
    return world


def test_interrupted_amendment_to_a_noncritical_category_obeys_unsubscribing() -> None:
    """Its message comes again, but later than the run."""
    for world, where in crashes(a_world_with_an_alert, amend_to_a_like):
        leave(world)
        world.send_everything()
        for run in world.runs.rows.values():
            if run.status is Status.SENT:
                assert run.categories == ("security",), where


def test_amendment_to_a_noncritical_category_moves_unsent_events() -> None:
    world = a_world_with_an_alert()
    assert amend_to_a_like(world) == [Outcome.AMENDED]
    assert world.waiting() == {"alert": "daily"}
    world.send_everything()
    assert [schedule for schedule, _ in sent(world)] == ["daily"]


def test_amendment_to_a_noncritical_category_leaves_sent_events_unchanged() -> None:
    world = a_world_with_an_alert()
    world.send_everything()
    assert amend_to_a_like(world) == [Outcome.DUPLICATE]
    world.send_everything()
    assert sent(world) == [(CRITICAL, 1)]


def test_critical_run_id_is_parsed_as_immediate() -> None:
    key = RunKey("ann", CRITICAL, 7)
    assert parse_run_id(run_id(key)) == key
    assert key.is_immediate
    assert key.is_critical
    assert not RunKey("ann", immediate_schedule("post#post1"), 7).is_critical
    assert not KEY.is_critical


def test_reader_with_an_unknown_status_gets_no_email() -> None:
    world = a_world()
    put(world)
    reader = world.subscribers.rows["ann"]
    assert isinstance(reader, Subscriber)
    unknown = as_stored(SubscriberStatus, "asleep")
    world.subscribers.rows["ann"] = replace(reader, status=unknown)
    (key,) = world.runs.rows
    world.clock.pass_time(minutes=1)
    with pytest.raises(UnreadableRow):
        world.deliver(key)
    assert not sent(world)
