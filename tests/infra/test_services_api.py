"""A stage with the API for services has a second HTTP API, whose routes require signatures."""

import json
from collections import Counter
from typing import Any

from gazette_cdk.services import ROUTES as ALL
from gazette_cdk.topology import API, API_WRITES, STEPS
from tests.infra.synthesis import Synthesis

ROUTES = [route for route in ALL if not route.option]
"""The routes that every stage with the API has."""


def api_of(stage: Synthesis, name: str = "gazette-prod-services") -> str:
    (found,) = [
        logical
        for logical, each in stage.service.of_type("AWS::ApiGatewayV2::Api").items()
        if each["Name"] == name
    ]
    return found


def parts_of_api(stage: Synthesis, kind: str) -> list[dict[str, Any]]:
    api = api_of(stage)
    return [each for each in stage.service.of_type(kind).values() if api in str(each["ApiId"])]


def test_stage_without_the_api_deploys_nothing_of_it(prod: Synthesis, serving: Synthesis) -> None:
    added = Counter(
        each["Type"]
        for name, each in serving.service.resources.items()
        if name not in prod.service.resources
    )
    assert added == {
        "AWS::ApiGatewayV2::Api": 1,
        "AWS::ApiGatewayV2::Stage": 1,
        "AWS::ApiGatewayV2::Route": len(ROUTES),
        "AWS::ApiGatewayV2::Integration": 2,
        "AWS::CloudWatch::Alarm": 2,
        "AWS::IAM::ManagedPolicy": 4,
        "AWS::IAM::Policy": 2,
        "AWS::IAM::Role": 2,
        "AWS::Lambda::Alias": 2,
        "AWS::Lambda::Function": 2,
        "AWS::Lambda::Permission": len(ROUTES),
        "AWS::Lambda::Version": 2,
        "AWS::Logs::LogGroup": 3,
        "AWS::Logs::MetricFilter": 1,
        "AWS::SSM::Parameter": 1,
    }
    assert serving.data.resources == prod.data.resources


def test_other_resources_are_the_same_with_and_without_the_api(
    prod: Synthesis, serving: Synthesis
) -> None:
    """Only the dashboard differs, and what depends on the release, which covers all functions.

    Feedback may publish activity, because services may report clicks.
    """
    changed = {
        name: each["Type"]
        for name, each in prod.service.resources.items()
        if serving.service.resources.get(name) != each
    }
    others = {"AWS::CloudWatch::Dashboard", "AWS::Lambda::Alias", "AWS::Lambda::Function"}
    policies = [name for name, type_ in changed.items() if type_ not in others]
    assert [changed[name] for name in policies] == ["AWS::IAM::Policy"]
    before, after = prod.grants("feedback"), serving.grants("feedback")
    added = [(each.action, each.resource) for each in after if each not in before]
    assert added == [("events:PutEvents", "{Bus.Arn}")]
    assert all(each in after for each in before)
    for name, each in prod.service.of_type("AWS::Lambda::Function").items():
        now = serving.service.of_type("AWS::Lambda::Function")[name]
        assert {**now, "Description": ""} == {**each, "Description": ""}


def test_each_route_is_explicit_and_requires_a_signature(serving: Synthesis) -> None:
    routes = parts_of_api(serving, "AWS::ApiGatewayV2::Route")
    assert sorted(each["RouteKey"] for each in routes) == sorted(route.key for route in ROUTES)
    assert {each["AuthorizationType"] for each in routes} == {"AWS_IAM"}


def test_routes_of_readers_stay_open(serving: Synthesis) -> None:
    own = parts_of_api(serving, "AWS::ApiGatewayV2::Route")
    every = serving.service.of_type("AWS::ApiGatewayV2::Route").values()
    (readers,) = [each for each in every if each not in own]
    assert (readers["RouteKey"], readers.get("AuthorizationType", "NONE")) == ("$default", "NONE")


def test_excess_requests_are_throttled(serving: Synthesis) -> None:
    (stage,) = parts_of_api(serving, "AWS::ApiGatewayV2::Stage")
    assert stage["StageName"] == "$default"
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 20, "ThrottlingBurstLimit": 40}


def test_access_log_contains_no_query(serving: Synthesis) -> None:
    (stage,) = parts_of_api(serving, "AWS::ApiGatewayV2::Stage")
    line = stage["AccessLogSettings"]["Format"]
    assert "path" not in line.lower()
    assert "query" not in line.lower()
    group = serving.service.of_type("AWS::Logs::LogGroup")["ServicesLog"]
    assert group["LogGroupName"] == "/aws/vendedlogs/gazette-prod-services"
    assert group["RetentionInDays"] == 30


