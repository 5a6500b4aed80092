"""`gazette suppression`: the addresses that get no email, and why."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from heapq import nlargest
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.suppression import build_suppression, build_suppression_list
from gazette.domain.identity import keyed_hash
from gazette.domain.stored import readable
from gazette.domain.subscribers.suppression import Cause, Suppression
from gazette.settings.feedback import FeedbackSettings
from gazette.steps.support.suppression import SuppressionContext, remove_suppression

from cli.shared.answers import Rows, Yes, confirm, moment, tell
from cli.shared.aws_errors import refusals_of_tables
from cli.shared.commands import Command, UnaskedChange
from cli.shared.console import NotPossible, note, printable, wants_json
from cli.shared.deployed import StageName, settings_of
from cli.shared.suppression_key import suppression_key
from cli.suppression.account_list import remove_in_ses
from cli.suppression.lists import Unreadable, hash_of, instant_of, read_list, write_json, write_list

_MEANING = {
    Cause.UNSUBSCRIBED: "The reader left: only they can subscribe again.",
    Cause.BOUNCED: (
        "The provider could not deliver to it. If the mailbox does not exist, the next email "
        "bounces again, and bounces cost the reputation of your domain."
    ),
    Cause.COMPLAINED: (
        "The reader marked an email as spam. Write to them again only if they ask you to: one "
        "complaint in a thousand emails is too many for most providers."
    ),
    Cause.MANUAL: "An operator suppressed it, with this command or by an import.",
}

_COLUMNS = {"address_hash": "address", "reason": "reason", "since": "since"}

suppression = typer.Typer(
    help="List, add, remove, import and export addresses that get no email.",
    no_args_is_help=True,
)
Address = Annotated[
    str,
    typer.Argument(
        metavar="ADDRESS", help="An address, its hash as `list` shows it, or its plain SHA-256."
    ),
]


@suppression.command("list", cls=Command)
def show(
    stage: StageName = "prod",
    reason: Annotated[
        Cause | None, typer.Option("--reason", help="Only those with this reason.")
    ] = None,
    since: Annotated[
        str, typer.Option("--since", help="Only those suppressed since this date, YYYY-MM-DD.")
    ] = "",
    page: Annotated[int, typer.Option("--page", min=1, help="Which page.")] = 1,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Lines on a page.")] = 50,
) -> None:
    """List suppressed addresses by their hash, with reason and date, newest first."""
    with _problems(stage):
        earliest = instant_of(since) if since else None
        found = nlargest(
            page * limit + 1,
            (
                each
                for each in _listed(stage)
                if reason in {None, each.cause} and (earliest is None or each.since >= earliest)
            ),
            key=lambda each: (each.since, each.address),
        )
    shown = found[(page - 1) * limit : page * limit]
    rows = [(each.address, each.cause, each.since) for each in shown]
    Rows("addresses", _COLUMNS, rows).show(more=len(found) > page * limit)
    if len(found) > page * limit:
        note(f"There are more: `--page {page + 1}`.")
    elif len(found) <= (page - 1) * limit:
        note("No suppressed addresses here.")


@suppression.command("add", cls=UnaskedChange)
def add(
    address: Address,
    stage: StageName = "prod",
    reason: Annotated[Cause, typer.Option("--reason", help="Why.")] = Cause.MANUAL,
) -> None:
    """Suppress an address: it gets no more email. Only its keyed hash leaves this machine."""
    with _problems(stage):
        hashed, context = _opened(stage, address)
        suppressions = context.suppressions
        is_new = suppressions.add(hashed, reason, now())
        there = None if is_new else suppressions.get(hashed)
    if is_new:
        tell(
            f"{hashed} of stage {stage} is suppressed: {reason}",
            address_hash=hashed,
            suppressed=True,
            changed=True,
            reason=reason,
        )
        note("Emails that workers already prepared may still go out for some seconds.")
    elif there:
        tell(
            f"{hashed} of stage {stage} was suppressed already: {there.cause}",
            address_hash=hashed,
            suppressed=True,
            changed=False,
            reason=there.cause,
        )


@suppression.command("remove", cls=Command)
def remove(
    address: Address,
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Allow an address again, in SES too, and say what makes its reader active again."""
    _allow(address, stage, yes=yes)
    remove_in_ses(address)


