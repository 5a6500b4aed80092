"""`gazette event`: check and preview events in files, and write their schemas."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from gazette.domain.model import Event

from gazette_cli.events.bus import bus_of
from gazette_cli.events.checking import Checked, check
from gazette_cli.events.digest_lines import ReaderOf, events_in, preview, readers_in
from gazette_cli.events.entries import read_entries
from gazette_cli.events.schemas import schemas_of
from gazette_cli.preview.options import Variation, Version
from gazette_cli.preview.rendering import by_tree
from gazette_cli.preview.versions import by_version
from gazette_cli.shared.answers import Document, give
from gazette_cli.shared.commands import Command
from gazette_cli.shared.console import NotPossible, note, printable, say
from gazette_cli.shared.deployed import StageName
from gazette_cli.shared.descriptions import in_words
from gazette_cli.shared.stages import hosts_of, sources_of
from gazette_cli.templates.building import is_one_of, templates_of
from gazette_support.adapters import published_events
from gazette_support.steps.replay import Side

event = typer.Typer(
    help="Check and preview events in files before you publish them.", no_args_is_help=True
)
File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=(
            "A file with PutEvents entries or EventBridge envelopes: a JSON object, a JSON "
            "list, or one object per line. Specify - for standard input."
        ),
    ),
]


@event.command("lint", cls=Command)
def lint(file: File, stage: StageName = "prod") -> None:
    """Check events, and print the effect or the problems of each event. The exit code is 1 if an
    event has a problem.

    The check uses the settings of the stage. Links must point to hosts in `link_hosts`.
    If the `sources` setting lists a detail type, events of this type must have a listed source. If
    an entry names a bus, the bus must be the bus of the stage. If the templates of the stage have a
    schema for a category, `data` must match the schema.
    """
    checked = _checked(file, stage)
    for each in checked:
        _report(each)
    give({"entries": [*map(_document, checked)]})
    if any(each.problems for each in checked):
        raise typer.Exit(1)


@event.command("preview", cls=Command)
def show(
    file: File,
    stage: StageName = "prod",
    locale: Annotated[
        str | None,
        typer.Option(
            metavar="TAG",
            help="The language, such as de. Overrides the language of the profiles in the file.",
        ),
    ] = None,
    variation: Variation = 1,
    version: Version = None,
) -> None:
    """Show events as they appear in a digest, and describe the effect of profiles, follows and
    other messages.

    The command renders with the templates of the working tree, including the stage's own templates,
    or with the templates version in `--version`. A profile in the file sets the language and the
    time zone of its reader.
    """
    checked = _checked(file, stage)
    commands = [each.command for each in checked if each.command]
    events = events_in(commands)
    lines: Sequence[str] = ()
    if events:
        readers = readers_in(commands, locale)
        lines = _lines(events, readers, stage, locale, variation=variation, version=version)
    others = [
        {"detail_type": each.detail_type, "does": in_words(each.command)}
        for each in checked
        if each.command and not events_in([each.command])
    ]
    rejected = [each.label for each in checked if each.problems]
    for line in lines:
        say(line)
    if events and others:
        say("")
    for other in others:
        say(": ".join(other.values()))
    give({"lines": lines, "others": others, "refused": rejected})
    if rejected:
        note(
            f"gazette: Gazette would reject {', '.join(rejected)}. To see the reasons, run "
            "`gazette event lint`.",
            style="red",
        )
        raise typer.Exit(1)


@event.command("schemas", cls=Command)
def schemas(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The folder to write the files to.", show_default="schemas"
        ),
    ] = Path("schemas"),
) -> None:
    """Write the JSON Schema and examples of every detail type."""
    try:
        written = [str(path) for path in published_events.write(folder)]
    except OSError as err:
        raise NotPossible(
            f"{folder} is not writable ({err.strerror}). Specify a different folder."
        ) from err
    for path in written:
        say(path)
    give({"files": written})


def _lines(
    events: Sequence[Event],
    readers: ReaderOf,
    stage: str,
    locale: str | None,
    *,
    variation: int,
    version: str | None,
) -> Sequence[str]:
    def lines(side: Side) -> Sequence[str]:
        return [*preview(events, side=side, reader_of=readers)]

    if version is None:
        templates = templates_of(stage)
        rendered = by_tree(lines, templates, variation=variation, inlined=False)
        is_spoken = locale is None or templates.speak(locale)
    else:
        rendered, tags = by_version(lines, version, stage, variation=variation)
        is_spoken = locale is None or is_one_of(locale, tags)
    if locale is not None and not is_spoken:
        note(
            f"gazette: the templates are not translated into {printable(locale)!r}. The preview is "
            "in English."
        )
    return rendered


def _checked(file: str, stage: str) -> list[Checked]:
    hosts, sources = hosts_of(stage), sources_of(stage)
    schemas, bus = schemas_of(stage), bus_of(stage)
    return [
        check(entry, hosts=hosts, schemas=schemas, sources=sources, bus=bus)
        for entry in read_entries(file)
    ]


def _document(checked: Checked) -> Document:
    envelope = checked.envelope
    return {
        "entry": checked.label,
        "ok": not checked.problems,
        "detail_type": checked.detail_type or None,
        "does": in_words(checked.command) if checked.command and not checked.problems else None,
        "bytes": envelope.size if envelope else None,
        "billed_events": envelope.billed if envelope else None,
        "problems": checked.problems,
        "more_problems": checked.more,
        "warning": checked.warning or None,
    }


def _report(checked: Checked) -> None:
    envelope, size = checked.envelope, ""
    if envelope:
        billed = "1 event" if envelope.billed == 1 else f"{envelope.billed} events"
        size = f"{envelope.size:,} bytes, billed as {billed}"
    if not checked.problems and checked.command:
        what = f"{checked.detail_type}: {in_words(checked.command)}"
        say(f"{checked.label}: ok: {what} ({size})", style="green")
        _warn(checked)
        return
    count = len(checked.problems) + checked.more
    about = ", ".join(filter(None, (checked.detail_type, size)))
    problems = "1 problem" if count == 1 else f"{count:,} problems"
    say(f"{checked.label}: {problems}" + (f" ({about})" if about else ""), style="red")
    for problem in checked.problems:
        say(f"  {problem}")
    if checked.more:
        say(f"  and {checked.more:,} more")
    _warn(checked)


def _warn(checked: Checked) -> None:
    if checked.warning:
        say(f"  warning: {checked.warning}", style="yellow")
