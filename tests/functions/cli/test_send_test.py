"""`gazette send-test` on moto: what goes out, to whom not, and what its events change."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from gazette.settings.delivery import GenerateSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.reference.permissions import PERMISSIONS
from tests.functions.cli.conftest import outside
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy
from tests.functions.messages import bounce


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    deploy("generate", GenerateSettings.from_env().to_env())
    cloud.meter.clear()
    return cloud


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["send-test", *arguments])


def test_send_test_sends_a_single_email_and_prints_the_message_id(stage: Cloud) -> None:
    with stage.meter.acting("send-test"):
        done = run("me@example.com", "--json")
    assert done.exit_code == 0, done.output
    (sent,) = stage.sent()
    settings = GenerateSettings.from_env()
    assert sent["FromEmailAddress"] == settings.sender
    assert sent["Destination"] == {"ToAddresses": ["me@example.com"]}
    assert sent["ConfigurationSetName"] == settings.configuration_set
    told = json.loads(done.stdout)
    assert told["message_id"]
    assert told["subject"] == sent["Content"]["Simple"]["Subject"]["Data"]
    assert outside("send-test", stage.meter.grants["send-test"]) == (set(), set())
    assert "send-test" in PERMISSIONS


def test_send_test_can_use_the_immediate_stream(stage: Cloud) -> None:
    assert run("me@example.com", "--kind", "immediate").exit_code == 0
    (sent,) = stage.sent()
    settings = GenerateSettings.from_env()
    assert sent["FromEmailAddress"] == settings.immediate_sender
    assert sent["ConfigurationSetName"] == settings.immediate_configuration_set


def test_send_test_skips_a_suppressed_address(stage: Cloud) -> None:
    stage.work("feedback", bounce())
    done = run("Ann@Example.com")
    assert (done.exit_code, stage.sent()) == (2, [])
    assert "is suppressed (bounced). To allow the address again" in done.stderr


def test_send_test_rejected_by_the_provider_suggests_the_doctor(stage: Cloud) -> None:
    def refused(_: object) -> None:
        said: Any = {
            "Error": {"Code": "MessageRejected", "Message": "Email address is not verified."},
            "ResponseMetadata": {"HTTPStatusCode": 400},
        }
        raise ClientError(said, "SendEmail")

    stage.answers["SendEmail"] = refused
    done = run("me@example.com")
    assert done.exit_code == 2
    assert "not verified). To find the cause, run `gazette doctor --stage prod`" in done.stderr


@pytest.mark.parametrize(
    "to",
    ["me", "me@example", "a@b.example\nBcc: c@d.example", "ann@example.com-", f"a@b.{'c' * 64}"],
)
def test_send_test_rejects_an_invalid_address_before_any_request(stage: Cloud, to: str) -> None:
    assert run(to).exit_code == 2
    assert not stage.meter.calls


def test_send_test_does_not_send_to_an_address_that_the_stage_does_not_allow(cloud: Cloud) -> None:
    allowed = {"GAZETTE_ALLOWED_RECIPIENTS": '["@shop.example"]'}
    deploy("generate", {**GenerateSettings.from_env().to_env(), **allowed})
    done = run("me@example.com")
    assert (done.exit_code, cloud.sent()) == (2, [])
    assert "not in its setting allowed_recipients" in done.stderr
    assert run("me@shop.example").exit_code == 0
    assert len(cloud.sent()) == 1
