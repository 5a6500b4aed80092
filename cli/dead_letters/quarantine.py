"""`gazette quarantine`: events that do not fit the contract: list them, redrive them."""

from typing import TYPE_CHECKING, Annotated

import typer
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.errors import InvalidEvent

from cli.dead_letters.sqs_queues import Held, queues, sent_at
from cli.dead_letters.transfer import redrive
from cli.events.envelopes import detail_type
from cli.shared.answers import Rows, Shown, give
from cli.shared.commands import Command, UnaskedChange
from cli.shared.console import NotPossible, note, printable, say
from cli.shared.deployed import StageName

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_COLUMNS = {"since": "when (UTC)", "detail_type": "detail-type", "reason": "reason"}

quarantine = typer.Typer(
    help="List and redrive events that do not fit the contract.", no_args_is_help=True
)


@quarantine.command("list", cls=Command)
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
        waiting = queue.waiting() if found else 0
    rows = [_row(message) for message in sorted(found, key=sent_at)]
    Rows("events", _COLUMNS, rows).show(more=waiting > len(found))
    if not found:
        note(f"{queue.name} is empty.")
    elif waiting > len(found):
        note(f"{len(found)} of about {waiting} in {queue.name}: --limit shows more.")


@quarantine.command("redrive", cls=UnaskedChange)
def move(stage: StageName = "prod") -> None:
    """Send everything in quarantine to its function again, after you fixed the cause."""
    waiting, ingest, feedback = queues(stage, "quarantine", "ingest", "feedback")
    done = redrive(
        waiting,
        lambda body: feedback if is_delivery_event(body) else ingest,
        started=waiting.found_at,
    )
    say(str(done))
    if done.problem:
        raise NotPossible(
            f"{done.problem} The rest is still in {waiting.name}: run the command again."
        )
    if done.moved:
        note(
            "An event that is still wrong comes back within a minute: `gazette quarantine list` "
            "has the reason."
        )
    give({"moved": done.moved, "left": done.left, "came_back": done.came_back})


def is_delivery_event(body: str) -> bool:
    """Return whether SES reported it; if not, a service put it."""
    try:
        decode_delivery_event(body)
    except InvalidEvent:
        return False
    return True


def _row(message: "MessageTypeDef") -> tuple[object, ...]:
    attributes = message.get("MessageAttributes") or {}
    reason = attributes["reason"].get("StringValue", "") if "reason" in attributes else ""
    since = sent_at(message)
    when = Shown(since, f"{since:%Y-%m-%d %H:%M:%S}")
    return when, printable(detail_type(message["Body"])), printable(reason)
