"""Bounces and complaints suppress an address, and its readers get no more email."""

import itertools
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import DeliveryEvent, Fault
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.calendar import LONGEST_PAUSE
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, SoftLimit
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_bounce, a_complaint, a_run, a_subscriber, an_event
from tests.world import SOFT_LIMIT, World, crashes, interleavings

ANN = address_hash("ann@example.com")
DAY = timedelta(days=1)
SOFT = (Fault.SOFT, Fault.UNDETERMINED)


def a_reader() -> World:
    """Ann has two schedules in the due index; one run was sent and one is open."""
    world = World()
    world.choose(at=NOW - DAY, like=Frequency.WEEKLY)
    world.arm()
    world.runs.create(replace(a_run(1), status=Status.SENT))
    world.runs.create(a_run(2))
    return world


@pytest.fixture
def world() -> World:
    return a_reader()


def status(world: World) -> SubscriberStatus:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader.status


def moves(world: World, email: str = "ann@example.org") -> None:
    """The producer puts the profile with another address."""
    world.clock.pass_time(minutes=1)
    known = world.subscribers.get("ann")
    assert isinstance(known, Subscriber)
    world.say(ChangeSubscriber(replace(known, email=email, changed_at=world.clock())))


@pytest.mark.parametrize(
    ("delivery_event", "cause"), [(a_bounce(), Cause.BOUNCED), (a_complaint(), Cause.COMPLAINED)]
)
def test_hard_bounce_or_complaint_stops_all_email(
    world: World, delivery_event: DeliveryEvent, cause: Cause
) -> None:
    for _ in range(2):
        world.feedback(delivery_event)
        assert world.suppressions.rows == {ANN: cause}
        assert status(world) is SubscriberStatus.SUPPRESSED
        assert world.schedules.withdrawn == {("ann", DAILY), ("ann", "weekly")}


def test_interrupted_suppression_is_complete_after_a_repetition() -> None:
    def complain(world: World) -> None:
        world.feedback(a_complaint())

    for world, where in crashes(a_reader, complain):
        complain(world)
        assert world.suppressions.rows == {ANN: Cause.COMPLAINED}, where
        assert status(world) is SubscriberStatus.SUPPRESSED, where
        assert not world.schedules.listed, where


def test_bounce_processed_before_the_last_look_stops_the_email() -> None:
    """The worker read the status before it changed: rule 11."""

    def make() -> World:
        world = a_reader()
        world.create(an_event())
        world.clock.pass_time(minutes=5)
        return world

    def bounce(world: World) -> None:
        world.feedback(a_bounce())

    later = [
        where.partition(",")[0]
        for world, where in interleavings(make, lambda world: world.deliver(a_run(2).key), bounce)
        if world.emails()
    ]
    assert later == ["before mailer.send", "before runs.swap"]


def test_trace_y_complaint_stops_email_to_every_reader_of_the_address() -> None:
    """Whose runs nobody can find by the address: at any call before the provider's."""

    def make() -> World:
        world = a_reader()
        other = a_subscriber("bo", email="ann@example.com")
        world.subscribers.put(other, replacing=None)
        world.runs.create(a_run(1, user_id="bo"))
        world.create(an_event(user_id="bo"))
        world.clock.pass_time(minutes=5)
        return world

    later = []
    for world, where in interleavings(
        make,
        lambda world: world.deliver(a_run(1, user_id="bo").key),
        lambda world: world.feedback(a_complaint()),
    ):
        if world.emails():
            later.append(where)
    assert [where.partition(",")[0] for where in later] == [
        "before mailer.send",
        "before runs.swap",
    ]


