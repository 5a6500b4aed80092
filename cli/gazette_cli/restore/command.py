"""`gazette restore`: restore a table from a copy."""

from enum import StrEnum
from typing import Annotated

import boto3
import typer
from gazette.settings.ingest import IngestSettings

from gazette_cli.restore.copies import Difference, Rows, bring_back, compare
from gazette_cli.shared.answers import Yes, confirm, tell
from gazette_cli.shared.aws_errors import refusals_in_words
from gazette_cli.shared.console import NotPossible, note
from gazette_cli.shared.deployed import StageName, settings_of

COPY = "-restored"
"""The suffix in the table name of a copy."""


class Restorable(StrEnum):
    """The tables that determine what is sent to each reader."""

    SUBSCRIBERS = "subscribers"
    SCHEDULES = "schedules"
    FOLLOWS = "follows"
    ACTIVITIES = "activities"
    EVENTS = "events"
    RUNS = "runs"
    CONTROL = "control"
    SUPPRESSIONS = "suppressions"

    @property
    def is_by_reader(self) -> bool:
        """True if all rows of a reader are in one partition."""
        return self in {self.SUBSCRIBERS, self.SCHEDULES, self.EVENTS, self.RUNS}

    @property
    def only_gains(self) -> bool:
        """True if a restore of this table must keep newer rows, because readers may have
        unsubscribed since the copy was made.
        """
        return self is self.SUPPRESSIONS


def restore(
    table: Annotated[Restorable, typer.Argument(metavar="TABLE", help="The table to restore.")],
    stage: StageName = "prod",
    region: Annotated[
        str | None,
        typer.Option("--from-region", metavar="REGION", help="The AWS region of the copy."),
    ] = None,
    copy: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="NAME",
            help="The full name of the table that contains the copy.",
            show_default=f"the table's name with {COPY}",
        ),
    ] = "",
    user: Annotated[
        str, typer.Option("--user", metavar="USER", help="Restore only the rows of this reader.")
    ] = "",
    yes: Yes = False,
) -> None:
    """Restore the rows of a table from a copy of the table.

    The command overwrites rows that differ from the copy, and deletes rows that are not in the
    copy. For suppressions, the command only adds missing rows. Before a restore, stop email and the
    functions. See docs/runbook/restore.md.
    """
    if user and not table.is_by_reader:
        raise NotPossible(f"The rows of {table} are not stored by reader. Remove --user.")
    name = getattr(settings_of(stage, "ingest", IngestSettings), f"{table}_table")
    copy = copy or f"{name}{COPY}"
    with refusals_in_words(f"{name} or {copy}", service="dynamodb"):
        live = Rows.of(boto3.client("dynamodb"), name, user or None)
        saved = Rows.of(boto3.client("dynamodb", region_name=region), copy, user or None)
        if live.key != saved.key:
            raise NotPossible(
                f"{copy} is not a copy of {name}, because its rows have different keys. Specify "
                "the copy with --from."
            )
        difference = compare(live, saved)
        if table.only_gains:
            difference = Difference(difference.lost)
        summary = (
            f"{len(difference.lost)} rows to add, {len(difference.changed)} to change, "
            f"{len(difference.new)} to delete because they are not in the copy"
        )
        if not yes:
            confirm(f"Table {table} of stage {stage}: {summary}. Restore the table?")
        written = bring_back(live, saved, difference)
    tell(
        f"table {table} of stage {stage} is restored from {copy}: {summary}",
        back=len(difference.lost),
        changed=len(difference.changed),
        deleted=len(difference.new),
        written=written,
    )
    note(
        "Rows that were written during the restore may be missing. Repeat the command until it "
        "finds no rows to restore."
    )
