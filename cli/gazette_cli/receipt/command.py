"""`gazette receipt`: state what became of an event, and which emails contain it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer
from gazette.bootstrap.support.receipt import build_activity_receipts, build_receipts
from gazette.domain.console import remedies
from gazette.domain.identity import CATEGORY_NAME, USER_ID
from gazette.domain.model import entity_key
from gazette.domain.receipts.receipt import FollowerOutcomes, Receipt, State
from gazette.domain.scheduling.instants import read_zoned_instant
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from gazette.steps.support.activity_receipt import (
    ActivityContext,
    activity_receipt,
    follower_outcomes,
)
from gazette.steps.support.receipt import receipt
from gazette.steps.support.words.receipts import of_activity, of_followers, sentences

from gazette_cli.find.scan import Condition
from gazette_cli.find.scanned import scanned
from gazette_cli.receipt.document import activity_document, receipt_document
from gazette_cli.shared.answers import answer, grid
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.next_commands import aimed

NOT_STORED = 1
"""The exit status if no event or activity with the id is stored."""

MOST_READERS = 100
"""The maximum number of readers that a search without `--user` shows."""


def receipt_command(
    event_id: Annotated[
        str,
        typer.Argument(
            metavar="EVENT_ID",
            help="The id of the event or activity, as your service published it.",
        ),
    ],
    user: Annotated[
        str,
        typer.Option(help="The user_id of the reader.", show_default=False),
    ] = "",
    entity: Annotated[
        str,
        typer.Option(
            metavar="TYPE:ID",
            help=(
                "The entity of an activity, such as post:p1. The command then counts the followers "
                "by outcome."
            ),
            show_default=False,
        ),
    ] = "",
    category: Annotated[
        str,
        typer.Option(
            help="With --user and --occurred-at, the category of the event, to recognise a mute.",
            show_default=False,
        ),
    ] = "",
    occurred_at: Annotated[
        str,
        typer.Option(
            help="With --user and --category, the occurred_at of the event.", show_default=False
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option(min=1, help="With --entity, the number of follows to look at.")
    ] = 1000,
    after: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="With --entity, the place after which to continue, from an earlier output.",
            show_default=False,
        ),
    ] = "",
    stage: StageName = "prod",
    yes: Annotated[
        bool, typer.Option("--yes", help="Scan the table without asking for confirmation.")
    ] = False,
) -> None:
    """State what became of an event, and which emails contain it.

    An event id is unique for one reader only, so specify the reader with --user. For an activity,
    specify --entity. The command then counts the followers by outcome, and says how far it looked.
    Without either option, the command searches the whole table of events for the id, after it has
    shown the number of rows and the cost. It finds at most 100 readers, and none whose event is not
    stored.

    The command changes nothing, and never shows addresses or content. The exit code is 1 if no
    event or activity with the id is stored.
    """
    _check(event_id, user, entity, after)
    if (category or occurred_at) and not (user and category and occurred_at):
        raise NotPossible("Specify --category and --occurred-at together, and with --user.")
    if category and not CATEGORY_NAME.fullmatch(category):
        raise NotPossible(f"--category {printable(category)!r} is not the name of a category.")
    occurred = _instant(occurred_at)
    with refusals_of_tables(stage):
        settings = settings_of(stage, "ingest", IngestSettings)
        engagement = settings_of(stage, "feedback", FeedbackSettings).engagement_table
        if entity:
            context = build_activity_receipts(settings, engagement_table=engagement)
            _show_activity(event_id, entity, limit, after, context, stage)
            return
        of_events = build_receipts(settings, engagement_table=engagement)
        users = [user] if user else _users(event_id, settings.events_table, yes=yes)
        answers = [
            receipt(each, event_id, category=category, occurred_at=occurred, context=of_events)
            for each in users
        ]
    _show(event_id, answers, stage)


def _check(event_id: str, user: str, entity: str, after: str) -> None:
    if not event_id:
        raise NotPossible(f"EVENT_ID is empty. {remedies.EVENT}")
    if user and entity:
        raise NotPossible(
            "--user and --entity exclude each other. An activity has the same id for each reader, "
            "so specify --user alone for one reader."
        )
    if user and not USER_ID.fullmatch(user):
        raise NotPossible(f"--user {printable(user)!r} is not a valid user id. {remedies.USER}")
    if entity and not all(entity.partition(":")):
        raise NotPossible(
            f"--entity {printable(entity)!r} is not an entity. Specify the type and the id, such "
            "as post:p1."
        )
    if after and (not entity or len(after.rsplit(" ", 1)) != 2):
        raise NotPossible("--after requires --entity, and a place from an earlier output.")


def _instant(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return read_zoned_instant(text)
    except ValueError as err:
        raise NotPossible(
            f"--occurred-at {printable(text)!r} is not an instant with a time zone. Use the form "
            "2026-11-21T09:30:00Z."
        ) from err


def _users(event_id: str, table: str, *, yes: bool) -> list[str]:
    """Return the readers for whom an event with this id is stored, found by a table scan."""
    rows = scanned(
        table,
        Condition.equals("event_id", event_id),
        shown=("user_id",),
        most=MOST_READERS,
        yes=yes,
    )
    return sorted({row["user_id"] for row in rows})[:MOST_READERS]


def _show(event_id: str, receipts: Sequence[Receipt], stage: str) -> None:
    texts = [
        (each.user_id, [aimed(text, stage=stage) for text in sentences(each)]) for each in receipts
    ]
    lines = [(user, text) for user, some in texts for text in some]
    answer(
        {
            "answer": [text for _, text in lines],
            "id": event_id,
            "receipts": [*map(receipt_document, receipts)],
            "activities": [],
        },
        lines=lines,
        picture=lambda: grid(lines),
    )
    if not receipts:
        note(
            "No reader has an event with this id. Run `gazette quarantine list`, or specify "
            "--entity if the id is that of an activity."
        )
    elif len(receipts) == MOST_READERS:
        note(f"The search ended at {MOST_READERS} readers. Specify --user or --entity.")
    if all(each.state is State.NOT_STORED for each in receipts):
        raise typer.Exit(NOT_STORED)


def _show_activity(
    activity_id: str, entity: str, limit: int, after: str, context: ActivityContext, stage: str
) -> None:
    kind, _, entity_id = entity.partition(":")
    key = entity_key(kind, entity_id)
    place = after.rsplit(" ", 1) if after else None
    stored = activity_receipt(key, activity_id, activities=context.activities)
    counted = follower_outcomes(
        key,
        activity_id,
        after=(place[0], place[1]) if place else None,
        at_most=limit,
        context=context,
    )
    lead = aimed(of_activity(stored), stage=stage)
    lines = [("activity", lead)]
    lines += [(words, str(number)) for words, number in (of_followers(counted) if counted else ())]
    answer(
        {
            "answer": [lead],
            "id": activity_id,
            "receipts": [],
            "activities": [activity_document(stored, counted)],
        },
        lines=lines,
        picture=lambda: grid(lines),
    )
    _say_how_far(counted, limit)
    if not stored.stored and not stored.retracted:
        raise typer.Exit(NOT_STORED)


def _say_how_far(counted: FollowerOutcomes | None, limit: int) -> None:
    if counted and counted.next:
        place = " ".join(counted.next)
        note(
            f"The command looked at {limit:,} follows, and there may be more. To continue, add "
            f"--after {place!r}, or use a higher --limit."
        )
