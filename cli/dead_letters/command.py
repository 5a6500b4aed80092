"""`gazette dlq`: what waits among the dead letters, what a redrive does, and the way back."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Annotated

import typer
from gazette.bootstrap.support import build_foresee
from gazette.domain.model import RunKey
from gazette.settings import GenerateSettings
from gazette.steps.dead_letters import Foreseen
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.console import NotPossible, note, one_line_errors, say
from cli.dead_letters.answers import Foresee, answer
from cli.dead_letters.known import DeadQueue, chosen
from cli.dead_letters.letters import Letter, look
from cli.dead_letters.moving import move
from cli.deployed import StageName, settings_of
from cli.queues import Queue, queues
from cli.refusals import refusals_in_words
from cli.sight import moment

_LISTED = ("queue", "messages", "oldest")
_SHOWN = ("queue", "about", "since", "received", "redrive", "why")

_ENOUGH = 100
"""Messages of a queue that a list looks at, to find the oldest."""

_COUNTED = 1000
"""Messages of a queue that are looked at before the question whether to redrive it."""

dlq = typer.Typer(
    help="Dead letters: what waits, what a redrive does, and the way back.", no_args_is_help=True
)
Name = Annotated[
    str | None,
    typer.Argument(metavar="[QUEUE]", help="Such as generate-dead; without it, all of them."),
]


@dlq.command("list")
@one_line_errors()
def list_queues(stage: StageName = "prod") -> None:
    """Show each dead-letter queue, how many messages it has, and since when the oldest waits."""
    rows = []
    for dead, queue in _of(stage, chosen(None, stage)):
        waiting = queue.waiting()
        letters = look(dead, queue, most=_ENOUGH) if waiting else []
        oldest = moment(letters[0].since) if letters else "-"
        more = " or earlier" if letters and waiting > len(letters) else ""
        rows.append((dead.name, str(waiting), f"{oldest}{more}"))
    _show(_LISTED, rows)


@dlq.command("show")
@one_line_errors()
def show(
    name: Name = None,
    stage: StageName = "prod",
    limit: Annotated[int, typer.Option(min=1, help="How many of a queue at most.")] = 50,
) -> None:
    """Show each dead letter, what a redrive would do to it now, and why. Nothing is changed."""
    found = _of(stage, chosen(name, stage))
    letters, cut = [], []
    for dead, queue in found:
        some = look(dead, queue, most=limit)
        letters += some
        if len(some) == limit and (waiting := queue.waiting()) > limit:
            cut.append(f"{limit} of about {waiting} in {queue.name}: --limit shows more.")
    with _tables(stage) as foresee:
        _show(_SHOWN, [_row(letter, foresee) for letter in letters])
    for line in cut:
        note(line)
    if not letters:
        note(f"Nothing waits in {found[0][1].name}." if name else "There are no dead letters.")


@dlq.command("redrive")
@one_line_errors()
def redrive(
    name: Name = None,
    stage: StageName = "prod",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Bring dead letters back to the queues that they came from. Safe at any time."""
    wanted = chosen(name, stage)
    if name and wanted[0].source is None:
        raise NotPossible(f"{wanted[0].name} is not redriven: {wanted[0].sentence}.")
    ways = [
        (dead, queue, next(queues(stage, dead.source)))
        for dead, queue in _of(stage, wanted)
        if dead.source and queue.waiting()
    ]
    if not ways:
        note("There is nothing to redrive.")
        return
    if not yes:
        _ask(stage, [(dead, queue) for dead, queue, _ in ways])
    for dead, queue, target in ways:
        done = move(dead, queue, target, tell=note)
        say(f"{dead.name}: redriven {done.moved}, left {done.left}")
        if done.problem:
            raise NotPossible(f"{done.problem} What was left waits in {queue.name}: run it again.")


def _ask(stage: str, waiting: Sequence[tuple[DeadQueue, Queue]]) -> None:
    """Say what will happen, and go on with a yes only."""
    with _tables(stage) as foresee:
        for dead, queue in waiting:
            letters = look(dead, queue, most=_COUNTED)
            counted = Counter(answer(letter, foresee)[0] for letter in letters)
            said = ", ".join(f"{number} {word}" for word, number in counted.most_common())
            first = "of the first " if len(letters) == _COUNTED else ""
            say(f"{dead.name}: {first}{len(letters)}: {said}")
    typer.confirm("Redrive them? What was sent is not sent again.", abort=True)


def _of(stage: str, wanted: Sequence[DeadQueue]) -> list[tuple[DeadQueue, Queue]]:
    return list(zip(wanted, queues(stage, *(dead.name for dead in wanted)), strict=True))


@contextmanager
def _tables(stage: str) -> Iterator[Foresee]:
    """What a redrive of a run would do; nothing is asked for where no dead letter names one."""

    @cache
    def joined() -> Foresee:
        return build_foresee(settings_of(stage, "generate", GenerateSettings))

    def foresee(key: RunKey) -> Foreseen:
        return joined()(key)

    with refusals_in_words(f"the tables of stage {stage}", service="dynamodb"):
        yield foresee


def _row(letter: Letter, foresee: Foresee) -> tuple[str, ...]:
    word, why = answer(letter, foresee)
    since, received = moment(letter.since), str(letter.received)
    return letter.dead.name, letter.about, since, received, word, why


def _show(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    """A table for people; where it is piped, a line per row, with tabs between."""
    console = Console()
    if not console.is_terminal:
        for row in rows:
            typer.echo("\t".join(row))
        return
    table = Table(*columns)
    for row in rows:
        table.add_row(*map(Text, row))
    if rows:
        console.print(table)
