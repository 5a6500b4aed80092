"""Settings of data retention, the archive and recovery."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gazette.settings.ranges import Range

from gazette_cdk.stage.checks.wrong import Wrong, out_of_range
from gazette_cdk.topology import TABLES, Table

_ARCHIVE = Range(0, 30, "0 turns the archive off")
"""The allowed retention of the archive in days.

An event's id is known for at least 35 days, so a replay sends no duplicates.
"""


@dataclass(frozen=True, kw_only=True)
class Storage:
    """Retention and recovery."""

    event_retention_days: int = 35
    """[days] The minimum retention of events. Retention is longer for readers whose digests are
    rare or paused.

    35 or more.
    """

    run_retention_days: int = 200
    """[days] The retention of runs and of the outcomes of their emails.

    Must exceed the longest retention of an event, which is 196 days by default."""

    archive_days: int = 0
    """[days] The retention of the event bus archive. The archive keeps all events that services
    publish, so that you can [replay](runbook/replay-events.md) them. 0: no archive.

    0 to 30, because Gazette recognises replayed events as duplicates only for
    `event_retention_days`. An erasure does not delete a reader's events from the archive. These
    events remain until they expire.
    """

    restorable: list[str] = field(default_factory=lambda: ["runs"])
    """Additional tables with point-in-time recovery. The tables `subscribers`, `schedules`,
    `follows`, `suppressions` and `control` always have recovery. Recovery costs about as much as
    the storage of the table.

    Any of `activities`, `events`, `runs`, `pace`, `engagement`, `category_stats` and `bounces`. If
    a table without recovery is damaged, its data is lost. `runs`: the record of sent emails is
    lost, so events that are still stored are sent again. `events` and `activities`: unsent events
    are lost, unless services publish them again. `engagement`: the statistics are lost. Gazette
    rebuilds the data of the remaining tables within days. Without `retain`, no table has recovery.
    """

    retain: bool = True
    """Retention of tables, keys and pushed templates after their stack is deleted. Tables are also
    protected from deletion.

    `false`: deleting the stack deletes all data. Before that, the template bucket must be
    [empty](runbook/destroy.md).
    """

    def restores(self, table: Table) -> bool:
        """Return True if the table has point-in-time recovery."""
        return self.retain and (table.is_irreplaceable or table.name in self.restorable)


def wrong_with_storage(storage: Storage) -> Iterator[Wrong]:
    """Yield the problems with the settings of retention and recovery."""
    yield from out_of_range(storage, {"archive_days": _ARCHIVE})
    optional = [table.name for table in TABLES if not table.is_irreplaceable]
    for name in storage.restorable:
        if name not in optional:
            yield Wrong(
                f"restorable may contain {', '.join(optional)}, not {name!r}. The other tables "
                "always have recovery.",
                of=("restorable",),
            )
