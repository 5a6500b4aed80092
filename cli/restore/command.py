"""`gazette restore`: bring a table back to what a copy of it holds."""

from enum import StrEnum
from typing import Annotated

import boto3
import typer
from gazette.settings.ingest import IngestSettings

from cli.restore.copies import Difference, Rows, bring_back, compare
from cli.shared.answers import Yes, confirm, tell
from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import NotPossible, note
from cli.shared.deployed import StageName, settings_of

COPY = "-restored"
"""Ends the name of a copy."""


class Restorable(StrEnum):
    """The tables whose rows tell what is sent to whom."""

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
        """Whether the rows of one reader are one partition."""
        return self in {self.SUBSCRIBERS, self.SCHEDULES, self.EVENTS, self.RUNS}

    @property
    def only_gains(self) -> bool:
        """Whether what came since stays, because readers have left since."""
        return self is self.SUPPRESSIONS


def restore(
    table: Annotated[Restorable, typer.Argument(metavar="TABLE", help="The table to restore.")],
    stage: StageName = "prod",
    region: Annotated[
        str | None, typer.Option("--from-region", metavar="REGION", help="The region of the copy.")
    ] = None,
    copy: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="NAME",
            help="The whole name of the copy.",
            show_default=f"the table's name with {COPY}",
        ),
    ] = "",
    user: Annotated[
        str, typer.Option("--user", metavar="USER", help="Only the rows of this reader.")
    ] = "",
    yes: Yes = False,
) -> None:
    """Bring a table back to what a copy of it holds.

    Writes the rows that differ, and deletes those that came since; of suppressions it only brings
    back what was lost. Stop email and the functions first: docs/runbook/restore.md.
    """
    if user and not table.is_by_reader:
        raise NotPossible(f"The rows of {table} are not by reader: leave out --user.")
    name = getattr(settings_of(stage, "ingest", IngestSettings), f"{table}_table")
    copy = copy or f"{name}{COPY}"
    with refusals_in_words(f"{name} or {copy}", service="dynamodb"):
        live = Rows.of(boto3.client("dynamodb"), name, user or None)
        kept = Rows.of(boto3.client("dynamodb", region_name=region), copy, user or None)
        if live.key != kept.key:
            raise NotPossible(f"{copy} is no copy of {name}: its rows have other keys.")
        found = compare(live, kept)
        if table.only_gains:
            found = Difference(found.lost)
        said = (
            f"{len(found.lost)} rows come back, {len(found.changed)} change, "
            f"{len(found.new)} that the copy does not have are deleted"
        )
        if not yes:
            confirm(f"Table {table} of stage {stage}: {said}. Do it?")
        written = bring_back(live, kept, found)
    tell(
        f"table {table} of stage {stage} is as {copy}: {said}",
        back=len(found.lost),
        changed=len(found.changed),
        deleted=len(found.new),
        written=written,
    )
    note("Rows that somebody wrote meanwhile may have been missed: run it again, it finds none.")
