"""Bus, queues, functions, clock and alarms."""

from collections.abc import Mapping

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as event_targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as scheduler_targets
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_ses as ses
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_lambda_destinations import SqsDestination
from constructs import Construct
from gazette.settings import (
    FanoutSettings,
    GenerateSettings,
    IngestSettings,
    PreferencesSettings,
)

from infra.constructs.alarms import AlarmTopic
from infra.constructs.layers import build_layers
from infra.constructs.queues import WatchedQueue
from infra.constructs.step import StepConstruct
from infra.stages import Stage
from infra.topology import FANOUT, GENERATE, INGEST, PREFERENCES, Step


class ServiceStack(Stack):
    """What can be deployed anew from nothing, once its queues are empty."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        tables: Mapping[str, dynamodb.Table],
        links_secret: secretsmanager.ISecret,
    ) -> None:
        super().__init__(scope, construct_id)
        self._stage = stage
        self._tables = tables
        self._topic = AlarmTopic(self, "Alarms", stage=stage)
        self._layers = build_layers(self, stage)
        self._links_secret = links_secret

        ingest = self._step(INGEST)
        fanout = self._step(FANOUT)
        generate = self._step(GENERATE)
        preferences = self._step(PREFERENCES)
        url = preferences.function.add_function_url(auth_type=lambda_.FunctionUrlAuthType.NONE)

        bus = self._receive_events(_queue_of(ingest))
        self._configure_ingest(ingest)
        self._configure_fanout(fanout, _queue_of(generate))
        self._configure_generate(generate, base_url=stage.base_url or url.url)
        self._configure_preferences(preferences)
        self._start_clock(fanout)

        CfnOutput(self, "BusName", value=bus.event_bus_name)
        CfnOutput(self, "PreferencesUrl", value=url.url)

    def _step(self, step: Step) -> StepConstruct:
        return StepConstruct(
            self,
            step.name.capitalize(),
            step=step,
            stage=self._stage,
            layers=self._layers,
            tables=self._tables,
            topic=self._topic,
        )

    def _receive_events(self, ingest_queue: sqs.Queue) -> events.EventBus:
        """Every event on the bus goes to ingest: an unknown type must reach quarantine."""
        bus = events.EventBus(self, "Bus", event_bus_name=self._stage.bus)
        undelivered = self._watched(
            "undelivered", "Events that EventBridge could not put on the ingest queue."
        )
        events.Rule(
            self,
            "AllEvents",
            event_bus=bus,
            event_pattern=events.EventPattern(source=events.Match.prefix("")),
            targets=[event_targets.SqsQueue(ingest_queue, dead_letter_queue=undelivered)],
        )
        return bus

    def _configure_ingest(self, ingest: StepConstruct) -> None:
        quarantine = self._watched(
            "quarantine", "Events that do not fit the contract, each with its reason."
        )
        quarantine.grant_send_messages(ingest.function)
        ingest.configure(
            IngestSettings(
                subscribers_table=self._table_name("subscribers"),
                schedules_table=self._table_name("schedules"),
                events_table=self._table_name("events"),
                quarantine_queue_url=quarantine.queue_url,
                shards=self._stage.shards,
                event_retention_days=self._stage.event_retention_days,
            )
        )

    def _configure_fanout(self, fanout: StepConstruct, generate_queue: sqs.Queue) -> None:
        shard_queue = _queue_of(fanout)
        shard_queue.grant_send_messages(fanout.function)
        generate_queue.grant_send_messages(fanout.function)
        fanout.configure(
            FanoutSettings(
                schedules_table=self._table_name("schedules"),
                runs_table=self._table_name("runs"),
                shard_queue_url=shard_queue.queue_url,
                generate_queue_url=generate_queue.queue_url,
                shards=self._stage.shards,
                lookback_slots=self._stage.lookback_slots,
                spread=self._stage.spread,
                check_after=self._stage.check_after,
                run_retention_days=self._stage.run_retention_days,
            )
        )

    def _configure_generate(self, generate: StepConstruct, *, base_url: str) -> None:
        stage = self._stage
        self._links_secret.grant_read(generate.function)
        configuration_set = ses.ConfigurationSet(
            self, "Digest", configuration_set_name=f"gazette-{stage.name}-digest"
        )
        if stage.mail_provider == "ses":
            generate.function.add_to_role_policy(_may_send(self, stage, configuration_set))
        if stage.smtp_secret:
            secretsmanager.Secret.from_secret_name_v2(
                self, "SmtpLogin", stage.smtp_secret
            ).grant_read(generate.function)
        generate.configure(
            GenerateSettings(
                subscribers_table=self._table_name("subscribers"),
                events_table=self._table_name("events"),
                runs_table=self._table_name("runs"),
                links_secret=self._links_secret.secret_arn,
                base_url=base_url,
                mail_provider=stage.mail_provider,
                sender=stage.sender,
                list_id=stage.list_id,
                configuration_set=configuration_set.configuration_set_name,
                smtp_host=stage.smtp_host,
                smtp_port=stage.smtp_port,
                smtp_security=stage.smtp_security,
                smtp_secret=stage.smtp_secret,
                settle_lag=stage.settle_lag,
                send_timeout=stage.send_timeout,
                commit_margin=stage.commit_margin,
                clock_skew=stage.clock_skew,
                max_groups=stage.max_groups,
                event_retention_days=stage.event_retention_days,
                run_retention_days=stage.run_retention_days,
            )
        )

    def _configure_preferences(self, preferences: StepConstruct) -> None:
        self._links_secret.grant_read(preferences.function)
        preferences.configure(
            PreferencesSettings(
                subscribers_table=self._table_name("subscribers"),
                schedules_table=self._table_name("schedules"),
                runs_table=self._table_name("runs"),
                links_secret=self._links_secret.secret_arn,
                shards=self._stage.shards,
                run_retention_days=self._stage.run_retention_days,
            )
        )

    def _start_clock(self, fanout: StepConstruct) -> None:
        """Every ten minutes, on the slot; the tick carries the time that it stands for.

        Scheduler hands a tick over and looks no further, so what fails in the function goes to
        the same queue as what never reached it.
        https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
        """
        undelivered = self._watched(
            "ticks-undelivered", "Ticks of the clock that fanout could not work off."
        )
        fanout.function.configure_async_invoke(on_failure=SqsDestination(undelivered))
        scheduler.Schedule(
            self,
            "Tick",
            schedule=scheduler.ScheduleExpression.cron(minute="0/10"),
            enabled=self._stage.ticks,
            target=scheduler_targets.LambdaInvoke(
                fanout.function,
                input=scheduler.ScheduleTargetInput.from_object(
                    {"time": scheduler.ContextAttribute.scheduled_time}
                ),
                max_event_age=Duration.hours(24),
                dead_letter_queue=undelivered,
            ),
        )

    def _watched(self, name: str, meaning: str) -> WatchedQueue:
        return WatchedQueue(
            self,
            name.title().replace("-", ""),
            name=f"gazette-{self._stage.name}-{name}",
            topic=self._topic,
            meaning=meaning,
        )

    def _table_name(self, name: str) -> str:
        return self._tables[name].table_name


def _queue_of(step: StepConstruct) -> sqs.Queue:
    if step.queue is None:
        raise TypeError(f"the step {step.step.name} has no queue")
    return step.queue


def _may_send(
    stack: Stack, stage: Stage, configuration_set: ses.ConfigurationSet
) -> iam.PolicyStatement:
    """Send as the sender and nobody else.

    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsimpleemailservicev2.html
    """
    return iam.PolicyStatement(
        actions=["ses:SendEmail"],
        resources=[
            stack.format_arn(service="ses", resource="identity", resource_name="*"),
            stack.format_arn(
                service="ses",
                resource="configuration-set",
                resource_name=configuration_set.configuration_set_name,
            ),
        ],
        conditions={"StringEquals": {"ses:FromAddress": stage.sender_address}},
    )
