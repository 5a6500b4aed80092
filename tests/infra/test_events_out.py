"""A stage that publishes events out has one function more; every other stage has only streams."""

import json
from typing import Any

import pytest

from gazette_cdk.stages import StageError, read_stage
from gazette_cdk.topology import OUTBOX, TABLES
from tests.infra.conftest import EVERY, Stages
from tests.infra.synthesis import Grant, Synthesis

LEAST = {"sender": "a@shop.example", "list_id": "digest.shop.example"}


def mappings(stage: Synthesis) -> list[dict[str, Any]]:
    return [
        each
        for each in stage.service.of_type("AWS::Lambda::EventSourceMapping").values()
        if each["FunctionName"] == stage.mapped("outbox")
    ]


def test_stage_without_events_out_has_only_streams(prod: Synthesis, publishing: Synthesis) -> None:
    added = {
        name: each["Type"]
        for name, each in publishing.service.resources.items()
        if name not in prod.service.resources
    }
    assert sorted(added.values()) == [
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Alarm",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::Lambda::Alias",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::Function",
        "AWS::Lambda::Version",
        "AWS::Logs::LogGroup",
    ]
    data = {
        name: each["Type"]
        for name, each in publishing.data.resources.items()
        if name not in prod.data.resources
    }
    assert sorted(data.values()) == [
        "AWS::Events::EventBus",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
    ]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_streams_are_always_on(prod: Synthesis, by_smtp: Synthesis, table: Any) -> None:
    for stage in (prod, by_smtp):
        properties = stage.data.of_type("AWS::DynamoDB::Table")[table.name.title().replace("_", "")]
        stream = properties.get("StreamSpecification")
        assert stream == ({"StreamViewType": "NEW_AND_OLD_IMAGES"} if table.has_stream else None)
    assert table.has_stream is (table.name in {"subscribers", "runs", "engagement"})


def test_mappings_repeat_halve_and_then_keep_a_batch(publishing: Synthesis) -> None:
    found = mappings(publishing)
    assert {each["EventSourceArn"] for each in found} == {
        "{Subscribers.StreamArn}",
        "{Runs.StreamArn}",
        "{Engagement.StreamArn}",
    }
    for each in found:
        assert each["StartingPosition"] == "TRIM_HORIZON"
        assert (each["BatchSize"], each["MaximumBatchingWindowInSeconds"]) == (100, 5)
        assert each["BisectBatchOnFunctionError"] is True
        assert each["MaximumRetryAttempts"] == 20
        assert "MaximumRecordAgeInSeconds" not in each  # a later change would reach it too
        assert "FunctionResponseTypes" not in each
        assert each["DestinationConfig"] == {"OnFailure": {"Destination": "{OutUnpublished.Arn}"}}


def test_filters_pass_only_rows_that_can_be_published(publishing: Synthesis) -> None:
    patterns = {
        each["EventSourceArn"]: [
            json.loads(one["Pattern"])["dynamodb"]["NewImage"]
            for one in each["FilterCriteria"]["Filters"]
        ]
        for each in mappings(publishing)
    }
    assert patterns == {
        "{Subscribers.StreamArn}": [{"email": {"S": [{"exists": True}]}}],
        "{Runs.StreamArn}": [{"status": {"S": ["sent", "failed", "skipped"]}}],
        "{Engagement.StreamArn}": [{"run": {"S": [{"exists": True}]}}],
    }


def test_only_streams_of_listed_types_are_read(stages: Stages) -> None:
    stage = stages("publishing_runs", "prod", bundled=False, events_out=["email.failed"])
    assert [each["EventSourceArn"] for each in mappings(stage)] == ["{Runs.StreamArn}"]


def test_function_may_read_streams_publish_and_keep_batches(publishing: Synthesis) -> None:
    streams = ("Subscribers", "Runs", "Engagement")
    reading = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
    grants = [each for each in publishing.grants("outbox") if not each.action.startswith("logs:")]
    assert sorted(map(str, grants)) == sorted(
        str(Grant(action=action, resource=resource, condition={}))
        for action, resource in (
            ("events:PutEvents", "{OutBus.Arn}"),
            ("s3:PutObject", "{OutUnpublished.Arn}/aws/lambda/*"),
            ("s3:ListBucket", "{OutUnpublished.Arn}"),
            *((f"dynamodb:{each}", f"{{{of}.StreamArn}}") for of in streams for each in reading),
        )
    )


def test_bus_and_bucket_outlive_their_stack_and_batches_expire(publishing: Synthesis) -> None:
    bus, bucket = publishing.data.resources["OutBus"], publishing.data.resources["OutUnpublished"]
    assert bus["Properties"]["Name"] == "gazette-prod-out"
    for resource in (bus, bucket):
        assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"
    rules = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
    assert rules == [{"ExpirationInDays": 14, "Status": "Enabled"}]
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}


def test_alarms_watch_delay_and_errors(publishing: Synthesis) -> None:
    alarms = {
        each["AlarmName"].removeprefix("gazette-prod-"): each
        for each in publishing.service.of_type("AWS::CloudWatch::Alarm").values()
    }
    late, failed = alarms["events-out-late"], alarms["events-out-failed"]
    assert (late["MetricName"], late["Threshold"]) == ("IteratorAge", 600_000)
    assert (failed["MetricName"], failed["Threshold"], failed["Period"]) == ("Errors", 19, 3600)


def test_alarm_on_all_functions_has_at_most_ten_metrics(publishing: Synthesis) -> None:
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Create-alarm-on-metric-math-expression.html"""
    for each in publishing.service.of_type("AWS::CloudWatch::Alarm").values():
        assert len(each.get("Metrics", [])) <= 1 + 10


def test_settings_reach_the_function(publishing: Synthesis) -> None:
    _, function = publishing.function("outbox")
    variables = function["Environment"]["Variables"]
    assert json.loads(variables["GAZETTE_EVENTS_OUT"]) == EVERY
    assert variables["GAZETTE_EVENTS_OUT_SOURCE"] == "gazette.prod"
    assert variables["GAZETTE_EVENTS_OUT_BUS"] == "gazette-prod-out"
    assert variables["GAZETTE_UNPUBLISHED_BUCKET"] == "{OutUnpublished}"
    assert function["MemorySize"] == OUTBOX.memory


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"events_out": ["email.sent", "email.send"]},
            "events_out contains 'email.send'; each entry must be one of subscriber.left,",
        ),
        ({"events_out": ["address"]}, "events_out has only address. List a type of event"),
        ({"events_out": "email.sent"}, "events_out must be of type list"),
        (
            {"events_out": ["email.sent"], "bus": "gazette-prod-out"},
            "bus must not be gazette-prod-out, which is the bus of events out.",
        ),
        ({"recommendations_concurrency": 12}, 'Write "concurrency": {"content": 12}.'),
    ],
)
def test_wrong_settings_are_named(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(StageError) as refusal:
        read_stage("prod", {"prod": {**LEAST, **changed}})
    assert says in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize("events_out", [[], ["email.sent"], EVERY])
def test_lists_of_types_are_accepted(events_out: list[str]) -> None:
    stage = read_stage("prod", {"prod": {**LEAST, "events_out": events_out}})
    assert ("outbox" in [step.name for step in stage.steps]) is bool(events_out)
