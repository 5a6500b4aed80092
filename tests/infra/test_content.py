"""A stage that asks a content source has one function more; every other stage has nothing of it."""

import pytest

from gazette_cdk.stages import StageError, read_stage
from gazette_cdk.topology import CONTENT, STEPS, VISIBILITY_FACTOR
from tests.infra.synthesis import Grant, Synthesis

LEAST = {"sender": "a@shop.example", "list_id": "digest.shop.example"}
ASKS = {
    **LEAST,
    "content_sources": ["events", "recommendations"],
    "recommendations_url": "https://recommend.shop.example/v1",
}


def functions(stage: Synthesis) -> set[str]:
    return {
        each["FunctionName"].removeprefix("gazette-prod-")
        for each in stage.service.of_type("AWS::Lambda::Function").values()
        if "FunctionName" in each
    }


def test_only_a_stage_with_a_content_source_has_the_function(
    prod: Synthesis, asking: Synthesis
) -> None:
    assert functions(asking) - functions(prod) == {CONTENT.name}
    assert "content" not in str(prod.service.of_type("AWS::SQS::Queue"))


def test_content_queue_is_configured_like_all_function_queues(asking: Synthesis) -> None:
    _, queue = asking.queue("content")
    dead, _ = asking.queue("content-dead")
    assert queue["VisibilityTimeout"] >= VISIBILITY_FACTOR * CONTENT.timeout
    assert queue["RedrivePolicy"] == {
        "deadLetterTargetArn": f"{{{dead}.Arn}}",
        "maxReceiveCount": CONTENT.max_receives,
    }


def test_concurrent_source_requests_are_limited_by_the_setting(asking: Synthesis) -> None:
    name, _ = asking.queue("content")
    (mapping,) = (
        each
        for each in asking.service.of_type("AWS::Lambda::EventSourceMapping").values()
        if each["EventSourceArn"] == f"{{{name}.Arn}}"
    )
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 7}
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_fan_out_and_generate_may_queue_fetches_with_a_content_source(
    prod: Synthesis, asking: Synthesis
) -> None:
    queue, _ = asking.queue("content")
    sends = Grant(action="sqs:SendMessage", resource=f"{{{queue}.Arn}}", condition={})
    for step in (*STEPS, CONTENT):
        role = asking.function(step.name)[1]["Role"].strip("{}").removesuffix(".Arn")
        may = sends in asking.service.grants(role)
        assert may is (step.name in {"fanout", "generate", "content"}), step.name


def test_content_function_reads_only_its_own_secret(asking: Synthesis) -> None:
    role = asking.function("content")[1]["Role"].strip("{}").removesuffix(".Arn")
    secrets = [
        each.resource
        for each in asking.service.grants(role)
        if each.action.startswith("secretsmanager:")
    ]
    assert len(secrets) == 1
    assert "secret:recommend-token-??????" in secrets[0]


def test_content_alarms_exist_only_with_a_content_source(
    prod: Synthesis, asking: Synthesis
) -> None:
    def alarms(stage: Synthesis) -> set[str]:
        found = stage.service.of_type("AWS::CloudWatch::Alarm").values()
        return {each["AlarmName"].removeprefix("gazette-prod-") for each in found}

    assert alarms(asking) - alarms(prod) == {
        "content-dead-not-empty",
        "content-old",
        "source-breaker-opened",
    }


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"recommendations_url": ""}, "recommendations_url is required"),
        ({"recommendations_url": "http://shop.example"}, "recommendations_url must be an https"),
        ({"recommendations_url": "ftp://shop.example"}, "recommendations_url must be an https"),
        ({"recommendations_url": "https://[::1"}, "recommendations_url must be an https"),
        ({"recommendations_url": "https://a.b:x/"}, "recommendations_url must be an https"),
        ({"content_sources": ["recommendations"]}, "content_sources is"),
        ({"content_sources": ["events", "news"]}, "content_sources is"),
        ({"recommendations_lead": 5}, "recommendations_lead must be a multiple of 10"),
        (
            {"recommendations_lead": 1440, "recommendations_fresh_for": 60},
            "recommendations_lead must be at most recommendations_fresh_for",
        ),
        ({"recommendations_items": 0}, "recommendations_items must be 1 to 20"),
        ({"recommendations_policy": "maybe"}, "recommendations_policy must be without or wait"),
        ({"recommendations_per_second": 0}, "recommendations_per_second must be 1 to 1000"),
        (
            {"recommendations_secret": "arn:aws:secretsmanager:eu-west-1:1:secret:token-AbCdEf"},
            "recommendations_secret must be the name of a secret, not its ARN",
        ),
        ({"recommendations_fallback_image": "x"}, "recommendations_fallback_image must be"),
        ({"recommendations_fallback_image": "https://[a]"}, "recommendations_fallback_image must"),
        ({"critical_categories": ["recommendation"]}, "critical_categories must not have"),
        (
            {"recommendations_patience": 3600, "max_lateness": 3600},
            "recommendations_patience must be at most half of max_lateness",
        ),
    ],
)
def test_invalid_content_setting_is_rejected_by_name(changed: dict[str, object], says: str) -> None:
    with pytest.raises(StageError, match=says):
        read_stage("prod", {"prod": {**ASKS, **changed}})


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/a", "http://localhost:1/", "https://a.b/c"])
def test_plain_http_source_is_allowed_only_on_loopback(url: str) -> None:
    assert read_stage("prod", {"prod": {**ASKS, "recommendations_url": url}}).asks_source


def test_recommendations_may_be_listed_first() -> None:
    given = {**ASKS, "content_sources": ["recommendations", "events"]}
    assert read_stage("prod", {"prod": given}).content_sources == ["recommendations", "events"]
