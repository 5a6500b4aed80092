"""Alarms on AWS metrics of the functions, rules, clock and API."""

from collections.abc import Mapping, Sequence
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm
from gazette_cdk.constructs.watching.parts import name_in
from gazette_cdk.constructs.web.http_api import ReadersApi
from gazette_cdk.stage import Stage

_FIVE = Duration.minutes(5)

UNANSWERED = AlarmText(
    name="pages-unanswered",
    urgency=Urgency.NOW,
    meaning=(
        "At least three requests of readers failed in a quarter of an hour (status 5xx). Readers "
        "cannot unsubscribe, and neither can mailbox providers on their behalf. What to do: find "
        "the reason in the access log /aws/vendedlogs/gazette-{stage}-readers (error, "
        "function_error). Then check the log of gazette-{stage}-preferences, and whether Lambda "
        "throttles it. See docs/runbook/pages-unanswered.md."
    ),
)
TURNED_AWAY = AlarmText(
    name="readers-turned-away",
    urgency=Urgency.NOW,
    meaning=(
        "The API rejected over a hundred requests in five minutes, twice in a row (status 429). "
        "The rate exceeds requests_per_second, so readers cannot unsubscribe. What to do: find out "
        "whether the requests come from one caller, whom CloudFront with a rate rule can block, "
        "or from many readers after a large sending. In that case raise requests_per_second, and "
        "deploy. See docs/runbook/pages-unanswered.md."
    ),
)
FAILING = AlarmText(
    name="functions-failing",
    urgency=Urgency.MORNING,
    meaning=(
        "Invocations of functions have failed completely for a quarter of an hour. They run out "
        "of time or memory, or cannot start. Their messages are retried. What to do: find the "
        "function in the metric Errors by function, and the reason in its log "
        "(`Task timed out`, `Runtime exited`). After a deployment, roll back. See "
        "docs/runbook/functions.md."
    ),
)
THROTTLED = AlarmText(
    name="functions-throttled",
    urgency=Urgency.MORNING,
    meaning=(
        "Lambda has throttled invocations of functions for a quarter of an hour, because the "
        "concurrency of the account or of a function is used up. Queues wait, and readers' pages "
        "fail. What to do: compare ConcurrentExecutions with the quota (`aws lambda "
        "get-account-settings`). Request a higher quota, or lower the setting concurrency. See "
        "docs/runbook/functions.md."
    ),
)
LOST = AlarmText(
    name="events-lost",
    urgency=Urgency.NOW,
    meaning=(
        "EventBridge could not send events to a queue. Events that also could not be sent to the "
        "queue for undelivered events are lost. What to do: check the policies of the queues "
        "ingest, feedback, undelivered and feedback-undelivered. Then run `gazette dlq redrive "
        "undelivered --stage {stage}` and `gazette dlq redrive feedback-undelivered --stage "
        "{stage}`, and let services publish the lost events again. The alarms of both queues have "
        "the steps in the SQS console. See docs/runbook/events-lost.md."
    ),
)
CLOCK = AlarmText(
    name="clock-failing",
    urgency=Urgency.MORNING,
    meaning=(
        "EventBridge Scheduler could not invoke the target of a schedule of this account. The "
        "schedule may belong to another application. If it is gazette-{stage}-fanout or -sweep "
        "and the failures last, fanout-silent or sweep-silent also fires. What to do: check that "
        "the role of the schedules exists and may invoke both functions, and whether Lambda "
        "throttles them. See docs/runbook/clock-failing.md."
    ),
)


def watch_functions(
    scope: Construct, functions: Sequence[lambda_.Function], stage: Stage, topic: sns.ITopic
) -> None:
    """Create an alarm on the errors of all functions, and an alarm on their throttles.

    Metric math requires lower-case ids without hyphens, which the functions' names satisfy.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html Lambda
    also counts invocations through an alias under the function's name.
    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-view.html
    """
    for text, metrics in (
        (FAILING, {name_in(stage, each): each.metric_errors(period=_FIVE) for each in functions}),
        (
            THROTTLED,
            {name_in(stage, each): each.metric_throttles(period=_FIVE) for each in functions},
        ),
    ):
        _watch_sum(scope, text, metrics, stage, topic, periods=3)


