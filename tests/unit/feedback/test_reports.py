"""A delivery report is proven by its reference, and becomes the same event as one of SES."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import permutations
from typing import Any

import pytest
from gazette.adapters.contract.deliveries import DeliveryReported
from gazette.adapters.contract.reports import decode_report, message_of, read_report
from gazette.adapters.mail.reported_events import decode_either, is_report
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import ForeignEvent, InvalidReport
from gazette.domain.feedback.delivery_events import (
    DeliveryEvent,
    DeliveryEventType,
    EngagementEvent,
    Fault,
    Mark,
)
from gazette.domain.feedback.reports import (
    DeliveryReport,
    Prover,
    event_of,
    message_id,
    read_reference,
)
from gazette.domain.identity import address_hash
from gazette.domain.model import RunKey
from gazette.domain.sources import DELIVERY_REPORTED, Sources
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.feedback.feedback import Feedback
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import KEY, NOW, SUPPRESSION_KEY, a_claimed_run, a_subscriber
from tests.functions.messages import envelope
from tests.world import World

ANN = "ann@example.com"
PROVER = Prover(key=SUPPRESSION_KEY, installation="i1")
SENT_AT = NOW - timedelta(minutes=10)
SOURCES = Sources({DELIVERY_REPORTED: frozenset({"shop.mailgun"})})
_USER_IDS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=64)


def reference(
    run: RunKey = KEY, attempt: int = 1, *, sent_at: datetime = SENT_AT, to: str = ANN
) -> str:
    return str(PROVER.reference(run, attempt, sent_at, address_hash(to)))


def detail(type_: str = "delivered", **changed: Any) -> dict[str, Any]:
    """The detail of a report, by default about the email that `reference` names."""
    bounce = {"bounce": "permanent"} if type_ == "bounced" else {}
    told = {"reference": reference(), "recipient": ANN, "type": type_, "at": NOW.isoformat()}
    return {**told, **bounce, **changed}


def proven(type_: str = "delivered", **changed: Any) -> DeliveryEvent:
    return event_of(read_report(detail(type_, **changed)), prover=PROVER, now=NOW)


# References.


@given(
    user_id=_USER_IDS,
    sequence=st.integers(0, 9_999_999_998),
    attempt=st.integers(1, 999_999_999),
    seconds=st.integers(0, 4_000_000_000),
)
def test_reference_names_its_run_in_a_message_id_too(
    user_id: str, sequence: int, attempt: int, seconds: int
) -> None:
    sent_at = datetime.fromtimestamp(seconds, UTC) + timedelta(milliseconds=300)
    run = RunKey(user_id, "now1", sequence)
    text = reference(run, attempt, sent_at=sent_at)
    for form in (text, f"{text}@shop.example", f"<{text}@shop.example>"):
        report = read_report(detail(reference=form))
        assert (report.reference.run, report.reference.attempt) == (run, attempt)
        assert report.reference.sent_at == sent_at.replace(microsecond=0)
        assert event_of(report, prover=PROVER, now=NOW).run == run


@pytest.mark.parametrize(
    "changed",
    [
        {"run": RunKey("bob", "daily", 1)},
        {"run": RunKey("ann", "weekly", 1)},
        {"run": RunKey("ann", "daily", 2)},
        {"attempt": 2},
        {"sent_at": SENT_AT + timedelta(seconds=1)},
        {"proof": "0" * 32},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_attack_altered_reference_is_rejected(changed: dict[str, Any]) -> None:
    report = read_report(detail())
    forged = replace(report, reference=replace(report.reference, **changed))
    with pytest.raises(InvalidReport, match=r"detail\.reference: was not made for this recipient"):
        event_of(forged, prover=PROVER, now=NOW)


@pytest.mark.parametrize(
    "prover",
    [Prover(key=b"t" * 64, installation="i1"), Prover(key=SUPPRESSION_KEY, installation="i2")],
    ids=["key", "installation"],
)
def test_attack_reference_of_another_installation_is_rejected(prover: Prover) -> None:
    with pytest.raises(InvalidReport):
        event_of(read_report(detail()), prover=prover, now=NOW)


def test_attack_reference_cannot_suppress_another_address() -> None:
    with pytest.raises(InvalidReport) as refused:
        proven("bounced", recipient="bob@example.com")
    assert "@" not in str(refused.value)


def test_address_may_be_spelled_in_other_letters() -> None:
    assert proven("bounced", recipient="Ann@EXAMPLE.com").address == address_hash(ANN)


@pytest.mark.parametrize(
    "text", ["", "ann-daily-1", "ann-daily-1.1.1", "-daily-1.1.1." + "0" * 32, "a" * 700]
)
def test_text_that_is_no_reference_is_rejected_with_its_field(text: str) -> None:
    with pytest.raises(ValueError, match="X-Gazette-Reference"):
        read_reference(text)
    with pytest.raises(InvalidReport, match=r"detail\.reference: "):
        read_report(detail(reference=text))


# What a report means.


@pytest.mark.parametrize(
    ("told", "fault", "by_policy"),
    [
        (detail("sent"), None, False),
        (detail("delivered"), None, False),
        (detail("delayed"), None, False),
        (detail("rejected"), None, False),
        (detail("opened"), None, False),
        (detail("clicked"), None, False),
        (detail("complained"), Fault.COMPLAINT, False),
        (detail("bounced"), Fault.HARD, False),
        (detail("bounced", status="5.1.1"), Fault.HARD, False),
        (detail("bounced", bounce="transient"), Fault.SOFT, False),
        (detail("bounced", bounce="transient", status="4.2.2"), Fault.SOFT, False),
        (detail("bounced", status="5.7.1"), Fault.OF_MESSAGE, True),
        (detail("bounced", bounce="transient", status="4.7.26"), Fault.OF_MESSAGE, True),
        (detail("bounced", status="5.6.0"), Fault.OF_MESSAGE, False),
        (detail("bounced", status="5.3.4"), Fault.OF_MESSAGE, False),
        (detail("bounced", status="5.2.3"), Fault.OF_MESSAGE, False),
        (detail("bounced", status="5.4.7"), Fault.HARD, False),
    ],
    ids=lambda told: " ".join(map(str, list(told.values())[2:])) if isinstance(told, dict) else "",
)
def test_each_type_becomes_the_neutral_event(
    told: dict[str, Any], fault: Fault | None, by_policy: bool
) -> None:
    event = event_of(read_report(told), prover=PROVER, now=NOW)
    assert event == DeliveryEvent(
        type=DeliveryEventType(told["type"]),
        run=KEY,
        attempt=1,
        message_id="ann-daily-1.1",
        sent_at=SENT_AT,
        at=NOW,
        fault=fault,
        address=address_hash(ANN) if fault else "",
        cause=event.cause,
        is_by_policy=by_policy,
        is_reported=True,
    )
    assert bool(event.cause) == bool(fault)


def test_event_from_before_the_sending_has_the_time_of_sending() -> None:
    assert proven(at=(SENT_AT - timedelta(days=9)).isoformat()).happened_at == SENT_AT


def test_event_of_more_than_an_hour_ahead_is_rejected() -> None:
    assert proven(at=(NOW + timedelta(hours=1)).isoformat()).at == NOW + timedelta(hours=1)
    with pytest.raises(InvalidReport, match=r"detail\.at: is more than an hour ahead"):
        proven(at=(NOW + timedelta(hours=1, seconds=1)).isoformat())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (detail("bounced", bounce="hard"), "detail.bounce: must be 'permanent' or 'transient'"),
        ({**detail("delivered"), "bounce": "permanent"}, "only allowed for type bounced"),
        ({**detail("delivered"), "status": "5.1.1"}, "only allowed for type bounced"),
        ({**detail("bounced"), "bounce": None}, "detail.bounce: "),
        (detail("bounced", status="550"), "detail.status: must be an enhanced status code"),
        (detail("dropped"), "detail.type: must be 'sent', 'delivered'"),
        (detail(recipient="ann"), "detail.recipient: must be one email address"),
        (detail(at="yesterday"), "detail.at: "),
        (detail(why="x"), "detail.why: unknown field"),
        ({}, "detail.reference: "),
        ([], "detail: must be an object"),
    ],
)
def test_invalid_field_is_named_with_its_remedy(wrong: Any, words: str) -> None:
    with pytest.raises(InvalidReport) as refused:
        read_report(wrong)
    assert words in str(refused.value)
    assert ANN not in str(refused.value)


def test_bounce_requires_its_kind() -> None:
    told = {name: each for name, each in detail("bounced").items() if name != "bounce"}
    with pytest.raises(InvalidReport, match="bounce is required for type bounced"):
        read_report(told)


# From the queue to the tables.


def body(told: Any, *, source: str = "shop.mailgun") -> str:
    return envelope(DELIVERY_REPORTED, told, source=source)


def report(world: World, message: str, *, sources: Sources = SOURCES) -> Any:
    """Process a message of the feedback queue."""
    decode = partial(
        decode_either,
        by_ses=partial(decode_delivery_event, installation="i1"),
        decode_report=partial(decode_report, sources=sources),
        prover=PROVER,
        clock=world.clock,
    )
    return world.processed(message, decode=decode)


def having(*runs: Run) -> World:
    """A reader with these runs."""
    world = World()
    world.subscribers.put(a_subscriber(email=ANN), replacing=None)
    for run in runs:
        world.runs.create(run)
    return world


UNKNOWN = a_claimed_run(status=Status.UNKNOWN, categories=("comment", "like"))
ANY_TYPE = sorted(set(DeliveryEventType) - {"rendering_failed", "subscription"})


@pytest.mark.parametrize("type_", ANY_TYPE)
def test_report_of_any_type_settles_an_unknown_run(type_: str) -> None:
    world = having(UNKNOWN)
    done = report(world, body(detail(type_)))
    assert isinstance(done, Feedback)
    run = world.runs.rows[KEY]
    assert (run.status, run.reason, run.sent_at) == (Status.SENT, Reason.EVIDENCE, SENT_AT)
    assert run.message_id == message_id(KEY, 1)
    assert not world.quarantine.kept


def test_permanent_bounce_suppresses_the_address_and_stops_its_reader() -> None:
    world = having(UNKNOWN)
    done = report(world, body(detail("bounced")))
    assert done.suppressed is Cause.BOUNCED
    assert [*world.suppressions.rows.values()] == [Cause.BOUNCED]
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    assert reader.status is SubscriberStatus.SUPPRESSED


FORGED = reference()[:-32] + "0" * 32


@pytest.mark.parametrize("type_", ANY_TYPE)
@pytest.mark.parametrize(
    ("changed", "source", "words"),
    [
        ({"reference": FORGED}, "shop.mailgun", "was not made for this recipient"),
        ({"recipient": "bob@example.com"}, "shop.mailgun", "was not made for this recipient"),
        ({}, "shop.comments", "'shop.comments'"),
        ({"reference": "ann-daily-1"}, "shop.mailgun", "detail.reference"),
    ],
    ids=["forged", "other address", "other source", "no reference"],
)
def test_attack_unproven_report_changes_nothing_and_waits_in_quarantine(
    type_: str, changed: dict[str, Any], source: str, words: str
) -> None:
    world = having(UNKNOWN)
    message = body(detail(type_, **changed), source=source)
    with world.calls() as called:
        done = report(world, message)
    assert called == ["quarantine.keep"]
    ((kept, why),) = world.quarantine.kept
    assert kept == message
    assert done == why
    assert words in why
    assert ANN not in why
    assert world.runs.rows[KEY] == UNKNOWN


def test_report_of_an_unknown_attempt_settles_and_counts_nothing() -> None:
    """The proof is right, but the table was restored to a time before the attempt."""
    world = having(UNKNOWN)
    done = report(world, body(detail(reference=reference(attempt=2))))
    assert done.recorded.is_of_unknown_attempt
    assert world.runs.rows[KEY] == UNKNOWN
    assert not world.engagements.rows
    assert not totals(world)
    assert len(world.quarantine.kept) == 1


def test_bounce_of_an_expired_run_still_suppresses() -> None:
    world = having()
    report(world, body(detail("bounced")))
    assert len(world.suppressions.rows) == 1


def test_stage_that_lists_no_source_quarantines_every_report() -> None:
    world = having(UNKNOWN)
    report(world, body(detail()), sources=Sources({}))
    ((_, why),) = world.quarantine.kept
    assert "The setting sources lists no source for delivery.reported" in why
    assert world.runs.rows[KEY] == UNKNOWN


@pytest.mark.parametrize("sources", [Sources({}), SOURCES], ids=["none", "listed"])
@pytest.mark.parametrize("source", ["gazette.services", "shop"])
def test_attack_event_on_the_bus_cannot_pretend_to_come_from_the_api(
    source: str, sources: Sources
) -> None:
    """A publisher chooses the source, the detail and the resources of an event, but no field."""
    world = having(UNKNOWN)
    route = json.loads(message_of(DeliveryReported.model_validate(detail())))["route"]
    resources = [route, f"route:{route}"]
    pretending = {**detail("bounced"), "route": route}
    for told in (detail("bounced"), pretending):
        message = envelope(DELIVERY_REPORTED, told, source=source, resources=resources)
        report(world, message, sources=sources)
    assert len(world.quarantine.kept) == 2
    assert all(repr(source) in why or source in why for _, why in world.quarantine.kept)
    assert world.runs.rows[KEY] == UNKNOWN
    assert not world.suppressions.rows


def test_other_service_events_still_return_to_the_quarantine() -> None:
    world = having()
    message = envelope("event.created", {}, source="shop.comments")
    assert report(world, message) is None
    ((_, why),) = world.quarantine.kept
    assert "Redrive it to the ingest queue" in why


@pytest.mark.parametrize("text", ["", "[]", "{}", "1", "[" * 100_000])
def test_text_without_the_detail_type_is_no_report(text: str) -> None:
    assert not is_report(text)


def test_envelope_with_invalid_fields_is_named() -> None:
    wrong = json.loads(body(detail()))
    del wrong["time"]
    with pytest.raises(InvalidReport, match="The envelope does not match its schema: time"):
        decode_report(json.dumps(wrong), sources=SOURCES)


def test_report_that_names_a_field_twice_is_rejected() -> None:
    twice = body(detail()).replace('"type":', '"type": "sent", "type":')
    with pytest.raises(InvalidReport, match="has the name 'type' twice"):
        decode_report(twice, sources=SOURCES)


# Counts.


REPORTS = (
    detail("sent"),
    detail("delivered"),
    detail("bounced"),
    detail("complained"),
    detail("clicked"),
)


@pytest.mark.parametrize("order", [*permutations(range(5), 5)][::7])
@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_reports_count_once_in_any_order_and_number(order: Sequence[int], repeats: int) -> None:
    world = having(UNKNOWN)
    for category in UNKNOWN.categories:  # another email of the hour
        world.category_stats.add(category, Mark.SENT, SENT_AT)
    for _ in range(repeats):
        for number in order:
            report(world, body(REPORTS[number]))
    counts = {Mark.SENT: 2, Mark.BOUNCED: 1, Mark.COMPLAINED: 1}
    assert totals(world) == {
        (category, mark): number
        for category in UNKNOWN.categories
        for mark, number in counts.items()
    }
    (engagement,) = world.engagements.rows.values()
    assert engagement.first.keys() == {
        EngagementEvent.SENT,
        EngagementEvent.DELIVERED,
        EngagementEvent.BOUNCED,
        EngagementEvent.COMPLAINED,
        EngagementEvent.CLICKED,
    }


def totals(world: World) -> dict[tuple[str, Mark], int]:
    """The counts of the last seven days."""
    found: dict[tuple[str, Mark], int] = {}
    for category in UNKNOWN.categories:
        counts = world.category_stats.since(category, NOW - timedelta(days=7))
        for mark, number in (
            (Mark.SENT, counts.sent),
            (Mark.BOUNCED, counts.bounced),
            (Mark.COMPLAINED, counts.complained),
        ):
            if number:
                found[category, mark] = number
    return found


@pytest.mark.parametrize(
    ("type_", "sent"),
    [("delivered", 1), ("opened", 1), ("clicked", 1), ("bounced", 0), ("complained", 0)],
)
def test_only_an_arrival_stands_for_the_acceptance(type_: str, sent: int) -> None:
    world = having(UNKNOWN)
    report(world, body(detail(type_)))
    assert totals(world).get(("comment", Mark.SENT), 0) == sent


def test_service_that_reports_only_bounces_holds_no_category() -> None:
    runs = [
        replace(UNKNOWN, key=RunKey(f"reader{number}", "daily", 1), status=Status.SENT)
        for number in range(30)
    ]
    world = having(*runs)
    for run in runs:
        report(world, body(detail("bounced", reference=reference(run.key))))
    assert len(world.engagements.rows) == 30
    assert not world.told_held


def test_consecutive_soft_bounces_suppress_although_the_server_gave_other_ids() -> None:
    """Each run was accepted with the id in the server's reply, which no webhook returns."""
    days = (0, 8, 15)
    runs = [
        a_claimed_run(
            number + 1,
            status=Status.SENT,
            sent_at=NOW - timedelta(days=20 - day),
            message_id=f"250 queued as {day}",
        )
        for number, day in enumerate(days)
    ]
    world = having(*runs)
    causes = []
    for run in runs:
        assert run.sent_at
        named = reference(run.key, sent_at=run.sent_at)
        done = report(world, body(detail("bounced", bounce="transient", reference=named)))
        causes.append(done.suppressed)
    assert causes == [None, None, Cause.BOUNCED]


