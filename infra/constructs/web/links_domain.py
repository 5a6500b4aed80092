"""The domain of the links in emails: its certificate and its name, which outlive the service."""

from aws_cdk import (
    CfnDeletionPolicy,
    CfnOutput,
    CfnResource,
    CrossStackReferences,
    Fn,
    ReferenceStrength,
    RemovalPolicy,
    Stack,
)
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_route53_targets as targets
from constructs import Construct, IDependable

from infra.stage import Stage


class LinksDomain(Construct):
    """`links_domain` in front of whichever HTTP API is mapped to it.

    It is there whether the name leads to it or to the front.

    `target`: what a record in another stack leads to. That stack reads it when it is deployed and
    holds nothing fast, so the stage may get another domain, or none.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
    docs/decisions/0057-links-have-a-domain-that-stays.md
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        domain = apigateway.DomainName(
            self,
            "Name",
            domain_name=stage.links_host,
            certificate=certificate(self, stage, given=stage.links_certificate),
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        outlive(domain, stage)
        name = say_where_to_lead(self, stage, domain.regional_domain_name, to="the HTTP API")
        zone = CfnOutput(self, "TargetZone", value=domain.regional_hosted_zone_id)
        self.target = targets.ApiGatewayv2DomainProperties(_read(name), _read(zone))


class LinksRecord(Construct):
    """The records of `links_domain` in the stage's zone. No other stack has any of that name.

    Route 53 replaces what a record leads to in one step. `after`: what has to be there before.
    https://docs.aws.amazon.com/Route53/latest/APIReference/API_Change.html
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        target: route53.IAliasRecordTarget,
        ipv6: bool,
        after: IDependable | None,
    ) -> None:
        super().__init__(scope, construct_id)
        zone = _zone(self, "Zone", stage)
        for kind in (route53.ARecord, route53.AaaaRecord) if ipv6 else (route53.ARecord,):
            record = kind(
                self,
                kind.__name__,
                zone=zone,
                record_name=f"{stage.links_host}.",
                target=route53.RecordTarget.from_alias(target),
            )
            if after:
                record.node.add_dependency(after)
            keep_the_former(record.node.default_child, stage)


def certificate(scope: Construct, stage: Stage, *, given: str) -> acm.ICertificate:
    """The certificate of `links_domain`, in the region of `scope`; `given`: its ARN, if there is.

    ACM renews the one that is made here for as long as its record is in the zone.
    https://docs.aws.amazon.com/acm/latest/userguide/dns-renewal-validation.html
    """
    if given:
        return acm.Certificate.from_certificate_arn(scope, "Certificate", given)
    made = acm.Certificate(
        scope,
        "Certificate",
        domain_name=stage.links_host,
        validation=acm.CertificateValidation.from_dns(_zone(scope, "CertificateZone", stage)),
    )
    outlive(made, stage)
    CrossStackReferences.of(made).produce(ReferenceStrength.WEAK)
    return made


def outlive(resource: apigateway.DomainName | acm.Certificate, stage: Stage) -> None:
    """Keep it when its stack goes, or when the stage gets another `links_domain`."""
    resource.apply_removal_policy(RemovalPolicy.RETAIN if stage.retain else RemovalPolicy.DESTROY)


def keep_the_former(resource: object, stage: Stage) -> None:
    """Keep what the name before led by when the stage gets another `links_domain`.

    It goes with its stack all the same: the next deployment would find it in its way.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html
    """
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{resource} is no resource of CloudFormation.")
    if stage.retain:
        resource.cfn_options.update_replace_policy = CfnDeletionPolicy.RETAIN
        resource.cfn_options.deletion_policy = CfnDeletionPolicy.DELETE


def say_where_to_lead(scope: Construct, stage: Stage, name: str, *, to: str) -> CfnOutput:
    """Say by an output where `links_domain` has to lead, if its zone is elsewhere.

    `to`: what has that name, as people call it: with a front there are two such outputs.
    """
    return CfnOutput(
        scope,
        "Target",
        description=(
            f"The name of {to}: where {stage.links_host} leads by a CNAME record, if its zone is "
            "elsewhere and it is to lead there."
        ),
        value=name,
    )


def _read(output: CfnOutput) -> str:
    """Its value when the stack that reads it is deployed."""
    producer = Stack.of(output)
    return Fn.get_stack_output(producer.stack_name, producer.get_logical_id(output))


def _zone(scope: Construct, construct_id: str, stage: Stage) -> route53.IHostedZone:
    return route53.HostedZone.from_hosted_zone_attributes(
        scope,
        construct_id,
        hosted_zone_id=stage.hosted_zone["id"],
        zone_name=stage.hosted_zone["name"],
    )
