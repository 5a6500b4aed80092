"""`gazette dlq`: list and redrive dead letters, and forecast the effect of a redrive."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Annotated

import typer
from gazette.adapters.aws.dead_letters.messages import look
from gazette.adapters.aws.dead_letters.queues import Queue, queues
from gazette.adapters.aws.dead_letters.redrive import Choice, move
from gazette.bootstrap.support.dead_letters import build_due_at, build_forecast
from gazette.domain.dead_letters import (
    OPTIONAL,
    DeadLetter,
    DeadQueue,
    DueAt,
    Interrupted,
    Selection,
)
from gazette.domain.identity import run_id
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.forecast_words import ForecastOf, answer

from gazette_cli.dead_letters.options import chosen, queue_names, select
from gazette_cli.shared.answers import Document, Rows, Shown, Yes, cell, confirm, give
from gazette_cli.shared.aws_errors import interruption, refusals_of_tables
from gazette_cli.shared.commands import Command
from gazette_cli.shared.completion import recent_slots
from gazette_cli.shared.console import NotPossible, note, printable, say
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.next_commands import aimed
from gazette_cli.shared.suppression_key import suppression_key

_LISTED = {"queue": "queue", "messages": "messages", "oldest": "oldest"}
_SHOWN = {
    "queue": "queue",
    "about": "description",
    "run": "",
    "since": "since",
    "received": "received",
    "redrive": "redrive",
    "why": "reason",
}

_ENOUGH = 100
"""The number of messages per queue that `list` reads to find the oldest message."""

_COUNTED = 1000
"""The number of messages per queue that are read for the summary before a redrive is confirmed."""

dlq = typer.Typer(
    help="List and redrive dead letters, and forecast the effect of a redrive.",
    no_args_is_help=True,
)
Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[QUEUE]",
        help="A dead-letter queue, such as generate-dead. The default is all queues.",
        autocompletion=queue_names,
    ),
]


@dlq.command("list", cls=Command)
def list_queues(stage: StageName = "prod") -> None:
    """List the dead-letter queues, with the number of messages and the time of the oldest
    message.
    """
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
    limit: Annotated[
        int, typer.Option(min=1, help="The maximum number of messages per queue.")
    ] = 50,
) -> None:
    """Show each dead letter, and forecast the effect of redriving it now. This command changes
    nothing.
    """
    pairs = _of(stage, chosen(name, stage))
    letters, cut = [], []
    for dead, queue in pairs:
        sample = look(dead, queue, most=limit)
        letters += sample
        if len(sample) == limit and (waiting := queue.waiting()) > limit:
            cut.append(
                f"Showing {limit} of about {waiting} messages in {queue.name}. Specify --limit "
                "to show more."
            )
    with _tables(stage) as tables:
        rows = [_row(letter, tables) for letter in letters]
    Rows("dead_letters", _SHOWN, rows).show(more=bool(cut))
    for line in cut:
        note(line)
    if not letters:
        note(f"{pairs[0][1].name} is empty." if name else "There are no dead letters.")


@dlq.command("redrive", cls=Command)
def redrive(
    name: Name = None,
    stage: StageName = "prod",
    yes: Yes = False,
    run: Annotated[
        str | None, typer.Option(help="Redrive only messages of this run, such as ann-daily-17.")
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            help="Redrive only digests that are due in this slot, such as 2026-11-22T06:10Z.",
            autocompletion=recent_slots,
        ),
    ] = None,
    on: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"], help="Redrive only runs that are due on this date (UTC)."
        ),
    ] = None,
) -> None:
    """Move dead letters back to their source queues. A redrive is safe at any time, because no
    email is sent twice.
    """
    selection = select(run, batch, on)
    moves = [
        (dead, queue, next(queues(stage, dead.source)))
        for dead, queue in _of(stage, _redrivable(name, stage, selection))
        if dead.source and queue.waiting()
    ]
    if not moves:
        note("There are no messages to redrive.")
        give({"queues": [], "messages": []})
        return
    results: list[tuple[str, int, int, int]] = []
    messages: list[Document] = []
    with _tables(stage) as tables:
        if not yes:
            _ask([(dead, queue) for dead, queue, _ in moves], selection, tables)
        for dead, queue, target in moves:
            chooser = _Chooser(dead, selection, tables, messages)
            is_partial = dead.has_forecast or not selection.is_everything
            choice = Choice(chooser.selects, chooser.print_forecast) if is_partial else None
            outcome = move(dead, queue, target, choice=choice, report=note)
            say(f"{dead.name}: {outcome}")
            if outcome.problem:
                raise NotPossible(
                    f"{interruption(outcome.problem)} The other messages are still in "
                    f"{queue.name}. Run the command again."
                )
            results.append((dead.name, outcome.moved, outcome.remaining, outcome.came_back))
    columns = ("queue", "moved", "left", "came_back")
    give(
        {
            "queues": [dict(zip(columns, each, strict=True)) for each in results],
            "messages": messages,
        }
    )


def _redrivable(name: str | None, stage: str, selection: Selection) -> Sequence[DeadQueue]:
    """Return the queues whose messages can be redriven. Raises NotPossible."""
    candidates = chosen(name, stage)
    if name and candidates[0].source is None:
        raise NotPossible(f"{candidates[0].name} cannot be redriven: {candidates[0].sentence}.")
    if selection.is_everything:
        return [dead for dead in candidates if dead.source]
    if name and not candidates[0].names_runs:
        raise NotPossible(
            f"The messages in {candidates[0].name} do not belong to runs. To redrive the "
            "queue, omit --run, --batch and --on."
        )
    return [dead for dead in candidates if dead.names_runs]


@dataclass(frozen=True, slots=True)
class _Chooser:
    """A filter for the messages to redrive, which prints a forecast for each moved message."""

    dead: DeadQueue
    selection: Selection
    tables: "Tables"

    # Forecasts for moved messages, for the JSON output.
    messages: list[Document]

    # Forecasts for selected messages.
    forecasts: dict[DeadLetter, tuple[str, str, str]] = field(default_factory=dict)

    def selects(self, letter: DeadLetter) -> bool:
        """Return True if the options select the message. Raises Interrupted."""
        try:
            is_selected = self.selection.includes(letter, self.tables.due_at)
            if is_selected and self.dead.has_forecast:
                word, why = self.tables.answer(letter)
                self.forecasts[letter] = (printable(letter.about), word, why)
        except NotPossible as err:
            raise Interrupted(str(err)) from err
        return is_selected

    def print_forecast(self, letter: DeadLetter) -> None:
        """Print the forecast for a moved message."""
        if forecast := self.forecasts.pop(letter, None):
            say(": ".join(forecast))
            self.messages.append(dict(zip(("about", "redrive", "why"), forecast, strict=True)))


def _ask(
    waiting: Sequence[tuple[DeadQueue, Queue]], selection: Selection, tables: "Tables"
) -> None:
    """Summarise the redrive, and ask for confirmation."""
    for dead, queue in waiting:
        letters = look(dead, queue, most=_COUNTED)
        first = "of the first " if len(letters) == _COUNTED else ""
        letters = [letter for letter in letters if selection.includes(letter, tables.due_at)]
        effects = Counter(tables.answer(letter)[0] for letter in letters)
        summary = ", ".join(f"{number} {word}" for word, number in effects.most_common())
        say(f"{dead.name}: {first}{len(letters)}: {summary or 'none selected'}")
    confirm("Redrive these messages? No email is sent twice.")


def _of(stage: str, wanted: Sequence[DeadQueue]) -> list[tuple[DeadQueue, Queue]]:
    """Return each dead-letter queue with its SQS queue. Skip optional queues that the stage does
    not have.

    Raises NotPossible if a single queue is requested and does not exist.
    """
    by_name = {f"gazette-{stage}-{dead.name}": dead for dead in wanted}
    optional = OPTIONAL if len(wanted) > 1 else ()
    existing = queues(stage, *(dead.name for dead in wanted), optional=optional)
    return [(by_name[queue.name], queue) for queue in existing]


@dataclass(frozen=True, slots=True)
class Tables:
    """Table lookups that return a run's due time and forecast the redrive of a run."""

    stage: str
    forecast: ForecastOf
    due_at: DueAt

    def answer(self, letter: DeadLetter) -> tuple[str, str]:
        """Return the effect of a redrive in one word, and the reason. Commands in the reason
        include the `--stage` option.
        """
        word, why = answer(letter, self.forecast)
        return word, aimed(printable(why), stage=self.stage)


@contextmanager
def _tables(stage: str) -> Iterator[Tables]:
    """Provide the table lookups. The tables are opened only when the first dead letter that names a
    run is read.
    """

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
        yield Tables(
            stage, lambda key, given_up: forecasts()(key, given_up), lambda key: dues()(key)
        )


def _row(letter: DeadLetter, tables: Tables) -> tuple[object, ...]:
    run = run_id(letter.key) if letter.key else None
    word, why = tables.answer(letter)
    about = printable(letter.about)
    return letter.dead.name, about, run, letter.since, letter.received, word, why
