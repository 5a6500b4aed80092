"""The network of the content function, which may call a private recommendation service."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from gazette_cdk.stage import Stage

_HTTPS = 443


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A VPC of the app, and its subnets for the content function.

    Other functions stay outside, because they call only services of AWS. In a VPC, each of these
    services would need an endpoint. docs/decisions/0131-only-content-is-in-the-vpc.md
    """

    vpc: ec2.IVpc

    # None: the private subnets with a route to the internet.
    subnets: ec2.SubnetSelection | None = None


def security_group(scope: Construct, network: Network, stage: Stage) -> ec2.SecurityGroup:
    """Create the security group of the content function.

    It allows connections to the endpoints of AWS services and to the recommendation service.
    """
    group = ec2.SecurityGroup(
        scope,
        "ContentNetwork",
        vpc=network.vpc,
        description=f"The content function of Gazette, stage {stage.name}",
        allow_all_outbound=False,
    )
    for port in sorted({_HTTPS, urlsplit(stage.recommendations_url).port or _HTTPS}):
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(port))
    return group


def in_network(network: Network, group: ec2.SecurityGroup) -> Mapping[str, Any]:
    """Return the options that put a Lambda function into the network."""
    return {"vpc": network.vpc, "vpc_subnets": network.subnets, "security_groups": [group]}
