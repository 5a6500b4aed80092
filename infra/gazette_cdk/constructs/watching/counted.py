"""Alarms on counts that the functions write."""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm, own_metric
from gazette_cdk.constructs.queues import way_back
from gazette_cdk.stage import Stage

_BREAKER_WATCHED = 60
"""The period, in minutes, in which alarms on the circuit breakers look for a probe.

A probe is due after at most 30 minutes, and its message arrives at most 15 minutes later.
"""


@dataclass(frozen=True, kw_only=True)
class Counted(AlarmText):
    """An alarm on a count that is above 0 in several one-minute periods.

    Periods without data are not breaching.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
    """

    metric: str

    # The number of periods that the alarm evaluates.
    minutes: int

    # The number of these periods in which the count must be above 0.
    bad: int

    # True if the alarm is only for a stage with a content source.
    asks_source: bool = False


COUNTED = (
    Counted(
        name="breaker-opened",
        urgency=Urgency.NOW,
        metric="breaker_opened",
        minutes=_BREAKER_WATCHED,
        bad=1,
        meaning=(
            "The mail provider rejects all digests, all immediate email, or both, so Gazette has "
            "stopped sending those. What to do: run `gazette sending status --stage {stage}` to "
            "see the stream and the reason. Fix the cause in the provider's account. Gazette "
            "tries one email at least every half hour and resumes once one is accepted. `gazette "
            "sending resume --stage {stage}` resumes at once. This uses up no attempt of an "
            "email. A digest that waits longer than max_lateness is skipped; its events go into "
            "the next digest. See docs/runbook/breaker-opened.md."
        ),
    ),
    Counted(
        name="emails-failed",
        urgency=Urgency.MORNING,
        metric="run_failed",
        minutes=60,
        bad=1,
        meaning=(
            "The mail provider rejected some emails permanently, or six times. Their events go "
            "into the next digest. What to do: find the runs in the log of "
            "gazette-{stage}-generate (`run ended`, status failed) with the provider's code "
            "(detail). `gazette explain USER --stage {stage}` shows all steps. If it is always "
            "the same reader, the address is wrong: `gazette suppression add ADDRESS --stage "
            "{stage}`. If there are many readers, the provider rejects your email. Check its "
            "account. See docs/runbook/emails-failed.md."
        ),
    ),
    Counted(
        name="source-breaker-opened",
        urgency=Urgency.MORNING,
        metric="source_breaker_opened",
        minutes=_BREAKER_WATCHED,
        bad=1,
        asks_source=True,
        meaning=(
            "The recommendation service fails or rejects requests, so Gazette has stopped sending "
            "them. Digests wait for their items as recommendations_policy specifies, and then go "
            "out without them. No event waits longer. What to do: `gazette sources status --stage "
            "{stage}` shows the reason. Fix the service or its token. Gazette sends one request at "
            "least every half hour. Once it is answered, Gazette resumes, slowly at first. See "
            "docs/runbook/source-breaker-opened.md."
        ),
    ),
    Counted(
        name="category-held",
        urgency=Urgency.MORNING,
        metric="category_held",
        minutes=5,
        bad=1,
        meaning=(
            "So many emails with a category bounced, or drew complaints, that SES would review "
            "the account. Gazette has stopped sending that category; its events wait. What to do: "
            "`gazette sending status --stage {stage}` shows the category and the reason, and "
            "`gazette statistics --stage {stage}` the outcomes of its emails. Fix the cause. "
            "Then run `gazette sending resume --category NAME --stage {stage}`, which sends the "
            "waiting events. See docs/runbook/category-held.md."
        ),
    ),
    Counted(
        name="events-expiring",
        urgency=Urgency.MORNING,
        metric="events_expired",
        minutes=60,
        bad=1,
        meaning=(
            "Events expired before they were included in an email, because their digests were "
            "blocked for longer than two occurrences and two weeks. What to do: find the readers "
            "in the log of gazette-{stage}-generate (field expired). `gazette explain USER "
            "--stage {stage}` shows the reason. Check whether a category is on hold (`gazette "
            "sending status --stage {stage}`) and whether the daily cap is too small (`gazette "
            "batch list --stage {stage}` shows the slots). Gazette does not send expired events. "
            "Services may publish them again. See docs/runbook/events-expiring.md."
        ),
    ),
    Counted(
        name="events-foreign",
        urgency=Urgency.MORNING,
        metric="ingest_foreign",
        minutes=5,
        bad=1,
        meaning=(
            "A source published events that the setting sources reserves for other sources. "
            "They are not stored, but wait in the quarantine. What to do: `gazette quarantine list "
            "--stage {stage}` shows detail type and source. If the source may publish them, add it "
            "to the setting sources, deploy, and run `gazette quarantine redrive --stage {stage}`. "
            f"{way_back('gazette-{stage}-quarantine', 'gazette-{stage}-ingest')} If "
            "not, find the publisher (field account, and the principals with events:PutEvents on "
            "the bus), remove that permission, and delete the messages. See "
            "docs/runbook/events-foreign.md."
        ),
    ),
    Counted(
        name="events-forgotten",
        urgency=Urgency.MORNING,
        metric="audit_armed",
        minutes=5,
        bad=1,
        meaning=(
            "Events waited for an hour or longer in a schedule that fan-out did not read. The "
            "audit has scheduled the digest, so they are sent. What to do: find the readers in the "
            "log of gazette-{stage}-sweep (`events waited in an idle schedule`). If `gazette dlq "
            "show ingest-dead --stage {stage}` has messages about them, redrive "
            f"those. {way_back('gazette-{stage}-ingest-dead', 'gazette-{stage}-ingest')} If it has "
            "none, this is a bug in Gazette. Please report it. See "
            "docs/runbook/events-forgotten.md."
        ),
    ),
    Counted(
        name="messages-failing",
        urgency=Urgency.MORNING,
        metric="failed",
        minutes=15,
        bad=10,
        meaning=(
            "In most minutes of the last quarter of an hour a function could not process a "
            "message. SQS retries each, and finally moves it to the dead letters. What to do: find "
            "the errors in the logs /aws/lambda/gazette-{stage}-… (`message failed`). Causes are, "
            "for example, DynamoDB that throttles or fails, or a deleted secret. See "
            "docs/runbook/functions.md."
        ),
    ),
    Counted(
        name="templates-unusable",
        urgency=Urgency.MORNING,
        metric="templates_unusable",
        minutes=5,
        bad=1,
        meaning=(
            "A pushed version of the templates cannot be read, verified or loaded, or lacks parts "
            "of the deployed templates. New emails use the version before it or the deployed "
            "templates. Emails that are repeated wait for their version. What to do: find the "
            "version and the error in the log of gazette-{stage}-generate (`version of the "
            "templates cannot be used`). `gazette templates rollback --stage {stage}` goes back "
            "within a minute. See docs/runbook/templates-unusable.md."
        ),
    ),
    Counted(
        name="pages-failing",
        urgency=Urgency.NOW,
        metric="page_failed",
        minutes=5,
        bad=1,
        meaning=(
            "Gazette could not answer a request for a page or a submitted form. It asked the "
            "reader to try again in a minute. What to do: find the error in the log of "
            "gazette-{stage}-preferences (`page failed`). See "
            "docs/runbook/pages-failing.md."
        ),
    ),
    Counted(
        name="delivery-events-missing",
        urgency=Urgency.NOW,
        metric="swept_waits_for_evidence",
        minutes=30,
        bad=3,
        meaning=(
            "It is unknown whether some emails were accepted, and no delivery events arrive, so "
            "these emails are not sent again. What to do: check that the rule for SES events on "
            "the default bus is enabled, and whether the queues feedback-dead and "
            "feedback-undelivered have messages (`gazette dlq list --stage {stage}`). The "
            "events of these emails go with the next digest after longest_unknown at the latest. "
            "See docs/runbook/delivery-events-missing.md."
        ),
    ),
    Counted(
        name="given-up",
        urgency=Urgency.MORNING,
        metric="swept_given_up",
        minutes=5,
        bad=1,
        meaning=(
            "Some events were in two emails with unknown outcomes. Gazette "
            "does not send them a third time. What to do: check that the mail provider responds "
            "and that delivery events arrive (`gazette dlq list --stage {stage}`). The log of "
            "gazette-{stage}-sweep has the runs. `gazette explain USER --stage {stage}` shows "
            "the events. A late delivery event still decides the outcome. See "
            "docs/runbook/given-up.md."
        ),
    ),
    Counted(
        name="shards-late",
        urgency=Urgency.NOW,
        metric="late_shards",
        minutes=5,
        bad=1,
        meaning=(
            "Fan-out of some shards made no progress for half an hour. The sweep has queued "
            "them again. What to do: check that the schedule of gazette-{stage}-fanout is "
            "enabled, and whether shard-dead or ticks-undelivered have messages (`gazette dlq "
            "list --stage {stage}`). Fan-out makes up for every missed slot. See "
            "docs/runbook/shards-late.md."
        ),
    ),
    Counted(
        name="rows-unreadable",
        urgency=Urgency.MORNING,
        metric="unreadable_rows",
        minutes=30,
        bad=1,
        meaning=(
            "Some rows of the tables cannot be read, because another release of Gazette wrote them "
            "or because they are damaged. Only work that needs these rows waits, and is retried "
            "every few minutes. What to do: if a deployment was rolled back, deploy the newer "
            "release again. Otherwise find table and key of each row in the logs of the functions "
            "(`row cannot be read`). Repair or delete the row. Then redrive the dead letters "
            "(`gazette dlq list --stage {stage}`; the alarm of each queue has the steps in the "
            "SQS console). See docs/runbook/rows-unreadable.md."
        ),
    ),
)


def watch_counts(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on counts that the functions write."""
    for counted in COUNTED:
        if counted.asks_source and not stage.asks_source:
            continue
        create_alarm(
            scope,
            counted,
            stage=stage,
            topic=topic,
            metric=own_metric(
                counted.metric, stage, cloudwatch.Stats.SUM, period=Duration.minutes(1)
            ),
            threshold=0,
            periods=counted.minutes,
            bad=counted.bad,
        )
