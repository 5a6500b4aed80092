"""Delivery events of emails that these tables do not know: they settle nothing, and are kept."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import an_event
from tests.world import World


def put(world: World, number: int) -> None:
    world.create(an_event(f"e{number}", entity_id=f"post{number}", occurred_at=world.clock()))


def three_digests() -> World:
    """Sent, each with one event; and the fourth is due."""
    world = World()
    world.choose(comment=Frequency.DAILY)
    for number in (1, 2, 3):
        put(world, number)
        world.clock.pass_time(hours=1)
        world.send_digest()
    now = world.clock()
    world.runs.create(Run(RunKey("ann", DAILY, 4), due_at=now, check_at=now + timedelta(hours=1)))
    return world


def click(world: World, attempt: int | None = 1) -> DeliveryEvent:
    """A click in the fourth digest: of a stage of the same name, before this one was made."""
    sent_at = world.clock() - timedelta(days=40)
    return DeliveryEvent(DeliveryEventType.CLICKED, RunKey("ann", DAILY, 4), attempt, "m9", sent_at)


@pytest.mark.parametrize("attempt", [1, 2, None])
def test_trace_t_delivery_event_of_unclaimed_run_causes_no_duplicate(
    attempt: int | None,
) -> None:
    world = three_digests()
    world.feedback(click(world, attempt))
    assert [body for body, _ in world.quarantine.kept] == ["the delivery event"]
    put(world, 4)
    world.clock.pass_time(hours=1)
    for number in (4, 5):
        key = RunKey("ann", DAILY, number)
        now = world.clock()
        world.runs.create(Run(key, due_at=now, check_at=now))
        world.generate(key)
    shown = [line for email in world.emails() for line in email.lines]
    assert sorted(shown) == ["post1: 1", "post2: 1", "post3: 1", "post4: 1"]


def test_delivery_event_of_unclaimed_run_is_quarantined_with_reason() -> None:
    world = three_digests()
    latest = world.evidence_log.latest()
    with world.calls() as called:
        run = world.feedback(click(world))
    assert called == ["runs.get_many", "quarantine.keep"]
    assert run == world.runs.rows[RunKey("ann", DAILY, 4)]
    assert run.status is Status.PENDING
    ((body, reason),) = world.quarantine.kept
    assert body == "the delivery event"
    assert "attempt 1 of run ann-daily-4, but only 0 were made" in reason
    assert world.evidence_log.latest() == latest
    assert not world.engagements.rows


def test_sent_run_without_window_closes_no_window() -> None:
    """As an older version left one behind."""
    world = three_digests()
    fourth = RunKey("ann", DAILY, 4)
    world.runs.rows[fourth] = replace(
        world.runs.rows[fourth], status=Status.SENT, reason=Reason.EVIDENCE
    )
    put(world, 4)
    world.clock.pass_time(hours=1)
    fifth = RunKey("ann", DAILY, 5)
    world.runs.create(Run(fifth, due_at=world.clock(), check_at=world.clock()))
    world.generate(fifth)
    assert world.emails()[-1].lines == ("post4: 1",)


def test_restored_run_is_not_settled_by_later_attempt() -> None:
    """The row says that one attempt was made; the delivery event is of the second."""
    world = three_digests()
    third = RunKey("ann", DAILY, 3)
    restored = replace(world.runs.rows[third], status=Status.RETRYING, reason=Reason.POLICY_RESEND)
    world.runs.rows[third] = restored
    delivery_event = replace(click(world), run=third, attempt=2)
    assert world.feedback(delivery_event) == restored
    assert len(world.quarantine.kept) == 1
