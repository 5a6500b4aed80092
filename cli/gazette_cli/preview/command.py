"""`gazette preview`: render an email with the templates of the working tree."""

import webbrowser
from dataclasses import replace
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.support.preview import build_pending
from gazette.domain.identity import USER_ID
from gazette.domain.subscribers.frequency import Frequency
from gazette.settings.delivery import GenerateSettings

from gazette_cli.events.checking import check
from gazette_cli.events.entries import read_entries
from gazette_cli.events.schemas import schemas_of
from gazette_cli.preview import content, folder
from gazette_cli.preview.content import EmailContent, Kind
from gazette_cli.preview.options import Variation, Version
from gazette_cli.preview.rendering import render
from gazette_cli.preview.versions import render_version
from gazette_cli.shared.answers import give
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.console import NotPossible, note, printable, say
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.stages import hosts_of, stage_of
from gazette_cli.templates.building import is_one_of, templates_of
from gazette_support.bootstrap.notice import build_notice


def preview(
    kind: Annotated[
        Kind, typer.Argument(help="The kind of email: `digest` or `immediate`.")
    ] = Kind.DIGEST,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=(
                "A file with events, in the same format as for `gazette event lint`. Specify - "
                "for standard input."
            ),
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(
            metavar="USER",
            help="Render the waiting events of this reader. The events remain waiting.",
        ),
    ] = None,
    stage: StageName = "prod",
    locale: Annotated[
        str | None, typer.Option(metavar="TAG", help="The language, such as de.")
    ] = None,
    variation: Variation = 1,
    version: Version = None,
    to: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="The folder to write the preview to.",
            show_default="build/preview",
        ),
    ] = Path("build/preview"),
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Render an email with sample events, events from a file, or the waiting events of a reader.

    The page shows the email in light and dark mode, on a phone, and as text. The command renders
    with the templates of the working tree, including the stage's own templates, or with the
    templates version in `--version`. Links are placeholders. Only `--user` and `--version` need AWS
    credentials.
    """
    if file is not None and user is not None:
        raise NotPossible("--file and --user cannot be used together.")
    if user is not None:
        letter = _of_user(user, stage, kind)
    elif file is not None:
        hosts = hosts_of(stage)
        schemas = schemas_of(stage)
        entries = [check(entry, hosts=hosts, schemas=schemas) for entry in read_entries(file)]
        letter = content.of_entries(entries, kind)
    else:
        letter = content.sample(kind)
    if locale is not None:
        letter = replace(letter, reader=replace(letter.reader, locale=locale))
    if version is None:
        templates = templates_of(stage)
        edition = render(letter, templates, variation=variation)
        is_spoken = locale is None or templates.speak(locale)
    else:
        edition, tags = render_version(letter, version, stage, variation=variation)
        is_spoken = locale is None or is_one_of(locale, tags)
    if locale is not None and not is_spoken:
        note(
            f"gazette: the templates are not translated into {printable(locale)!r}. The preview is "
            "in English."
        )
    try:
        index = folder.write(edition, to, sender=_sender(stage, kind))
    except OSError as err:
        raise NotPossible(
            f"{to} is not writable ({err.strerror}). Specify a different folder with --to."
        ) from err
    say(f"subject: {edition.subject}")
    say(f"size: {folder.sizes(edition)}")
    say(f"page: {index}")
    html, text = (len(part.encode()) for part in (edition.html, edition.text))
    give(
        {
            "subject": edition.subject,
            "html_bytes": html,
            "text_bytes": text,
            "page": str(index),
        }
    )
    if open_it and not webbrowser.open(index.absolute().as_uri()):
        note("gazette: no browser is available. Open the page yourself.")


def _sender(stage: str, kind: Kind) -> str:
    """Return the sender's display name, or the address if the sender has no name."""
    chosen = stage_of(stage)
    sender = chosen.immediate_sender if kind is Kind.IMMEDIATE else ""
    return next(filter(None, parseaddr(sender or chosen.sender)))


def _of_user(user: str, stage: str, kind: Kind) -> EmailContent:
    if not USER_ID.fullmatch(user):
        raise NotPossible(
            f"--user {printable(user)!r} is not a valid user id. Specify the user_id of your "
            "events, which has 1 to 64 ASCII characters without spaces."
        )
    settings = settings_of(stage, "generate", GenerateSettings)
    with refusals_of_tables(stage):
        letter = content.of_waiting(build_pending(settings)(user), user, kind)
        if kind is Kind.DIGEST:
            digest = Frequency(letter.schedule)
            letter = replace(letter, ends_on=build_notice(settings)(letter.reader, digest))
    if letter.ends_on:
        note(
            f"gazette: the digest has the notice that it ends on {letter.ends_on}, because "
            f"{printable(user)} has been inactive."
        )
    if not settings.allowed.allow(letter.reader.email):
        note(
            f"gazette: the stage does not send this email, because its setting allowed_recipients "
            f"does not contain the address of {printable(user)}."
        )
    return letter
