"""`gazette dlq`: list dead letters, show what a redrive would do, and redrive them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer
from gazette.bootstrap.support.dead_letters import build_due_at, build_forecast
from gazette.domain.identity import run_id
from gazette.settings.delivery import GenerateSettings

from cli.dead_letters.forecasts import ForecastOf, answer
from cli.dead_letters.messages import DeadLetter, look, read
from cli.dead_letters.queues import OPTIONAL, DeadQueue, chosen, queue_names
from cli.dead_letters.redrive import Choice, move
from cli.dead_letters.selection import DueAt, Selection, select
from cli.dead_letters.sqs_queues import Queue, queues
from cli.shared.answers import Document, Rows, Shown, Yes, cell, confirm, give
from cli.shared.aws_errors import refusals_of_tables
from cli.shared.commands import Command
from cli.shared.completion import recent_slots
from cli.shared.console import NotPossible, note, say
from cli.shared.deployed import StageName, settings_of
from cli.shared.suppression_key import suppression_key

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_LISTED = {"queue": "queue", "messages": "messages", "oldest": "oldest"}
_SHOWN = {
    "queue": "queue",
    "about": "about",
    "run": "",
    "since": "since",
    "received": "received",
    "redrive": "redrive",
    "why": "why",
}

_ENOUGH = 100
"""How many messages of a queue `list` looks at to find the oldest."""

_COUNTED = 1000
"""How many messages of a queue are looked at before asking for confirmation."""

dlq = typer.Typer(
    help="List dead letters, show what a redrive would do to each, and redrive them.",
    no_args_is_help=True,
)
Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[QUEUE]",
        help="Such as generate-dead; without it, all of them.",
        autocompletion=queue_names,
    ),
]


@dlq.command("list", cls=Command)
def list_queues(stage: StageName = "prod") -> None:
    """List the dead-letter queues, with the number of messages and the age of the oldest."""
    rows = []
    for dead, queue in _of(stage, chosen(None, stage)):
        waiting = queue.waiting()
        letters = look(dead, queue, most=_ENOUGH) if waiting else []
        oldest = letters[0].since if letters else None
        more = " or earlier" if letters and waiting > len(letters) else ""
        rows.append((dead.name, waiting, Shown(oldest, f"{cell(oldest)}{more}")))
    Rows("queues", _LISTED, rows).show()


@dlq.command("show", cls=Command)
def show(
    name: Name = None,
    stage: StageName = "prod",
    limit: Annotated[int, typer.Option(min=1, help="How many messages per queue at most.")] = 50,
) -> None:
    """Show each dead letter, what a redrive would do with it now, and why. Changes nothing."""
    found = _of(stage, chosen(name, stage))
    letters, cut = [], []
    for dead, queue in found:
        some = look(dead, queue, most=limit)
        letters += some
        if len(some) == limit and (waiting := queue.waiting()) > limit:
            cut.append(f"{limit} of about {waiting} in {queue.name}: --limit shows more.")
    with _tables(stage) as tables:
        rows = [_row(letter, tables) for letter in letters]
    Rows("dead_letters", _SHOWN, rows).show(more=bool(cut))
    for line in cut:
        note(line)
    if not letters:
        note(f"{found[0][1].name} is empty." if name else "There are no dead letters.")


@dlq.command("redrive", cls=Command)
def redrive(
    name: Name = None,
    stage: StageName = "prod",
    yes: Yes = False,
    run: Annotated[str | None, typer.Option(help="Only this run, such as ann-daily-17.")] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            help="Only digests due in this slot, such as 2026-11-22T06:10Z.",
            autocompletion=recent_slots,
        ),
    ] = None,
    on: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Only runs due on this date (UTC)."),
    ] = None,
) -> None:
    """Move dead letters back to the queues they came from. Safe at any time: what was sent is not
    sent again."""
    asked = select(run, batch, on)
    ways = [
        (dead, queue, next(queues(stage, dead.source)))
        for dead, queue in _of(stage, _redrivable(name, stage, asked))
        if dead.source and queue.waiting()
    ]
    if not ways:
        note("There is nothing to redrive.")
        give({"queues": [], "messages": []})
        return
    results: list[tuple[str, int, int, int]] = []
    told: list[Document] = []
    with _tables(stage) as tables:
        if not yes:
            _ask([(dead, queue) for dead, queue, _ in ways], asked, tables)
        for dead, queue, target in ways:
            moved = _Chosen(dead, asked, tables, told)
            is_chosen = dead.has_forecast or not asked.is_everything
            choice = Choice(moved.selects, moved.print_forecast) if is_chosen else None
            done = move(dead, queue, target, choice=choice, report=note)
            say(f"{dead.name}: {done}")
            if done.problem:
                raise NotPossible(
                    f"{done.problem} The rest is still in {queue.name}: run the command again."
                )
            results.append((dead.name, done.moved, done.left, done.came_back))
    columns = ("queue", "moved", "left", "came_back")
    give(
        {
            "queues": [dict(zip(columns, each, strict=True)) for each in results],
            "messages": told,
        }
    )


def _redrivable(name: str | None, stage: str, asked: Selection) -> Sequence[DeadQueue]:
    """The named queues whose messages can be redriven. Raises NotPossible."""
    found = chosen(name, stage)
    if name and found[0].source is None:
        raise NotPossible(f"{found[0].name} is not redriven: {found[0].sentence}.")
    if asked.is_everything:
        return [dead for dead in found if dead.source]
    if name and not found[0].names_runs:
        raise NotPossible(
            f"The messages of {found[0].name} are not about a run: redrive it without --run, "
            "--batch and --on."
        )
    return [dead for dead in found if dead.names_runs]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Selects the messages of a queue to redrive; prints the forecast of each once it is moved."""

    dead: DeadQueue
    asked: Selection
    tables: "_Tables"
    told: list[Document]
    forecasts: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    def selects(self, message: "MessageTypeDef") -> bool:
        """Whether the options name it."""
        letter = read(self.dead, message)
        is_wanted = self.asked.includes(letter, self.tables.due_at)
        if is_wanted and self.dead.has_forecast:
            word, why = self.tables.answer(letter)
            self.forecasts[message["MessageId"]] = (letter.about, word, why)
        return is_wanted

    def print_forecast(self, message: "MessageTypeDef") -> None:
        """Print what its redrive was forecast to do."""
        if forecast := self.forecasts.pop(message["MessageId"], None):
            say(": ".join(forecast))
            self.told.append(dict(zip(("about", "redrive", "why"), forecast, strict=True)))


