"""The support page on moto: what it shows, what its buttons move, and what a refresh does not."""

import io
import json
import re
from collections import Counter
from copy import copy
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from gazette.adapters.aws.dead_letters import queues as sqs_queues
from gazette.adapters.aws.queues import decode_run_key, encode_run_key
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.bootstrap.console import page, redrive, shared
from gazette.domain.dead_letters import KNOWN
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_id, slot_of
from gazette.domain.subscribers.subscriber import SubscriberStatus

from tests.functions.cli.test_dead_letters import Sqs
from tests.functions.conftest import Cloud, Context
from tests.functions.failing import dead_letter, denied, refused_to_the_end
from tests.functions.messages import envelope, event, profile, records
from tests.functions.supporting import Widget, a_message, button, put, stage_queues
from tests.moto_tables import moto_backend
from tests.unit.console.pages import ARN, HOSTILE


@pytest.fixture(autouse=True)
def live_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Context, "invoked_function_arn", ARN)
    monkeypatch.setattr(sqs_queues, "POLL", 0)


@pytest.fixture
def sqs(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Sqs:
    monkeypatch.setenv("GAZETTE_CONTENT_SOURCES", '["events", "recommendations"]')
    return stage_queues(cloud)


@pytest.fixture
def widget(cloud: Cloud, sqs: Sqs) -> Widget:
    return Widget(cloud)


def fill(sqs: Sqs, name: str, bodies: list[str], *, reason: str = "") -> None:
    """Put many messages into a queue, with the reason of a quarantine."""
    given = {"reason": {"DataType": "String", "StringValue": reason}} if reason else {}
    for start in range(0, len(bodies), 10):
        sqs.client.send_message_batch(
            QueueUrl=sqs.urls[name],
            Entries=[
                {"Id": str(number), "MessageBody": body, "MessageAttributes": given}
                for number, body in enumerate(bodies[start : start + 10])
            ],
        )


def multiply(name: str, times: int) -> None:
    """Copy the messages of a queue in moto, whose time to send one grows with their number."""
    queue = moto_backend("sqs").queues[name]
    for message in [*queue._messages]:
        for number in range(times - 1):
            another = copy(message)
            another.id = f"{message.id}-{number}"
            queue._messages.append(another)


def test_empty_queues_need_one_call_for_each_url_and_each_count(
    cloud: Cloud, widget: Widget
) -> None:
    cloud.meter.clear()
    assert widget.refresh().texts[0] == "All queues are empty"
    assert cloud.meter.calls == {"sqs.GetQueueUrl": 14, "sqs.GetQueueAttributes": 14}


def test_first_page_of_5000_dead_letters_is_small_and_makes_few_calls(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    """Ten messages of each queue are read. A refresh within five minutes reads none again."""
    run = a_message(cloud)
    fill(sqs, "generate-dead", [run] * 10)
    multiply("gazette-prod-generate-dead", 500)
    for dead in KNOWN:
        if dead.name != "generate-dead":
            fill(sqs, dead.name, [run if dead.names_runs else "x" * 999] * 11)
    fill(sqs, "quarantine", [envelope("event.created", {})] * 11, reason="user_id: " + "y" * 900)
    cloud.meter.clear()
    shown = widget.refresh()
    assert shown.texts[0] == "14 queues need attention"
    assert "generate-dead: 10 of 5,000 messages" in shown.text
    assert len(shown.html.encode()) < 130_000
    assert cloud.meter.calls == {
        "sqs.GetQueueUrl": 14,
        "sqs.GetQueueAttributes": 14,
        "sqs.ReceiveMessage": 14,
        "sqs.ChangeMessageVisibilityBatch": 14,
        "secretsmanager.GetSecretValue": 1,
        **FORECASTS,
    }
    cloud.meter.clear()
    assert widget.refresh().texts[0] == "14 queues need attention"
    assert cloud.meter.calls == {"sqs.GetQueueUrl": 14, "sqs.GetQueueAttributes": 14, **FORECASTS}


FORECASTS = {"dynamodb.GetItem": 80, "dynamodb.Query": 120}
"""The reads of 40 forecasts: ten messages in each of the four queues of runs."""


def test_redrive_of_one_run_moves_its_messages_only(cloud: Cloud, sqs: Sqs, widget: Widget) -> None:
    one, other = a_message(cloud), a_message(cloud, "bo")
    put(cloud, sqs, "generate-dead", one, other)
    put(cloud, sqs, "failed", one)
    outcome = widget.redrive(run=run_id(decode_run_key(one)))
    assert "2 moved." in outcome.text
    assert sqs.bodies("generate") == [one]
    assert sqs.bodies("resend") == [one]
    assert sqs.bodies("generate-dead") == [other]


def test_redrive_of_one_message(cloud: Cloud, sqs: Sqs, widget: Widget) -> None:
    put(cloud, sqs, "ingest-dead", *[envelope("event.created", event(each)) for each in (1, 2)])
    first = button(widget.refresh(), queue="ingest-dead", do="plan")
    message = next(each for each in widget.refresh().actions if each.parameters.get("message"))
    assert "message" not in first.parameters
    outcome = widget.press(button(widget.press(message), do="redrive"))
    assert "1 moved." in outcome.text
    assert len(sqs.bodies("ingest")) == len(sqs.bodies("ingest-dead")) == 1


@pytest.mark.parametrize("by", ["slot", "date"])
def test_redrive_of_a_slot_or_a_date_by_the_form(
    cloud: Cloud, sqs: Sqs, widget: Widget, by: str
) -> None:
    message = a_message(cloud)
    due = DynamoRuns("runs", retention=timedelta(days=180)).get(decode_run_key(message))
    assert due
    other = encode_run_key(RunKey("bo", "daily", 1))
    put(cloud, sqs, "generate-dead", message, other)
    slot = {"slot": slot_id(slot_of(due.due_at)), "date": due.due_at.date().isoformat()}[by]
    widget.fields = {f"selected-{by}": f" {slot} "}
    plan = widget.press(button(widget.refresh(), by="form"))
    outcome = widget.press(button(plan, do="redrive"))
    assert "1 moved." in outcome.text
    assert sqs.bodies("generate") == [message]


def test_form_without_a_condition_redrives_nothing(cloud: Cloud, sqs: Sqs, widget: Widget) -> None:
    put(cloud, sqs, "generate-dead", encode_run_key(RunKey("bo", "daily", 1)))
    for fields, sentence in (
        ({}, "Enter a run, a slot or a date."),
        ({"selected-date": "soon"}, "The date is invalid. Enter a date such as 2026-11-22."),
    ):
        widget.fields = fields
        plan = widget.press(button(widget.refresh(), by="form"))
        assert plan.texts[0] == sentence
        assert "order" not in str(plan.actions)
        assert plan.tags.count("input") == 3
        assert set(fields.items()) <= {("selected-date", dict(plan.attributes).get("value", ""))}
        assert button(plan, by="form")


def test_refresh_after_a_redrive_moves_nothing(cloud: Cloud, sqs: Sqs, widget: Widget) -> None:
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(1)))
    widget.redrive(queue="all")
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(2)))
    cloud.meter.clear()
    widget.refresh()
    widget.refresh()
    assert not {name for name in cloud.meter.calls if "Send" in name or "Delete" in name}
    assert len(sqs.bodies("ingest-dead")) == 1


