"""Dependencies of `gazette overview`."""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial

from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals
from gazette.adapters.dynamodb.pacing.pace import RECOMMENDATIONS_ROW, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import PARTITIONS
from gazette.domain.delivery.pace import PacePlan
from gazette.settings.delivery import SendingSettings
from gazette.settings.fanout import FanoutSettings
from gazette.settings.ranges import ASKED_SOURCE, RANGES

from gazette_support.bootstrap.batches import build_batches
from gazette_support.bootstrap.sending import build_sending
from gazette_support.steps.overview import Overview, read_overview


def build_overview(
    fanout: FanoutSettings, sending: SendingSettings, *, workers: Executor
) -> Callable[[], Overview]:
    """Return a function that reads the overview, using the threads of `workers`.

    Uses the settings of fan-out and generate.
    """
    is_asked = ASKED_SOURCE in fanout.content_sources
    return partial(
        read_overview,
        batches=build_batches(fanout),
        sending=build_sending(sending),
        versions=DynamoTemplateVersions(sending.control_table, ranges=RANGES),
        withdrawals=DynamoWithdrawals(sending.control_table),
        partitions=PARTITIONS,
        each_partition=workers.map,
        each_slot=workers.map,
        source=DynamoRateLimiter(fanout.pace_table, PacePlan(rate=None), name=RECOMMENDATIONS_ROW)
        if is_asked
        else None,
    )
