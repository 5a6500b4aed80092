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
def test_trace_d_every_delivery_event_proves_acceptance_in_any_status(
    kind: DeliveryEventType, status: Status
) -> None:
    """Of retrying, failed and cancelled runs too: else a second email would follow."""
    world = having(a_claimed_run(status=status))
    run = world.feedback(replace(EVENT, type=kind))
    assert run
    assert (run.status, run.reason, run.message_id) == (Status.SENT, Reason.EVIDENCE, "m1")
    assert world.runs.rows[KEY] == run


def test_delivery_event_of_sent_run_leaves_run_unchanged() -> None:
    sent = a_claimed_run(status=Status.SENT, reason=Reason.ACCEPTED, message_id="m0")
    world = having(sent)
    with world.calls() as called:
        assert world.feedback(EVENT) == sent
    assert called == ["runs.get_many", "evidence_log.record", "engagements.record"]


def test_rendering_failure_does_not_prove_acceptance() -> None:
    world = having(a_claimed_run(status=Status.UNKNOWN))
    run = world.feedback(replace(EVENT, type=DeliveryEventType.RENDERING_FAILED))
    assert run
    assert run.status is Status.UNKNOWN


def test_run_settled_by_evidence_has_acceptance_time() -> None:
    """Not when the delivery event came, which may be hours later."""
    world = having(a_claimed_run(status=Status.UNKNOWN))
    taken = NOW - timedelta(hours=3)
    run = world.feedback(replace(EVENT, sent_at=taken))
    assert run is not None
    assert (run.status, run.sent_at) == (Status.SENT, taken)


@pytest.mark.parametrize("delivery_event", [EVENT, replace(EVENT, run=None)])
def test_delivery_event_without_run_proves_events_are_received(
    delivery_event: DeliveryEvent,
) -> None:
    """Of the canary, or of a run that has expired."""
    world = World()
    assert world.feedback(delivery_event) is None
    assert world.evidence_log.latest() == NOW


def test_delivery_event_receipt_is_recorded_after_run_is_settled() -> None:
    """Else a crash between the two would let the sweep send what it says was taken."""
    world = having(a_claimed_run(status=Status.UNKNOWN))
    with world.calls() as called:
        world.feedback(EVENT)
    assert called == ["runs.get_many", "runs.swap", "evidence_log.record", "engagements.record"]


def test_misdirected_service_event_returns_to_quarantine() -> None:
    """There is no other copy of it."""
    world = World()

    def decode(body: str) -> DeliveryEvent | None:
        raise ForeignEvent(f"{body} is of source shop")

    with world.calls() as called:
        done = world.processed("an event", decode=decode)
    assert done is None
    assert world.quarantine.kept == [("an event", "an event is of source shop")]
    assert called == ["quarantine.keep"]


def test_older_delivery_event_keeps_latest_evidence_time() -> None:
    world = World()
    world.feedback(EVENT)
    world.feedback(replace(EVENT, sent_at=NOW - timedelta(hours=1)))
    assert world.evidence_log.latest() == NOW


def test_report_settles_its_run_but_is_no_evidence_for_resend() -> None:
    """A service that reports clicks only says nothing about emails without a report."""
    world = having(a_claimed_run(status=Status.UNKNOWN))
    world.feedback(replace(EVENT, is_reported=True))
    assert world.evidence_log.latest() is None
    stored = world.runs.get(KEY)
    assert stored
    assert stored.status is Status.SENT


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
def test_repeated_delivery_events_in_any_order_store_same_rows(
    delivery_events: list[DeliveryEvent], data: st.DataObject
) -> None:
    again = (
        data.draw(st.lists(st.sampled_from(delivery_events), max_size=4)) if delivery_events else []
    )
    shuffled = data.draw(st.permutations(delivery_events + again))
    assert told(shuffled).engagements.rows == told(delivery_events).engagements.rows


@given(A_MESSAGES_EVENTS)
def test_first_time_of_each_delivery_event_type_is_kept(
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


def test_delivery_outcome_is_stored_with_sent_email() -> None:
    (row,) = told([EVENT]).engagements.rows.values()
    assert (row.variant, row.locale) == (Variant(2, "subject"), "de-AT")
    assert row.categories == ("mention", "comment")


@pytest.mark.parametrize("kind", ACCUSING)
def test_event_without_recipient_is_not_a_bounce_or_complaint(kind: DeliveryEventType) -> None:
    """An automatic reply, or a reader who says that it is no spam: the email arrived."""
    world = having(replace(SENT, status=Status.UNKNOWN))
    run = world.feedback(replace(EVENT, type=kind))
    assert run
    assert run.status is Status.SENT
    assert not world.engagements.rows


def test_event_without_timestamp_uses_send_time() -> None:
    (row,) = told([replace(EVENT, type=DeliveryEventType.REJECTED)]).engagements.rows.values()
    assert row.first == {EngagementEvent.REJECTED: NOW}


@pytest.mark.parametrize(("seconds", "counts"), [(0, False), (59, False), (60, True)])
def test_click_within_a_minute_is_attributed_to_scanner(seconds: int, counts: bool) -> None:
    """It still proves that the email was sent."""
    world = having(replace(SENT, status=Status.UNKNOWN))
    run = world.feedback(replace(CLICK, at=NOW + timedelta(seconds=seconds)))
    assert run
    assert run.status is Status.SENT
    assert bool(world.engagements.rows) == bool(world.bus.taken) == counts


def test_every_click_counts_as_reader_activity() -> None:
    """The second may come when the reader has rested since the first."""
    later = replace(CLICK, at=NOW + timedelta(days=50))
    world = told([CLICK, later, CLICK])
    assert world.bus.taken == [
        MarkActive(KEY.user_id, NOW + timedelta(minutes=5)),
        MarkActive(KEY.user_id, NOW + timedelta(days=50)),
        MarkActive(KEY.user_id, NOW + timedelta(minutes=5)),
    ]


@pytest.mark.parametrize("kind", sorted(set(DeliveryEventType) - {DeliveryEventType.CLICKED}))
def test_opens_count_as_activity_only_if_enabled(kind: DeliveryEventType) -> None:
    world = having(SENT)
    world.feedback(replace(CLICK, type=kind))
    assert world.bus.taken == []
    world.signs_of_life = frozenset({DeliveryEventType.OPENED})
    world.feedback(replace(CLICK, type=kind))
    assert bool(world.bus.taken) == (kind is DeliveryEventType.OPENED)


def test_delivery_event_is_retried_if_event_bus_fails() -> None:
    world = having(SENT)
    world.bus.answers.append(False)
    with pytest.raises(Unavailable):
        world.feedback(CLICK)
    world.feedback(CLICK)
    assert len(world.bus.taken) == 1
