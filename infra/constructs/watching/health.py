"""Alarms on what AWS measures of functions, rules, the clock and the API."""

from collections.abc import Mapping, Sequence
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.alarms import Told, Urgency, create_alarm
from infra.constructs.watching.parts import name_in
from infra.constructs.web.http_api import ReadersApi
from infra.stage import Stage

_FIVE = Duration.minutes(5)

UNANSWERED = Told(
    name="pages-unanswered",
    urgency=Urgency.NOW,
    meaning=(
        "Readers got no answer at least three times in a quarter of an hour (status 5xx): they "
        "cannot unsubscribe, and mailbox providers who unsubscribe for them see that. What to do: "
        "the access log /aws/vendedlogs/gazette-{stage}-readers says why (error, function_error); "
        "then look at the log of gazette-{stage}-preferences, and whether Lambda throttles it. See "
        "docs/runbook/pages-unanswered.md."
    ),
)
TURNED_AWAY = Told(
    name="readers-turned-away",
    urgency=Urgency.NOW,
    meaning=(
        "The API turned away over a hundred requests in five minutes, twice in a row (status 429): "
        "more came than requests_per_second, so readers cannot unsubscribe. What to do: is it one "
        "caller (CloudFront with a rate rule keeps one out), or many readers after a large "
        "sending? Then raise requests_per_second and requests_burst, and deploy. See "
        "docs/runbook/pages-unanswered.md."
    ),
)
FAILING = Told(
    name="functions-failing",
    urgency=Urgency.MORNING,
    meaning=(
        "Invocations of functions fail as a whole, for a quarter of an hour: they run out of time "
        "or memory, or cannot begin. Their messages come again. What to do: the dashboard "
        "or the metric Errors by function says which; its log says why (`Task timed out`, "
        "`Runtime exited`). After a deployment, roll back. See docs/runbook/functions.md."
    ),
)
THROTTLED = Told(
    name="functions-throttled",
    urgency=Urgency.MORNING,
    meaning=(
        "Lambda turns invocations of functions away, for a quarter of an hour: the concurrency of "
        "the account or of a function is used up. Queues wait, readers' pages fail. What to do: "
        "compare ConcurrentExecutions with the quota (`aws lambda get-account-settings`); ask for "
        "a higher quota, or lower the setting concurrency. See docs/runbook/functions.md."
    ),
)
LOST = Told(
    name="events-lost",
    urgency=Urgency.NOW,
    meaning=(
        "EventBridge could not hand events to a queue, or not even to the queue of what is "
        "undelivered: these are lost. What to do: check the policies of the queues ingest, "
        "feedback, undelivered and feedback-undelivered; then `gazette dlq redrive undelivered "
        "--stage {stage}` and `gazette dlq redrive feedback-undelivered --stage {stage}`, and let "
        "services put again what was lost. The alarms of both queues have the steps in the SQS "
        "console. See docs/runbook/events-lost.md."
    ),
)
CLOCK = Told(
    name="clock-failing",
    urgency=Urgency.MORNING,
    meaning=(
        "EventBridge Scheduler could not invoke what a schedule of this account names, perhaps of "
        "another application. If it is gazette-{stage}-fanout or -sweep and goes on, fanout-silent "
        "or sweep-silent fires. What to do: does the role of the schedules exist, "
        "and may it invoke both functions? Are they throttled? See docs/runbook/clock-failing.md."
    ),
)


def watch_functions(
    scope: Construct, functions: Sequence[lambda_.Function], stage: Stage, topic: sns.ITopic
) -> None:
    """Create one alarm on errors and one on throttles of all functions together.

    They are named as the ids of metric math are: small letters, no hyphen.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
    Lambda counts what is invoked through an alias under the function's name too.
    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-view.html
    """
    for told, metrics in (
        (FAILING, {name_in(stage, each): each.metric_errors(period=_FIVE) for each in functions}),
        (
            THROTTLED,
            {name_in(stage, each): each.metric_throttles(period=_FIVE) for each in functions},
        ),
    ):
        _watch_sum(scope, told, metrics, stage, topic, periods=3)


def watch_rules(
    scope: Construct, rules: Sequence[events.Rule], stage: Stage, topic: sns.ITopic
) -> None:
    """Create an alarm on events that rules could not hand over.

    Metrics of a rule on the default bus have no name of a bus.
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

    It counts by group, and ours is the account's own: others' schedules may be in it.
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


def watch_readers(scope: Construct, api: ReadersApi, stage: Stage, topic: sns.ITopic) -> None:
    """Create an alarm on requests that got no answer.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
    """
    create_alarm(
        scope,
        UNANSWERED,
        stage=stage,
        topic=topic,
        metric=cloudwatch.Metric(
            namespace="AWS/ApiGateway",
            metric_name="5xx",
            dimensions_map={"ApiId": api.api_id},
            period=Duration.minutes(15),
            statistic=cloudwatch.Stats.SUM,
        ),
        threshold=2,
    )


def watch_requests(scope: Construct, api: ReadersApi, stage: Stage, topic: sns.ITopic) -> None:
    """Create an alarm on requests that the API turned away, from its access log.

    Its metric 4xx would count whoever tries paths that do not exist, which harms nobody.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
    """
    counted = logs.MetricFilter(
        scope,
        "TurnedAway",
        log_group=api.log,
        filter_pattern=logs.FilterPattern.string_value("$.status", "=", "429"),
        metric_namespace=f"Gazette/{stage.name}",
        metric_name="requests_turned_away",
    )
    metric = counted.metric(period=_FIVE, statistic=cloudwatch.Stats.SUM)
    create_alarm(
        scope, TURNED_AWAY, stage=stage, topic=topic, metric=metric, threshold=100, periods=2
    )


def _watch_sum(
    scope: Construct,
    told: Told,
    metrics: Mapping[str, cloudwatch.IMetric],
    stage: Stage,
    topic: sns.ITopic,
    *,
    periods: int = 1,
) -> None:
    """Create an alarm that fires if the sum of the metrics is above 0. Missing data counts 0."""
    create_alarm(
        scope,
        told,
        stage=stage,
        topic=topic,
        metric=cloudwatch.MathExpression(
            expression=" + ".join(f"FILL({name}, 0)" for name in metrics),
            label=told.name,
            period=_FIVE,
            using_metrics=dict(metrics),
        ),
        threshold=0,
        periods=periods,
    )
