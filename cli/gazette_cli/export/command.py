"""`gazette export`: write everything that is stored on a person."""

from collections.abc import Iterator
from typing import Annotated

import typer
from gazette.bootstrap.support.export import build_export
from gazette.domain.export import NotIncluded, StoredRow
from gazette.domain.identity import USER_ID
from gazette.domain.ports.personal_rows import PersonalRows
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from gazette.steps.support.export import export_page

from gazette_cli.shared.answers import give_line
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.suppression_key import suppression_key

NOT_STORED = 1
"""The exit status if no row of the person is stored."""


def export_command(
    user_id: Annotated[str, typer.Argument(metavar="USER_ID", help="The user_id of the reader.")],
    stage: StageName = "prod",
) -> None:
    """Write every stored row of a person as one JSON document, with or without --json.

    The rows are those of the profile, the suppression and the bounces of the address, the
    schedules, follows, events, emails and delivery events. They contain the address and the content
    of events. `not_included` lists the data that an export cannot find.

    The command changes nothing. The exit code is 1 if no row is stored, such as after an erasure.
    """
    if not USER_ID.fullmatch(user_id):
        raise NotPossible(
            f"{printable(user_id)!r} is not a valid user id. Specify the user_id of your events, "
            "which has 1 to 64 ASCII characters without spaces."
        )
    with refusals_of_tables(stage):
        ingest = settings_of(stage, "ingest", IngestSettings)
        feedback = settings_of(stage, "feedback", FeedbackSettings)
        key = suppression_key(stage, feedback.suppressions_secret)
        stored = [*_rows(user_id, build_export(ingest, feedback, key=key))]
    give_line(
        {
            "user_id": user_id,
            "rows": [{"table": row.table, "row": row.values} for row in stored],
            "not_included": [{"what": each, "meaning": each.meaning} for each in NotIncluded],
        }
    )
    note(f"{len(stored)} rows")
    if not stored:
        raise typer.Exit(NOT_STORED)


def _rows(user_id: str, rows: PersonalRows) -> Iterator[StoredRow]:
    """Yield the rows of all pages."""
    cursor = ""
    while True:
        page = export_page(user_id, cursor, rows=rows)
        yield from page.rows
        if page.next is None:
            return
        cursor = page.next.text()
