"""`gazette templates diff`: what differs between two versions of the templates."""

from pathlib import Path
from typing import Annotated

import typer
from gazette.steps.support.templates import TemplatesContext

from cli.shared.answers import give
from cli.shared.console import say
from cli.shared.deployed import StageName
from cli.templates.differences import FileDifference, Files, differences
from cli.templates.pushing import packed, tree_of
from cli.templates.stage import files_of, refusals, version_of, versions_of

DIFFERENT = 1
"""The exit status where something differs, as that of diff."""

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff(
    before: Annotated[
        str | None,
        typer.Argument(
            metavar="A", help="A version: its number, or `deployed`. Without it: that in force."
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Argument(metavar="B", help="Another. Without it: the working tree."),
    ] = None,
    stage: StageName = "prod",
    templates: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Your own templates in the working tree, in place of those that cdk.json names.",
        ),
    ] = None,
) -> None:
    """Show what differs between two versions, file by file; settings.json is one of the files.

    Files are compared as they are built: with their CSS inlined, and catalogues as sentences.
    Exit code 0: nothing differs, 1: something does, 2: they could not be compared.
    """
    with refusals(stage):
        context = versions_of(stage)
        old, old_name = _version(before, context, stage)
        if after is None:
            new, new_name = packed(tree_of(stage, templates)).files, "tree"
        else:
            new, new_name = _version(after, context, stage)
    found = differences(old, new, named=(old_name, new_name))
    for each in found:
        _say(each)
    give({"before": old_name, "after": new_name, "files": [*map(document, found)]})
    if found:
        raise typer.Exit(DIFFERENT)


def document(each: FileDifference) -> dict[str, object]:
    """For programs. `added` and `removed`: lines."""
    return {
        "file": each.path,
        "change": each.change.value,
        "added": each.added,
        "removed": each.removed,
    }


def _version(given: str | None, context: TemplatesContext, stage: str) -> tuple[Files, str]:
    """What is in it, and what it is called."""
    version = version_of(given, context) if given else context.versions.in_force().current
    return files_of(version, context, stage), f"{version.number}"


def _say(difference: FileDifference) -> None:
    for line in difference.lines:
        say(line.expandtabs(), style=_STYLES.get(line[:1], ""))
