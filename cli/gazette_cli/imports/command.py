"""`gazette import`: publish profiles, follows and suppressions from a file."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from gazette.bootstrap.parts.clock import now
from typer.core import TyperGroup

from gazette_cli.cost.prices import OURS, read_prices
from gazette_cli.cost.regions import note_unknown_prices, region_of
from gazette_cli.events.bus import bus_of
from gazette_cli.imports.checking import Counts, check_file, hash_of_file, refusals
from gazette_cli.imports.display import Display
from gazette_cli.imports.estimate import Estimate, estimate
from gazette_cli.imports.items import Kind
from gazette_cli.imports.putting import put_all
from gazette_cli.imports.stage import quarantined, tables_of, target_of
from gazette_cli.imports.state import State, read_state, state_path
from gazette_cli.imports.verifying import differences, sample
from gazette_cli.shared.answers import Rows, Yes, confirm, give
from gazette_cli.shared.commands import Command
from gazette_cli.shared.console import NotPossible, note, printable, say
from gazette_cli.shared.deployed import StageName
from gazette_cli.shared.stages import sources_of, stage_of

_SHOWN = 20
"""The number of problems that are printed. The others are only in the file."""

_INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class _ByDefault(TyperGroup):
    """A group whose first word may be the argument of its command `run`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of this name, or `run`."""
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Leave options in front of FILE to `run`."""
        if args and args[0].startswith("-") and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


import_group = typer.Typer(
    cls=_ByDefault,
    help="Publish profiles, follows and suppressions from a file. `gazette import FILE` is short "
    "for `gazette import run FILE`.",
    no_args_is_help=True,
)
File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A file in NDJSON, or in CSV if the name ends in .csv. docs/migration.md describes "
        "both.",
    ),
]
ChangedAt = Annotated[
    str,
    typer.Option(
        "--changed-at",
        metavar="TIME",
        help="The time of profiles and follows without `changed_at`, such as 2026-11-21T09:00:00Z.",
    ),
]
Source = Annotated[str, typer.Option("--source", help="The source of the published events.")]
Rate = Annotated[
    float, typer.Option("--rate", min=1, help="The maximum number of items per second.")
]


@import_group.command("check", cls=Command)
def check(
    file: File,
    stage: StageName = "prod",
    changed_at: ChangedAt = "",
    source: Source = "gazette.import",
    rate: Rate = 500,
) -> None:
    """Check a whole file, and estimate the cost and the duration of its import. The stage does
    not change.

    If a line is invalid, the exit code is 1, and FILE.errors contains all problems.
    """
    _, counts = _checked(file, stage, source, changed_at)
    _show(counts, _estimate(counts, stage, rate))


@import_group.command("run", cls=Command)
def run(
    file: File,
    stage: StageName = "prod",
    changed_at: ChangedAt = "",
    source: Source = "gazette.import",
    rate: Rate = 500,
    most_waiting: Annotated[
        int,
        typer.Option(
            "--most-waiting",
            min=0,
            help="Pause while more messages wait in the ingest queue, so that live events pass.",
        ),
    ] = 50,
    yes: Yes = False,
) -> None:
    """Check a file, then import suppressions, profiles and follows, in this order.

    FILE.state keeps the progress. If the command is interrupted, run it again to continue.
    """
    path = state_path(file)
    with _readable(file):
        state = read_state(path)
        if state and state.sha256 == hash_of_file(file) and state.stage == stage:
            if state.is_finished:
                raise NotPossible(
                    f"{file} is already imported into stage {stage}. To import it again, delete "
                    f"{path}."
                )
            note(f"Continuing the import of {file}: {_progress(state)}.")
        else:
            state = _begin(file, stage, source, changed_at, rate, yes=yes)
            state.save(path)
    target = target_of(stage, state.source, bus_of(stage).name, rate=rate, most=most_waiting)
    with _readable(file), _interruptible(path, state), Display() as display:
        unprocessed = put_all(file, state, path, to=target, progress=display, now=now())
    if unprocessed:
        note(
            f"Ingest still has {unprocessed:,} messages, which may be live events. Run `gazette "
            "import verify` later."
        )
    rejected = quarantined(stage, state.source)
    _conclude(state, rejected)


@import_group.command("verify", cls=Command)
def verify(
    file: File,
    stage: StageName = "prod",
    size: Annotated[
        int, typer.Option("--sample", min=1, help="The number of random items to verify.")
    ] = 1000,
    changed_at: ChangedAt = "",
) -> None:
    """Compare a random sample of a file with the tables of the stage. The exit code is 1 if an
    item is missing.

    A reader who was erased, or whose profile is newer, counts as imported.
    """
    with _readable(file):
        items = sample(file, size, changed_at=changed_at, seed=int(now().timestamp()))
    with tables_of(stage) as tables:
        missing = list(differences(items, tables, now=now()))
    columns = {"line": "line", "kind": "kind", "difference": "difference"}
    Rows("missing", columns, [(line, str(kind), why) for line, kind, why in missing]).show(
        verified=len(items)
    )
    note(f"{len(items) - len(missing):,} of {len(items):,} sampled items are in stage {stage}.")
    if missing:
        raise typer.Exit(1)