def test_failed_suppression_lookup_leaves_no_unknown_outcome() -> None:
    world = a_reader()
    world.create(an_event())
    world.clock.pass_time(minutes=5)

    def fail(_: str, *, critical: bool) -> bool:
        raise Unavailable("The table did not answer.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world.suppressions, "holds", fail)
        with pytest.raises(Unavailable):
            world.deliver(a_run(2).key)
    run = world.runs.rows[a_run(2).key]
    assert (run.status, run.uncertain) == (Status.RETRYING, frozenset())


def test_reader_with_a_concurrently_changed_address_stays_active(world: World) -> None:
    moves(world)
    world.feedback(a_bounce())
    assert world.suppressions.rows == {ANN: Cause.BOUNCED}
    assert status(world) is SubscriberStatus.ACTIVE
    assert not world.schedules.withdrawn


def test_reader_moving_to_an_address_being_suppressed_is_stopped() -> None:
    """Whoever of the two comes second sees the other."""
    there = "bo@example.com"

    def bounce(world: World) -> None:
        world.feedback(a_bounce(address=there))

    def move(world: World) -> None:
        moves(world, there)

    for act, other in ((move, bounce), (bounce, move)):
        for world, where in interleavings(a_reader, act, other):
            assert status(world) is SubscriberStatus.SUPPRESSED, where
            assert not world.schedules.listed, where


def test_reader_leaving_an_address_being_suppressed_stays_active() -> None:
    def bounce(world: World) -> None:
        world.feedback(a_bounce())

    for act, other in ((moves, bounce), (bounce, moves)):
        for world, where in interleavings(a_reader, act, other):
            assert status(world) is SubscriberStatus.ACTIVE, where
            assert not world.schedules.withdrawn, where


def test_republished_profile_suppresses_the_reader_of_a_suppressed_address(
    world: World,
) -> None:
    world.suppressions.add(ANN, Cause.MANUAL)
    world.choose(at=NOW - DAY, like=Frequency.WEEKLY)
    assert status(world) is SubscriberStatus.SUPPRESSED
    assert not world.schedules.listed


def test_reader_found_at_a_suppressed_address_is_withdrawn(world: World) -> None:
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    world.suppressions.add(ANN, Cause.MANUAL)
    world.generate(a_run(2).key)
    assert status(world) is SubscriberStatus.SUPPRESSED
    assert not world.schedules.listed


def test_next_digest_completes_a_suppression_interrupted_by_a_crash() -> None:
    def make() -> World:
        world = a_reader()
        world.create(an_event())
        world.clock.pass_time(minutes=5)
        world.suppressions.add(ANN, Cause.MANUAL)
        return world

    for world, where in crashes(make, lambda world: world.generate(a_run(2).key)):
        world.generate(a_run(2).key)
        world.runs.create(a_run(3))
        world.generate(a_run(3).key)
        for _ in range(3):  # a claim that was not given back is settled by the sweep
            world.clock.pass_time(hours=8)
            world.sweep()
            world.generate(a_run(3).key)
        assert status(world) is SubscriberStatus.SUPPRESSED, where
        assert not world.schedules.listed, where
        assert not world.emails(), where


def test_address_suppressed_without_a_reader_gets_no_email(world: World) -> None:
    """By an operator, or for another reader of the same address; what happens meanwhile waits."""
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    world.suppressions.add(address_hash("Ann@Example.com"), Cause.MANUAL)
    world.deliver(a_run(2).key)
    run = world.runs.rows[a_run(2).key]
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.SUPPRESSED)
    world.suppressions.rows.clear()
    world.runs.create(a_run(3))
    world.deliver(a_run(3).key)
    assert len(world.emails()) == 1


def test_unsubscribed_reader_with_a_complaint_cannot_resubscribe() -> None:
    """In either order; and no new address brings them back."""
    for acts in (("unsubscribe", "complain"), ("complain", "unsubscribe")):
        world = a_reader()
        for act in acts:
            world.unsubscribe() if act == "unsubscribe" else world.feedback(a_complaint())
        assert status(world) is SubscriberStatus.UNSUBSCRIBED
        assert world.suppressions.rows == {ANN: Cause.COMPLAINED}
        assert not world.resubscribe()
        moves(world)
        assert status(world) is SubscriberStatus.UNSUBSCRIBED


@pytest.mark.parametrize("delivery_event", [a_bounce(run=None), a_complaint(run=None)])
def test_bounce_of_an_email_without_a_reader_suppresses_no_address(
    world: World, delivery_event: DeliveryEvent
) -> None:
    """The canary goes to nobody's address."""
    world.feedback(delivery_event)
    assert not world.suppressions.rows


def test_address_is_suppressed_even_without_a_reader() -> None:
    world = World()
    world.feedback(a_bounce())
    assert world.suppressions.rows == {ANN: Cause.BOUNCED}
    world.choose()
    assert status(world) is SubscriberStatus.SUPPRESSED


