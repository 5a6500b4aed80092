"""`gazette suppression`: manage the addresses that do not get email."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from heapq import nlargest
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now
from gazette.domain.identity import keyed_hash
from gazette.domain.scheduling.instants import moment
from gazette.domain.stored import readable
from gazette.domain.subscribers.suppression import Cause, Suppression
from gazette.settings.feedback import FeedbackSettings

from gazette_cli.shared.answers import Rows, Yes, confirm, tell
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.commands import Command, UnaskedChange
from gazette_cli.shared.console import NotPossible, note, printable, wants_json
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.suppression_key import suppression_key
from gazette_cli.suppression.account_list import remove_in_ses
from gazette_cli.suppression.lists import (
    Unreadable,
    hash_of,
    instant_of,
    read_list,
    write_json,
    write_list,
)
from gazette_support.bootstrap.suppression import build_suppression, build_suppression_list
from gazette_support.steps.suppression import SuppressionContext, remove_suppression, suppress_all

_MEANING = {
    Cause.UNSUBSCRIBED: (
        "The reader unsubscribed. Only the reader can subscribe again, or a service that states a "
        "newer consent of the reader."
    ),
    Cause.BOUNCED: (
        "An email to the address bounced. If the mailbox does not exist, the next email will "
        "bounce too, and bounces damage the reputation of your domain."
    ),
    Cause.COMPLAINED: (
        "The reader marked an email as spam. Send to this reader again only at their request. "
        "For most mailbox providers, one complaint per thousand emails is too many."
    ),
    Cause.MANUAL: "An operator suppressed the address, with this command or an import.",
}

_COLUMNS = {"address_hash": "address", "reason": "reason", "since": "since"}

suppression = typer.Typer(
    help="List, add, remove, import and export suppressed addresses.",
    no_args_is_help=True,
)
Address = Annotated[
    str,
    typer.Argument(
        metavar="ADDRESS",
        help="An email address, the hash shown by `list`, or the SHA-256 of the address.",
    ),
]


@suppression.command("list", cls=Command)
def show(
    stage: StageName = "prod",
    reason: Annotated[
        Cause | None, typer.Option("--reason", help="List only addresses with this reason.")
    ] = None,
    since: Annotated[
        str,
        typer.Option(
            "--since", help="List only addresses suppressed on or after this date (YYYY-MM-DD)."
        ),
    ] = "",
    page: Annotated[int, typer.Option("--page", min=1, help="The number of the page to show.")] = 1,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="The number of rows per page.")
    ] = 50,
) -> None:
    """List the hashes of suppressed addresses with the reason and date, newest first."""
    with _problems(stage):
        earliest = instant_of(since) if since else None
        newest = nlargest(
            page * limit + 1,
            (
                each
                for each in _listed(stage)
                if reason in {None, each.cause} and (earliest is None or each.since >= earliest)
            ),
            key=lambda each: (each.since, each.address),
        )
    on_page = newest[(page - 1) * limit : page * limit]
    rows = [(each.address, each.cause, each.since) for each in on_page]
    Rows("addresses", _COLUMNS, rows).show(more=len(newest) > page * limit)
    if len(newest) > page * limit:
        note(f"To show more, specify `--page {page + 1}`.")
    elif len(newest) <= (page - 1) * limit:
        note("No suppressed addresses match.")


@suppression.command("add", cls=UnaskedChange)
def add(
    address: Address,
    stage: StageName = "prod",
    reason: Annotated[
        Cause, typer.Option("--reason", help="The reason for the suppression.")
    ] = Cause.MANUAL,
) -> None:
    """Suppress an address, so that no more email is sent to the address. The command sends only a
    keyed hash of the address to AWS.
    """
    with _problems(stage):
        hashed, context = _opened(stage, address)
        suppressions = context.suppressions
        is_new = suppressions.add(hashed, reason, now())
        existing = None if is_new else suppressions.get(hashed)
    if is_new:
        tell(
            f"{hashed} of stage {stage} is suppressed: {reason}",
            address_hash=hashed,
            suppressed=True,
            changed=True,
            reason=reason,
        )
        note("For a few seconds, workers may still send emails that they have already prepared.")
    elif existing:
        tell(
            f"{hashed} of stage {stage} was already suppressed: {existing.cause}",
            address_hash=hashed,
            suppressed=True,
            changed=False,
            reason=existing.cause,
        )


@suppression.command("remove", cls=Command)
def remove(
    address: Address,
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Remove an address from the suppression lists of the stage and of SES, and explain how to
    resume email to the reader.
    """
    _allow(address, stage, yes=yes)
    remove_in_ses(address)


