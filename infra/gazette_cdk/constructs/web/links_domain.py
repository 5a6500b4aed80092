"""The domain of the links in emails, and its certificate. Both outlive the service stack."""

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

from gazette_cdk.stage import Stage


class LinksDomain(Construct):
    """The custom domain `links_domain`, to which an HTTP API of any service stack can be mapped.

    It exists even if the domain name points to the front instead.

    `target` is the target of a record in another stack. That stack reads it during its deployment
    without depending on it, so the stage may change or drop the domain.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
    docs/decisions/0057-links-have-a-domain-that-stays.md
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        domain = apigateway.DomainName(
            self,
            "Name",
            domain_name=stage.links_host,
            certificate=certificate(self, stage, existing=stage.links_certificate),
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        outlive(domain, stage)
        name = output_target(self, stage, domain.regional_domain_name, of="the HTTP API")
        zone = CfnOutput(self, "TargetZone", value=domain.regional_hosted_zone_id)
        self.target = targets.ApiGatewayv2DomainProperties(_read(name), _read(zone))


class LinksRecord(Construct):
    """The DNS records of `links_domain` in the stage's zone. No other stack creates records with
    this name. Route 53 replaces the target of a record in one step. `after` is a resource to create
    first. https://docs.aws.amazon.com/Route53/latest/APIReference/API_Change.html
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


def certificate(scope: Construct, stage: Stage, *, existing: str) -> acm.ICertificate:
    """Return the existing certificate of `links_domain`, or create a certificate.

    A new certificate is in the Region of `scope`. ACM renews it as long as its validation record is
    in the zone.
    https://docs.aws.amazon.com/acm/latest/userguide/dns-renewal-validation.html
    """
    if existing:
        return acm.Certificate.from_certificate_arn(scope, "Certificate", existing)
    created = acm.Certificate(
        scope,
        "Certificate",
        domain_name=stage.links_host,
        validation=acm.CertificateValidation.from_dns(_zone(scope, "CertificateZone", stage)),
    )
    outlive(created, stage)
    CrossStackReferences.of(created).produce(ReferenceStrength.WEAK)
    return created


def outlive(resource: apigateway.DomainName | acm.Certificate, stage: Stage) -> None:
    """Retain the resource when its stack is deleted, or when the stage's `links_domain` changes."""
    resource.apply_removal_policy(RemovalPolicy.RETAIN if stage.retain else RemovalPolicy.DESTROY)


def keep_the_former(resource: object, stage: Stage) -> None:
    """Retain the resource of the former domain when the stage's `links_domain` changes.

    Delete the resource with its stack. Otherwise it would conflict with the next deployment.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html
    """
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{resource} is not a resource of CloudFormation.")
    if stage.retain:
        resource.cfn_options.update_replace_policy = CfnDeletionPolicy.RETAIN
        resource.cfn_options.deletion_policy = CfnDeletionPolicy.DELETE


def output_target(scope: Construct, stage: Stage, name: str, *, of: str) -> CfnOutput:
    """Create a stack output with the DNS target of `links_domain`, for a zone outside the stack.

    `of` describes the resource with the name `name`, because a stage with a front has two such
    outputs.
    """
    return CfnOutput(
        scope,
        "Target",
        description=(
            f"The name of {of}. If the zone of {stage.links_host} is elsewhere, its CNAME "
            f"record must point to this name to lead to {of}."
        ),
        value=name,
    )


def _read(output: CfnOutput) -> str:
    """Return a reference to a stack output's value, which is read when the referring stack is
    deployed.
    """
    producer = Stack.of(output)
    return Fn.get_stack_output(producer.stack_name, producer.get_logical_id(output))


def _zone(scope: Construct, construct_id: str, stage: Stage) -> route53.IHostedZone:
    return route53.HostedZone.from_hosted_zone_attributes(
        scope,
        construct_id,
        hosted_zone_id=stage.hosted_zone["id"],
        zone_name=stage.hosted_zone["name"],
    )
