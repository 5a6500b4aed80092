"""An overview of a stage's tables: email that is due, in progress or blocked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.run import Status
from gazette.domain.delivery.standing import Standing, combined, standing_of
from gazette.domain.delivery.streams import Streams
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.ports.control import WithdrawalStore
from gazette.domain.ports.ledgers import Runs
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.templates.ports import TemplateVersions
from gazette.domain.templates.versions import InForce, PushedVersion
from gazette.domain.withdrawing.withdrawals import Withdrawals, in_force

from gazette_support.steps.batches import BatchContext, BatchView, latest_batches
from gazette_support.steps.sending import SendingContext, Stream, held_categories, read_streams
from gazette_support.steps.templates import versions_in

LATEST = 3
"""The number of batches in the overview. All runs of each batch are read."""

SLOTS = 3
"""The number of slots whose digests are counted: the current slot and the following ones."""

EachInt = Callable[[Callable[[int], Standing], Iterable[int]], Iterable[Standing]]
EachSlot = Callable[[Callable[[datetime], int], Iterable[datetime]], Iterable[int]]


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A slot, and the number of schedules due in it. Some schedules may have no content to send."""

    slot: datetime
    digests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The state of a stage's email at the instant `at`."""

    at: datetime
    upcoming: Sequence[Upcoming]
    batches: Sequence[BatchView]
    """The latest batches that have started."""

    standing: Standing
    """The age of unfinished runs, and the number that wait for the next day."""

    streams: Streams[PaceReading]
    category_holds: Sequence[CategoryHold]
    templates: InForce | UnreadableRow
    """The template versions in force, or the error of an unreadable row."""

    pushed: Sequence[PushedVersion]
    """The pushed versions among the versions in force."""

    withdrawals: Withdrawals = ()
    """The withdrawals that apply, oldest first."""

    source: OpenBreaker | None = None
    """The open circuit breaker of the recommendation service, if any."""

    @property
    def going_out(self) -> list[BatchView]:
        """The batches that are not over, oldest first."""
        return [view for view in reversed(self.batches) if not view.is_over]

    @property
    def unknown(self) -> list[BatchView]:
        """The batches that contain runs with an unknown outcome, oldest first."""
        return [view for view in reversed(self.batches) if view.number(Status.UNKNOWN)]


def read_overview(
    *,
    batches: BatchContext,
    sending: SendingContext,
    versions: TemplateVersions,
    withdrawals: WithdrawalStore,
    partitions: int,
    each_partition: EachInt = map,
    each_slot: EachSlot = map,
    source: Stream | None = None,
) -> Overview:
    """Read the overview with eventual consistency. The parts are read at different moments.

    `partitions` is the number of partitions of open runs. `each_partition` and `each_slot` are
    `map` or a parallel replacement. `source` is the rate limiter of requests to the recommendation
    service, if any.
    """
    at = batches.clock()
    slots = [slot_of(at) + number * SLOT for number in range(SLOTS)]
    counts = each_slot(partial(_due, context=batches), slots)
    streams = read_streams(context=sending)
    look = partial(_standing, runs=batches.runs, streams=streams, now=at)
    templates, pushed = _templates(versions)
    return Overview(
        at=at,
        upcoming=[Upcoming(slot, number) for slot, number in zip(slots, counts, strict=True)],
        batches=latest_batches(LATEST, context=batches),
        standing=combined([*each_partition(look, range(partitions))]),
        streams=streams,
        category_holds=held_categories(context=sending),
        templates=templates,
        pushed=pushed,
        withdrawals=in_force(withdrawals.read().withdrawals, at),
        source=source.read(at).breaker if source else None,
    )


def _templates(
    versions: TemplateVersions,
) -> tuple[InForce | UnreadableRow, Sequence[PushedVersion]]:
    try:
        in_force = versions.in_force()
        return in_force, versions_in(in_force, versions=versions)
    except UnreadableRow as err:
        return err, ()


def _standing(
    partition: int, *, runs: Runs, streams: Streams[PaceReading], now: datetime
) -> Standing:
    """Return the age of a partition's open runs, computed as the sweep does for the alarms."""
    free_since = Streams(
        digest=lambda: streams.digest.free_since, immediate=lambda: streams.immediate.free_since
    )
    return standing_of(runs.open_runs(partition), free_since=free_since, now=now)


def _due(slot: datetime, *, context: BatchContext) -> int:
    return sum(context.schedules.count_due(slot, shard) for shard in context.shards)
