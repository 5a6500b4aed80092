"""The construct that adds a stage of Gazette to a CDK app."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aws_cdk import Stage as CdkStage
from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_sns as sns
from constructs import Construct
from gazette.settings.environment import use_pinned_zones

from gazette_cdk.assembly import Given, build_stacks, plain_lines
from gazette_cdk.assets.templates.build import build_and_try
from gazette_cdk.folders import GAZETTE
from gazette_cdk.guards import check_ready, default_place
from gazette_cdk.settings_file import StageFile, stage_file
from gazette_cdk.stacks.data import DataStack
from gazette_cdk.stacks.names import PREFIX
from gazette_cdk.stacks.network import Network
from gazette_cdk.stacks.service import ServiceStack
from gazette_cdk.stage import Stage
from gazette_cdk.stages import other_stages, read_stage, refused

__all__ = ["Gazette", "StageFile", "stage_file"]

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,30}")


class Gazette(Construct):
    """A stage of Gazette in a CDK app.

    Settings are text and numbers, which docs/configuration.md describes. Objects of the app are
    arguments. The constructor raises Refused, with a line for each problem, if a setting or a
    template is invalid, or if a setting that every stage needs is missing.
    """

    data: DataStack
    """The stack with the tables, the keys and the domains."""

    service: ServiceStack
    """The stack with everything else."""

    bus: events.IEventBus
    """The event bus to which services publish events."""

    alarms: sns.ITopic
    """The topic of the alarms."""

    preferences_url: str
    """The address of the HTTP API for readers, without a slash at the end."""

    security_group: ec2.ISecurityGroup | None
    """The security group of the content function, if the app passes a VPC."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: str,
        settings: Mapping[str, object] | StageFile,
        templates: str | Path | None = None,
        stack_prefix: str = PREFIX,
        alarms: sns.ITopic | None = None,
        hosted_zone: route53.IHostedZone | None = None,
        key: kms.IKey | None = None,
        vpc: ec2.IVpc | None = None,
        subnets: ec2.SubnetSelection | None = None,
    ) -> None:
        """Add the stacks of a stage to the app.

        `stage` is the name of the stage. `settings` are the settings of this stage, or a file with
        the settings of several stages. `templates` is the folder of your own templates. It replaces
        the setting of this name. `stack_prefix` begins the names of the stacks, such as
        `GazetteProd`. `alarms` is a topic that receives the alarms, instead of a new topic with the
        address in `alarm_email`. Its policy must allow the alarms of the account to publish, as the
        default policy of SNS does. `hosted_zone` is the Route 53 zone of `domain` and
        `links_domain`. It replaces the setting of this name. `key` is a KMS key that encrypts
        everything that the stage stores. `vpc` is the network in which the content function calls
        the recommendation service, and `subnets` are its subnets, by default the private ones.
        """
        super().__init__(scope, construct_id)
        use_pinned_zones()
        origin = (
            settings.path.name
            if isinstance(settings, StageFile)
            else f"the settings of {self.node.path}"
        )
        known = _stages_in(settings, stage)
        if isinstance(known.get(stage), Mapping):
            known[stage] = _with_arguments(known[stage], settings, templates, hosted_zone)
        with plain_lines():
            if wrong := [*_wrong_arguments(stack_prefix, hosted_zone)]:
                raise refused(stage, wrong, origin=origin)
            chosen = read_stage(stage, known, origin=origin)
            if wrong := [*_wrong_network(chosen, vpc, subnets)]:
                raise refused(stage, wrong, origin=origin)
            self._placed = self._in_its_place(chosen)
            others = [*other_stages(stage, known), *self._others()]
            check_ready(
                self._placed,
                {each.name: each for each in others}.values(),
                default=default_place(),
                has_topic=alarms is not None,
                origin=origin,
            )
            _check_templates(chosen)
            self.data, self.service = build_stacks(
                self,
                chosen,
                Given(
                    prefix=stack_prefix,
                    alarms=alarms,
                    key=key,
                    network=Network(vpc=vpc, subnets=subnets) if vpc else None,
                ),
            )
        self.bus = self.service.bus
        self.alarms = self.service.alarms
        self.preferences_url = self.service.preferences_url
        self.security_group = self.service.security_group

    def _in_its_place(self, stage: Stage) -> Stage:
        """Return the stage with the account and Region of the CDK stage that contains the
        construct, if the settings do not specify them.
        """
        outer = CdkStage.of(self)
        account, region = (
            "" if value is None or Token.is_unresolved(value) else value
            for value in (outer.account if outer else None, outer.region if outer else None)
        )
        return replace(stage, account=stage.account or account, region=stage.region or region)

    def _others(self) -> Iterator[Stage]:
        """Yield the stages of the constructs that were added to the app before."""
        for each in self.node.root.node.find_all():
            if isinstance(each, Gazette) and each is not self:
                yield each._placed


def _stages_in(settings: Mapping[str, object] | StageFile, stage: str) -> dict[str, Any]:
    return dict(settings.stages) if isinstance(settings, StageFile) else {stage: settings}


def _with_arguments(
    values: Mapping[str, object],
    settings: Mapping[str, object] | StageFile,
    templates: str | Path | None,
    hosted_zone: route53.IHostedZone | None,
) -> dict[str, object]:
    """Return the settings of a stage with the arguments that replace settings.

    A folder in a file of settings starts at the folder of the file.
    """
    changed = dict(values)
    folder = settings.path.parent if isinstance(settings, StageFile) else Path.cwd()
    if templates is not None:
        changed["templates"] = str(Path(templates).absolute())
    elif isinstance(own := changed.get("templates"), str) and own:
        changed["templates"] = str(folder / own)
    if hosted_zone is not None:
        changed["hosted_zone"] = {"id": hosted_zone.hosted_zone_id, "name": hosted_zone.zone_name}
    return changed


def _wrong_arguments(prefix: str, zone: route53.IHostedZone | None) -> Iterator[str]:
    if not _PREFIX.fullmatch(prefix):
        yield (
            f"stack_prefix is {prefix!r}. It must have 1 to 31 letters, digits and hyphens, and "
            "begin with a letter."
        )
    if zone is not None and Token.is_unresolved(zone.zone_name):
        yield (
            "hosted_zone has a name that is known only after the deployment. Create the object "
            "with HostedZone.from_hosted_zone_attributes, which takes the name."
        )


def _wrong_network(
    stage: Stage, vpc: ec2.IVpc | None, subnets: ec2.SubnetSelection | None
) -> Iterator[str]:
    if vpc and not stage.asks_source:
        yield (
            "the app passes a vpc, but content_sources does not contain recommendations, so no "
            'function would be in it. Add "recommendations" to content_sources, or remove vpc.'
        )
    if subnets and not vpc:
        yield "the app passes subnets without a vpc. Pass their VPC as vpc too, or remove subnets."


def _check_templates(stage: Stage) -> None:
    """Raise TemplateError if an email cannot be rendered with the stage's own templates.

    The build of the layer makes the same check, but the CDK skips the build of stacks that are not
    selected.
    """
    if stage.templates:
        with TemporaryDirectory() as folder:
            build_and_try(GAZETTE / "templates", Path(folder), overlay=Path(stage.templates))
