"""`gazette quarantine`: events that do not fit the contract: list them, redrive them."""

from typing import TYPE_CHECKING, Annotated

import typer
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.errors import InvalidEvent
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.dead_letters.sqs_queues import Held, queues, sent_at
from cli.dead_letters.transfer import redrive
from cli.events.envelopes import detail_type
from cli.shared.console import NotPossible, note, one_line_errors, printable, say
from cli.shared.deployed import StageName

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_COLUMNS = ("when (UTC)", "detail-type", "reason")

quarantine = typer.Typer(
    help="Events that do not fit the contract: list them, redrive them.", no_args_is_help=True
)


@quarantine.command("list")
@one_line_errors()
def show(
    stage: StageName = "prod",
    limit: Annotated[int, typer.Option(min=1, help="How many events at most.")] = 50,
) -> None:
    """List what is in quarantine, and why. Removes nothing."""
    (queue,) = queues(stage, "quarantine")
    found: list[MessageTypeDef] = []
    with Held(queue) as held:
        while len(found) < limit and (new := held.receive(limit - len(found))):
            found += new
    _show([_row(message) for message in sorted(found, key=sent_at)])
    if not found:
        note(f"{queue.name} is empty.")
    elif (waiting := queue.waiting()) > len(found):
        note(f"{len(found)} of about {waiting} in {queue.name}: --limit shows more.")


@quarantine.command("redrive")
@one_line_errors()
def move(stage: StageName = "prod") -> None:
    """Send everything in quarantine to its function again, after you fixed the cause."""
    waiting, ingest, feedback = queues(stage, "quarantine", "ingest", "feedback")
    done = redrive(
        waiting,
        lambda body: feedback if is_delivery_event(body) else ingest,
        started=waiting.found_at,
    )
    say(f"redriven {done.moved}, left {done.left}")
    if done.problem:
        raise NotPossible(
            f"{done.problem} The rest is still in {waiting.name}: run the command again."
        )


def is_delivery_event(body: str) -> bool:
    """Whether it is a delivery event about an email of Gazette; if not, a service put it."""
    try:
        return decode_delivery_event(body) is not None
    except InvalidEvent:
        return False


def _show(rows: list[tuple[str, str, str]]) -> None:
    """A table on a terminal; otherwise one line per message, separated by tabs."""
    console = Console()
    if not console.is_terminal:
        for row in rows:
            typer.echo("\t".join(row))  # rich would turn tabs into spaces
        return
    table = Table(*_COLUMNS)
    for row in rows:
        table.add_row(*map(Text, row))
    if rows:
        console.print(table)


def _row(message: "MessageTypeDef") -> tuple[str, str, str]:
    attributes = message.get("MessageAttributes") or {}
    reason = attributes["reason"].get("StringValue", "") if "reason" in attributes else ""
    when = f"{sent_at(message):%Y-%m-%d %H:%M:%S}"
    return when, printable(detail_type(message["Body"])), printable(reason)
