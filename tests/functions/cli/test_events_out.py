"""`gazette events-out` on moto: what it publishes, and what remains."""

import json
from typing import Any

import boto3
import pytest
from gazette.settings.outbox import OutboxSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy
from tests.functions.messages import profile
from tests.functions.test_outbox import published
from tests.streams import SUBSCRIBERS, a_record
from tests.unit.outbox.test_publish import LEFT, READER, a_batch

BUCKET = "outunpublished"


def keep_batch(bucket: str, content: Any, key: str = "aws/lambda/0/shard/2026/11/22/a") -> None:
    """Put a failed invocation into the bucket, as Lambda does."""
    body: dict[str, Any] = {
        "requestContext": {"condition": "RetryAttemptsExhausted"},
        "DDBStreamBatchInfo": {"batchSize": len(content)},
        "payload": json.dumps({"Records": content}) if isinstance(content, list) else content,
    }
    boto3.client("s3").put_object(Bucket=bucket, Key=key, Body=json.dumps(body).encode())


def names() -> list[str]:
    return [
        each["Key"]
        for each in boto3.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", [])
    ]


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    deploy("outbox", OutboxSettings.from_env().to_env())
    boto3.client("s3").create_bucket(Bucket=BUCKET)
    cloud.meter.clear()
    return cloud


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["events-out", *arguments])


def test_batches_are_published_and_deleted(stage: Cloud) -> None:
    keep_batch(BUCKET, a_batch(11), key="aws/lambda/0/a")
    keep_batch(BUCKET, a_batch(0), key="aws/lambda/0/b")
    done = run("republish")
    assert (done.exit_code, done.stdout) == (
        0,
        "2 batches of stage prod published, with 13 events\n",
    )
    assert len({each["detail"]["id"] for each in published(stage)}) == 12
    assert names() == []
    assert run("republish").stdout == "0 batches of stage prod published, with 0 events\n"


def test_batch_that_fails_remains_and_does_not_hold_up_the_others(stage: Cloud) -> None:
    keep_batch(BUCKET, "{", key="aws/lambda/0/a")
    keep_batch(BUCKET, [a_record("pace", None, READER)], key="aws/lambda/0/b")
    keep_batch(BUCKET, a_batch(1), key="aws/lambda/0/c")
    done = run("republish")
    assert done.exit_code == 1
    assert "1 batch of stage prod published, with 2 events" in done.stdout
    assert names() == ["aws/lambda/0/a", "aws/lambda/0/b"]
    assert "aws/lambda/0/a remains in the bucket: it is not a failed invocation" in done.stderr


def test_unreadable_row_in_a_batch_is_reported(stage: Cloud) -> None:
    broken = a_record(SUBSCRIBERS, READER, LEFT | {"changed_at": {"S": "yesterday"}})
    keep_batch(BUCKET, [broken])
    done = run("republish")
    assert done.exit_code == 0
    assert "The row ann of the table subscribers cannot be read" in done.stderr


def test_state_of_a_reader_is_told_anew(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile(frequencies={"like": "never"}))
    stage.meter.clear()
    done = run("tell", "ann")
    assert done.stdout == "published subscriber.returned and preferences.changed for ann\n"
    status, preferences = (each["detail"] for each in published(stage))
    assert (status["id"], preferences["id"]) == ("ann::1:status", "ann::1:state")
    assert preferences["frequencies"] == {"like": "never"}
    assert status["retold"]
    assert preferences["retold"]


def test_reader_without_profile_has_no_state(stage: Cloud) -> None:
    done = run("tell", "nobody")
    assert done.exit_code == 2
    assert "nobody has no profile in stage prod" in done.stderr
    assert published(stage) == []


def test_state_is_told_only_if_the_stage_publishes_it(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_EVENTS_OUT", '["email.sent"]')
    deploy("outbox", OutboxSettings.from_env().to_env())
    cloud.say("subscriber.changed", profile())
    done = run("tell", "ann")
    assert done.exit_code == 2
    assert "Add their types to events_out" in done.stderr


def test_stage_without_events_out_has_no_function(cloud: Cloud) -> None:
    done = run("tell", "ann")
    assert done.exit_code == 2
    assert "Function gazette-prod-outbox does not exist" in done.stderr
