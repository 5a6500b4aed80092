"""All alarms of a stage except those of its queues that must stay empty."""

from aws_cdk import aws_events as events
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from gazette_cdk.constructs.queues import WatchedQueue
from gazette_cdk.constructs.watching.ages import watch_ages, watch_growth
from gazette_cdk.constructs.watching.concurrency import watch_concurrency
from gazette_cdk.constructs.watching.counted import watch_counts
from gazette_cdk.constructs.watching.health import (
    watch_clock,
    watch_functions,
    watch_readers,
    watch_requests,
    watch_rules,
)
from gazette_cdk.constructs.watching.heartbeats import watch_silence
from gazette_cdk.constructs.watching.lateness import watch_lateness
from gazette_cdk.constructs.watching.parts import full_name, parts_of
from gazette_cdk.constructs.watching.shares import watch_rates, watch_shares
from gazette_cdk.constructs.web.http_api import ReadersApi
from gazette_cdk.stage import Stage
from gazette_cdk.topology import API, API_WRITES, SUPPORT, SUPPORT_REDRIVE


def watch_metrics(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on the metrics that functions write, and on the account's SES metrics.

    A stage without ticks gets no heartbeat alarms. The embedded engine gets no alarms with metric
    math.
    """
    watch_counts(scope, stage, topic)
    if stage.ticks:
        watch_silence(scope, stage, topic)
    watch_lateness(scope, stage, topic)
    watch_concurrency(scope, stage, topic)
    if stage.mail_provider == "ses":
        watch_rates(scope, stage, topic)
        if not stage.host_layers:
            watch_shares(scope, stage, topic)


def watch_parts(stack: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on AWS metrics of every queue, function, rule and API of the stack.

    The stack is searched for these resources, so that new resources also get alarms. The embedded
    engine gets no alarms on several metrics, because it has no metric math. The functions of
    the API for services have their own alarms (`watch_services`). Those of the support page have
    none, because a person sees their errors.
    """
    queues = [queue for queue in parts_of(stack, sqs.Queue) if not isinstance(queue, WatchedQueue)]
    watch_ages(stack, queues, stage, topic)
    for api in parts_of(stack, ReadersApi):
        watch_readers(stack, api, stage, topic)
    if stage.host_layers:
        return
    watch_growth(stack, queues, stage, topic)
    apart = (API, API_WRITES, SUPPORT, SUPPORT_REDRIVE)
    without = {f"gazette-{stage.name}-{step.name}" for step in apart}
    functions = [
        each for each in parts_of(stack, lambda_.Function) if full_name(each) not in without
    ]
    watch_functions(stack, functions, stage, topic)
    watch_rules(stack, parts_of(stack, events.Rule), stage, topic)
    watch_clock(stack, stage, topic)
    for api in parts_of(stack, ReadersApi):
        watch_requests(stack, api, stage, topic)