def test_policies_allow_exactly_their_routes(serving: Synthesis) -> None:
    api = api_of(serving)
    allowed: dict[str, list[str]] = {}
    for policy in serving.service.of_type("AWS::IAM::ManagedPolicy").values():
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Action"]) == ("Allow", "execute-api:Invoke")
        resources = statement["Resource"]
        listed = resources if isinstance(resources, list) else [resources]
        assert all(api in str(each) for each in listed)
        routes = [str(each).partition("/$default/")[2] for each in listed]
        allowed[str(policy["ManagedPolicyName"])] = sorted(routes)
    assert allowed == {
        "gazette-prod-reads": sorted(
            f"GET/v1/{path}"
            for path in ("subscriber", "subscriber/emails", "event", "activity", "entity")
        ),
        "gazette-prod-privacy": ["GET/v1/subscriber/export"],
        "gazette-prod-settings": ["PATCH/v1/subscriber/choices", "POST/v1/subscriber/link"],
        "gazette-prod-delivery-events": ["POST/v1/delivery-event"],
    }


def test_delivery_events_of_the_api_bypass_the_bus(prod: Synthesis, serving: Synthesis) -> None:
    """So no publisher can pretend to be the API. The rules are those of a stage without it."""
    assert serving.service.of_type("AWS::Events::Rule") == prod.service.of_type("AWS::Events::Rule")
    (name, _), (_, function) = serving.queue("feedback"), serving.function("api_writes")
    variables = function["Environment"]["Variables"]
    assert variables["GAZETTE_FEEDBACK_QUEUE_URL"] == f"{{{name}}}"
    senders = {
        step.name
        for step in (*STEPS, API, API_WRITES)
        if any(
            (each.action, each.resource) == ("sqs:SendMessage", f"{{{name}.Arn}}")
            for each in serving.grants(step.name)
        )
    }
    assert senders == {"api_writes"}


def test_return_of_subscribers_is_turned_on_apart(serving: Synthesis, complete: Synthesis) -> None:
    """The route, its policy, its grants and its alarm exist only with `"return": true`."""
    for stage, is_on in ((serving, False), (complete, True)):
        routes = parts_of_api(stage, "AWS::ApiGatewayV2::Route")
        assert ("POST /v1/subscriber/return" in {each["RouteKey"] for each in routes}) == is_on
        policies = {
            str(each["ManagedPolicyName"]): str(each["PolicyDocument"])
            for each in stage.service.of_type("AWS::IAM::ManagedPolicy").values()
        }
        allowing = {name for name, each in policies.items() if "subscriber/return" in each}
        assert allowing == ({"gazette-prod-consent"} if is_on else set())
        granted = stage.grants("api_writes")
        assert any("Suppressions" in each.resource for each in granted) == is_on
        assert any(each.action.startswith("secretsmanager:") for each in granted) == is_on
        alarms = stage.service.of_type("AWS::CloudWatch::Alarm").values()
        assert ("gazette-prod-consents-many" in {each["AlarmName"] for each in alarms}) == is_on


def test_alarm_fires_above_a_hundred_consents_in_an_hour(complete: Synthesis) -> None:
    alarms = complete.service.of_type("AWS::CloudWatch::Alarm").values()
    (alarm,) = [each for each in alarms if each["AlarmName"] == "gazette-prod-consents-many"]
    assert alarm["MetricName"] == "consents"
    assert (alarm["Period"], alarm["Threshold"], alarm["Statistic"]) == (3600, 100, "Sum")
    assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
    assert str(alarm["AlarmDescription"]).startswith("NOW")


def test_function_that_reads_has_no_grant_to_write() -> None:
    actions = {action for _, actions in API.tables for action in actions}
    assert actions <= {"GetItem", "BatchGetItem", "Query"}
    assert {action for _, actions in API_WRITES.tables for action in actions} > actions


def test_api_url_is_an_output(serving: Synthesis, prod: Synthesis) -> None:
    assert "ServicesUrl" in serving.service.outputs
    assert "ServicesUrl" not in prod.service.outputs


MOST_METRICS = 10
"""The maximum number of metrics in an alarm on metric math.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Create-alarm-on-metric-math-expression.html
"""


def test_no_alarm_has_more_metrics_than_cloudwatch_allows(complete: Synthesis) -> None:
    alarms = complete.service.of_type("AWS::CloudWatch::Alarm").values()
    counts = {
        str(each["AlarmName"]): sum("MetricStat" in metric for metric in each["Metrics"])
        for each in alarms
        if "Metrics" in each
    }
    assert counts
    assert max(counts.values()) <= MOST_METRICS, counts
    assert counts["gazette-prod-functions-failing"] == MOST_METRICS


def test_dashboard_shows_the_alarms_of_the_api(serving: Synthesis, prod: Synthesis) -> None:
    dashboards = serving.service.of_type("AWS::CloudWatch::Dashboard").values()
    (dashboard,) = (each for each in dashboards if "support" not in each["DashboardName"])
    alarms, without = (each.service.of_type("AWS::CloudWatch::Alarm") for each in (serving, prod))
    more = alarms.keys() - without.keys()
    assert more
    assert all(f"{{{name}.Arn}}" in json.dumps(dashboard) for name in more)
