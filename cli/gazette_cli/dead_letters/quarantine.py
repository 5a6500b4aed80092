"""`gazette quarantine`: list and redrive events that do not match the event contract."""

from typing import Annotated

import typer
from gazette.adapters.aws.dead_letters.quarantine import (
    Quarantined,
    look_at_quarantine,
    redrive_quarantine,
)
from gazette.adapters.aws.dead_letters.queues import queues

from gazette_cli.shared.answers import Rows, Shown, give
from gazette_cli.shared.aws_errors import interruption
from gazette_cli.shared.commands import Command, UnaskedChange
from gazette_cli.shared.console import NotPossible, note, printable, say
from gazette_cli.shared.deployed import StageName

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
    events = look_at_quarantine(queue, most=limit)
    waiting = queue.waiting() if events else 0
    Rows("events", _COLUMNS, [*map(_row, events)]).show(more=waiting > len(events))
    if not events:
        note(f"{queue.name} is empty.")
    elif waiting > len(events):
        note(
            f"Showing {len(events)} of about {waiting} events in {queue.name}. Specify --limit "
            "to show more."
        )


@quarantine.command("redrive", cls=UnaskedChange)
def move(stage: StageName = "prod") -> None:
    """Send all events in quarantine back to their functions. Fix the cause first."""
    waiting, ingest, feedback = queues(stage, "quarantine", "ingest", "feedback")
    outcome = redrive_quarantine(waiting, ingest=ingest, feedback=feedback)
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


def _row(event: Quarantined) -> tuple[object, ...]:
    when = Shown(event.since, f"{event.since:%Y-%m-%d %H:%M:%S}")
    return when, printable(event.detail_type), printable(event.reason)
