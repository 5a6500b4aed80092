"""CloudFront before the HTTP API, so that one address cannot use up what all readers have."""

from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from constructs import Construct

from infra.constructs.web.links_domain import say_where_to_lead
from infra.stage import Stage


class Front(Construct):
    """A distribution that stores nothing and hands on path, query, headers and body as they came.

    All headers but `Host`, by which API Gateway finds the API.
    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html

    It has no log: paths hold tokens. The API behind it answers at `origin` to whoever knows that
    name, which no email, certificate or DNS record has.
    docs/decisions/0057-links-have-a-domain-that-stays.md
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        origin: str,
        certificate: acm.ICertificate,
        rules: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self.distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment=f"The links in emails of gazette-{stage.name}.",
            domain_names=[stage.links_host],
            certificate=certificate,
            web_acl_id=rules,
            default_behavior=cloudfront.BehaviorOptions(
                origin=origins.HttpOrigin(
                    origin,
                    protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
                    origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
                ),
                allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                compress=False,
                origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
                viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
            ),
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
        )
        say_where_to_lead(self, stage, self.distribution.distribution_domain_name, to="the front")
