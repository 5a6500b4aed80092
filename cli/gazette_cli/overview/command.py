"""`gazette overview`: the state of a stage on one screen."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated

import typer
from gazette.adapters.aws.dead_letters.queues import Queue, queues
from gazette.domain.console.levels import Level
from gazette.domain.dead_letters import KNOWN, OPTIONAL
from gazette.domain.delivery.run import Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.scheduling.calendar import slot_id
from gazette.domain.scheduling.instants import moment
from gazette.domain.templates.versions import NOTHING_PUSHED
from gazette.settings.delivery import GenerateSettings
from gazette.settings.fanout import FanoutSettings
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gazette_cli.batches.views import listing
from gazette_cli.overview.alarms import raised
from gazette_cli.overview.lines import Seen, lines
from gazette_cli.sending.categories import held_document
from gazette_cli.shared.answers import Document
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.console import printable
from gazette_cli.shared.deployed import StageName, layers, settings_of
from gazette_cli.shared.live import watch
from gazette_cli.shared.pace import stream
from gazette_cli.templates.listing import in_force_document, is_deployed_since
from gazette_support.bootstrap.overview import build_overview

LIVE = ("ingest", "followers", "shard", "immediate", "generate", "resend", "feedback", "sweep")
"""The queues that events and runs pass through, in order."""

_DEAD = tuple(dead.name for dead in KNOWN)
_AT_ONCE = 16
_STYLES = {Level.PROBLEM: "bold red", Level.WARNING: "yellow", Level.OK: ""}


def overview(
    stage: StageName = "prod",
    once: Annotated[
        bool, typer.Option("--once", help="Show the overview once, without refreshing.")
    ] = False,
) -> None:
    """Show the state of a stage on one screen, with problems first. On a terminal, the output
    refreshes until you press Ctrl-C.

    The lines describe upcoming and current batches, and problems such as stuck runs, unknown
    outcomes, stopped streams and raised alarms. Each line names the command to run next. In a stage
    with 16 shards, a refresh makes 188 AWS calls, because it reads the runs of the last three
    batches and the keys of all open runs.
    """
    with refusals_of_tables(stage), ThreadPoolExecutor(_AT_ONCE) as workers:
        read_tables = build_overview(
            settings_of(stage, "fanout", FanoutSettings),
            settings_of(stage, "generate", GenerateSettings),
            workers=workers,
        )
        existing = [*queues(stage, *LIVE, *_DEAD, "quarantine", optional=OPTIONAL)]
        dead = [queue.name.removeprefix(f"gazette-{stage}-") for queue in existing[len(LIVE) : -1]]
        deployed = layers(stage, "generate")

        def read() -> _Snapshot:
            counts = _count(existing, workers.map)
            return _Snapshot(
                Seen(
                    stage=stage,
                    tables=read_tables(),
                    queues=dict(zip(LIVE, counts, strict=False)),
                    dead=dict(zip(dead, counts[len(LIVE) :], strict=False)),
                    quarantine=counts[-1],
                    alarms=raised(stage),
                    layers=deployed,
                )
            )

        watch(read(), lambda _: read(), is_last=lambda _: once)


def _templates(seen: Seen) -> Document:
    """Return the templates in force as JSON output. The fields are empty if the row that stores the
    versions is unreadable.
    """
    in_force = seen.tables.templates
    if isinstance(in_force, UnreadableRow):
        return {**dict.fromkeys(in_force_document(NOTHING_PUSHED)), "deployed_since": False}
    since = is_deployed_since(in_force, seen.tables.pushed, seen.layers)
    return {**in_force_document(in_force), "deployed_since": since}


def _count(
    existing: list[Queue], each: Callable[[Callable[[Queue], int], Iterable[Queue]], Iterable[int]]
) -> list[int]:
    return [*each(Queue.waiting, existing)]


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The state of a stage at the time of a refresh."""

    seen: Seen

    @property
    def document(self) -> Document:
        """The state of the stage as JSON output."""
        seen, tables = self.seen, self.seen.tables
        return {
            "at": tables.at,
            "lines": [
                {
                    "level": each.level.value,
                    "area": each.area,
                    "text": each.text,
                    "command": each.command or None,
                }
                for each in lines(seen)
            ],
            "alarms": [{"alarm": each.name, "since": each.since} for each in seen.alarms],
            "due": [
                {"batch": slot_id(each.slot), "digests": each.digests} for each in tables.upcoming
            ],
            "batches": listing(tables.batches).document,
            "unknown": sum(view.number(Status.UNKNOWN) for view in tables.batches),
            "oldest_open_due_at": tables.standing.due_at,
            "oldest_open_seconds": tables.standing.age.total_seconds(),
            "held_by_day": tables.standing.held_by_day,
            "queues": seen.queues,
            "dead_letters": seen.dead,
            "quarantine": seen.quarantine,
            "digest": stream(tables.streams.digest),
            "immediate": stream(tables.streams.immediate),
            "held_categories": [*map(held_document, tables.category_holds)],
            "withdrawals": len(tables.withdrawals),
            "templates": _templates(seen),
        }

    def lines(self) -> list[tuple[str, ...]]:
        """Return the rows of the piped output, with the cells level, area, text and command."""
        return [(each.level.value, each.area, each.text, each.command) for each in lines(self.seen)]

    def picture(self) -> RenderableType:
        """Draw the overview as a table."""
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        table.add_column(no_wrap=True, style="dim")
        for each in lines(self.seen):
            style = _STYLES[each.level]
            mark = "" if each.level is Level.OK else each.level.value
            cells = (mark, each.area, printable(each.text))
            table.add_row(*(Text(cell, style=style) for cell in cells), each.command)
        title = f"Stage {self.seen.stage}, {moment(self.seen.tables.at)}"
        return Group(Text(title, style="bold"), table)
