"""The stack with the CloudFront front's certificate and WAF rule, which must be in us-east-1."""

from typing import Unpack

from aws_cdk import CrossStackReferences, ReferenceStrength, Stack
from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from gazette_cdk.constructs.web.links_domain import certificate
from gazette_cdk.stacks.placement import Placement
from gazette_cdk.stage import Stage

REGION = "us-east-1"
"""The Region that CloudFront requires for certificates and WAF rules.
https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cnames-and-https-requirements.html,
https://docs.aws.amazon.com/waf/latest/developerguide/how-aws-waf-works-resources.html
"""

_MINUTES = 5
"""The period, in minutes, in which WAF counts requests."""


class FrontStack(Stack):
    """The stack with the `links_domain` certificate and the WAF rules that limit requests per IP
    address.

    The stack outlives the service stack, which contains the CloudFront distribution.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, **placement: Unpack[Placement]
    ) -> None:
        super().__init__(scope, construct_id, **placement)
        self.certificate = certificate(self, stage, existing=stage.front_certificate)
        self.rules = waf.CfnWebACL(
            self,
            "Rules",
            description="Blocks an address that sends too many requests for links in emails.",
            scope="CLOUDFRONT",
            default_action=waf.CfnWebACL.DefaultActionProperty(allow={}),
            visibility_config=_seen("rules", stage),
            rules=[_too_many(stage)],
        )
        CrossStackReferences.of(self.rules).produce(ReferenceStrength.WEAK)


def _too_many(stage: Stage) -> waf.CfnWebACL.RuleProperty:
    """Return the WAF rule that limits requests per IP address. It responds with status 429.

    https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based.html
    """
    return waf.CfnWebACL.RuleProperty(
        name="too-many",
        priority=0,
        statement=waf.CfnWebACL.StatementProperty(
            rate_based_statement=waf.CfnWebACL.RateBasedStatementProperty(
                limit=stage.front_rate_limit,
                aggregate_key_type="IP",
                evaluation_window_sec=_MINUTES * 60,
            )
        ),
        action=waf.CfnWebACL.RuleActionProperty(
            block=waf.CfnWebACL.BlockActionProperty(
                custom_response=waf.CfnWebACL.CustomResponseProperty(response_code=429)
            )
        ),
        visibility_config=_seen("too-many", stage),
    )


def _seen(name: str, stage: Stage) -> waf.CfnWebACL.VisibilityConfigProperty:
    """Return WAF options that count requests but store no samples, because paths contain tokens."""
    return waf.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True,
        metric_name=f"gazette-{stage.name}-{name}",
        sampled_requests_enabled=False,
    )
