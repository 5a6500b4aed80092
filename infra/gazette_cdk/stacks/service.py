"""The service stack: bus, queues, functions, clock and alarms."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar, Unpack

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as event_targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_route53 import IAliasRecordTarget
from aws_cdk.aws_route53_targets import CloudFrontTarget
from constructs import Construct
from gazette.settings.content import ContentSettings
from gazette.settings.delivery import (
    GenerateSettings,
    ResendSettings,
    SendingSettings,
    SupportSettings,
)
from gazette.settings.environment import Settings
from gazette.settings.fanout import FanoutSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import FollowersSettings, IngestSettings
from gazette.settings.outbox import OutboxSettings
from gazette.settings.preferences import ApiSettings, ApiWritesSettings, PreferencesSettings
from gazette.settings.sweep import SweepSettings

from gazette_cdk.constructs.alarms import AlarmTopic
from gazette_cdk.constructs.clock import start_clocks
from gazette_cdk.constructs.configuration_set import may_send, name_of_set
from gazette_cdk.constructs.delivery_events import publish_delivery_events
from gazette_cdk.constructs.delivery_reports import archived_events, route_events
from gazette_cdk.constructs.deployment import name_deployment
from gazette_cdk.constructs.events_out import EventsOut, publish_changes
from gazette_cdk.constructs.grants import may_read, may_read_versions
from gazette_cdk.constructs.layers import build_layers
from gazette_cdk.constructs.must_be_empty import (
    failed_runs,
    quarantine,
    ticks_undelivered,
    undelivered_events,
    undelivered_feedback,
)
from gazette_cdk.constructs.step import StepConstruct
from gazette_cdk.constructs.watching.dashboard import Dashboard
from gazette_cdk.constructs.watching.events_out import watch_events_out
from gazette_cdk.constructs.watching.services import watch_services
from gazette_cdk.constructs.watching.watch import watch_metrics, watch_parts
from gazette_cdk.constructs.web.front import Front
from gazette_cdk.constructs.web.http_api import API as READERS_API
from gazette_cdk.constructs.web.http_api import ReadersApi
from gazette_cdk.constructs.web.links_domain import LinksDomain, LinksRecord
from gazette_cdk.constructs.web.services_api import ServicesApi
from gazette_cdk.constructs.web.support_page import (
    SupportDashboard,
    may_look,
    may_redrive,
    story_widget,
)
from gazette_cdk.stacks.concurrency import compare_concurrency
from gazette_cdk.stacks.encryption import encrypt
from gazette_cdk.stacks.front import FrontStack
from gazette_cdk.stacks.network import Network, in_network, security_group
from gazette_cdk.stacks.parameters import StageParameters
from gazette_cdk.stacks.placement import Placement
from gazette_cdk.stacks.version import DeploymentLabel, gazette_version
from gazette_cdk.stage import Stage
from gazette_cdk.stage.checks.functions import as_functions_read
from gazette_cdk.topology import (
    API,
    API_WRITES,
    CONTENT,
    FANOUT,
    FEEDBACK,
    FOLLOWERS,
    GENERATE,
    INGEST,
    OUTBOX,
    PREFERENCES,
    RESEND,
    SUPPORT,
    SUPPORT_REDRIVE,
    SWEEP,
    Step,
)
from gazette_cdk.ways import leads_to_front

SettingsT = TypeVar("SettingsT", bound=Settings)


class ServiceStack(Stack):
    """The stack with all resources of a stage except its data.

    It can be deleted and deployed again once its queues are empty. `alarms` is the topic of the
    alarms, `bus` receives the events of services, and `preferences_url` is the address of the HTTP
    API for readers. `key` encrypts everything that the stack stores. `security_group` is that of
    the content function, if the function is in a `network`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        tables: Mapping[str, dynamodb.Table],
        templates: s3.IBucket,
        links_secret: secretsmanager.ISecret,
        suppressions_secret: secretsmanager.ISecret,
        installation: str,
        links: LinksDomain | None,
        front: FrontStack | None,
        events_out: EventsOut | None,
        alarms: sns.ITopic | None = None,
        key: kms.IKey | None = None,
        network: Network | None = None,
        **placement: Unpack[Placement],
    ) -> None:
        super().__init__(scope, construct_id, **placement)
        self._stage = stage
        self._installation = installation
        self._tables = tables
        self._templates = templates
        compare_concurrency(self, stage)
        self.alarms = alarms or AlarmTopic(self, "Alarms", stage=stage)
        watch_metrics(self, stage, self.alarms)
        self._layers = build_layers(self, stage)
        self._links_secret = links_secret
        self._suppressions_secret = suppressions_secret

        failed = failed_runs(self, stage, self.alarms)
        invalid = quarantine(self, stage, self.alarms)
        unreached = undelivered_events(self, stage, self.alarms, behind=invalid)
        unreported = undelivered_feedback(self, stage, self.alarms)
        ingest = self._step(INGEST, behind=unreached)
        followers = self._step(FOLLOWERS)
        fanout = self._step(FANOUT)
        generate = self._step(GENERATE)
        resend = self._step(RESEND, behind=failed)
        feedback = self._step(FEEDBACK, behind=unreported)
        sweep = self._step(SWEEP)
        preferences = self._step(PREFERENCES)
        self.security_group = security_group(self, network, stage) if network else None
        content = self._content(network) if stage.asks_source else None
        outbox = self._step(OUTBOX) if events_out else None
        answering = [self._step(step) for step in (API, API_WRITES)] if stage.services_api else []
        supporting = (
            [self._step(step) for step in (SUPPORT, SUPPORT_REDRIVE)] if stage.dashboard else []
        )
        fed = [ingest, followers, fanout, generate, resend, feedback, sweep]
        fed += [content] if content else []
        self._queues = {name: queue for built in fed for name, queue in built.queues.items()}
        self._queues |= {f"{name}_dead": dead for built in fed for name, dead in built.dead.items()}
        self._queues |= {
            "failed": failed,
            "quarantine": invalid,
            "feedback_undelivered": unreported,
        }
        api = ReadersApi(self, READERS_API, stage=stage)
        api.lead_to(preferences.live)
        self._lead_readers(api, links, front)
        base_url = stage.base_url or api.url

        bus = self._receive_events(undelivered=unreached, unreported=unreported)
        self._configure_ingest(ingest, followers)
        self._configure_fanout(fanout)
        for sending, kind in ((generate, GenerateSettings), (resend, ResendSettings)):
            self._configure_sending(sending, kind, base_url=base_url)
        if content:
            self._configure_content(content, requested_by=(fanout, generate))
        self._configure_feedback(feedback, bus)
        self._configure_sweep(sweep)
        self._configure_preferences(preferences, bus, base_url)
        if events_out and outbox:
            publish_changes(outbox, events_out, stage=stage, tables=tables)
            bucket = events_out.unpublished.bucket_name
            outbox.configure(self._settings(OutboxSettings, unpublished_bucket=bucket))
            watch_events_out(self, outbox.function, stage, self.alarms)
        services = self._configure_api(answering, bus, base_url)
        by_critical = (followers,) if self._stage.critical_categories else ()
        for reader in (ingest, *by_critical, generate, resend, feedback, preferences):
            self._suppressions_secret.grant_read(reader.function)
        for renders in (generate, resend, preferences):
            may_read_versions(renders.function, self._templates)
        ticks = ticks_undelivered(self, stage, self.alarms)
        start_clocks(self, stage, fanout=fanout, sweep=sweep, undelivered=ticks)
        dead = [queue for built in fed for queue in built.dead.values()]
        redrivable = [*dead, failed, invalid, unreached, unreported]
        targets = {name: queue for built in fed for name, queue in built.queues.items()}
        self._configure_support(supporting, redrivable, ticks, targets, base_url)
        unfed = [preferences, *([outbox] if outbox else []), *answering, *supporting]
        version = gazette_version()
        name_deployment(
            self,
            (*fed, *unfed),
            self._layers,
            version=version,
            describe=lambda name: str(DeploymentLabel(name, version)),
            given=_ids_of(key, self.security_group),
        )

        watch_parts(self, stage, self.alarms)
        if stage.dashboard:
            Dashboard(self, stage=stage, story=story_widget(supporting[0].live))
            SupportDashboard(self, stage=stage, function=supporting[0].live)
        CfnOutput(self, "BusName", value=bus.event_bus_name)
        CfnOutput(self, "PreferencesUrl", value=api.url)
        self.bus: events.IEventBus = bus
        self.preferences_url = api.url
        StageParameters(
            self,
            "Parameters",
            stage=stage,
            values={
                "bus-arn": bus.event_bus_arn,
                "bus-name": bus.event_bus_name,
                "preferences-url": api.url,
                "installation": installation,
                **({"services-url": services.url} if services else {}),
            },
        )
        if key:
            encrypt(self, key)

    def _content(self, network: Network | None) -> StepConstruct:
        if network is None or self.security_group is None:
            return self._step(CONTENT)
        return self._step(CONTENT, network=in_network(network, self.security_group))

    def _step(
        self,
        step: Step,
        *,
        behind: sqs.IQueue | None = None,
        network: Mapping[str, Any] | None = None,
    ) -> StepConstruct:
        return StepConstruct(
            self,
            step.name.capitalize(),
            step=self._stage.sized(step),
            stage=self._stage,
            layers=self._layers,
            tables=self._tables,
            topic=self.alarms,
            behind=behind,
            network=network,
        )

    def _lead_readers(
        self, api: ReadersApi, links: LinksDomain | None, front: FrontStack | None
    ) -> None:
        """Route `links_domain` to the HTTP API, or to the front."""
        stage = self._stage
        before = (
            Front(
                self,
                "Front",
                stage=stage,
                origin=api.host,
                certificate=front.certificate,
                rules=front.rules.attr_arn,
            )
            if front
            else None
        )
        if not links or not stage.links_are_in_zone:
            return
        if before and leads_to_front(stage):
            target: IAliasRecordTarget = CloudFrontTarget(before.distribution)
            LinksRecord(self, "Links", stage=stage, target=target, ipv6=True, after=None)
        else:
            LinksRecord(
                self, "Links", stage=stage, target=links.target, ipv6=False, after=api.mapping
            )

    def _receive_events(
        self, *, undelivered: sqs.IQueue, unreported: sqs.IQueue
    ) -> events.EventBus:
        """Create the bus for events of services, with its archive and its rules."""
        bus = events.EventBus(self, "Bus", event_bus_name=self._stage.bus)
        if self._stage.archive_days:
            bus.archive(
                "Archive",
                archive_name=f"gazette-{self._stage.name}",
                description="Events of services, for a replay. See docs/runbook/replay-events.md.",
                event_pattern=archived_events(self._stage),
                retention=Duration.days(self._stage.archive_days),
            )
        route_events(
            self,
            self._stage,
            bus,
            ingest=event_targets.SqsQueue(self._queues["ingest"], dead_letter_queue=undelivered),
            feedback=event_targets.SqsQueue(self._queues["feedback"], dead_letter_queue=unreported),
        )
        return bus

    def _configure_ingest(self, ingest: StepConstruct, followers: StepConstruct) -> None:
        for step in (ingest, followers):
            self._queues["immediate"].grant_send_messages(step.function)
            self._queues["followers"].grant_send_messages(step.function)
        self._queues["quarantine"].grant_send_messages(ingest.function)
        ingest.configure(self._settings(IngestSettings))
        followers.configure(self._settings(FollowersSettings))

    def _configure_fanout(self, fanout: StepConstruct) -> None:
        for queue in ("shard", "generate"):
            self._queues[queue].grant_send_messages(fanout.function)
        if self._stage.mail_provider == "ses":
            fanout.function.add_to_role_policy(_may_ask_for_the_quota())
        fanout.configure(self._settings(FanoutSettings))

    def _configure_sending(
        self,
        sending: StepConstruct,
        kind: type[SendingSettings],
        *,
        base_url: str,
    ) -> None:
        stage = self._stage
        queues = (
            (*GENERATE.queues, "resend")
            if kind is GenerateSettings
            else ("resend", "failed", "immediate")
        )
        for queue in queues:
            self._queues[queue].grant_send_messages(sending.function)
        self._links_secret.grant_read(sending.function)
        if stage.mail_provider == "ses":
            for stream in stage.streams:
                sending.function.add_to_role_policy(may_send(self, stage, stream))
        if stage.smtp_secret:
            login = secretsmanager.Secret.from_secret_name_v2(
                sending, "SmtpLogin", stage.smtp_secret
            )
            may_read(sending.function, f"{login.secret_arn}-??????")
        sending.configure(self._settings(kind, base_url=base_url))

    def _configure_content(
        self, content: StepConstruct, *, requested_by: tuple[StepConstruct, ...]
    ) -> None:
        """Configure the content function. It stores items in the same way as ingest stores events,
        and counts waiting fetches.
        """
        for step in (content, *requested_by):
            self._queues["content"].grant_send_messages(step.function)
        self._queues["content"].grant(content.function, "sqs:GetQueueAttributes")
        if self._stage.recommendations_secret:
            token = secretsmanager.Secret.from_secret_name_v2(
                content, "Token", self._stage.recommendations_secret
            )
            may_read(content.function, f"{token.secret_arn}-??????")
        content.configure(self._settings(ContentSettings))

    def _configure_feedback(self, feedback: StepConstruct, bus: events.EventBus) -> None:
        publish_delivery_events(
            self,
            self._stage,
            queue=self._queues["feedback"],
            undelivered=self._queues["feedback_undelivered"],
        )
        stage = self._stage
        if stage.track_clicks or stage.opens_are_life or stage.accepts_reports:
            bus.grant_put_events_to(feedback.function)
        self._queues["quarantine"].grant_send_messages(feedback.function)
        feedback.configure(self._settings(FeedbackSettings))

    def _configure_sweep(self, sweep: StepConstruct) -> None:
        """Configure the sweep. With SES, the sweep checks whether delivery events arrive.

        It sends its canary as a digest, because delivery events of both streams take the same path.
        """
        for queue in ("sweep", "shard", *GENERATE.queues, "resend"):
            self._queues[queue].grant_send_messages(sweep.function)
        if self._stage.mail_provider == "ses":
            for queue in ("feedback", "feedback_dead", "feedback_undelivered"):
                self._queues[queue].grant(sweep.function, "sqs:GetQueueAttributes")
            sweep.function.add_to_role_policy(_may_ask_for_metrics())
            digest, _ = self._stage.streams
            sweep.function.add_to_role_policy(may_send(self, self._stage, digest))
        sweep.configure(self._settings(SweepSettings))

    def _configure_preferences(
        self, preferences: StepConstruct, bus: events.EventBus, base_url: str
    ) -> None:
        bus.grant_put_events_to(preferences.function)
        self._queues["immediate"].grant_send_messages(preferences.function)
        self._links_secret.grant_read(preferences.function)
        preferences.configure(self._settings(PreferencesSettings, base_url=base_url))

    def _configure_api(
        self, answering: Sequence[StepConstruct], bus: events.EventBus, base_url: str
    ) -> ServicesApi | None:
        """Configure and return the API for services. `answering` contains its functions, if any."""
        if not answering:
            return None
        reads, writes = answering
        self._links_secret.grant_read(reads.function)
        self._suppressions_secret.grant_read(reads.function)
        bus.grant_put_events_to(writes.function)
        for queue in ("immediate", "feedback"):
            self._queues[queue].grant_send_messages(writes.function)
        if self._stage.accepts_consent:
            self._suppressions_secret.grant_read(writes.function)
        reads.configure(self._settings(ApiSettings, base_url=base_url))
        writes.configure(self._settings(ApiWritesSettings))
        functions = {each.step.name: each.live for each in answering}
        api = ServicesApi(self, "Services", stage=self._stage, functions=functions)
        watch_services(self, api, self._stage, self.alarms)
        CfnOutput(self, "ServicesUrl", value=api.url)
        return api

    def _configure_support(
        self,
        supporting: Sequence[StepConstruct],
        redrivable: Sequence[sqs.IQueue],
        ticks: sqs.IQueue,
        targets: Mapping[str, sqs.IQueue],
        base_url: str,
    ) -> None:
        """Configure the functions of the support page, if any. Only the second moves messages."""
        if not supporting:
            return
        looks, redrives = supporting
        may_look(looks.function, [*redrivable, ticks])
        looks.function.add_to_role_policy(_may_ask_for_metrics())
        may_redrive(redrives.function, watched=redrivable, targets=targets)
        self._links_secret.grant_read(redrives.function)
        for step in supporting:
            self._suppressions_secret.grant_read(step.function)
            step.configure(
                self._settings(SupportSettings, base_url=base_url, stage_name=self._stage.name)
            )

    def _settings(self, kind: type[SettingsT], **given: str) -> SettingsT:
        """Return a function's settings by name, with values from the tables, the queues and the
        stage.
        """
        digest, immediate = self._stage.streams
        known: dict[str, Any] = {
            "content_queue_url": "",
            "events_out_bus": self._stage.out_bus,
            "events_out_source": f"gazette.{self._stage.name}",
            **as_functions_read(self._stage),
            "links_secret": self._links_secret.secret_arn,
            "templates_bucket": self._templates.bucket_name,
            "suppressions_secret": self._suppressions_secret.secret_arn,
            "installation": self._installation,
            "configuration_set": name_of_set(self._stage, digest),
            "immediate_configuration_set": name_of_set(self._stage, immediate),
            **{f"{name}_table": table.table_name for name, table in self._tables.items()},
            **{f"{name}_queue_url": queue.queue_url for name, queue in self._queues.items()},
            **given,
        }
        return kind(**{field.name: known[field.name] for field in fields(kind)})


def _ids_of(key: kms.IKey | None, group: ec2.SecurityGroup | None) -> list[str]:
    """Return the ids of the app's objects that versions of functions contain."""
    return [*([key.key_arn] if key else []), *([group.security_group_id] if group else [])]


def _may_ask_for_the_quota() -> iam.PolicyStatement:
    """Allow reading the SES quota. The action does not support resource-level permissions.

    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsimpleemailservicev2.html
    """
    return iam.PolicyStatement(actions=["ses:GetAccount"], resources=["*"])


def _may_ask_for_metrics() -> iam.PolicyStatement:
    """Allow reading metrics. The action does not support resource-level permissions.

    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
    """
    return iam.PolicyStatement(actions=["cloudwatch:GetMetricData"], resources=["*"])
