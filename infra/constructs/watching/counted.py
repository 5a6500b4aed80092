"""Alarms on what functions count."""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.alarms import Told, Urgency, create_alarm, own_metric
from infra.constructs.queues import way_back
from infra.stage import Stage

_BREAKER_WATCHED = 60
"""Minutes. A probe is due after at most thirty, and its message arrives at most fifteen later."""


@dataclass(frozen=True, kw_only=True)
class Counted(Told):
    """An alarm on a count: `metric` is above 0 in `bad` of `minutes` one-minute periods.

    Periods without data are good ones. `asks_source`: only for a stage that asks a content source.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
    """

    metric: str
    minutes: int
    bad: int
    asks_source: bool = False


COUNTED = (
    Counted(
        name="breaker-opened",
        urgency=Urgency.NOW,
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
        name="emails-failed",
        urgency=Urgency.MORNING,
        metric="run_failed",
        minutes=60,
        bad=1,
        meaning=(
            "The mail provider refused some emails for good, or at six attempts. The events of "
            "their digests go with the next one. What to do: the log of gazette-{stage}-generate "
            "names the runs (`run ended`, status failed) and the provider's code (detail); "
            "`gazette explain USER --stage {stage}` has the whole story. If it is always the same "
            "reader, the address is wrong: `gazette suppression add ADDRESS --stage {stage}`. If "
            "it is many, the provider refuses what you send: look into its account. See "
            "docs/runbook/emails-failed.md."
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
            "The recommendation service fails or refuses, so Gazette has stopped asking it. "
            "Digests wait for their items as recommendations_policy says, and then go without; no "
            "event is held up for longer. What to do: `gazette sources status --stage {stage}` "
            "says why: fix the service, or its token. One request goes at least every half "
            "hour, and once it is answered, Gazette asks again, slowly at first. See "
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
        urgency=Urgency.MORNING,
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
        urgency=Urgency.MORNING,
        metric="ingest_foreign",
        minutes=5,
        bad=1,
        meaning=(
            "A source put events that the setting sources keeps to other sources. Nothing of them "
            "is stored: they wait in the quarantine. What to do: `gazette quarantine list --stage "
            "{stage}` names detail type and source. If the source should put them, add it to the "
            "setting sources, deploy, and run `gazette quarantine redrive --stage {stage}`. "
            f"{way_back('gazette-{stage}-quarantine', 'gazette-{stage}-ingest')} If "
            "not, find out who put them (field account, and who has events:PutEvents on the bus), "
            "take that permission away, and delete the messages. See "
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
            "Events waited in a schedule that fan-out did not look at, for an hour or longer. The "
            "audit has scheduled the digest, so they are sent. What to do: the log of "
            "gazette-{stage}-sweep names the readers (`events waited in an idle schedule`). If "
            "`gazette dlq show ingest-dead --stage {stage}` has messages about them, redrive "
            f"those. {way_back('gazette-{stage}-ingest-dead', 'gazette-{stage}-ingest')} If it has "
            "none, a rule of Gazette is broken: please report it. See "
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
            "In most minutes of the last quarter of an hour some function could not process a "
            "message. SQS delivers each again, and at last to the dead letters. What to do: the "
            "logs /aws/lambda/gazette-{stage}-… say why (`message failed`). DynamoDB that "
            "throttles or fails shows here, and so does a secret that is gone. See "
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
            "A version of the templates that was pushed cannot be read, verified, loaded, or show "
            "what the deployed templates show. New emails are made with the version before it or "
            "with the deployed templates; emails that are repeated wait for their version. What "
            "to do: the log of gazette-{stage}-generate says which and why (`version of the "
            "templates cannot be used`); `gazette templates rollback --stage {stage}` goes back "
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
            "Gazette could not answer a request for a page, or a form that a reader sent; the "
            "reader was asked to try again in a minute. What to do: the log of "
            "gazette-{stage}-preferences has the error (`page failed`). See "
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
        urgency=Urgency.MORNING,
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
        urgency=Urgency.NOW,
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
        urgency=Urgency.MORNING,
        metric="unreadable_rows",
        minutes=30,
        bad=1,
        meaning=(
            "Some rows of the tables cannot be read: another release of Gazette wrote them, or "
            "they are damaged. Only what depends on these rows waits, and it is tried again "
            "every few minutes. What to do: if a deployment was rolled back, deploy the newer "
            "release again. Otherwise, the logs of the functions name table and key of each row "
            "(`row cannot be read`): repair or delete the row; then redrive the dead letters "
            "(`gazette dlq list --stage {stage}`; the alarm of each queue has the steps in the "
            "SQS console). See docs/runbook/rows-unreadable.md."
        ),
    ),
)


def watch_counts(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on counts."""
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
