"""Alarms on the SES reputation rates of the account, and on ratios of the functions' counts."""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm, own_metric
from gazette_cdk.stage import Stage

_HOUR = Duration.hours(1)
_FROM = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD


@dataclass(frozen=True, kw_only=True)
class Rate(AlarmText):
    """A reputation rate of the whole account."""

    metric: str

    # The rate at which SES may review the account.
    threshold: float


RATES = (
    Rate(
        name="bounce-rate",
        urgency=Urgency.NOW,
        metric="Reputation.BounceRate",
        threshold=0.05,
        meaning=(
            "At least one in twenty emails of this account and Region bounces permanently. SES "
            "may review the account, and may pause it at one in ten. What to do: find out where "
            "the addresses come from. `gazette suppression list --reason bounced --stage "
            "{stage}` shows the bounces and their dates. See docs/runbook/bounce-rate.md."
        ),
    ),
    Rate(
        name="complaint-rate",
        urgency=Urgency.NOW,
        metric="Reputation.ComplaintRate",
        threshold=0.001,
        meaning=(
            "At least one in a thousand emails of this account and Region is reported as spam. SES "
            "may review the account, and may pause it at five in a thousand. What to do: "
            "check that readers asked for these emails. `gazette suppression list --reason "
            "complained --stage {stage}` shows the complaints and their dates. See "
            "docs/runbook/complaint-rate.md."
        ),
    ),
)


def watch_rates(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on the rates at which SES may review the account.

    The metrics have no dimensions. They range from 0 to 1 and cover all stages of the account and
    Region: https://docs.aws.amazon.com/ses/latest/dg/reputationdashboard-cloudwatch-alarm.html SES
    recommends rates below 5 % and 0.1 %, and may pause accounts above 10 % and 0.5 %:
    https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html SES updates them
    irregularly, so missing data does not change the alarm's state.
    """
    for rate in RATES:
        create_alarm(
            scope,
            rate,
            stage=stage,
            topic=topic,
            metric=cloudwatch.Metric(
                namespace="AWS/SES",
                metric_name=rate.metric,
                period=_HOUR,
                statistic=cloudwatch.Stats.AVERAGE,
            ),
            threshold=rate.threshold,
            comparison=_FROM,
            missing=cloudwatch.TreatMissingData.IGNORE,
        )


@dataclass(frozen=True, kw_only=True)
class Share(AlarmText):
    """An alarm on the hourly sum of one metric as a share of another metric."""

    part: str
    whole: str

    # The share at which the alarm fires.
    most: float

    # The lowest value of `part` at which the alarm fires. Lower values may be chance.
    least: int


SHARES = (
    Share(
        name="refused-by-policy",
        urgency=Urgency.NOW,
        part="mail_refused_by_policy",
        whole="mail_sent",
        most=0.05,
        least=20,
        meaning=(
            "Receiving servers rejected one in twenty emails of the last hour because of the "
            "sender's reputation or authentication (status x.7.x), not because of the mailbox. "
            "Their addresses are not suppressed, and many readers get no email. What to do: check "
            "SPF, DKIM and DMARC of the sending domain (`aws sesv2 get-email-identity` shows the "
            "results of SES), and block lists for the domain and dedicated addresses. The log of "
            "gazette-{stage}-feedback marks each of these emails with by_policy. SES may have "
            "put addresses on its own list (`aws sesv2 list-suppressed-destinations`). Remove "
            "them before the next email. See docs/runbook/refused-by-policy.md."
        ),
    ),
)


def watch_shares(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on shares, computed by metric math.

    An hour without data for one of the two metrics does not breach.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
    """
    for share in SHARES:
        create_alarm(
            scope,
            share,
            stage=stage,
            topic=topic,
            metric=cloudwatch.MathExpression(
                expression=f"IF(part >= {share.least}, part / whole, 0)",
                label=share.name,
                period=_HOUR,
                using_metrics={
                    name: own_metric(metric, stage, cloudwatch.Stats.SUM, period=_HOUR)
                    for name, metric in (("part", share.part), ("whole", share.whole))
                },
            ),
            threshold=share.most,
            comparison=_FROM,
        )
