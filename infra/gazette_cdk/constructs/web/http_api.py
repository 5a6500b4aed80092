"""The HTTP API for readers, which invokes the `preferences` function."""

import json
from typing import cast

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from gazette_cdk.constructs.web.links_domain import keep_the_former
from gazette_cdk.stage import Stage
from gazette_cdk.stage.links import burst_of
from gazette_cdk.ways import answers_at_links_domain, answers_at_own_address

API = "Edge"
"""The id of the HTTP API in its stack. A different id would create a different API with a different
address. Without `links_domain`, all links in emails contain that address.
"""

_LOGGED = {
    "request": "$context.requestId",
    "method": "$context.httpMethod",
    "status": "$context.status",
    "milliseconds": "$context.responseLatency",
    "error": "$context.error.message",
    "function_request": "$context.integration.requestId",
    "function_status": "$context.integration.integrationStatus",
    "function_milliseconds": "$context.integration.latency",
    "function_error": "$context.integration.error",
}
"""The format of the access log. It omits the path and the query, because their tokens would let
anyone act as the reader. It also omits the caller's address.
https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html
"""


class ReadersApi(Construct):
    """The HTTP API through which a stage's readers use the links in emails.

    `url` is its address for readers, without a trailing slash, and `host` is the API's own address.
    `log` is the access log. `mapping` connects the API to `links_domain`, if the API serves that
    domain.

    The API throttles requests before a function runs. Its access log shows whether readers get
    responses. docs/decisions/0023-an-http-api-at-the-edge.md,
    docs/decisions/0058-an-access-log-without-paths.md
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self._api = apigateway.HttpApi(
            self,
            "Api",
            api_name=f"gazette-{stage.name}-readers",
            description="The links in emails: unsubscribe, preferences, view in the browser.",
            create_default_stage=False,
            disable_execute_api_endpoint=not answers_at_own_address(stage),
        )
        everything = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self._api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=stage.requests_per_second,
                burst_limit=burst_of(stage.requests_per_second),
            ),
        )
        self.log = access_log(self, everything, name=f"gazette-{stage.name}-readers")
        self.api_id = self._api.api_id
        here = Stack.of(self)
        self.host = f"{self._api.api_id}.execute-api.{here.region}.{here.url_suffix}"
        self.url = f"https://{stage.links_host}" if stage.links_host else self._api.api_endpoint
        self.mapping = self._map(everything, stage) if answers_at_links_domain(stage) else None

    def _map(self, everything: apigateway.HttpStage, stage: Stage) -> apigateway.CfnApiMapping:
        """Serve requests at `links_domain` and, after a change of the setting, also at the former
        domain.
        """
        mapping = apigateway.CfnApiMapping(
            self,
            "Mapping",
            api_id=self._api.api_id,
            domain_name=stage.links_host,
            stage="$default",
        )
        mapping.node.add_dependency(everything)
        keep_the_former(mapping, stage)
        return mapping

    def lead_to(self, function: lambda_.IFunction) -> None:
        """Route every request to a function. The function also returns a page for unknown paths.

        Add the permission to invoke it before the route, so that readers get no status 500 while a
        deployment replaces both.
        """
        route = apigateway.HttpRoute(
            self,
            "Everything",
            http_api=self._api,
            route_key=apigateway.HttpRouteKey.DEFAULT,
            integration=HttpLambdaIntegration("Function", function),
        )
        permission = route.node.find_child("Function-Permission")
        route.node.find_child("Function").node.add_dependency(permission)


def access_log(scope: Construct, everything: apigateway.HttpStage, *, name: str) -> logs.LogGroup:
    """Create the log group of an API's access log.

    A group with this prefix needs no entry in the account's resource policy for log groups, whose
    size is limited.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html
    """
    group = logs.LogGroup(
        scope,
        "Log",
        log_group_name=f"/aws/vendedlogs/{name}",
        retention=logs.RetentionDays.ONE_MONTH,
        removal_policy=RemovalPolicy.DESTROY,
    )
    resource = cast("apigateway.CfnStage", everything.node.default_child)
    resource.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
        destination_arn=Stack.of(scope).format_arn(
            service="logs",
            resource="log-group",
            resource_name=group.log_group_name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        ),
        format=json.dumps(_LOGGED),
    )
    return group