def test_bounces_caused_by_message_content_are_not_counted(world: World) -> None:
    for number in range(20):
        world.feedback(a_bounce(Fault.OF_MESSAGE, f"m{number}"))
    assert status(world) is SubscriberStatus.ACTIVE
    assert not world.bounces.rows


@pytest.mark.parametrize("fault", SOFT)
def test_soft_bounces_suppress_at_the_fifth_message_and_not_before(
    world: World, fault: Fault
) -> None:
    for number in range(1, 6):
        for _ in range(3):
            world.feedback(a_bounce(fault, f"m{number}", sent_at=NOW + number * DAY))
        stopped = number == 5
        assert world.suppressions.rows == ({ANN: Cause.BOUNCED} if stopped else {})
        assert (status(world) is SubscriberStatus.SUPPRESSED) == stopped


RHYTHMS = {
    "daily, little news": 7,
    "weekly": 7,
    "every two weeks": 14,
    "every four weeks": 28,
    "monthly": 31,
}


def bounce_softly(world: World, number: int, days: int) -> None:
    world.feedback(
        a_bounce(
            Fault.SOFT,
            f"m{number}",
            run=sent(world, f"m{number}", number, NOW + days * DAY),
            sent_at=NOW + days * DAY,
        )
    )


def sent(
    world: World, message_id: str, number: int, at: datetime, schedule: str = "weekly"
) -> RunKey:
    """A run of Ann that the provider accepted."""
    run = replace(
        a_run(),
        key=RunKey("ann", schedule, 10 + number),
        status=Status.SENT,
        attempt=1,
        sent_at=at,
        message_id=message_id,
    )
    world.runs.rows[run.key] = run
    return run.key


@pytest.mark.parametrize("days", RHYTHMS.values(), ids=RHYTHMS.keys())
def test_reader_with_only_bounces_is_suppressed_at_any_frequency(world: World, days: int) -> None:
    """Five in a fortnight is more than such a reader can be sent."""
    for number in range(3):
        assert status(world) is SubscriberStatus.ACTIVE
        for _ in range(2):
            bounce_softly(world, number, number * days)
    assert world.suppressions.rows == {ANN: Cause.BOUNCED}
    assert status(world) is SubscriberStatus.SUPPRESSED


def test_pause_between_monthly_digests_does_not_end_a_bounce_streak(world: World) -> None:
    for number, days in enumerate((0, 31, 31 + 31 + 84)):
        bounce_softly(world, number, days)
    assert status(world) is SubscriberStatus.SUPPRESSED


@pytest.mark.parametrize("schedule", ["weekly", "daily", "post0123456789abcdef0123"])
def test_delivered_email_resets_the_bounce_streak(world: World, schedule: str) -> None:
    """Of whatever schedule: the mailbox is there."""
    bounce_softly(world, 0, 0)
    bounce_softly(world, 1, 7)
    sent(world, "arrived", 7, NOW + 10 * DAY, schedule)
    for number in range(2, 4):
        bounce_softly(world, number, 7 * number)
        assert status(world) is SubscriberStatus.ACTIVE
    bounce_softly(world, 4, 28)
    assert status(world) is SubscriberStatus.SUPPRESSED


def test_soft_bounces_among_delivered_emails_do_not_suppress(world: World) -> None:
    for number in range(20):
        sent(world, f"arrived{number}", 100 + number, NOW + (4 * number + 1) * DAY)
        bounce_softly(world, number, 4 * number)
    assert status(world) is SubscriberStatus.ACTIVE


def test_mailbox_outage_below_two_weeks_does_not_suppress_infrequent_readers(
    world: World,
) -> None:
    for number, days in enumerate((0, 4, 8, 13)):
        bounce_softly(world, number, days)
    assert status(world) is SubscriberStatus.ACTIVE


def test_email_with_an_unknown_outcome_does_not_reset_the_bounce_streak(
    world: World,
) -> None:
    sent(world, "", 8, NOW + 3 * DAY)
    for number in range(3):
        bounce_softly(world, number, 7 * number)
    assert status(world) is SubscriberStatus.SUPPRESSED


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_bounces_of_a_streak_may_arrive_in_any_order(world: World, order: tuple[int, ...]) -> None:
    """The run of each is settled before its bounce comes; a bounce that is missing is no proof."""
    for number in range(3):
        sent(world, f"m{number}", number, NOW + 7 * number * DAY)
    for number in order:
        bounce_softly(world, number, 7 * number)
    assert status(world) is SubscriberStatus.SUPPRESSED


