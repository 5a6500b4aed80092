"""The HTTP API: throttled, without an access log, one function behind it."""

from tests.infra.synthesis import Synthesis


def test_what_is_too_much_is_turned_away_before_a_function_runs(prod: Synthesis) -> None:
    (stage,) = prod.service.of_type("AWS::ApiGatewayV2::Stage").values()
    assert stage["StageName"] == "$default"
    assert stage["AutoDeploy"] is True
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 50, "ThrottlingBurstLimit": 100}


def test_a_stage_says_how_much_is_too_much(tracking: Synthesis) -> None:
    (stage,) = tracking.service.of_type("AWS::ApiGatewayV2::Stage").values()
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 7, "ThrottlingBurstLimit": 9}


def test_no_path_is_logged_for_paths_hold_tokens(prod: Synthesis) -> None:
    (stage,) = prod.service.of_type("AWS::ApiGatewayV2::Stage").values()
    assert "AccessLogSettings" not in stage
    groups = prod.service.of_type("AWS::Logs::LogGroup").values()
    assert all(group["LogGroupName"].startswith("/aws/lambda/") for group in groups)


def test_every_request_goes_to_preferences(prod: Synthesis) -> None:
    """Also to a path that there is not: the reader gets a page."""
    (route,) = prod.service.of_type("AWS::ApiGatewayV2::Route").values()
    (integration,) = prod.service.of_type("AWS::ApiGatewayV2::Integration").values()
    assert route["RouteKey"] == "$default"
    assert route["AuthorizationType"] == "NONE"
    name, _ = prod.function("preferences")
    assert integration["IntegrationUri"] == f"{{{name}.Arn}}"
    assert integration["PayloadFormatVersion"] == "2.0"


def test_the_function_answers_before_the_edge_gives_up(prod: Synthesis) -> None:
    """After 30 seconds, whatever is set.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
    """
    assert prod.function("preferences")[1]["Timeout"] < 30


def test_no_other_site_may_read_an_answer(prod: Synthesis) -> None:
    (api,) = prod.service.of_type("AWS::ApiGatewayV2::Api").values()
    assert api["ProtocolType"] == "HTTP"
    assert "CorsConfiguration" not in api
