"""Alarms on emails that are sent late, and on emails that are overdue."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from aws_cdk import Duration
from aws_cdk import aws_sns as sns
from constructs import Construct
from gazette.settings.ranges import SECOND

from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm, own_metric
from gazette_cdk.stage import Stage

_TOO_LATE = timedelta(minutes=4)
"""The tolerated delay of an immediate email, in addition to the time for settling.

At a sufficient rate the delay is a few seconds. A first rejection adds one minute.
"""

_ROUNDING = timedelta(seconds=1)
"""The second that is added to the delay of a message (`SettlingLimits.hold`)."""

LONGEST_OPEN = timedelta(hours=14)
"""The longest time for which a run may be open.

A run whose email is rejected at every attempt fails after thirteen hours.
"""


@dataclass(frozen=True, kw_only=True)
class Late(AlarmText):
    """An alarm on a delay or an age.

    It fires if `statistic` of `metric` is too high for several periods.
    """

    metric: str
    statistic: str

    # The threshold.
    most: Callable[[Stage], timedelta]

    # The length of a period.
    minutes: int

    # The number of periods in a row that must be above the threshold.
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
            "Emails are overdue. In more than a quarter of the partitions an email has been due "
            "for a quarter of max_lateness, not counting emails that a cap moves to the next day. "
            "Daily digests later than max_lateness are skipped, and their events go into the next "
            "digest. What to do: `gazette sending status --stage {stage}` shows whether sending "
            "is stopped or too slow, and the rest of the daily quota. `gazette batch list --stage "
            "{stage}` shows the rest of each slot. See docs/runbook/late.md."
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
            "An email has been due for longer than fourteen hours and was neither sent nor failed. "
            "All attempts together take thirteen hours. Emails that a cap moves to the next day do "
            "not count. What to do: check whether a category is on hold or sending is "
            "stopped (`gazette sending status --stage {stage}`). If not, the log of "
            "gazette-{stage}-sweep names the runs that it queues again and again. See "
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
            "One digest in a hundred is more than an hour late (a sixth of max_lateness, plus "
            "spread). What to do: compare due with run_sent. If more digests are due in a slot "
            "than the rate allows, request a higher quota from SES, set emails_per_second and "
            "deploy, or let services spread the hours. A few emails that were rejected and retried "
            "count too. See docs/runbook/late.md."
        ),
    ),
    Late(
        name="immediate-late",
        urgency=Urgency.NOW,
        metric="collected_to_accepted",
        statistic="p90",
        most=lambda stage: stage.settle_lag + stage.clock_skew + _ROUNDING + _TOO_LATE,
        minutes=15,
        periods=2,
        meaning=(
            "One immediate email in ten is sent more than four minutes after it has collected its "
            "events. What to do: check the graphs Age of the oldest message and "
            "Waiting messages of the dashboard. Check whether sweep-silent or sweep-old fires too: "
            "the sweep queues emails that collect events for up to an hour. Check with "
            "`gazette sending status --stage {stage}` whether the rate of immediate email is used "
            "up (setting immediate_share). See docs/runbook/late.md."
        ),
    ),
)
"""The alarms on late and overdue emails.

`digests-overdue` fires only if a quarter of the partitions are late, because a single rejected
email may be open for hours. `immediate-late` fires only if one email in ten is late, because a
single rejection makes an email late.
"""


def watch_lateness(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on late and overdue emails."""
    for late in LATE:
        period = Duration.minutes(late.minutes)
        create_alarm(
            scope,
            late,
            stage=stage,
            topic=topic,
            metric=own_metric(late.metric, stage, late.statistic, period=period),
            threshold=late.most(stage) / SECOND,
            periods=late.periods,
        )
