"""The HTTP API for readers, in front of the function `preferences`."""

from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from infra.stage import Stage


class Edge(Construct):
    """`url`: the endpoint, without a trailing slash.

    The API throttles requests before a function runs. There is no access log: paths contain tokens
    with which anybody could act as the reader, and callers' IP addresses are not needed.
    docs/decisions/0023-an-http-api-at-the-edge.md
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self._api = apigateway.HttpApi(
            self,
            "Api",
            api_name=f"gazette-{stage.name}-readers",
            description="The links in emails: unsubscribe, preferences, view in the browser.",
            create_default_stage=False,
        )
        apigateway.HttpStage(
            self,
            "Stage",
            http_api=self._api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=stage.requests_per_second, burst_limit=stage.requests_burst
            ),
        )
        self.url = self._api.api_endpoint

    def lead_to(self, function: lambda_.IFunction) -> None:
        """Route every request to `function`, which also answers unknown paths with a page."""
        apigateway.HttpRoute(
            self,
            "Everything",
            http_api=self._api,
            route_key=apigateway.HttpRouteKey.DEFAULT,
            integration=HttpLambdaIntegration("Function", function),
        )
