"""`gazette templates diff`: compare two versions of the templates."""

from pathlib import Path
from typing import Annotated

import typer

from gazette_cli.shared.answers import give
from gazette_cli.shared.console import say
from gazette_cli.shared.deployed import StageName
from gazette_cli.templates.differences import FileDifference, Files, differences
from gazette_cli.templates.pushing import packed, tree_of
from gazette_cli.templates.stage import files_of, refusals, version_of, versions_of
from gazette_support.steps.templates import TemplatesContext

DIFFERENT = 1
"""The exit status if the versions differ, as in the Unix command diff."""

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff(
    before: Annotated[
        str | None,
        typer.Argument(
            metavar="A",
            help="The number of a version, or `deployed`. The default is the version in force.",
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Argument(
            metavar="B", help="The version to compare with. The default is the working tree."
        ),
    ] = None,
    stage: StageName = "prod",
    templates: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder with your own templates. The default is the setting `templates`.",
        ),
    ] = None,
) -> None:
    """Show the differences between two versions, file by file, including settings.json.

    The command compares the built files, which contain inlined CSS and compiled translations. The
    exit code is 0 if there is no difference, 1 if there is a difference, and 2 if the comparison
    failed.
    """
    with refusals(stage):
        context = versions_of(stage)
        old, old_name = _version(before, context, stage)
        if after is None:
            new, new_name = packed(tree_of(stage, templates)).files, "tree"
        else:
            new, new_name = _version(after, context, stage)
    changes = differences(old, new, named=(old_name, new_name))
    for each in changes:
        _say(each)
    give({"before": old_name, "after": new_name, "files": [*map(document, changes)]})
    if changes:
        raise typer.Exit(DIFFERENT)


def document(each: FileDifference) -> dict[str, object]:
    """Return the difference as JSON output. `added` and `removed` are numbers of lines."""
    return {
        "file": each.path,
        "change": each.change.value,
        "added": each.added,
        "removed": each.removed,
    }


def _version(given: str | None, context: TemplatesContext, stage: str) -> tuple[Files, str]:
    """Return the files and the number of a version."""
    version = version_of(given, context) if given else context.versions.in_force().current
    return files_of(version, context, stage), f"{version.number}"


def _say(difference: FileDifference) -> None:
    for line in difference.lines:
        say(line.expandtabs(), style=_STYLES.get(line[:1], ""))
