"""The domain of the links in emails: its certificate and its name, which outlive the service."""

from aws_cdk import CfnOutput
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_route53_targets as targets
from constructs import Construct

from infra.stage import Stage


class LinksDomain(Construct):
    """`links_domain` in front of whichever HTTP API is mapped to it.

    Without a zone of the stage, the name that a CNAME record has to lead to is an output.
    docs/decisions/0057-links-have-a-domain-that-stays.md
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        domain = apigateway.DomainName(
            self,
            "Name",
            domain_name=stage.links_host,
            certificate=certificate(self, stage),
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        lead_to(
            self,
            stage,
            route53.RecordTarget.from_alias(
                targets.ApiGatewayv2DomainProperties(
                    domain.regional_domain_name, domain.regional_hosted_zone_id
                )
            ),
            name=domain.regional_domain_name,
        )


def certificate(scope: Construct, stage: Stage) -> acm.ICertificate:
    """The certificate of `links_domain`, in the region of `scope`.

    ACM renews the one that is made here for as long as its record is in the zone.
    https://docs.aws.amazon.com/acm/latest/userguide/dns-renewal-validation.html
    """
    if stage.links_certificate:
        return acm.Certificate.from_certificate_arn(scope, "Certificate", stage.links_certificate)
    return acm.Certificate(
        scope,
        "Certificate",
        domain_name=stage.links_host,
        validation=acm.CertificateValidation.from_dns(_zone(scope, "CertificateZone", stage)),
    )


def lead_to(
    scope: Construct, stage: Stage, target: route53.RecordTarget, *, name: str, ipv6: bool = False
) -> None:
    """Lead `links_domain` to `target`, or say by an output that it has to lead to `name`."""
    if not stage.links_are_in_zone:
        CfnOutput(
            scope,
            "Target",
            description=f"Where a CNAME record of {stage.links_host} has to lead.",
            value=name,
        )
        return
    zone = _zone(scope, "Zone", stage)
    for kind in (route53.ARecord, route53.AaaaRecord) if ipv6 else (route53.ARecord,):
        kind(scope, kind.__name__, zone=zone, record_name=f"{stage.links_host}.", target=target)


def _zone(scope: Construct, construct_id: str, stage: Stage) -> route53.IHostedZone:
    return route53.HostedZone.from_hosted_zone_attributes(
        scope,
        construct_id,
        hosted_zone_id=stage.hosted_zone["id"],
        zone_name=stage.hosted_zone["name"],
    )
