"""The `gazette` command, for teams that publish events and for operators of Gazette."""

import io
import sys
import traceback

import typer
from gazette.settings.environment import use_pinned_zones

from gazette_cli.accept.command import accept
from gazette_cli.batches.command import batch
from gazette_cli.cost.command import cost
from gazette_cli.dead_letters.command import dlq
from gazette_cli.dead_letters.quarantine import quarantine
from gazette_cli.doctor.command import doctor
from gazette_cli.events.command import event
from gazette_cli.events_out.command import events_out
from gazette_cli.experiments.command import experiment
from gazette_cli.explain.command import explain
from gazette_cli.export.command import export_command
from gazette_cli.find.command import find
from gazette_cli.imports.command import import_group
from gazette_cli.init.command import init
from gazette_cli.links.command import links
from gazette_cli.overview.command import overview
from gazette_cli.preview.command import preview
from gazette_cli.preview.send_test import send_test
from gazette_cli.receipt.command import receipt_command
from gazette_cli.replay.command import replay
from gazette_cli.restore.command import restore
from gazette_cli.rollback.command import rollback
from gazette_cli.sending.command import sending
from gazette_cli.shared.commands import Command
from gazette_cli.simulate.command import simulate
from gazette_cli.sources.command import sources
from gazette_cli.statistics.command import statistics
from gazette_cli.suppression.command import suppression
from gazette_cli.templates.command import templates
from gazette_cli.version import OfStage, Version, print_version
from gazette_cli.withdrawals.command import withdraw

app = typer.Typer(
    help="Check events, monitor batches, explain emails, and operate a stage.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def gazette(context: typer.Context, version: Version = False, stage: OfStage = None) -> None:
    """Process the options of `gazette` itself."""
    if version:
        print_version(stage)
        raise typer.Exit
    if stage is not None:
        raise typer.BadParameter(
            "without --version, specify --stage after the name of the command", param_hint="--stage"
        )
    if context.invoked_subcommand is None:
        raise typer.BadParameter("the name of a command is missing")


app.add_typer(event, name="event")
app.add_typer(batch, name="batch")
app.add_typer(dlq, name="dlq")
app.add_typer(events_out, name="events-out")
app.add_typer(experiment, name="experiment")
app.add_typer(import_group, name="import")
app.add_typer(links, name="links")
app.add_typer(quarantine, name="quarantine")
app.add_typer(sending, name="sending")
app.add_typer(sources, name="sources")
app.add_typer(suppression, name="suppression")
app.add_typer(templates, name="templates")
app.add_typer(withdraw, name="withdraw")
app.command("accept", cls=Command)(accept)
app.command("cost", cls=Command)(cost)
app.command("doctor", cls=Command)(doctor)
app.command("explain", cls=Command)(explain)
app.command("find", cls=Command)(find)
app.command("init", cls=Command)(init)
app.command("overview", cls=Command)(overview)
app.command("preview", cls=Command)(preview)
app.command("receipt", cls=Command)(receipt_command)
app.command("export", cls=Command)(export_command)
app.command("replay", cls=Command)(replay)
app.command("restore", cls=Command)(restore)
app.command("rollback", cls=Command)(rollback)
app.command("send-test", cls=Command)(send_test)
app.command("simulate", cls=Command)(simulate)
app.command("statistics", cls=Command)(statistics)


A_BUG = 3
"""The exit status after an unexpected exception."""


def main() -> None:
    """Run the command."""
    use_pinned_zones()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # the terminal may not support a character
    try:
        app()
    except Exception:  # noqa: BLE001  # Python would exit with 1, which means a negative result
        traceback.print_exc()
        sys.exit(A_BUG)
