"""`gazette find`: find the reader and the run of an email, with the status of the run."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.support.find import build_read_run
from gazette.domain.console import remedies
from gazette.domain.delivery.run import Run
from gazette.domain.identity import USER_ID, run_id
from gazette.domain.model import RunKey
from gazette.domain.subscribers.addresses import canonical
from gazette.settings.delivery import GenerateSettings

from gazette_cli.find.clues import Address, Clue, MessageId, clue_in, clue_in_email
from gazette_cli.find.scan import Condition
from gazette_cli.find.scanned import scanned
from gazette_cli.shared.answers import Rows
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of

NOT_FOUND = 1
"""The exit status if no email or reader matches."""

_COLUMNS = {
    "user_id": "reader",
    "run": "run",
    "status": "status",
    "reason": "reason",
    "due_at": "due",
    "created_at": "",
    "claimed_at": "",
    "sent_at": "sent",
    "message_id": "message id",
}
_UNKNOWN = (None,) * (len(_COLUMNS) - 1)


def find(
    given: Annotated[
        str,
        typer.Argument(
            metavar="MESSAGE_ID|ADDRESS|LINK|RUN|FILE",
            help=(
                "A link or token from the email, a run id, an email file (- for standard input), "
                "a message id from the provider, or the address of a reader. A message id or an "
                "address requires a table scan."
            ),
        ),
    ],
    stage: StageName = "prod",
    yes: Annotated[
        bool, typer.Option("--yes", help="Scan tables without asking for confirmation.")
    ] = False,
) -> None:
    """Find the reader and the run of an email by a link from the email, a message id, or an
    address.

    Every link in an email and the List-Unsubscribe header name the run, even in a forwarded email.
    To find a message id or an address, the command scans a whole table, because tables have no
    index for these values. Before the scan, the command shows the number of rows and the cost, and
    asks for confirmation. The exit code is 1 if no email or reader matches.
    """
    clue = _clue(given)
    if clue is None:
        raise NotPossible(_not_a_clue(given))
    with refusals_of_tables(stage):
        settings = settings_of(stage, "generate", GenerateSettings)
        if isinstance(clue, Address):
            rows = _readers_at(clue, settings, yes=yes)
        else:
            rows = _runs(clue, settings, yes=yes)
    Rows("found", _COLUMNS, rows).show()
    if not rows:
        note(f"No match. {remedies.gone(settings.run_retention_days)} {_REJECTED}")
        raise typer.Exit(NOT_FOUND)
    note("To see the reader's emails and the reasons, run `gazette explain USER`.")


_REJECTED = "An email that SES rejected has no message id."


def _not_a_clue(given: str) -> str:
    text = repr(printable(given)[:60])
    if "/" in given or given.endswith(".eml"):
        return f"{text} is neither a file nor a link from an email. Check the path."
    reader = f" For a reader, run `gazette explain {given}`." if USER_ID.fullmatch(given) else ""
    return (
        f"{text} is unknown. Specify an address, a message id, a link, a run id or an email "
        f"file.{reader}"
    )


def _clue(given: str) -> Clue | None:
    if given == "-":
        return clue_in_email(sys.stdin.buffer.read())
    file = Path(given)
    try:
        is_file = file.is_file()
    except (OSError, ValueError):
        is_file = False
    try:
        return clue_in_email(file.read_bytes()) if is_file else clue_in(given)
    except OSError as err:
        raise NotPossible(f"{file} is unreadable: {err.strerror}.") from err


def _runs(
    clue: RunKey | MessageId, settings: GenerateSettings, *, yes: bool
) -> list[Sequence[object]]:
    keys = (
        [clue]
        if isinstance(clue, RunKey)
        else [
            RunKey(row["user_id"], *_schedule(row["run"]))
            for row in scanned(
                settings.runs_table,
                Condition.equals("message_id", clue.text),
                shown=("user_id", "run"),
                most=1,
                yes=yes,
            )
        ]
    )
    read = build_read_run(settings)
    return [_row(run) for run in map(read, keys) if run]


def _readers_at(
    address: Address, settings: GenerateSettings, *, yes: bool
) -> list[Sequence[object]]:
    """Find readers by address, in any spelling.

    Stored addresses are ASCII, so an address and its canonical spelling have the same length.
    """
    spelling = canonical(address.text)
    rows = scanned(
        settings.subscribers_table,
        Condition.has_bytes("email", len(spelling)),
        shown=("user_id", "email"),
        yes=yes,
    )
    return [(row["user_id"], *_UNKNOWN) for row in rows if canonical(row["email"]) == spelling]


def _schedule(sort_key: str) -> tuple[str, int]:
    schedule, _, sequence = sort_key.partition("#")
    return schedule, int(sequence)


def _row(run: Run) -> tuple[object, ...]:
    return (
        run.key.user_id,
        run_id(run.key),
        run.status,
        run.reason,
        run.due_at,
        run.created_at,
        run.claimed_at,
        run.sent_at,
        run.message_id or None,
    )