def watch_rules(
    scope: Construct, rules: Sequence[events.Rule], stage: Stage, topic: sns.ITopic
) -> None:
    """Create an alarm on events that rules could not deliver.

    Metrics of rules on the default bus have no dimension for the bus.
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html
    """
    metrics = {}
    for number, rule in enumerate(rules):
        bus = cast("events.CfnRule", rule.node.default_child).event_bus_name
        of = {"EventBusName": bus} if bus and bus != "default" else {}
        for name in ("FailedInvocations", "InvocationsFailedToBeSentToDlq"):
            metrics[f"{name[0].lower()}{name[1:]}{number}"] = cloudwatch.Metric(
                namespace="AWS/Events",
                metric_name=name,
                dimensions_map={**of, "RuleName": rule.rule_name},
                statistic=cloudwatch.Stats.SUM,
            )
    _watch_sum(scope, LOST, metrics, stage, topic)


def watch_clock(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create an alarm on ticks that EventBridge Scheduler could not deliver.

    CloudWatch has these metrics only per schedule group. Our schedules are in the account's default
    group, which may also contain schedules of other applications.
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/monitoring-cloudwatch.html
    """
    names = (
        "TargetErrorCount",
        "InvocationDroppedCount",
        "InvocationsFailedToBeSentToDeadLetterCount",
    )
    metrics = {
        f"{name[0].lower()}{name[1:]}": cloudwatch.Metric(
            namespace="AWS/Scheduler",
            metric_name=name,
            dimensions_map={"ScheduleGroup": "default"},
            statistic=cloudwatch.Stats.SUM,
        )
        for name in names
    }
    _watch_sum(scope, CLOCK, metrics, stage, topic)


def watch_failed_requests(
    scope: Construct, text: AlarmText, api_id: str, stage: Stage, topic: sns.ITopic
) -> None:
    """Create an alarm on three failed requests (5xx) to an HTTP API in a quarter of an hour."""
    create_alarm(
        scope,
        text,
        stage=stage,
        topic=topic,
        metric=cloudwatch.Metric(
            namespace="AWS/ApiGateway",
            metric_name="5xx",
            dimensions_map={"ApiId": api_id},
            period=Duration.minutes(15),
            statistic=cloudwatch.Stats.SUM,
        ),
        threshold=2,
    )


def watch_readers(scope: Construct, api: ReadersApi, stage: Stage, topic: sns.ITopic) -> None:
    """Create an alarm on failed requests to the API.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
    """
    watch_failed_requests(scope, UNANSWERED, api.api_id, stage, topic)


def watch_requests(scope: Construct, api: ReadersApi, stage: Stage, topic: sns.ITopic) -> None:
    """Create an alarm on requests that the API throttled, based on the API's access log.

    The metric 4xx would also count harmless requests for paths that do not exist.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
    """
    throttled = logs.MetricFilter(
        scope,
        "TurnedAway",
        log_group=api.log,
        filter_pattern=logs.FilterPattern.string_value("$.status", "=", "429"),
        metric_namespace=f"Gazette/{stage.name}",
        metric_name="requests_turned_away",
    )
    metric = throttled.metric(period=_FIVE, statistic=cloudwatch.Stats.SUM)
    create_alarm(
        scope, TURNED_AWAY, stage=stage, topic=topic, metric=metric, threshold=100, periods=2
    )


def _watch_sum(
    scope: Construct,
    text: AlarmText,
    metrics: Mapping[str, cloudwatch.IMetric],
    stage: Stage,
    topic: sns.ITopic,
    *,
    periods: int = 1,
) -> None:
    """Create an alarm that fires if the sum of the metrics is above 0. Missing data counts as 0."""
    create_alarm(
        scope,
        text,
        stage=stage,
        topic=topic,
        metric=cloudwatch.MathExpression(
            expression=" + ".join(f"FILL({name}, 0)" for name in metrics),
            label=text.name,
            period=_FIVE,
            using_metrics=dict(metrics),
        ),
        threshold=0,
        periods=periods,
    )
