"""The SES configuration set of a stream. SES counts, limits and reports emails per configuration
set.
"""

from collections.abc import Iterator

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ses as ses
from constructs import Construct

from gazette_cdk.stage import Stage, Stream


def name_of_set(stage: Stage, stream: Stream) -> str:
    """Return the name of a stream's configuration set."""
    return f"gazette-{stage.name}-{stream.name}"


def build_configuration_set(scope: Construct, stage: Stage, stream: Stream) -> ses.ConfigurationSet:
    """Create a stream's configuration set. Every option is set, so that no account default applies.

    - Reputation metrics: bounces and complaints of this set, in CloudWatch.
    - TLS: `tls` of the stage. SES always tries TLS. If TLS is required, it does not deliver to a
      server without it. https://docs.aws.amazon.com/ses/latest/dg/security-protocols.html
    - Suppression: SES withholds email to an address that bounced or complained before. This is a
      second safeguard behind the table `suppressions`, for example after a restore to an earlier
      time.
      https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list.html
    - Virtual Deliverability Manager: off, whatever the account's default. It costs extra without a
      plan, and its engagement metrics rewrite links and add a picture.
      https://docs.aws.amazon.com/ses/latest/dg/vdm-settings.html
    - Tracking domain: HTTPS, because links of events have https. A custom host then needs a
      certificate, so it is a CloudFront distribution in front of SES instead of a CNAME.
      https://docs.aws.amazon.com/ses/latest/dg/configure-custom-open-click-domains.html
    """
    name = stream.name.capitalize()
    pool = (
        ses.DedicatedIpPool.from_dedicated_ip_pool_name(scope, f"{name}Pool", stream.pool)
        if stream.pool
        else None
    )
    tracking = stage.tracking_domain or None
    return ses.ConfigurationSet(
        scope,
        name,
        configuration_set_name=name_of_set(stage, stream),
        custom_tracking_https_policy=ses.HttpsPolicy.REQUIRE if tracking else None,
        custom_tracking_redirect_domain=tracking,
        dedicated_ip_pool=pool,
        reputation_metrics=True,
        sending_enabled=True,
        suppression_reasons=ses.SuppressionReasons.BOUNCES_AND_COMPLAINTS,
        tls_policy=ses.ConfigurationSetTlsPolicy[stage.tls.upper()],
        vdm_options=ses.VdmOptions(engagement_metrics=False, optimized_shared_delivery=False),
    )


def may_send(stack: Stack, stage: Stage, stream: Stream) -> iam.PolicyStatement:
    """Allow a function to send email only as this stream's sender, and only with its configuration
    set.

    In the sandbox, SES also requires permission for the identity of a verified recipient. All
    identities are then allowed, and only the condition restricts the sender.
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsimpleemailservicev2.html
    """
    identities = ["*"] if stage.sandbox else list(_identities(stream.address, stage.domain))
    return iam.PolicyStatement(
        actions=["ses:SendEmail"],
        resources=[
            *(
                stack.format_arn(service="ses", resource="identity", resource_name=each)
                for each in identities
            ),
            stack.format_arn(
                service="ses",
                resource="configuration-set",
                resource_name=name_of_set(stage, stream),
            ),
        ],
        conditions={"StringEquals": {"ses:FromAddress": stream.address}},
    )


def _identities(address: str, verified: str) -> Iterator[str]:
    """Yield the SES identities that may verify an address: the address with and without its label,
    and each of its domains.

    SES uses the most specific identity, so stop at the domain that the stage verifies.
    https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
    """
    local, _, domain = address.rpartition("@")
    yield address
    if "+" in local:
        yield f"{local.partition('+')[0]}@{domain}"
    while "." in domain:
        yield domain
        if domain == verified:
            return
        domain = domain.partition(".")[2]
