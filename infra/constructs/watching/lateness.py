"""Alarms on lateness, as the functions measure it: emails that are late, and overdue ones."""

from collections.abc import Callable
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.alarms import Told, Urgency, create_alarm, own_metric
from infra.stage import Stage

_HOUR = 3600

_TOO_LATE = 4 * 60
"""Seconds that an immediate email may take beyond what it collects and settles. Where the rate is
enough it takes a few; a first refusal costs one minute."""

_A_SECOND = 1
"""Its time begins with the whole second in which its first event was stored."""

LONGEST_OPEN = 14 * _HOUR
"""Seconds. An email that is refused at each attempt has failed after thirteen hours."""


@dataclass(frozen=True, kw_only=True)
class Late(Told):
    """An alarm on a duration: `statistic` of `metric` is above `most` seconds, so often in a row.

    `minutes`: the length of a period.
    """

    metric: str
    statistic: str
    most: Callable[[Stage], float]
    minutes: int
    periods: int


LATE = (
    Late(
        name="digests-overdue",
        urgency=Urgency.MORNING,
        metric="oldest_due_age",
        statistic="p75",
        most=lambda stage: stage.max_lateness / 4,
        minutes=5,
        periods=3,
        meaning=(
            "Emails are overdue: in more than a quarter of the partitions one has been due for a "
            "quarter of max_lateness, and what waits for the next day because of a cap does not "
            "count. Daily digests later than max_lateness are skipped, and their events go with "
            "the next one. What to do: "
            "`gazette sending status --stage {stage}` says whether sending is stopped or too slow "
            "and what is left of the day; `gazette batch list --stage {stage}` "
            "what is left of each slot. See docs/runbook/late.md."
        ),
    ),
    Late(
        name="run-left-open",
        urgency=Urgency.MORNING,
        metric="oldest_due_age",
        statistic="Maximum",
        most=lambda _: LONGEST_OPEN,
        minutes=60,
        periods=2,
        meaning=(
            "Some email has been due for longer than fourteen hours and has neither gone nor "
            "failed. All attempts together take thirteen, and what waits for the next day because "
            "of a cap does not count. What to do: check whether a category is held or sending is "
            "stopped (`gazette sending status --stage {stage}`). If not, the "
            "log of gazette-{stage}-sweep names what it queues again and again. See "
            "docs/runbook/late.md."
        ),
    ),
    Late(
        name="digests-late",
        urgency=Urgency.MORNING,
        metric="slot_to_accepted",
        statistic="p99",
        most=lambda stage: stage.spread + stage.max_lateness / 6,
        minutes=15,
        periods=2,
        meaning=(
            "One digest in a hundred is more than an hour late (a sixth of max_lateness, and "
            "spread). What to do: compare due with run_sent: if more is due in a slot than the "
            "rate lets out, ask SES for a higher quota, set emails_per_second and deploy, or let "
            "services spread the hours. A few emails that were refused and tried again count "
            "too. See docs/runbook/late.md."
        ),
    ),
    Late(
        name="immediate-late",
        urgency=Urgency.NOW,
        metric="stored_to_accepted",
        statistic="p90",
        most=lambda stage: (
            stage.collapse + stage.settle_lag + stage.clock_skew + _A_SECOND + _TOO_LATE
        ),
        minutes=15,
        periods=2,
        meaning=(
            "One immediate email in ten is more than four minutes later than its collecting and "
            "settling take. What to do: look at the graphs Age of the oldest message and Messages "
            "that wait of the dashboard, and at `gazette sending status --stage {stage}`: is the "
            "rate of immediate email used up (setting immediate_share)? See docs/runbook/late.md."
        ),
    ),
)
"""`digests-overdue` looks at a quarter of the partitions, because a single refused email is
rightly open for hours; `immediate-late` at one in ten, because one that was refused once is rightly
late."""


def watch_lateness(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on lateness."""
    for late in LATE:
        period = Duration.minutes(late.minutes)
        create_alarm(
            scope,
            late,
            stage=stage,
            topic=topic,
            metric=own_metric(late.metric, stage, late.statistic, period=period),
            threshold=late.most(stage),
            periods=late.periods,
        )
