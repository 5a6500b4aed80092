"""`gazette doctor` on the deployed stage: what is well, what somebody changed, and one email back.

The engine keeps neither expiry nor protection of tables (ENGINES): what it says of those is left
out. SES is the stand-in, and behind it the engine, which has the configuration sets and identities.
"""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner

from demo.client import as_client_of
from demo.ses_events import default_bus
from gazette_cli.doctor import command
from gazette_cli.main import app
from tests.stage import Deployed

DOMAIN = "campus.example"


@pytest.fixture
def with_domain(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """The sender's domain is in SES, and its DMARC record in the DNS."""
    monkeypatch.setattr(command, "text_records", lambda _: ["v=DMARC1; p=none"])
    deployed.ses.behind = deployed.engine.url
    with as_client_of(deployed.engine):
        ses = boto3.client("sesv2")
        ses.create_email_identity(EmailIdentity=DOMAIN)
        yield deployed
        ses.delete_email_identity(EmailIdentity=DOMAIN)
    deployed.ses.behind = ""


def findings(deployed: Deployed, *options: str) -> dict[str, dict[str, Any]]:
    """What is not ok, by its check."""
    environment = {"AWS_ENDPOINT_URL_SESV2": deployed.ses.url}
    with as_client_of(deployed.engine):
        arguments = ["doctor", "--stage", "local", "--json", *options]
        done = CliRunner().invoke(app, arguments, env=environment)
    found = json.loads(done.stdout)["findings"]
    assert {"alarms", "breaker digest", "queue generate"} <= {each["check"] for each in found}
    return {
        each["check"]: each
        for each in found
        if each["level"] != "ok" and not each["check"].startswith("table ")
    }


def test_fresh_deployment_matches_its_definition(with_domain: Deployed) -> None:
    """The stage has a rate for loopback, fewer functions than that needs, and a domain that nobody
    signs for; and an engine has a limit of its own."""
    found = findings(with_domain)
    assert {check: each["level"] for check, each in found.items()} == {
        "ses quota": "problem",
        "emulator": "unseen",
        "dkim digest@campus.example": "unseen",
        "mail from digest@campus.example": "unseen",
        "account concurrency": "unseen",
        "size generate": "warning",
        "size immediate": "warning",
        "size resend": "warning",
    }


def test_doctor_finds_a_disabled_rule_and_a_changed_timeout(
    with_domain: Deployed,
) -> None:
    before = findings(with_domain).keys()
    with as_client_of(with_domain.engine):
        events, sqs = boto3.client("events"), boto3.client("sqs")
        (rule,) = (
            each["Name"]
            for each in events.list_rules(NamePrefix="GazetteLocal")["Rules"]
            if "DeliveryEvents" in each["Name"]
        )
        events.disable_rule(Name=rule)
        queue = sqs.get_queue_url(QueueName="gazette-local-generate")["QueueUrl"]
        made = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["VisibilityTimeout"])
        sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "30"})
        try:
            found = findings(with_domain)
        finally:
            events.enable_rule(Name=rule)
            sqs.set_queue_attributes(QueueUrl=queue, Attributes=made["Attributes"])
    assert found.keys() - before == {"rule DeliveryEventsByBus", "queue generate"}
    assert found["queue generate"]["seen"].startswith("visibility timeout is 30, not ")
    assert findings(with_domain).keys() == before


def test_doctor_finds_changed_configuration_set_and_mapping(
    with_domain: Deployed,
) -> None:
    before = findings(with_domain).keys()
    name = "gazette-local-immediate"
    with as_client_of(with_domain.engine):
        ses, functions, sqs = (boto3.client(each) for each in ("sesv2", "lambda", "sqs"))
        url = sqs.get_queue_url(QueueName="gazette-local-immediate")["QueueUrl"]
        asked = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        queue = asked["Attributes"]["QueueArn"]
        (mapping,) = functions.list_event_source_mappings(EventSourceArn=queue)[
            "EventSourceMappings"
        ]
        ses.put_configuration_set_delivery_options(ConfigurationSetName=name, TlsPolicy="REQUIRE")
        functions.update_event_source_mapping(
            UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": 9}
        )
        try:
            found = findings(with_domain)
        finally:
            ses.put_configuration_set_delivery_options(
                ConfigurationSetName=name, TlsPolicy="OPTIONAL"
            )
            functions.update_event_source_mapping(
                UUID=mapping["UUID"], ScalingConfig=mapping["ScalingConfig"]
            )
    assert found.keys() - before == {f"configuration set {name}", "mapping immediate"}
    assert found[f"configuration set {name}"]["seen"] == (
        "DeliveryOptions.TlsPolicy is REQUIRE, not OPTIONAL"
    )
    most = mapping["ScalingConfig"]["MaximumConcurrency"]
    assert found["mapping immediate"]["seen"] == f"MaximumConcurrency is 9, not {most}"
    assert findings(with_domain).keys() == before


def test_canary_email_returns_through_feedback(with_domain: Deployed) -> None:
    number = len(with_domain.ses.accepted)
    with as_client_of(with_domain.engine):
        with_domain.ses.publish = default_bus(boto3.client("events"))
        try:
            assert "canary" not in findings(with_domain, "--send")
        finally:
            with_domain.ses.publish = None
    sent = with_domain.ses.accepted[number:]
    assert [each.to for each in sent] == ["success@simulator.amazonses.com"]


def test_send_test_email_has_real_headers_and_placeholder_links(
    with_domain: Deployed,
) -> None:
    environment = {"AWS_ENDPOINT_URL_SESV2": with_domain.ses.url}
    with as_client_of(with_domain.engine):
        arguments = ["send-test", "me@campus.example", "--stage", "local"]
        done = CliRunner().invoke(app, arguments, env=environment)
    assert done.exit_code == 0, done.output
    taken = with_domain.ses.accepted[-1]
    assert done.stdout == f"the provider accepted the email: message {taken.message_id}\n"
    assert (taken.to, taken.configuration_set) == ("me@campus.example", "gazette-local-digest")
    assert taken.message["From"] == "Gazette <digest@campus.example>"
    assert taken.message["List-Id"] == "<digest.campus.example>"
    assert taken.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert taken.message["List-Unsubscribe"] == "<https://example.com/leave/d>"
    assert taken.tags["run"] == "test"
    assert "example.com/preferences/preview" in taken.part("html")