def test_plan_moves_nothing(cloud: Cloud, sqs: Sqs, widget: Widget) -> None:
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(1)))
    cloud.meter.clear()
    assert "Safe: processed again" in widget.plan(queue="all").text
    assert not {name for name in cloud.meter.calls if "Send" in name or "Delete" in name}


def test_repeated_order_does_not_move_a_message_that_failed_again(
    cloud: Cloud, sqs: Sqs, widget: Widget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redriven message that fails again arrives after the order was made."""
    body = envelope("event.created", event(1))
    put(cloud, sqs, "ingest-dead", body)
    order = button(widget.plan(queue="all"), do="redrive")
    assert "1 of 1 moved." in widget.press(order).text
    put(cloud, sqs, "ingest-dead", body)
    assert "0 of 1 moved." in widget.press(order).text
    assert sqs.bodies("ingest-dead") == [body]


def test_expired_order_moves_nothing_and_shows_the_messages_again(
    cloud: Cloud, sqs: Sqs, widget: Widget, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(1)))
    order = button(widget.plan(queue="all"), do="redrive")
    monkeypatch.setattr(redrive, "now", lambda: datetime.now(UTC) + timedelta(minutes=10))
    again = widget.press(order)
    assert "The button expired after 10 minutes. No message was moved." in again.text
    assert len(sqs.bodies("ingest-dead")) == 1
    assert "1 of 1 moved." in widget.press(button(again, do="redrive")).text


@pytest.mark.parametrize("order", ["", "k1", "k1.e30.AAAA", "x" * 5000])
def test_invalid_order_moves_nothing(cloud: Cloud, sqs: Sqs, widget: Widget, order: str) -> None:
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(1)))
    answer = widget.call("support_redrive", {"do": "redrive", "order": order})
    assert "No message was moved." in answer.texts[0]
    assert len(sqs.bodies("ingest-dead")) == 1


def test_looking_function_ignores_an_order(cloud: Cloud, sqs: Sqs, widget: Widget) -> None:
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(1)))
    order = button(widget.plan(queue="all"), do="redrive")
    assert widget.call("support", order.parameters).texts[0] == "1 queue needs attention"
    assert len(sqs.bodies("ingest-dead")) == 1


def test_redrive_ends_in_time_and_continues(
    cloud: Cloud, sqs: Sqs, widget: Widget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time passes with each look at the clock."""
    fill(sqs, "ingest-dead", [envelope("event.created", event(each)) for each in range(80)])
    order = button(widget.plan(queue="ingest-dead"), do="redrive")
    ticks = count()
    with monkeypatch.context() as patch:
        patch.setattr(redrive, "monotonic", lambda: next(ticks) / 3.5)
        outcome = widget.press(order)
    moved = len(sqs.bodies("ingest"))
    assert 20 <= moved < 40
    assert f"{moved} of 80 moved; press Continue to move the others." in outcome.text
    rest = widget.press(button(outcome, do="redrive"))
    assert f"{80 - moved} of {80 - moved} moved." in rest.text


def test_redrive_of_all_queues_does_not_wait_for_further_messages(
    cloud: Cloud, sqs: Sqs, widget: Widget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue ends with three receives without a wait, once it has given its messages."""
    names = [dead.name for dead in KNOWN if dead.source]
    for name in names:
        fill(sqs, name, [f"{name} {number}" for number in range(11)])
    order = button(widget.plan(queue="all"), do="redrive")
    monkeypatch.setattr(sqs_queues, "POLL", 1)
    cloud.meter.clear()
    assert f"{11 * len(names)} of {11 * len(names)} moved." in widget.press(order).text
    waits = Counter(
        request["WaitTimeSeconds"]
        for name, request in cloud.meter.requests
        if name == "sqs.ReceiveMessage"
    )
    assert waits == {1: 2 * len(names), 0: 3 * len(names)}


def test_redrive_moves_more_messages_than_the_queue_reported(
    cloud: Cloud, sqs: Sqs, widget: Widget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of messages that SQS reports is approximate."""
    fill(sqs, "ingest-dead", [envelope("event.created", event(each)) for each in range(45)])
    order = button(widget.plan(queue="ingest-dead"), do="redrive")
    monkeypatch.setattr(sqs_queues.Queue, "waiting", lambda _: 5)
    assert "45 of 45 moved." in widget.press(order).text
    assert len(sqs.bodies("ingest")) == 45


def test_plan_of_a_message_that_was_not_looked_at_does_not_forecast(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    """The plan looks at 50 messages, and the redrive at all."""
    run = a_message(cloud)
    fill(sqs, "generate-dead", [encode_run_key(RunKey("bo", "daily", 1))] * 60)
    put(cloud, sqs, "generate-dead", run)
    plan = widget.call(
        "support_redrive", {"do": "plan", "queue": "all", "run": run_id(decode_run_key(run))}
    )
    assert "Not known; not looked at: 11" in plan.texts
    outcome = widget.press(button(plan, do="redrive"))
    assert "1 moved." in outcome.text
    assert sqs.bodies("generate") == [run]


def test_query_of_a_message_finds_the_error_in_the_log(
    cloud: Cloud, sqs: Sqs, widget: Widget, logs: io.StringIO
) -> None:
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(1)))
    query = re.findall(r'filter (\w+) = "([^"]+)"', widget.refresh().text)[-1]
    assert query[0] == "message_id"
    cloud.say("subscriber.changed", profile())
    failing = records(envelope("event.created", event(1)))
    failing["Records"][0]["messageId"] = query[1]
    with denied("PutItem", "events"):
        cloud.invoke("ingest", failing)
    lines = [json.loads(line) for line in logs.getvalue().splitlines()]
    (error,) = (each for each in lines if each.get(query[0]) == query[1])
    assert error["message"] == "message failed"
    assert "AccessDeniedException" in error["exception"]


def test_redrive_is_logged_without_a_person(
    cloud: Cloud, sqs: Sqs, widget: Widget, logs: io.StringIO
) -> None:
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(1)))
    widget.redrive(queue="ingest-dead")
    lines = [json.loads(line) for line in logs.getvalue().splitlines()]
    (line,) = (each for each in lines if each["message"] == "redriven from the support page")
    assert (line["queue"], line["moved"], line["remaining"], line["is_complete"]) == (
        *("ingest-dead", 1, 0, True),
    )
    assert line["timestamp"]


