"""The alarm topic, and the alarms on metrics. Alarms on queues are in queues.py."""

from dataclasses import dataclass

from aws_cdk import Annotations, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.stage import Stage

_BREAKER_WATCHED = 60
"""Minutes. A probe is due after at most thirty, and its message arrives at most fifteen later."""


class AlarmTopic(sns.Topic):
    """The topic of all alarms. The stage's `alarm_email`, if any, is subscribed to it.

    Its policy replaces the default one, which allows the account's alarms, so it allows them again.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id, enforce_ssl=True)
        self.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[self.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )
        if stage.alarm_email:
            self.add_subscription(subscriptions.EmailSubscription(stage.alarm_email))
        elif stage.retain:
            Annotations.of(self).add_warning_v2(
                "gazette:no-alarm-email",
                f"Stage {stage.name!r} has no alarm_email in cdk.json: alarms reach nobody.",
            )


@dataclass(frozen=True, kw_only=True)
class Counted:
    """An alarm on a count: `metric` is above 0 in `bad` of `minutes` one-minute periods.

    Periods without data are good ones. `{stage}` in `meaning` becomes the stage's name.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
    """

    name: str
    metric: str
    minutes: int
    bad: int
    meaning: str


COUNTED = (
    Counted(
        name="breaker-opened",
        metric="breaker_opened",
        minutes=_BREAKER_WATCHED,
        bad=1,
        meaning=(
            "The mail provider refuses all digests, all immediate email, or both, so Gazette has "
            "stopped sending those. What to do: run `gazette sending status --stage {stage}`, "
            "which says which stream and why, and fix the cause in the provider's account. "
            "Gazette tries one email at least every half hour and resumes by itself once one is "
            "accepted; `gazette sending resume --stage {stage}` resumes at once. No attempt is "
            "used up. A digest that waits longer than max_lateness goes with the next one. See "
            "docs/runbook/breaker-opened.md."
        ),
    ),
    Counted(
        name="category-held",
        metric="category_held",
        minutes=5,
        bad=1,
        meaning=(
            "So many emails that showed a category bounced, or drew complaints, that SES would "
            "review the account. Gazette has stopped sending that category; its events wait. "
            "What to do: `gazette sending status --stage {stage}` says which category and why, "
            "`gazette statistics --stage {stage}` says what became of its emails. Fix the "
            "cause; then run `gazette sending resume --category NAME --stage {stage}`, which "
            "sends what has waited. See docs/runbook/category-held.md."
        ),
    ),
    Counted(
        name="events-expiring",
        metric="events_expired",
        minutes=60,
        bad=1,
        meaning=(
            "Events expired before an email showed them: their digests were held up for longer "
            "than two occurrences and two weeks. What to do: find the readers in the log of "
            "gazette-{stage}-generate (field expired); `gazette explain USER --stage {stage}` "
            "says what held a reader's digests up. Check whether a category is held (`gazette "
            "sending status --stage {stage}`) and whether the daily cap is too small (`gazette "
            "batch list --stage {stage}` names the slots). Expired events are not sent any more; "
            "services may put them again. See docs/runbook/events-expiring.md."
        ),
    ),
    Counted(
        name="events-foreign",
        metric="ingest_foreign",
        minutes=5,
        bad=1,
        meaning=(
            "A source put events that the setting sources keeps to other sources. Nothing of them "
            "is stored: they wait in the quarantine. What to do: `gazette quarantine list --stage "
            "{stage}` names detail type and source. If the source should put them, add it to the "
            "setting sources, deploy, and run `gazette quarantine redrive --stage {stage}`. If "
            "not, find out who put them (field account, and who has events:PutEvents on the bus), "
            "take that permission away, and delete the messages. See "
            "docs/runbook/events-foreign.md."
        ),
    ),
    Counted(
        name="events-forgotten",
        metric="audit_armed",
        minutes=5,
        bad=1,
        meaning=(
            "Events waited in a schedule that fan-out did not look at, for an hour or longer. The "
            "audit has scheduled the digest, so they are sent. What to do: the log of "
            "gazette-{stage}-sweep names the readers (`events waited in an idle schedule`). If "
            "`gazette dlq show ingest-dead --stage {stage}` has messages about them, redrive "
            "those; if it has none, a rule of Gazette is broken: please report it. See "
            "docs/runbook/events-forgotten.md."
        ),
    ),
    Counted(
        name="pages-failing",
        metric="page_failed",
        minutes=5,
        bad=1,
        meaning=(
            "Gazette could not answer a request for a page, or a form that a reader sent; the "
            "reader was asked to try again in a minute. What to do: the log of "
            "gazette-{stage}-preferences has the error (`page failed`). See "
            "docs/runbook/pages-failing.md."
        ),
    ),
    Counted(
        name="delivery-events-missing",
        metric="swept_waits_for_evidence",
        minutes=30,
        bad=3,
        meaning=(
            "Nobody knows whether some emails were accepted, and no delivery events come in, so "
            "these emails are not sent again. What to do: check that the rule for SES events on "
            "the default bus is enabled, and whether the queues feedback-dead and "
            "feedback-undelivered hold messages (`gazette dlq list --stage {stage}`). The "
            "events of these emails go with the next digest after longest_unknown at the latest. "
            "See docs/runbook/delivery-events-missing.md."
        ),
    ),
    Counted(
        name="given-up",
        metric="swept_given_up",
        minutes=5,
        bad=1,
        meaning=(
            "Some events were in two emails of which nobody knows whether they arrived. Gazette "
            "does not send them a third time. What to do: check that the mail provider answers "
            "and that delivery events come in (`gazette dlq list --stage {stage}`). The log of "
            "gazette-{stage}-sweep names the runs; `gazette explain USER --stage {stage}` shows "
            "what was given up. A delivery event that still comes settles the run. See "
            "docs/runbook/given-up.md."
        ),
    ),
    Counted(
        name="shards-late",
        metric="late_shards",
        minutes=5,
        bad=1,
        meaning=(
            "Fan-out of some shards made no progress for half an hour; the sweep has queued "
            "them again. What to do: check that the schedule of gazette-{stage}-fanout is "
            "enabled, and whether shard-dead or ticks-undelivered hold messages (`gazette dlq "
            "list --stage {stage}`). Fan-out makes up for every slot that it missed. See "
            "docs/runbook/shards-late.md."
        ),
    ),
    Counted(
        name="rows-unreadable",
        metric="unreadable_rows",
        minutes=30,
        bad=1,
        meaning=(
            "Some rows of the tables cannot be read: another release of Gazette wrote them, or "
            "they are damaged. Only what depends on these rows waits, and it is tried again "
            "every few minutes. What to do: if a deployment was rolled back, deploy the newer "
            "release again. Otherwise, the logs of the functions name table and key of each row "
            "(`row cannot be read`): repair or delete the row; then redrive the dead letters "
            "(`gazette dlq list --stage {stage}`). See docs/runbook/rows-unreadable.md."
        ),
    ),
)


class CountedAlarm(cloudwatch.Alarm):
    """An alarm on a count."""

    def __init__(
        self, scope: Construct, counted: Counted, *, stage: Stage, topic: sns.ITopic
    ) -> None:
        super().__init__(
            scope,
            counted.name.title().replace("-", ""),
            alarm_name=f"gazette-{stage.name}-{counted.name}",
            alarm_description=counted.meaning.format(stage=stage.name),
            metric=cloudwatch.Metric(
                namespace="Gazette",
                metric_name=counted.metric,
                dimensions_map={"service": service_name(stage)},
                period=Duration.minutes(1),
                statistic=cloudwatch.Stats.SUM,
            ),
            threshold=0,
            evaluation_periods=counted.minutes,
            datapoints_to_alarm=counted.bad,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        self.add_alarm_action(actions.SnsAction(topic))


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A reputation rate of the whole account. From `threshold` on, SES may review the account."""

    name: str
    metric: str
    threshold: float
    meaning: str