def test_delivered_email_ends_a_row_of_soft_bounces() -> None:
    runs = [
        a_claimed_run(
            number + 1,
            status=Status.SENT,
            sent_at=NOW - timedelta(days=20 - day),
            message_id=f"250 queued as {day}",
        )
        for number, day in enumerate((0, 8, 11, 15))
    ]
    world = having(*runs)
    for run in (runs[0], runs[1], runs[3]):
        assert run.sent_at
        named = reference(run.key, sent_at=run.sent_at)
        done = report(world, body(detail("bounced", bounce="transient", reference=named)))
        assert done.suppressed is None


def test_click_within_a_minute_of_sending_is_a_scanner() -> None:
    """The time of sending is proven, so a service need not state it."""
    world = having(UNKNOWN)
    at = SENT_AT + timedelta(seconds=59)
    report(world, body(detail("clicked", at=at.isoformat())))
    (engagement,) = world.engagements.rows.values()
    assert engagement.first.keys() == {EngagementEvent.SENT}


def test_foreign_event_stays_foreign_without_a_report() -> None:
    with pytest.raises(ForeignEvent):
        decode_either(
            envelope("subscriber.active", {}, source="shop"),
            by_ses=decode_delivery_event,
            decode_report=lambda _: pytest.fail("is no report"),
            prover=PROVER,
            clock=lambda: NOW,
        )


def test_report_without_fault_has_no_address() -> None:
    unproven = read_report(detail())
    assert isinstance(unproven, DeliveryReport)
    assert proven().address == ""