def test_bounces_older_than_run_retention_do_not_count(world: World) -> None:
    for number, days in enumerate((0, 1, 200)):
        bounce_softly(world, number, days)
    assert status(world) is SubscriberStatus.ACTIVE


@pytest.mark.parametrize(
    ("bounces", "span", "days", "reached"),
    [
        (5, 14, (0, 7, 14), True),
        (5, 14, (0, 7, 13), False),
        (5, 14, (0, 14), False),
        (2, 14, (0, 14), True),
        (1, 14, (0,), False),
        (5, 30, (0, 14, 28), False),
        (5, 30, (0, 14, 30), True),
        (5, 1, (0, 2, 4), False),
        (5, 1, (0, 7, 14), True),
        (5, 365, (0, 31, 62, 93, 124), False),
        (5, 14, (), False),
    ],
)
def test_bounce_streak_limit_depends_on_the_settings(
    bounces: int, span: int, days: tuple[int, ...], reached: bool
) -> None:
    limit = SoftLimit(bounces=bounces, span=span * DAY)
    assert limit.is_reached_in_a_row([NOW + day * DAY for day in days], ()) == reached


def test_bounces_are_kept_longer_than_any_streak_but_shorter_than_runs() -> None:
    """Otherwise the row expires between two monthly digests, or nobody knows what arrived."""
    assert SOFT_LIMIT.retention >= 2 * 31 * DAY + LONGEST_PAUSE
    assert SOFT_LIMIT.retention < 196 * DAY
    assert SoftLimit(bounces=5, span=365 * DAY).retention == 730 * DAY


DAYS = st.integers(0, 40).map(lambda days: NOW + days * DAY)
EVENTS = st.one_of(
    st.builds(a_bounce, st.sampled_from(Fault), st.sampled_from("abcdefgh"), sent_at=DAYS),
    st.builds(
        lambda number: a_bounce(Fault.SOFT, f"m{number}", sent_at=NOW + number * 4 * DAY),
        st.integers(0, 9),
    ),
    st.just(a_complaint()),
)


@settings(max_examples=60, deadline=None)
@given(delivery_events=st.lists(EVENTS, max_size=9), data=st.data())
def test_delivery_events_in_any_order_lead_to_the_same_state(
    delivery_events: list[DeliveryEvent], data: st.DataObject
) -> None:
    """Of what SES says of the messages to one address, each of them once or several times."""
    repeated = [
        *delivery_events,
        *data.draw(st.lists(st.sampled_from(delivery_events)) if delivery_events else st.just([])),
    ]
    ends = []
    for order in (delivery_events, data.draw(st.permutations(repeated))):
        world = a_reader()
        for delivery_event in order:
            world.feedback(delivery_event)
        stopped = (status(world), world.schedules.withdrawn, world.suppressions.rows)
        ends.append((*stopped, world.bounces.rows))
    assert ends[0] == ends[1]


@given(
    days=st.lists(st.integers(0, 60), max_size=12),
    limit=st.integers(1, 6),
    span=st.integers(1, 20),
)
def test_bounce_limit_applies_to_any_window_of_its_span(
    days: list[int], limit: int, span: int
) -> None:
    at = [NOW + day * DAY for day in days]

    def within(begin: datetime) -> int:
        return sum(begin <= each <= begin + span * DAY for each in at)

    reached = SoftLimit(bounces=limit, span=span * DAY).is_reached(at)
    assert reached == any(within(begin) >= limit for begin in at)


def test_default_limit_is_five_soft_bounces_in_two_weeks() -> None:
    assert SoftLimit(bounces=5, span=14 * DAY) == SOFT_LIMIT


def test_due_run_of_a_bounced_address_is_skipped_as_suppressed(world: World) -> None:
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    world.feedback(a_bounce())
    world.deliver(a_run(2).key)
    run = world.runs.rows[a_run(2).key]
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.SUPPRESSED)
    assert not world.emails()
