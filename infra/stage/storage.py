"""How long data is stored."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gazette.settings.ranges import Range

from infra.stage.checks.wrong import Wrong, out_of_range
from infra.topology import TABLES, Table

_ARCHIVE = Range(0, 30, "0 is no archive")
"""Days. An event is known by its id for 35 at least: a replay of this archive repeats nothing."""


@dataclass(frozen=True, kw_only=True)
class Storage:
    """How long data is stored."""

    event_retention_days: int = 35
    """[days] How long an event waits at least; longer if its digest comes rarely or pauses.

    35 or more."""

    run_retention_days: int = 200
    """[days] How long runs, and what became of their emails, are stored.

    More than the longest life of an event, 196 days with the default retention."""

    archive_days: int = 0
    """[days] How long an archive of the bus holds each event that services put, so that it can be
    [replayed](runbook/replay-events.md). 0: no archive.

    0 to 30: an event that is replayed is known by its id for `event_retention_days`. An erasure
    does not reach the archive: what was put about a reader stays there for so long."""

    restorable: list[str] = field(default_factory=lambda: ["runs"])
    """Tables with point-in-time recovery beside those that always have it: `subscribers`,
    `schedules`, `follows`, `suppressions` and `control`. It costs about as much as storing the
    table does.

    Any of `activities`, `events`, `runs`, `pace`, `engagement`, `category_stats` and `bounces`.
    What a table without it loses if its rows are damaged: `runs`, what was sent (the events that
    are still stored go out again), `events` and `activities`, what waits until services put it
    again; `engagement`, the statistics; the others, what some days bring again. None has it without
    `retain`."""

    retain: bool = True
    """Keeps tables, keys and pushed templates when their stack is deleted, and protects tables from
    deletion.

    `false`: deleting the stack deletes all data, once its bucket is [empty](runbook/destroy.md)."""

    def restores(self, table: Table) -> bool:
        """Whether the table has point-in-time recovery."""
        return self.retain and (table.is_irreplaceable or table.name in self.restorable)


def wrong_with_storage(storage: Storage) -> Iterator[Wrong]:
    """What no stage may say of how long data is stored."""
    yield from out_of_range(storage, {"archive_days": _ARCHIVE})
    optional = [table.name for table in TABLES if not table.is_irreplaceable]
    for name in storage.restorable:
        if name not in optional:
            yield Wrong(
                f"restorable must name some of {', '.join(optional)}, not {name!r}; the other "
                "tables are restorable anyway.",
                of=("restorable",),
            )