def test_quarantine_shows_the_wrong_field_and_is_redriven(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    reason = f"user_id: must not be empty; by ann@example.com {HOSTILE}"
    fill(sqs, "quarantine", [envelope("event.created", {})], reason=reason)
    shown = widget.refresh()
    assert "user_id: must not be empty; by (address)" in shown.text
    assert "script" not in shown.tags
    assert "1 of 1 moved." in widget.redrive(queue="quarantine").text
    assert len(sqs.bodies("ingest")) == 1


@pytest.mark.usefixtures("later")
def test_failed_run_shows_why_it_failed_and_what_a_redrive_does(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    put(cloud, sqs, "failed", dead_letter(refused_to_the_end(a_message(cloud))))
    text = widget.refresh().text
    assert "Throttling" in text
    assert "Safe: sent once, if the cause is fixed" in text
    assert "starts now with all waiting events" in text


def test_questions_are_answered_without_an_address(cloud: Cloud, widget: Widget) -> None:
    message = a_message(cloud)
    explained = widget.ask("explain", user="ann")
    assert "Next email" in explained.text or "The latest run" in explained.text
    receipt = widget.ask("receipt", user="ann", event="e1")
    assert "The event waits for" in receipt.text
    run = widget.ask("run", run=run_id(decode_run_key(message)))
    assert "pending" in run.text
    assert {"UTC", "Local time"} <= {*explained.texts}
    assert "Utc" not in explained.text
    for answer in (explained, receipt, run):
        assert "@example.com" not in answer.html


@pytest.mark.usefixtures("later")
def test_answers_about_a_run_name_its_dead_letter_and_offer_the_redrive(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    message, other = a_message(cloud), a_message(cloud, "bo")
    put(cloud, sqs, "generate-dead", other, message)
    put(cloud, sqs, "generate-dead", message)
    for question, fields in (("explain", {"user": "ann"}), ("run", {"run": "ann-daily-1"})):
        shown = widget.ask(question, **fields)
        assert "failed and is in generate-dead" in shown.text
        assert "The email is not sent until the message is redriven" in shown.text
        assert "its message is queued" not in shown.text
        assert [each.parameters["run"] for each in shown.actions] == ["ann-daily-1"]
    plan = widget.press(button(shown, do="plan"))
    assert "2 Safe: sent once, if the cause is fixed" in plan.text
    assert "2 moved." in widget.press(button(plan, do="redrive")).text
    assert sqs.bodies("generate") == [message] * 2
    assert "generate-dead" not in widget.ask("explain", user="ann").text


def test_answer_states_that_a_queue_was_read_only_in_part(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    """An answer reads 50 messages of each queue of runs, and none again within five minutes."""
    a_message(cloud)
    fill(sqs, "generate-dead", [encode_run_key(RunKey("bo", "daily", 1))] * 60)
    page = widget.refresh()
    widget.fields = {"user": "ann", "run": "ann-daily-1"}
    cloud.meter.clear()
    for question in ("explain", "run"):
        shown = widget.press(button(page, do=question))
        assert "of the 60 messages in generate-dead, 50 were read" in shown.text
        assert not shown.actions
    calls = {name: number for name, number in cloud.meter.calls.items() if "sqs" in name}
    assert calls == {
        "sqs.GetQueueUrl": 8,
        "sqs.GetQueueAttributes": 8,
        "sqs.ReceiveMessage": 5,
        "sqs.ChangeMessageVisibilityBatch": 5,
    }


def test_answer_uses_the_messages_that_the_page_has_read(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    put(cloud, sqs, "generate-dead", a_message(cloud))
    page = widget.refresh()
    widget.fields = {"user": "ann"}
    cloud.meter.clear()
    assert "failed and is in generate-dead" in widget.press(button(page, do="explain")).text
    assert "sqs.ReceiveMessage" not in cloud.meter.calls


def test_run_of_a_reader_without_email_is_not_said_to_be_sent_later(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    put(cloud, sqs, "generate-dead", a_message(cloud))
    cloud.set_status("ann", SubscriberStatus.UNSUBSCRIBED)
    for question, fields in (("explain", {"user": "ann"}), ("run", {"run": "ann-daily-1"})):
        text = widget.ask(question, **fields).text
        assert "the run ends without an email when its message is processed" in text
        assert "queues the run again" not in text
    assert "No email" in widget.refresh().text


def test_state_of_a_dead_letter_is_not_that_it_is_queued(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    put(cloud, sqs, "generate-dead", a_message(cloud))
    text = widget.refresh().text
    assert "failed and is in generate-dead." in text
    assert "its message is queued" not in text


def test_query_of_a_run_finds_the_error_in_the_log(
    cloud: Cloud, sqs: Sqs, widget: Widget, logs: io.StringIO
) -> None:
    put(cloud, sqs, "generate-dead", message := a_message(cloud))
    assert "/aws/lambda/gazette-prod-generate" in widget.refresh().text
    assert 'or correlation_id = "ann-daily-1"' in widget.refresh().text
    with denied("Query", "runs"):
        cloud.invoke("generate", records(message))
    lines = [json.loads(line) for line in logs.getvalue().splitlines()]
    (error,) = (each for each in lines if each["level"] == "ERROR")
    assert error["correlation_id"] == "ann-daily-1"
    assert "AccessDeniedException" in error["exception"]


def test_likely_mistakes_in_a_user_id_get_a_hint(widget: Widget) -> None:
    assert "User ids are case-sensitive." in widget.ask("explain", user="Ann").text
    assert "Addresses are not accepted" in widget.ask("explain", user="ann@example.com").text


def test_questions_without_an_id_state_the_remedy(widget: Widget) -> None:
    for question, fields, sentence in (
        ("explain", {"user": "a b"}, page._NO_USER),
        ("receipt", {"user": "ann"}, page._NO_EVENT),
        ("run", {"run": "ann"}, page._NO_RUN),
        ("run", {"run": "ann-daily-9"}, "The run does not exist. Runs are deleted after 200 days."),
    ):
        assert widget.ask(question, **fields).texts[0] == sentence


def test_more_messages_of_one_queue(cloud: Cloud, sqs: Sqs, widget: Widget) -> None:
    fill(sqs, "ingest-dead", [envelope("event.created", event(each)) for each in range(60)])
    shown = widget.press(button(widget.refresh(), do="messages", queue="ingest-dead"))
    assert "ingest-dead: 50 of 60 messages" in shown.text
    assert len(shown.html.encode()) < 100_000
    unknown = widget.call("support", {"do": "messages", "queue": HOSTILE})
    assert "This stage does not have the queue." in unknown.text


def test_errors_are_one_sentence(cloud: Cloud, sqs: Sqs, widget: Widget, logs: io.StringIO) -> None:
    put(cloud, sqs, "generate-dead", a_message(cloud))
    with denied("Query", "runs"):
        shown = widget.refresh()
    assert shown.tags.count("p") == 1
    assert shown.texts == [shared._TRANSIENT]
    assert "support page failed" in logs.getvalue()


def test_queue_that_cannot_be_read_does_not_hide_the_others(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    put(cloud, sqs, "ingest-dead", envelope("event.created", event(1)))
    sqs.client.delete_queue(QueueUrl=sqs.urls["failed"])
    shown = widget.refresh()
    assert shown.texts[0] == "1 queue needs attention; 1 queue cannot be read"
    outcome = widget.redrive(queue="ingest-dead")
    assert "1 of 1 moved." in outcome.text
    failed = widget.call("support_redrive", {"do": "plan", "queue": "failed"})
    assert failed.texts[0] == "The queue gazette-prod-failed cannot be read. Try again in a minute."


@pytest.mark.parametrize("function", ["support", "support_redrive"])
def test_console_gets_the_documentation(cloud: Cloud, function: str) -> None:
    documentation: object = cloud.invoke(function, {"describe": True})
    assert str(documentation).startswith("## Gazette support")