def _begin(
    file: Path, stage: str, source: str, changed_at: str, rate: float, *, yes: bool
) -> State:
    """Check a file, and ask for confirmation. Return the state at the beginning."""
    digest, counts = _checked(file, stage, source, changed_at)
    expected = _estimate(counts, stage, rate)
    for line in _lines(counts, expected):
        note(": ".join(line))
    if not yes:
        confirm(f"Import {file} into stage {stage}?")
    return State(
        sha256=digest,
        stage=stage,
        source=source,
        changed_at=changed_at,
        totals={str(kind): number for kind, number in counts.items.items()},
    )


def _checked(file: Path, stage: str, source: str, changed_at: str) -> tuple[str, Counts]:
    """Return the hash and the counts of a valid file. Exit with 1 if it is invalid."""
    errors = file.with_name(f"{file.name}.errors")
    number = 0
    with _readable(file):
        digest = hash_of_file(file)
        with errors.open("w", encoding="utf-8", errors="backslashreplace") as log:
            report, count = _reporter(log)
            counts = check_file(file, changed_at=changed_at, now=now(), report=report)
        number = count()
        if number:
            count_text = "1 problem" if number == 1 else f"{number:,} problems"
            note(
                f"{count_text}. No item was imported. {errors} lists every problem. Fix these "
                "lines, then run the command again.",
                style="red",
            )
            raise typer.Exit(1)
        errors.unlink()
    if reasons := list(refusals(sources_of(stage), source, counts)):
        raise NotPossible(*reasons, "Add the source to the setting `sources`, or pass --source.")
    return digest, counts


def _reporter(log: IO[str]) -> tuple[Callable[[str], None], Callable[[], int]]:
    """Return a function that reports a problem, and a function that returns their number."""
    number = 0

    def report(problem: str) -> None:
        nonlocal number
        number += 1
        log.write(f"{printable(problem)}\n")
        if number <= _SHOWN:
            note(problem, style="red")

    return report, lambda: number


def _estimate(counts: Counts, stage: str, rate: float) -> Estimate:
    prices, settings = read_prices(OURS), stage_of(stage)
    note_unknown_prices(prices, region_of(settings.region))
    return estimate(
        counts.items,
        counts.sizes,
        prices=prices,
        concurrency=settings.sizes["ingest"].concurrency,
        rate=rate,
    )


def _lines(counts: Counts, expected: Estimate) -> Iterator[Sequence[str]]:
    for kind in Kind:
        yield kind.plural, f"{counts.items[kind]:,}"
    yield "cost", f"${expected.total:,.2f} in AWS"
    minutes = max(1, round(expected.seconds / 60))
    yield "duration", f"about {minutes:,} minutes, limited by the {_LIMITS[expected.limit]}"


_LIMITS = {"rate": "option --rate", "concurrency": "concurrency of ingest"}


def _show(counts: Counts, expected: Estimate) -> None:
    for line in _lines(counts, expected):
        say(": ".join(line))
    give(
        {
            **{kind.plural: counts.items[kind] for kind in Kind},
            "dollars": round(expected.total, 2),
            "dollars_by_service": {name: round(each, 4) for name, each in expected.dollars.items()},
            "seconds": round(expected.seconds),
        }
    )


def _conclude(state: State, rejected: Counter[str]) -> None:
    say(f"imported into stage {state.stage}: {_progress(state)}")
    for reason, number in rejected.most_common(_SHOWN):
        note(f"in quarantine: {number:,} messages: {reason}", style="red")
    give(
        {
            **{kind.plural: state.acknowledged[kind] for kind in Kind},
            "quarantined": [{"reason": why, "messages": each} for why, each in rejected.items()],
        }
    )
    if rejected:
        raise typer.Exit(1)


def _progress(state: State) -> str:
    return ", ".join(
        f"{state.acknowledged[kind]:,} of {state.totals[kind]:,} {kind.plural}"
        for kind in Kind
        if state.totals[kind]
    )


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        raise NotPossible(f"{err.filename or file}: {err.strerror}.") from err


@contextmanager
def _interruptible(path: Path, state: State) -> Iterator[None]:
    """End with one line at Ctrl-C. The state is already stored."""
    try:
        yield
    except KeyboardInterrupt:
        note(
            f"Interrupted: {_progress(state)} at {datetime.now(UTC):%H:%M:%S} UTC. {path} keeps "
            "the progress. Run the same command to continue."
        )
        raise typer.Exit(_INTERRUPTED) from None
