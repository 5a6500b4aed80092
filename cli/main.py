"""The command `gazette`: for those who put events on the bus, and those who run it."""

import io
import sys

import typer

from cli.batch import batch
from cli.brake import brake
from cli.dead_letters.command import dlq
from cli.event import event
from cli.experiment import experiment
from cli.explaining.command import explain
from cli.links import links
from cli.preview.command import preview
from cli.quarantine import quarantine
from cli.reporting.command import report
from cli.suppression import suppression

app = typer.Typer(
    help="Events for Gazette, what became of those that did not fit, and who got what and why.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(event, name="event")
app.add_typer(batch, name="batch")
app.add_typer(brake, name="brake")
app.add_typer(dlq, name="dlq")
app.add_typer(experiment, name="experiment")
app.add_typer(links, name="links")
app.add_typer(quarantine, name="quarantine")
app.add_typer(suppression, name="suppression")
app.command("explain")(explain)
app.command("preview")(preview)
app.command("report")(report)


def main() -> None:
    """The entry point of the script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without the letters of a name
    app()