@suppression.command("import", cls=UnaskedChange)
def take(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV: address, reason, since.")],
    stage: StageName = "prod",
) -> None:
    """Suppress every address in a CSV file, or none if a line is invalid.

    A hash that begins with `h` must come out of an export of this stage, or of one with the same
    key: under another key it stands for nobody.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            wanted = read_list(lines, now=now())
    except OSError as err:
        raise NotPossible(f"{file} cannot be read: {err.strerror}.") from err
    except Unreadable as err:
        for line in err.lines:
            note(f"{file}, {line}", style="red")
        raise NotPossible(
            "nothing was imported: fix these lines, then import the file again."
        ) from err
    done = 0
    try:
        with _problems(stage):
            context, _ = _context(stage)
            suppressions = context.suppressions
            changed = 0
            for done, each in enumerate(wanted):  # noqa: B007 -- says how far it came
                changed += suppressions.add(each.address, each.cause, each.since)
    except NotPossible as err:
        raise NotPossible(
            f"{err} {done} of {len(wanted)} lines were imported: import the file again, what is "
            "there stays as it is."
        ) from err
    there = len(wanted) - changed
    tell(
        f"imported into stage {stage}: {changed} new, {there} there already",
        new=changed,
        there_already=there,
    )


@suppression.command("export", cls=Command)
def give(stage: StageName = "prod") -> None:
    """Write all suppressed addresses as CSV for `import`: keyed hashes, never addresses.

    With `--json` an object a line.
    """
    with _problems(stage):
        write = write_json if wants_json() else partial(write_list, to=sys.stdout)
        number = sum(1 for _ in write(_listed(stage)))
    note(f"{number} addresses")


def _told(sentence: str, hashed: str, *, changed: bool) -> None:
    """It is not suppressed."""
    tell(sentence, address_hash=hashed, suppressed=False, changed=changed, reason=None)


def _allow(address: str, stage: str, *, yes: bool) -> None:
    """Lift the suppression of the stage."""
    with _problems(stage):
        hashed, context = _opened(stage, address)
        found = context.suppressions.get(hashed)
        if found is None:
            _told(f"{hashed} of stage {stage} was not suppressed", hashed, changed=False)
            return
        meaning = _MEANING.get(found.cause, "Another release of Gazette suppressed it.")
        note(f"{found.cause} since {moment(found.since)}. {meaning}")
        if not yes:
            confirm(f"Allow email to {hashed} of stage {stage} again?")
        remove_suppression(found, context=context)
        left = context.suppressions.get(hashed)
    if left and left.cause is Cause.UNSUBSCRIBED and found.cause is not left.cause:
        tell(
            f"{hashed} of stage {stage} is no longer suppressed for {found.cause}",
            address_hash=hashed,
            suppressed=True,
            changed=True,
            reason=left.cause,
        )
        note("A reader of it has unsubscribed as well: it stays suppressed for that.")
        return
    if left:
        raise NotPossible(f"It was suppressed for {left.cause} in the meantime: look again.")
    _told(f"{hashed} of stage {stage} is no longer suppressed", hashed, changed=True)
    note(
        "Its reader still gets nothing until subscriber.changed is put with a newer changed_at, "
        "or until they start again on their preference page; who unsubscribed, only there."
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
    """All of them. Who lists needs no key, and learns nothing of an address that they know."""
    return readable(build_suppression_list(_settings(stage)).each())


def _context(stage: str) -> tuple[SuppressionContext, bytes]:
    """What is suppressed, and the key of the stage."""
    settings = _settings(stage)
    key = suppression_key(stage, settings.suppressions_secret)
    return build_suppression(settings, key), key


def _opened(stage: str, address: str) -> tuple[str, SuppressionContext]:
    """What `list` shows of an address, and what is suppressed. Raises Unreadable."""
    hashed = hash_of(address)
    context, key = _context(stage)
    return keyed_hash(hashed, key), context
