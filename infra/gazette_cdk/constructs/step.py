"""A step: its function, queues, dead-letter queues, alarms and grants."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct
from gazette.settings.environment import PINNED_ZONES, Settings
from gazette.settings.ranges import SECOND

from gazette_cdk.constructs.alarms import Urgency, describe, service_name
from gazette_cdk.constructs.deployment import VERSION, live_alias
from gazette_cdk.constructs.grants import may_join_a_network, may_use, role_that_logs
from gazette_cdk.constructs.queues import WatchedQueue, feed, step_queue, way_back
from gazette_cdk.folders import GAZETTE
from gazette_cdk.stage import Stage
from gazette_cdk.topology import PREFERENCES, VISIBILITY_FACTOR, Step

_URGENCIES = {"ingest": Urgency.NOW, "feedback": Urgency.NOW}
"""The urgency of dead letters, by queue.

Events that ingest could not process reach no reader. Delivery events that feedback could not
process suppress no address and leave outcomes unknown. On other queues, the sweep or the next tick
recovers the work, or few readers are affected.
"""

_LOGGING: dict[str, Any] = {
    "logging_format": lambda_.LoggingFormat.JSON,
    "system_log_level_v2": lambda_.SystemLogLevel.WARN,
    "application_log_level_v2": lambda_.ApplicationLogLevel.INFO,
}
"""Logging options that omit Lambda's own log lines below level WARN. The START and REPORT lines
would cost more than the functions' own lines. Lambda does not change lines from the logger and the
metrics, which are already JSON. The level of functions is INFO instead of WARN, because Lambda
treats metrics, which have no level, as INFO.
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
"""


class StepConstruct(Construct):
    """The AWS resources of a step: its function, queues, dead-letter queues, alarms and grants.

    `queues` contains the queues that feed the step by name, and `dead` contains their dead-letter
    queues. `live` is the alias through which the function is always invoked. `variables` are the
    settings that the function reads from its environment. `behind` is the dead-letter queue of the
    queues in `dead`. It has this role only because SQS can redrive a dead-letter queue.
    `network` has the options that put the function into a VPC.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        step: Step,
        stage: Stage,
        layers: Sequence[lambda_.ILayerVersion],
        tables: Mapping[str, dynamodb.Table],
        topic: sns.ITopic,
        behind: sqs.IQueue | None = None,
        network: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.step = step
        self.dead = {
            queue: self._dead_letters(queue, stage, topic, behind) for queue in step.queues
        }
        self.queues = {queue: self._queue(queue, stage, dead) for queue, dead in self.dead.items()}
        name = f"gazette-{stage.name}-{step.name}"
        log = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{name}",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        role = role_that_logs(self, log)
        if network:
            may_join_a_network(role, name)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=name,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            code=lambda_.Code.from_asset(
                str(GAZETTE / "functions" / step.name), exclude=["**", "!handler.py"]
            ),
            handler="handler.lambda_handler",
            layers=list(layers),
            environment={"POWERTOOLS_SERVICE_NAME": service_name(stage), **PINNED_ZONES},
            timeout=Duration.seconds(step.timeout),
            memory_size=step.memory,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if step.may_recurse else None,
            reserved_concurrent_executions=(
                stage.preferences_concurrency or None if step is PREFERENCES else None
            ),
            current_version_options=VERSION,
            role=role,
            log_group=log,
            **_LOGGING,
            **(network or {}),
        )
        self.variables: dict[str, str] = {}
        self.live = live_alias(self, self.function)
        for fed_by, queue in self.queues.items():
            size = stage.size_of(step, fed_by)
            feed(
                self.live,
                queue,
                batch_size=size.batch,
                max_batching_window=_window(self.step, fed_by, stage),
                max_concurrency=size.concurrency,
                report_batch_item_failures=True,
            )
        for what, table_actions in step.tables_with(
            stage.mail_provider,
            asks_source=stage.asks_source,
            has_critical=bool(stage.critical_categories),
            accepts_consent=stage.accepts_consent,
        ):
            may_use(self.function, tables, what, table_actions)

    def configure(self, settings: Settings) -> None:
        """Add the settings to the environment of the function."""
        self.variables = settings.to_env()
        for variable, value in self.variables.items():
            self.function.add_environment(variable, value)

    def _dead_letters(
        self, queue: str, stage: Stage, topic: sns.ITopic, behind: sqs.IQueue | None
    ) -> sqs.Queue:
        of = f"gazette-{stage.name}-{queue}"
        return WatchedQueue(
            self,
            f"{self._id_of(queue)}Dead",
            name=f"{of}-dead",
            topic=topic,
            meaning=describe(
                _URGENCIES.get(queue, Urgency.MORNING),
                f"The function {self.step.name} could not process some messages. What to do: "
                f"`gazette dlq show {queue}-dead --stage {stage.name}` shows the effect of a "
                "redrive on each. The function's log has the errors. Fix the cause. "
                f"Then run `gazette dlq redrive {queue}-dead --stage {stage.name}`, "
                f"which is safe at any time. {way_back(f'{of}-dead', of)} "
                "See docs/runbook/dead-letters.md.",
                stage=stage,
            ),
            of=of,
            behind=behind,
        )

    def _queue(self, queue: str, stage: Stage, dead: sqs.Queue) -> sqs.Queue:
        return step_queue(
            self,
            f"{self._id_of(queue)}Queue",
            name=f"gazette-{stage.name}-{queue}",
            visibility=self._visibility(queue, stage),
            max_receives=self.step.max_receives,
            dead=dead,
        )

    def _id_of(self, queue: str) -> str:
        """Return the logical-id prefix of a queue's resources. The prefix is empty for the step's
        first queue.
        """
        return "" if queue == self.step.queue else queue.title()

    def _visibility(self, queue: str, stage: Stage) -> Duration:
        """Return a visibility time-out in which the function can collect and process a batch."""
        collecting = stage.window_of(self.step, queue) // SECOND
        return Duration.seconds(self.step.timeout * VISIBILITY_FACTOR + collecting)


def _window(step: Step, queue: str, stage: Stage) -> Duration | None:
    """Return the batching window of the function's event source.

    None means that Lambda invokes the function at the first message.
    """
    window = stage.window_of(step, queue)
    return Duration.seconds(window // SECOND) if window else None
