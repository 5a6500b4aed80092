"""Alarms on requests of services that the API did not answer."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm, own_metric
from gazette_cdk.constructs.watching.health import watch_failed_requests
from gazette_cdk.constructs.web.services_api import ServicesApi
from gazette_cdk.stage import Stage

UNANSWERED = AlarmText(
    name="services-unanswered",
    urgency=Urgency.MORNING,
    meaning=(
        "At least three requests of services failed in a quarter of an hour (status 5xx). Settings "
        "pages of apps cannot show or save preferences, and delivery events that services report "
        "may be missing. Email is not affected. What to do: find the reason in the access log "
        "/aws/vendedlogs/gazette-{stage}-services (error, function_error), and in the logs of "
        "gazette-{stage}-api and gazette-{stage}-api_writes. Check whether Lambda throttles them. "
        "See docs/runbook/services-unanswered.md."
    ),
)
TURNED_AWAY = AlarmText(
    name="services-turned-away",
    urgency=Urgency.MORNING,
    meaning=(
        "The API for services rejected over a hundred requests in five minutes, twice in a row "
        "(status 429), because the rate exceeds its limit. What to do: find the caller in the logs "
        "of gazette-{stage}-api and gazette-{stage}-api_writes (caller). If the rate is expected, "
        "raise requests_per_second of services_api, and deploy. See "
        "docs/runbook/services-unanswered.md."
    ),
)

MOST_CONSENTS = 100
"""The number of consents in an hour above which the alarm fires.

Subscribers return one at a time. With a weekly digest to a million readers, an unsubscription rate
of 0.2 % and a return rate of a tenth of these, services state about one consent an hour. A job that
states a consent for each subscriber exceeds the limit within seconds.
"""
CONSENTS = AlarmText(
    name="consents-many",
    urgency=Urgency.NOW,
    meaning=(
        f"Services stated over {MOST_CONSENTS} consents in an hour. A job may be stating one for "
        "each subscriber, so subscribers who unsubscribed get email again. What to do: find the "
        "caller in the log of gazette-{stage}-api_writes (POST /v1/subscriber/return), and detach "
        "the policy gazette-{stage}-consent from its role. `consent stated` with the outcome "
        "`returned` names the subscribers. See docs/runbook/consents-many.md."
    ),
)


def watch_services(scope: Construct, api: ServicesApi, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on failed and on throttled requests.

    If a function fails, times out or is throttled, API Gateway answers with 5xx. The functions of
    the API are therefore not part of the alarms on all functions, whose metric math allows only ten
    metrics. https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
    """
    watch_failed_requests(scope, UNANSWERED, api.api_id, stage, topic)
    if stage.accepts_consent:
        create_alarm(
            scope,
            CONSENTS,
            stage=stage,
            topic=topic,
            metric=own_metric("consents", stage, cloudwatch.Stats.SUM, period=Duration.hours(1)),
            threshold=MOST_CONSENTS,
        )
    if stage.host_layers:
        return  # the embedded engine has no metric filters
    throttled = logs.MetricFilter(
        scope,
        "ServicesThrottled",
        log_group=api.log,
        filter_pattern=logs.FilterPattern.string_value("$.status", "=", "429"),
        metric_namespace=f"Gazette/{stage.name}",
        metric_name="services_turned_away",
    )
    create_alarm(
        scope,
        TURNED_AWAY,
        stage=stage,
        topic=topic,
        metric=throttled.metric(period=Duration.minutes(5), statistic=cloudwatch.Stats.SUM),
        threshold=100,
        periods=2,
    )
