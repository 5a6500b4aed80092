"""All alarms of a stage but those of its queues that must stay empty."""

from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.counted import COUNTED, CountedAlarm
from infra.constructs.heartbeats import HEARTBEATS, HeartbeatAlarm
from infra.constructs.shares import RATES, SHARES, RateAlarm, ShareAlarm
from infra.stage import Stage


def watch_metrics(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on what functions write and on what SES says of the account.

    Without ticks nothing beats. The embedded engine has no alarms with metric math.
    """
    for counted in COUNTED:
        CountedAlarm(scope, counted, stage=stage, topic=topic)
    for heartbeat in HEARTBEATS if stage.ticks else ():
        HeartbeatAlarm(scope, heartbeat, stage=stage, topic=topic)
    for rate in RATES if stage.mail_provider == "ses" else ():
        RateAlarm(scope, rate, stage=stage, topic=topic)
    for share in SHARES if stage.mail_provider == "ses" and not stage.host_layers else ():
        ShareAlarm(scope, share, stage=stage, topic=topic)
