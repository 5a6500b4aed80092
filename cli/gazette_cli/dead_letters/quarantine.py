"""`gazette quarantine`: list and redrive events that do not match the event contract."""

from typing import TYPE_CHECKING, Annotated

import typer
from gazette.adapters.aws.dead_letters.messages import detail_type
from gazette.adapters.aws.dead_letters.queues import Held, queues, sent_at
from gazette.adapters.aws.dead_letters.transfer import redrive
from gazette.adapters.mail.reported_events import is_report
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.errors import InvalidEvent

from gazette_cli.shared.answers import Rows, Shown, give
from gazette_cli.shared.aws_errors import interruption
from gazette_cli.shared.commands import Command, UnaskedChange
from gazette_cli.shared.console import NotPossible, note, printable, say
from gazette_cli.shared.deployed import StageName

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_COLUMNS = {"since": "when (UTC)", "detail_type": "detail-type", "reason": "reason"}

quarantine = typer.Typer(
    help="List and redrive events that violate their schema.", no_args_is_help=True
)


@quarantine.command("list", cls=Command)
def show(
    stage: StageName = "prod",
    limit: Annotated[int, typer.Option(min=1, help="The maximum number of events to list.")] = 50,
) -> None:
    """List the events in quarantine, each with its reason. This command changes nothing."""
    (queue,) = queues(stage, "quarantine")
    messages: list[MessageTypeDef] = []
    with Held(queue) as hidden:
        while len(messages) < limit and (new := hidden.receive(limit - len(messages))):
            messages += new
        waiting = queue.waiting() if messages else 0
    rows = [_row(message) for message in sorted(messages, key=sent_at)]
    Rows("events", _COLUMNS, rows).show(more=waiting > len(messages))
    if not messages:
        note(f"{queue.name} is empty.")
    elif waiting > len(messages):
        note(
            f"Showing {len(messages)} of about {waiting} events in {queue.name}. Specify --limit "
            "to show more."
        )


@quarantine.command("redrive", cls=UnaskedChange)
def move(stage: StageName = "prod") -> None:
    """Send all events in quarantine back to their functions. Fix the cause first."""
    waiting, ingest, feedback = queues(stage, "quarantine", "ingest", "feedback")
    outcome = redrive(
        waiting,
        lambda body: feedback if is_delivery_event(body) else ingest,
        started=waiting.found_at,
    )
    say(str(outcome))
    if outcome.problem:
        raise NotPossible(
            f"{interruption(outcome.problem)} The other events are still in {waiting.name}. Run "
            "the command again."
        )
    if outcome.moved:
        note(
            "Events that are still invalid return to the quarantine within a minute. To see the "
            "reasons, run `gazette quarantine list`."
        )
    give({"moved": outcome.moved, "left": outcome.remaining, "came_back": outcome.came_back})


def is_delivery_event(body: str) -> bool:
    """Return True for a delivery event of any mail provider, and False for any other event of a
    service.
    """
    if is_report(body):
        return True
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
