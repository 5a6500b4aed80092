"""Any delivery event settles its run, in any order and however often it comes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import MarkActive
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import ForeignEvent, Unavailable
from gazette.domain.feedback.delivery_events import (
    DeliveryEvent,
    DeliveryEventType,
    EngagementEvent,
    Fault,
)
from gazette.domain.feedback.experiment import Variant
from gazette.steps.feedback.feedback import process_delivery_event
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import KEY, NOW, a_claimed_run
from tests.world import World

EVENT = DeliveryEvent(DeliveryEventType.DELIVERED, KEY, 1, "m1", NOW)


def having(run: Run) -> World:
    world = World()
    world.runs.create(run)
    return world


@pytest.mark.parametrize(
    "kind", sorted(set(DeliveryEventType) - {DeliveryEventType.RENDERING_FAILED})
)
@pytest.mark.parametrize("status", sorted(set(Status) - {Status.SENT}))
def test_trace_d_every_delivery_event_proves_acceptance_whatever_the_status(
    kind: DeliveryEventType, status: Status
) -> None:
    """Of retrying, failed and cancelled runs too: else a second email would follow."""
    world = having(a_claimed_run(status=status))
    run = world.feedback(replace(EVENT, type=kind))
    assert run
    assert (run.status, run.reason, run.message_id) == (Status.SENT, Reason.EVIDENCE, "m1")
    assert world.runs.rows[KEY] == run


def test_a_delivery_event_of_what_was_sent_changes_nothing() -> None:
    sent = a_claimed_run(status=Status.SENT, reason=Reason.ACCEPTED, message_id="m0")
    world = having(sent)
    with world.calls() as called:
        assert world.feedback(EVENT) == sent
    assert called == ["runs.get", "evidence_log.record", "engagements.record"]


def test_a_template_of_the_providers_that_failed_proves_nothing() -> None:
    world = having(a_claimed_run(status=Status.UNKNOWN))
    run = world.feedback(replace(EVENT, type=DeliveryEventType.RENDERING_FAILED))
    assert run
    assert run.status is Status.UNKNOWN


def test_a_run_settled_by_evidence_has_the_acceptance_time() -> None:
    """Not when the delivery event came, which may be hours later."""
    world = having(a_claimed_run(status=Status.UNKNOWN))
    taken = NOW - timedelta(hours=3)
    run = world.feedback(replace(EVENT, sent_at=taken))
    assert run is not None
    assert (run.status, run.sent_at) == (Status.SENT, taken)


@pytest.mark.parametrize("delivery_event", [EVENT, replace(EVENT, run=None)])
def test_a_delivery_event_that_names_no_run_still_proves_that_delivery_events_come_in(
    delivery_event: DeliveryEvent,
) -> None:
    """Of the canary, or of a run that has expired."""
    world = World()
    assert world.feedback(delivery_event) is None
    assert world.evidence_log.latest() == NOW


def test_that_a_delivery_event_came_is_noted_only_once_its_run_is_settled() -> None:
    """Else a crash between the two would let the sweep send what it says was taken."""
    world = having(a_claimed_run(status=Status.UNKNOWN))
    with world.calls() as called:
        world.feedback(EVENT)
    assert called == ["runs.get", "runs.swap", "evidence_log.record", "engagements.record"]


def test_an_event_of_a_service_that_was_redriven_here_goes_back_to_the_quarantine() -> None:
    """There is no other copy of it."""
    world = World()

    def decode(body: str) -> DeliveryEvent | None:
        raise ForeignEvent(f"{body} is of source shop")

    with world.calls() as called:
        done = process_delivery_event("an event", decode=decode, context=world.feedback_context())
    assert done is None
    assert world.quarantine.kept == [("an event", "an event is of source shop")]
    assert called == ["quarantine.keep"]


def test_an_older_report_takes_nothing_back() -> None:
    world = World()
    world.feedback(EVENT)
    world.feedback(replace(EVENT, sent_at=NOW - timedelta(hours=1)))
    assert world.evidence_log.latest() == NOW


SENT = replace(
    a_claimed_run(),
    status=Status.SENT,
    reason=Reason.ACCEPTED,
    variant=Variant(2, "subject"),
    locale="de-AT",
    categories=("mention", "comment"),
)
CLICK = replace(EVENT, type=DeliveryEventType.CLICKED, at=NOW + timedelta(minutes=5))
ACCUSING = [DeliveryEventType.BOUNCED, DeliveryEventType.COMPLAINED]
A_MESSAGES_EVENTS = st.lists(
    st.builds(
        lambda kind, seconds: replace(
            EVENT,
            type=kind,
            at=NOW + timedelta(seconds=seconds),
            fault=Fault.OF_MESSAGE if kind in ACCUSING else None,
        ),
        st.sampled_from(DeliveryEventType),
        st.integers(0, 200),
    ),
    max_size=8,
)


def told(delivery_events: Sequence[DeliveryEvent]) -> World:
    world = having(SENT)
    for delivery_event in delivery_events:
        world.feedback(delivery_event)
    return world


@given(A_MESSAGES_EVENTS, st.data())
def test_in_any_order_and_any_number_of_times_events_end_in_the_same_rows(
    delivery_events: list[DeliveryEvent], data: st.DataObject
) -> None:
    again = (
        data.draw(st.lists(st.sampled_from(delivery_events), max_size=4)) if delivery_events else []
    )
    shuffled = data.draw(st.permutations(delivery_events + again))
    assert told(shuffled).engagements.rows == told(delivery_events).engagements.rows


@given(A_MESSAGES_EVENTS)
def test_of_each_event_the_first_instant_is_remembered(
    delivery_events: list[DeliveryEvent],
) -> None:
    expected = {
        EngagementEvent(kind.value): min(
            each.happened_at for each in delivery_events if each.type is kind
        )
        for kind in {each.type for each in delivery_events}
        - {
            DeliveryEventType.CLICKED,
            DeliveryEventType.RENDERING_FAILED,
            DeliveryEventType.SUBSCRIPTION,
        }
    }
    rows = told(delivery_events).engagements.rows
    found = dict(rows[KEY].first) if rows else {}
    found.pop(EngagementEvent.CLICKED, None)
    assert found == expected


def test_what_became_of_an_email_is_kept_with_what_was_sent() -> None:
    (row,) = told([EVENT]).engagements.rows.values()
    assert (row.variant, row.locale) == (Variant(2, "subject"), "de-AT")
    assert row.categories == ("mention", "comment")


@pytest.mark.parametrize("kind", ACCUSING)
def test_an_event_without_a_recipient_is_not_a_bounce_or_complaint(kind: DeliveryEventType) -> None:
    """An automatic reply, or a reader who says that it is no spam: the email arrived."""
    world = having(replace(SENT, status=Status.UNKNOWN))
    run = world.feedback(replace(EVENT, type=kind))
    assert run
    assert run.status is Status.SENT
    assert not world.engagements.rows


def test_an_event_without_a_time_of_its_own_happened_when_the_email_was_sent() -> None:
    (row,) = told([replace(EVENT, type=DeliveryEventType.REJECTED)]).engagements.rows.values()
    assert row.first == {EngagementEvent.REJECTED: NOW}


@pytest.mark.parametrize(("seconds", "counts"), [(0, False), (59, False), (60, True)])
def test_a_click_within_a_minute_is_that_of_a_scanner(seconds: int, counts: bool) -> None:
    """It still proves that the email was sent."""
    world = having(replace(SENT, status=Status.UNKNOWN))
    run = world.feedback(replace(CLICK, at=NOW + timedelta(seconds=seconds)))
    assert run
    assert run.status is Status.SENT
    assert bool(world.engagements.rows) == bool(world.bus.taken) == counts


def test_a_click_is_a_sign_of_life_each_time() -> None:
    """The second may come when the reader has rested since the first."""
    later = replace(CLICK, at=NOW + timedelta(days=50))
    world = told([CLICK, later, CLICK])
    assert world.bus.taken == [
        MarkActive(KEY.user_id, NOW + timedelta(minutes=5)),
        MarkActive(KEY.user_id, NOW + timedelta(days=50)),
        MarkActive(KEY.user_id, NOW + timedelta(minutes=5)),
    ]


@pytest.mark.parametrize("kind", sorted(set(DeliveryEventType) - {DeliveryEventType.CLICKED}))
def test_only_clicks_count_as_activity_unless_opens_do(kind: DeliveryEventType) -> None:
    world = having(SENT)
    world.feedback(replace(CLICK, type=kind))
    assert world.bus.taken == []
    world.signs_of_life = frozenset({DeliveryEventType.OPENED})
    world.feedback(replace(CLICK, type=kind))
    assert bool(world.bus.taken) == (kind is DeliveryEventType.OPENED)


def test_where_the_bus_takes_nothing_the_delivery_event_comes_again() -> None:
    world = having(SENT)
    world.bus.answers.append(False)
    with pytest.raises(Unavailable):
        world.feedback(CLICK)
    world.feedback(CLICK)
    assert len(world.bus.taken) == 1