@suppression.command("import", cls=UnaskedChange)
def take(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A CSV file with a header line. Columns: address or address_hash, reason, since.",
        ),
    ],
    stage: StageName = "prod",
) -> None:
    """Suppress every address in a CSV file. If a line is invalid, no address is suppressed.

    A hash that begins with `h` must be from an export of this stage, or of a stage with the same
    key. With a different key, the hash does not match any address.
    """
    at = now()
    try:
        total = sum(1 for _ in _read(file, at))
    except Unreadable as err:
        for line in err.lines:
            note(f"{file}, {line}", style="red")
        raise NotPossible(
            "No address was imported. Fix these lines, then import the file again."
        ) from err
    stored = changed = 0

    def count(number: int, new: int) -> None:
        nonlocal stored, changed
        stored, changed = stored + number, changed + new

    try:
        with _problems(stage):
            context, _ = _context(stage)
            suppress_all(_read(file, at), suppressions=context.suppressions, done=count)
    except NotPossible as err:
        raise NotPossible(
            f"{err} {stored} of {total} lines were imported. Import the file again. "
            "Addresses that were already imported do not change."
        ) from err
    existing = stored - changed
    tell(
        f"imported into stage {stage}: {changed} new, {existing} already suppressed",
        new=changed,
        there_already=existing,
    )


def _read(file: Path, at: datetime) -> Iterator[Suppression]:
    """Yield the suppressions of a CSV file. Raises NotPossible, and Unreadable at the end."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            yield from read_list(lines, now=at)
    except OSError as err:
        raise NotPossible(f"{file} is unreadable: {err.strerror}.") from err


@suppression.command("export", cls=Command)
def give(stage: StageName = "prod") -> None:
    """Write all suppressed addresses as CSV for `import`. The file contains keyed hashes, never
    addresses.

    With `--json`, the output has one object per line.
    """
    with _problems(stage):
        write = write_json if wants_json() else partial(write_list, to=sys.stdout)
        number = sum(1 for _ in write(_listed(stage)))
    note(f"{number} addresses")


def _tell_allowed(sentence: str, hashed: str, *, changed: bool) -> None:
    """Print that the address is not suppressed."""
    tell(sentence, address_hash=hashed, suppressed=False, changed=changed, reason=None)


def _allow(address: str, stage: str, *, yes: bool) -> None:
    """Remove the suppression of an address in the stage."""
    with _problems(stage):
        hashed, context = _opened(stage, address)
        before = context.suppressions.get(hashed)
        if before is None:
            _tell_allowed(f"{hashed} of stage {stage} was not suppressed", hashed, changed=False)
            return
        meaning = _MEANING.get(
            before.cause, ("A different release of Gazette suppressed the address.")
        )
        note(f"{before.cause} since {moment(before.since)}. {meaning}")
        if not yes:
            confirm(f"Allow email to {hashed} of stage {stage} again?")
        remove_suppression(before, context=context)
        after = context.suppressions.get(hashed)
    if after and after.cause is Cause.UNSUBSCRIBED and before.cause is not after.cause:
        tell(
            f"{hashed} of stage {stage} is no longer suppressed for {before.cause}",
            address_hash=hashed,
            suppressed=True,
            changed=True,
            reason=after.cause,
        )
        note(
            "The address is still suppressed because a reader with this address also unsubscribed."
        )
        return
    if after:
        raise NotPossible(
            f"The address was suppressed for {after.cause} in the meantime. Check the new "
            "reason, then run the command again."
        )
    _tell_allowed(f"{hashed} of stage {stage} is no longer suppressed", hashed, changed=True)
    note(
        "To resume email to the reader, publish subscriber.changed with a newer changed_at. "
        "Readers can also resume email on the preference page. Readers who unsubscribed must "
        "resume email themselves."
    )


@contextmanager
def _problems(stage: str) -> Iterator[None]:
    try:
        with refusals_of_tables(stage):
            yield
    except Unreadable as err:
        raise NotPossible(f"{printable(str(err))}.") from err


def _settings(stage: str) -> FeedbackSettings:
    return settings_of(stage, "feedback", FeedbackSettings)


def _listed(stage: str) -> Iterator[Suppression]:
    """Iterate over all suppressions. The caller does not need the hash key, because it does not
    look up addresses.
    """
    return readable(build_suppression_list(_settings(stage)).each())


def _context(stage: str) -> tuple[SuppressionContext, bytes]:
    """Open the suppressions and the hash key of the stage."""
    settings = _settings(stage)
    key = suppression_key(stage, settings.suppressions_secret)
    return build_suppression(settings, key), key


def _opened(stage: str, address: str) -> tuple[str, SuppressionContext]:
    """Return the keyed hash of an address, and open the stored suppressions. Raises Unreadable."""
    hashed = hash_of(address)
    context, key = _context(stage)
    return keyed_hash(hashed, key), context
