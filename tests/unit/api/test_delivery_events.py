"""The route through which services report delivery events, on fakes."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from gazette.adapters.aws.dead_letters.quarantine import is_delivery_event
from gazette.adapters.contract.reports import decode_report
from gazette.adapters.mail.reported_events import decode_either, is_report
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.errors import Unavailable
from gazette.domain.sources import Sources
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

from tests.builders import KEY, NOW
from tests.services import Services, content
from tests.unit.feedback.test_reports import ANN, FORGED, PROVER, UNKNOWN, detail, having, reference


@pytest.fixture
def services() -> Services:
    """The outcome of Ann's digest is unknown. No source may report on the bus."""
    return Services(having(UNKNOWN))


def process(services: Services) -> None:
    """Process the stored delivery events in feedback."""
    world = services.world
    decode = partial(
        decode_either,
        by_ses=decode_delivery_event,
        decode_report=partial(decode_report, sources=Sources({})),
        prover=PROVER,
        clock=world.clock,
    )
    for body in services.intake.taken:
        world.processed(body, decode=decode)


@pytest.mark.parametrize("as_message_id", [False, True])
def test_delivery_event_is_stored_and_settles_the_run(
    services: Services, *, as_message_id: bool
) -> None:
    named = f"<{reference()}@shop.example>" if as_message_id else reference()
    answer = services.report_delivery(detail(reference=named))
    assert answer["statusCode"] == 202
    assert content(answer) == {"email": "ann-daily-1", "type": "delivered"}
    process(services)
    run = services.world.runs.rows[KEY]
    assert (run.status, run.reason) == (Status.SENT, Reason.EVIDENCE)
    assert not services.world.quarantine.kept


def test_bounce_suppresses_the_recipient(services: Services) -> None:
    answer = services.report_delivery(detail("bounced", status="5.1.1"))
    assert answer["statusCode"] == 202
    assert "@" not in answer["body"]
    process(services)
    reader = services.world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    assert reader.status is SubscriberStatus.SUPPRESSED


def test_repeated_request_is_stored_twice_and_counts_once(services: Services) -> None:
    for _ in range(2):
        assert services.report_delivery(detail("complained"))["statusCode"] == 202
    process(services)
    assert len(services.intake.taken) == 2
    assert len(services.world.suppressions.rows) == 1


@pytest.mark.parametrize("tracks", [False, True])
def test_click_is_activity_in_every_stage(services: Services, *, tracks: bool) -> None:
    if not tracks:
        services.world.signs_of_life = frozenset()
    services.report_delivery(detail("clicked"))
    process(services)
    assert len(services.world.bus.taken) == 1


@pytest.mark.parametrize(
    "changed", [{"reference": FORGED}, {"recipient": "bob@example.com"}], ids=["forged", "other"]
)
@pytest.mark.parametrize("type_", ["delivered", "bounced", "complained", "clicked"])
def test_attack_unproven_delivery_event_of_the_api_changes_nothing(
    services: Services, type_: str, changed: dict[str, Any]
) -> None:
    """The route cannot know, because only feedback reads the key of the proof."""
    assert services.report_delivery(detail(type_, **changed))["statusCode"] == 202
    process(services)
    assert services.world.runs.rows[KEY] == UNKNOWN
    assert not services.world.suppressions.rows
    ((kept, why),) = services.world.quarantine.kept
    assert "was not made for this recipient" in why
    assert is_report(kept)
    assert is_delivery_event(kept), "a redrive sends it to feedback again"


def test_delivery_event_of_an_unknown_attempt_settles_nothing(services: Services) -> None:
    services.report_delivery(detail(reference=reference(attempt=2)))
    process(services)
    assert services.world.runs.rows[KEY] == UNKNOWN
    assert len(services.world.quarantine.kept) == 1


def without(name: str) -> dict[str, Any]:
    return {each: value for each, value in detail("bounced").items() if each != name}


@pytest.mark.parametrize(
    ("body", "pointer", "words"),
    [
        (without("reference"), "#/reference", "required"),
        (without("recipient"), "#/recipient", "required"),
        (without("type"), "#/type", "required"),
        (without("at"), "#/at", "required"),
        (without("bounce"), "#", "bounce is required for type bounced"),
        (detail(reference="ann-daily-1"), "#/reference", "X-Gazette-Reference or Message-ID"),
        (detail(recipient="ann"), "#/recipient", "must be one email address"),
        (detail("dropped"), "#/type", "must be 'sent', 'delivered'"),
        (detail(at="yesterday"), "#/at", "RFC 3339"),
        (detail("bounced", bounce="hard"), "#/bounce", "must be 'permanent' or 'transient'"),
        ({**detail("bounced"), "bounce": None}, "#/bounce", ""),
        (detail("bounced", status="550"), "#/status", "must be an enhanced status code"),
        ({**detail(), "status": "5.1.1"}, "#", "only allowed for type bounced"),
        (detail(why="x"), "#/why", "unknown field"),
        (detail(at=(NOW + timedelta(hours=2)).isoformat()), "#/at", "an hour in the future"),
    ],
)
def test_invalid_delivery_event_is_rejected_with_its_field(
    services: Services, body: object, pointer: str, words: str
) -> None:
    answer = services.report_delivery(body)
    assert answer["statusCode"] == 422, answer["body"]
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    (error,) = content(answer)["errors"]
    assert (error["pointer"], error["parameter"]) == (pointer, None)
    assert words in error["detail"]
    assert ANN not in answer["body"]
    assert not services.intake.taken


def test_delivery_event_that_the_queue_rejects_is_not_accepted(services: Services) -> None:
    services.intake.answers.append(False)
    answer = services.report_delivery(detail())
    assert answer["statusCode"] == 503
    assert content(answer)["type"] == "docs/api.md#unavailable"
    assert not services.intake.taken
    assert services.report_delivery(detail())["statusCode"] == 202


def test_delivery_event_that_may_be_stored_is_not_accepted(services: Services) -> None:
    services.intake.answers.append(Unavailable("no answer"))
    answer = services.report_delivery(detail())
    assert answer["statusCode"] == 504
    assert content(answer)["type"] == "docs/api.md#outcome-unknown"
    assert len(services.reports) == 1


def test_message_has_the_given_fields_alone(services: Services) -> None:
    services.report_delivery(detail("bounced", status="5.1.1"))
    (body,) = services.intake.taken
    told = json.loads(body)["detail"]
    assert told.keys() == {"reference", "recipient", "type", "at", "bounce", "status"}