def _ask(waiting: Sequence[tuple[DeadQueue, Queue]], asked: Selection, tables: "_Tables") -> None:
    """Say what will happen and ask for confirmation."""
    for dead, queue in waiting:
        letters = look(dead, queue, most=_COUNTED)
        first = "of the first " if len(letters) == _COUNTED else ""
        letters = [letter for letter in letters if asked.includes(letter, tables.due_at)]
        counted = Counter(tables.answer(letter)[0] for letter in letters)
        said = ", ".join(f"{number} {word}" for word, number in counted.most_common())
        say(f"{dead.name}: {first}{len(letters)}: {said or 'none of them'}")
    confirm("Redrive them? What was sent is not sent again.")


def _of(stage: str, wanted: Sequence[DeadQueue]) -> list[tuple[DeadQueue, Queue]]:
    """Each with its queue; one that is named must be there."""
    named = {f"gazette-{stage}-{dead.name}": dead for dead in wanted}
    optional = OPTIONAL if len(wanted) > 1 else ()
    found = queues(stage, *(dead.name for dead in wanted), optional=optional)
    return [(named[queue.name], queue) for queue in found]


@dataclass(frozen=True, slots=True)
class _Tables:
    """What a redrive of a run would do, and when it was due."""

    stage: str
    forecast: ForecastOf
    due_at: DueAt

    def answer(self, letter: DeadLetter) -> tuple[str, str]:
        """What a redrive of a dead letter does, in one word, and why."""
        return answer(letter, self.forecast, stage=self.stage)


@contextmanager
def _tables(stage: str) -> Iterator[_Tables]:
    """The tables are opened only once a dead letter names a run."""

    @cache
    def settings() -> GenerateSettings:
        return settings_of(stage, "generate", GenerateSettings)

    @cache
    def forecasts() -> ForecastOf:
        return build_forecast(settings(), suppression_key(stage, settings().suppressions_secret))

    @cache
    def dues() -> DueAt:
        return build_due_at(settings())

    with refusals_of_tables(stage):
        yield _Tables(
            stage, lambda key, given_up: forecasts()(key, given_up), lambda key: dues()(key)
        )


def _row(letter: DeadLetter, tables: _Tables) -> tuple[object, ...]:
    run = run_id(letter.key) if letter.key else None
    word, why = tables.answer(letter)
    return letter.dead.name, letter.about, run, letter.since, letter.received, word, why
