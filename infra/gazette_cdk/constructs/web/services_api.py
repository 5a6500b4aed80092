"""The HTTP API for services, which call it with signed requests."""

from collections.abc import Mapping

from aws_cdk import Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk.aws_apigatewayv2_authorizers import HttpIamAuthorizer
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from gazette_cdk.constructs.web.http_api import access_log
from gazette_cdk.services import POLICIES
from gazette_cdk.stage import Stage
from gazette_cdk.stage.links import burst_of


class ServicesApi(Construct):
    """The HTTP API for services.

    It is separate from the API for readers, which has a public domain, a route for all paths and
    another rate limit. Each route here is explicit and requires a signature (SigV4), so calls
    without permission never reach a function. HTTP APIs have no resource policies, so callers in
    other accounts assume a role of this account.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-access-control-iam.html
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        functions: Mapping[str, lambda_.IFunction],
    ) -> None:
        super().__init__(scope, construct_id)
        name = f"gazette-{stage.name}-services"
        self._api = apigateway.HttpApi(
            self,
            "Api",
            api_name=name,
            description="The API for services: preferences, receipts and emails of readers.",
            create_default_stage=False,
            default_authorizer=HttpIamAuthorizer(),
        )
        everything = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self._api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=stage.services_rate, burst_limit=burst_of(stage.services_rate)
            ),
        )
        self.log = access_log(self, everything, name=name)
        self.api_id = self._api.api_id
        self.url = self._api.api_endpoint
        integrations = {
            step: HttpLambdaIntegration(step, function) for step, function in functions.items()
        }
        for route in stage.service_routes:
            self._api.add_routes(
                path=route.path,
                methods=[apigateway.HttpMethod[route.method]],
                integration=integrations[route.step.name],
            )
        policies = {route.policy for route in stage.service_routes}
        for policy, description in POLICIES.items():
            if policy in policies:
                self._policy(policy, f"{description}.", stage)

    def _policy(self, policy: str, description: str, stage: Stage) -> None:
        """Create a managed policy that allows calls of its routes.

        The ARN of a route contains the name of the API's stage, which is `$default`.
        https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-control-access-using-iam-policies-to-invoke-api.html
        """
        here = Stack.of(self)
        iam.ManagedPolicy(
            self,
            policy.title(),
            managed_policy_name=f"gazette-{stage.name}-{policy}",
            description=description,
            statements=[
                iam.PolicyStatement(
                    actions=["execute-api:Invoke"],
                    resources=[
                        here.format_arn(
                            service="execute-api",
                            resource=self._api.api_id,
                            resource_name=f"$default/{route.method}{route.path}",
                        )
                        for route in stage.service_routes
                        if route.policy == policy
                    ],
                )
            ],
        )
