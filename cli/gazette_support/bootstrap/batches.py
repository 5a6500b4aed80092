"""Dependencies of `gazette batch`."""

from collections.abc import Callable

from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.rate_limiters import rate_limiters
from gazette.domain.delivery.pace import PaceReading
from gazette.settings.fanout import FanoutSettings
from gazette.settings.pacing import PacingSettings
from gazette.steps.fanout.fanout import shards_in_use

from gazette_support.steps.batches import BatchContext


def build_batches(settings: FanoutSettings) -> BatchContext:
    """Return the context of `gazette batch`, from the settings of fan-out and the shards in use."""
    retention = settings.run_retention
    batches = DynamoBatches(settings.control_table, retention=retention, clock=now)
    return BatchContext(
        batches=batches,
        runs=DynamoRuns(settings.runs_table, retention=retention),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        shards=range(shards_in_use(settings.shards, batches.checkpoints(), batches.announced())),
        clock=now,
    )


def build_digest_rate(settings: PacingSettings) -> Callable[[], PaceReading]:
    """Return a function that reads the current rate of digests."""
    gauge = rate_limiters(settings).digest
    return lambda: gauge.read(now())
