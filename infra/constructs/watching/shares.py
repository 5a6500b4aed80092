"""Alarms on shares: of the account as SES sees it, and of what functions count."""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.alarms import Told, Urgency, create_alarm, own_metric
from infra.stage import Stage

_HOUR = Duration.hours(1)
_FROM = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD


@dataclass(frozen=True, kw_only=True)
class Rate(Told):
    """A reputation rate of the whole account. From `threshold` on, SES may review the account."""

    metric: str
    threshold: float


RATES = (
    Rate(
        name="bounce-rate",
        urgency=Urgency.NOW,
        metric="Reputation.BounceRate",
        threshold=0.05,
        meaning=(
            "One in twenty emails of this account and region bounces for good. SES may put the "
            "account under review, and may pause it at one in ten. What to do: find out where "
            "the addresses come from; `gazette suppression list --reason bounced --stage "
            "{stage}` lists the bounces and their dates. See docs/runbook/bounce-rate.md."
        ),
    ),
    Rate(
        name="complaint-rate",
        urgency=Urgency.NOW,
        metric="Reputation.ComplaintRate",
        threshold=0.001,
        meaning=(
            "One in a thousand emails of this account and region is reported as spam. SES may "
            "put the account under review, and may pause it at five in a thousand. What to do: "
            "check that readers asked for these emails; `gazette suppression list --reason "
            "complained --stage {stage}` lists the complaints and their dates. See "
            "docs/runbook/complaint-rate.md."
        ),
    ),
)


def watch_rates(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms that fire at the rates at which SES may review the account.

    The metrics have no dimensions: they cover all stages of the account and region, from 0 to 1:
    https://docs.aws.amazon.com/ses/latest/dg/reputationdashboard-cloudwatch-alarm.html
    Best below 5 % and 0.1 %; accounts above 10 % and 0.5 % may be paused:
    https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html
    SES updates them irregularly, so missing data does not change the alarm's state.
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
class Share(Told):
    """An alarm on a share: metric `part` divided by metric `whole`, in an hour.

    `most`: the share from which the alarm fires. `least`: the lowest `part` for which it fires,
    because fewer may be chance.
    """

    part: str
    whole: str
    most: float
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
            "Receiving servers refused one in twenty emails of the last hour because of the "
            "sender's reputation or authentication (status x.7.x), not because of the mailbox. "
            "No reader is suppressed for it, and many get nothing. What to do: check SPF, DKIM "
            "and DMARC of the sending domain (`aws sesv2 get-email-identity` shows what SES "
            "finds), and block lists for the domain and dedicated addresses. The log of "
            "gazette-{stage}-feedback marks each of these emails with by_policy. SES may have "
            "put addresses on its own list (`aws sesv2 list-suppressed-destinations`): remove "
            "them before the next email. See docs/runbook/refused-by-policy.md."
        ),
    ),
)


def watch_shares(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on shares, computed by metric math.

    An hour in which one of the two metrics has no data is a good one.
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