RATES = (
    Rate(
        name="bounce-rate",
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


class RateAlarm(cloudwatch.Alarm):
    """Fires at the rate at which SES may review the account.

    The metrics have no dimensions: they cover all stages of the account and region, from 0 to 1:
    https://docs.aws.amazon.com/ses/latest/dg/reputationdashboard-cloudwatch-alarm.html
    Best below 5 % and 0.1 %; accounts above 10 % and 0.5 % may be paused:
    https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html
    SES updates them irregularly, so missing data does not change the alarm's state.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, rate: Rate, stage: Stage, topic: sns.ITopic
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            alarm_name=f"gazette-{stage.name}-{rate.name}",
            alarm_description=rate.meaning.format(stage=stage.name),
            metric=cloudwatch.Metric(
                namespace="AWS/SES",
                metric_name=rate.metric,
                period=Duration.hours(1),
                statistic=cloudwatch.Stats.AVERAGE,
            ),
            threshold=rate.threshold,
            evaluation_periods=1,
            comparison_operator=(cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD),
            treat_missing_data=cloudwatch.TreatMissingData.IGNORE,
        )
        self.add_alarm_action(actions.SnsAction(topic))


@dataclass(frozen=True, kw_only=True)
class Share:
    """An alarm on a share: metric `part` divided by metric `whole`, in an hour.

    `most`: the share from which the alarm fires. `least`: the lowest `part` for which it fires,
    because fewer may be chance.
    """

    name: str
    part: str
    whole: str
    most: float
    least: int
    meaning: str


SHARES = (
    Share(
        name="refused-by-policy",
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


class ShareAlarm(cloudwatch.Alarm):
    """An alarm on a share, computed by metric math.

    An hour in which one of the two metrics has no data is a good one.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
    """

    def __init__(self, scope: Construct, share: Share, *, stage: Stage, topic: sns.ITopic) -> None:
        super().__init__(
            scope,
            share.name.title().replace("-", ""),
            alarm_name=f"gazette-{stage.name}-{share.name}",
            alarm_description=share.meaning.format(stage=stage.name),
            metric=cloudwatch.MathExpression(
                expression=f"IF(part >= {share.least}, part / whole, 0)",
                label=share.name,
                period=Duration.hours(1),
                using_metrics={
                    name: cloudwatch.Metric(
                        namespace="Gazette",
                        metric_name=metric,
                        dimensions_map={"service": service_name(stage)},
                        statistic=cloudwatch.Stats.SUM,
                    )
                    for name, metric in (("part", share.part), ("whole", share.whole))
                },
            ),
            threshold=share.most,
            evaluation_periods=1,
            comparison_operator=(cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD),
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        self.add_alarm_action(actions.SnsAction(topic))


def service_name(stage: Stage) -> str:
    """The name of a stage in logs and metrics: the value of each metric's dimension `service`.

    The functions read it as POWERTOOLS_SERVICE_NAME.
    https://docs.aws.amazon.com/powertools/python/latest/core/metrics/
    """
    return f"gazette-{stage.name}"
