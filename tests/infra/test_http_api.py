"""The HTTP API: throttled, with an access log that names nobody, one function behind it."""

import json
import re

from tests.infra.synthesis import Synthesis, without_hash


def test_excess_requests_are_throttled_by_the_api(prod: Synthesis) -> None:
    (stage,) = prod.service.of_type("AWS::ApiGatewayV2::Stage").values()
    assert stage["StageName"] == "$default"
    assert stage["AutoDeploy"] is True
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 50, "ThrottlingBurstLimit": 100}


def test_stage_can_set_the_throttling_limit(tracking: Synthesis) -> None:
    (stage,) = tracking.service.of_type("AWS::ApiGatewayV2::Stage").values()
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 7, "ThrottlingBurstLimit": 14}


_TELLS_NOTHING_OF_WHO_OR_WHAT = {
    "requestId",
    "httpMethod",
    "status",
    "responseLatency",
    "error.message",
    "integration.requestId",
    "integration.integrationStatus",
    "integration.latency",
    "integration.error",
}


def test_attack_access_log_contains_neither_path_nor_reader(
    prod: Synthesis,
) -> None:
    """A path holds a token, with which anybody acts as its reader."""
    (stage,) = prod.service.of_type("AWS::ApiGatewayV2::Stage").values()
    line = stage["AccessLogSettings"]["Format"]
    logged = re.findall(r"\$context\.([A-Za-z.]+)", line)
    assert line.count("$") == len(logged)
    assert set(logged) <= _TELLS_NOTHING_OF_WHO_OR_WHAT


def test_access_log_contains_status_and_latency(prod: Synthesis) -> None:
    (stage,) = prod.service.of_type("AWS::ApiGatewayV2::Stage").values()
    line = json.loads(stage["AccessLogSettings"]["Format"])
    assert line["status"] == "$context.status"
    assert line["milliseconds"] == "$context.responseLatency"
    assert {"$context.requestId", "$context.error.message", "$context.integration.error"} <= set(
        line.values()
    )


def test_access_log_is_kept_for_a_month(prod: Synthesis) -> None:
    (stage,) = prod.service.of_type("AWS::ApiGatewayV2::Stage").values()
    group = prod.service.of_type("AWS::Logs::LogGroup")["EdgeLog"]
    assert group["RetentionInDays"] == 30
    assert group["LogGroupName"] == "/aws/vendedlogs/gazette-prod-readers"
    assert stage["AccessLogSettings"]["DestinationArn"].endswith(":log-group:{EdgeLog}")


def test_every_request_is_routed_to_preferences(prod: Synthesis) -> None:
    """Also to a path that there is not: the reader gets a page.

    `$default` has all methods, HEAD too, and without CORS the API answers no OPTIONS by itself.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html
    """
    (api,) = prod.service.of_type("AWS::ApiGatewayV2::Api").values()
    assert "CorsConfiguration" not in api
    (route,) = prod.service.of_type("AWS::ApiGatewayV2::Route").values()
    (integration,) = prod.service.of_type("AWS::ApiGatewayV2::Integration").values()
    assert route["RouteKey"] == "$default"
    assert route["AuthorizationType"] == "NONE"
    assert integration["IntegrationUri"] == f"{{{prod.live('preferences')}}}"
    assert integration["PayloadFormatVersion"] == "2.0"


def test_preferences_timeout_is_below_the_api_limit(prod: Synthesis) -> None:
    """After 30 seconds, whatever is set.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
    """
    assert prod.function("preferences")[1]["Timeout"] < 30


def test_cross_origin_requests_are_not_allowed(prod: Synthesis) -> None:
    (api,) = prod.service.of_type("AWS::ApiGatewayV2::Api").values()
    assert api["ProtocolType"] == "HTTP"
    assert "CorsConfiguration" not in api


def test_invoke_permission_is_created_before_the_route(prod: Synthesis) -> None:
    """Where the permission came later, readers would get 500 while both are replaced."""
    (integration,) = (
        each
        for each in prod.service.resources.values()
        if each["Type"] == "AWS::ApiGatewayV2::Integration"
    )
    (permission,) = (
        name
        for name, each in prod.service.of_type("AWS::Lambda::Permission").items()
        if each["Principal"] == "apigateway.amazonaws.com"
    )
    assert [without_hash(each) for each in integration["DependsOn"]] == [permission]
