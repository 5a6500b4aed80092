"""`gazette withdraw`: leave the events of an actor or an entity out of all emails."""

from typing import Annotated

import typer
from gazette.adapters.contract.fields import Key, Name
from gazette.domain.scheduling.instants import moment
from gazette.domain.withdrawing.withdrawals import (
    MOST_WITHDRAWN,
    Withdrawal,
    WithdrawalKind,
    WithdrawalsFull,
)
from gazette.settings.ingest import IngestSettings
from pydantic import TypeAdapter, ValidationError

from gazette_cli.shared.answers import Document, Rows, Yes, confirm, tell
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.commands import Command
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_support.bootstrap.withdrawals import build_withdrawals
from gazette_support.steps.withdrawals import (
    WithdrawalContext,
    add_withdrawal,
    list_withdrawals,
    remove_withdrawal,
)

_COLUMNS = {"kind": "kind", "id": "id", "at": "events up to", "until": "applies until"}

_KEY, _NAME = TypeAdapter[str](Key), TypeAdapter[str](Name)

withdraw = typer.Typer(
    help="Leave the events of an actor or an entity out of all emails.", no_args_is_help=True
)

ActorId = Annotated[
    str | None,
    typer.Option(
        "--actor", metavar="ID", help="The id of the actor, as in `actor.id` of the events."
    ),
]
EntityKey = Annotated[
    str | None,
    typer.Option(
        "--entity",
        metavar="TYPE#ID",
        help=(
            "The type and the id of the entity, such as post#p1. It may be the parent of other "
            "entities."
        ),
    ),
]


@withdraw.command("add", cls=Command)
def add(
    actor: ActorId = None,
    entity: EntityKey = None,
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Withdraw all events by an actor or on an entity up to now, for example those of a spammer.

    Emails that are made afterwards, including critical ones, leave these events out, for all
    readers. The browser views of emails that were already sent no longer show the events. A
    withdrawal of an entity also applies to events that reached readers through a follow of the
    entity, such as those on its children.

    Later events are sent. To withdraw them too, run the command again. At most 100 withdrawals can
    be in force.
    """
    kind, of = _named(actor, entity)
    with refusals_of_tables(stage):
        context = _context(stage)
        if not yes:
            confirm(
                f"Leave all events {_of(kind, of)} up to now out of the emails of stage {stage}? "
                "This cannot be undone for events that an email has left out."
            )
        try:
            added, before = add_withdrawal(kind, of, context=context)
        except WithdrawalsFull:
            raise NotPossible(
                f"{_of(kind, of)} was not withdrawn, because {MOST_WITHDRAWN} withdrawals are in "
                f"force, which is the maximum. Run `gazette withdraw list`, and remove withdrawals "
                "whose events no longer wait with `gazette withdraw remove`. Until then, stop the "
                "category with `gazette sending stop REASON --category NAME`."
            ) from None
    renewed = f"; it was withdrawn before at {moment(before.at)}" if before else ""
    tell(
        f"events {_of(kind, of)} of stage {stage} up to {moment(added.at)} are withdrawn{renewed}",
        **_document(added, withdrawn=True, changed=True),
    )
    note(
        "The change takes effect within a minute. Until then, workers may still send these events. "
        "Emails that were already sent do not change."
    )


@withdraw.command("list", cls=Command)
def show(stage: StageName = "prod") -> None:
    """List the withdrawals in force, oldest first."""
    with refusals_of_tables(stage):
        withdrawals = list_withdrawals(context=_context(stage))
    rows = [(each.kind, each.id, each.at, each.until) for each in withdrawals]
    Rows("withdrawals", _COLUMNS, rows).show(most=MOST_WITHDRAWN)
    if rows:
        note(f"{len(rows)} of at most {MOST_WITHDRAWN} withdrawals are in force.")
    else:
        note("No withdrawals are in force.")


@withdraw.command("remove", cls=Command)
def remove(
    actor: ActorId = None,
    entity: EntityKey = None,
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Remove a withdrawal, so that emails include the events that still wait.

    Events that an email has left out do not return. To send them, publish them again.
    """
    kind, of = _named(actor, entity)
    with refusals_of_tables(stage):
        context = _context(stage)
        if not yes:
            confirm(f"Send the waiting events {_of(kind, of)} of stage {stage} again?")
        removed = remove_withdrawal(kind, of, context=context)
    if removed is None:
        tell(
            f"events {_of(kind, of)} of stage {stage} were not withdrawn",
            kind=kind,
            id=of,
            withdrawn=False,
            changed=False,
            at=None,
            until=None,
        )
        return
    tell(
        f"events {_of(kind, of)} of stage {stage} are no longer withdrawn",
        **_document(removed, withdrawn=False, changed=True),
    )
    note(
        "The change takes effect within a minute. Events that an email has left out do not return. "
        "To send them, publish them again."
    )


def _named(actor: str | None, entity: str | None) -> tuple[WithdrawalKind, str]:
    """Return the kind and the id that the options name. Raises NotPossible."""
    if actor is not None and entity is None:
        return WithdrawalKind.ACTOR, _checked(
            "--actor", actor, actor, "Specify the id of the actor, such as --actor bo."
        )
    if entity is not None and actor is None:
        kind, mark, of = entity.partition("#")
        remedy = "Specify the type and the id of the entity, such as --entity post#p1."
        if not mark or not _is_valid(_NAME, kind):
            raise NotPossible(f"--entity {printable(entity)!r} is not valid. {remedy}")
        return WithdrawalKind.ENTITY, _checked("--entity", entity, of, remedy)
    raise NotPossible("Specify either --actor ID or --entity TYPE#ID.")


def _checked(option: str, value: str, of: str, remedy: str) -> str:
    if not _is_valid(_KEY, of):
        raise NotPossible(
            f"{option} {printable(value)!r} is not valid. {remedy} An id has 1 to 128 characters "
            "on one line."
        )
    return value


def _is_valid(kind: TypeAdapter[str], value: str) -> bool:
    try:
        kind.validate_python(value)
    except ValidationError:
        return False
    return True


def _of(kind: WithdrawalKind, of: str) -> str:
    return f"{'by' if kind is WithdrawalKind.ACTOR else 'on'} {kind} {printable(of)}"


def _document(withdrawal: Withdrawal, *, withdrawn: bool, changed: bool) -> Document:
    """Return a withdrawal, and whether it is in force, as JSON output."""
    return {
        "kind": withdrawal.kind,
        "id": withdrawal.id,
        "withdrawn": withdrawn,
        "changed": changed,
        "at": withdrawal.at,
        "until": withdrawal.until,
    }


def _context(stage: str) -> WithdrawalContext:
    return build_withdrawals(settings_of(stage, "ingest", IngestSettings))
