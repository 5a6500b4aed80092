"""What each tick of `fanout` does beside queueing shards: learn the account's quota."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache, partial

from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoQuota
from gazette.adapters.mail.ses import SesAccount, ses_client
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.streams import Streams, divided
from gazette.settings import FanoutSettings
from gazette.steps.fanout.quota import learn_quota

_TIMEOUT = timedelta(seconds=5)


@cache
def build() -> Callable[[], Quota | None]:
    """What it is; None: the provider is not SES.

    Once a tick, and not in each worker: SES takes such questions once a second. Built once per
    process.
    """
    settings = FanoutSettings.from_env()
    if settings.mail_provider != "ses":
        return lambda: None
    return partial(
        learn_quota,
        account=SesAccount(ses_client(_TIMEOUT)),
        quota_stores=Streams(
            digest=DynamoQuota(settings.pace_table, name=ROWS.digest),
            immediate=DynamoQuota(settings.pace_table, name=ROWS.immediate),
        ),
        shares=divided(settings.immediate_share),
        clock=now,
    )
