"""CloudFront in front of the HTTP API, so that one IP address cannot use up the rate limit of all
readers.
"""

from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from constructs import Construct

from gazette_cdk.constructs.web.links_domain import output_target
from gazette_cdk.stage import Stage


class Front(Construct):
    """A CloudFront distribution without a cache.

    It forwards the path, query, headers and body unchanged.

    It forwards all headers except `Host`, by which API Gateway selects the API.
    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html

    There is no access log, because paths contain tokens. The API also answers direct requests to
    `origin`, but no email, certificate or DNS record contains that name.
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
        output_target(self, stage, self.distribution.distribution_domain_name, of="the front")
