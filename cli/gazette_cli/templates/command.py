"""`gazette templates`: push, roll out and roll back versions of the templates."""

from pathlib import Path
from typing import Annotated

import typer
from gazette.adapters.templates.bundle import checksum_of
from gazette.domain.templates.versions import EVERYBODY, Version

from gazette_cli.shared.answers import Yes, confirm
from gazette_cli.shared.commands import Command
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName
from gazette_cli.templates.caller import caller
from gazette_cli.templates.comparing import diff
from gazette_cli.templates.deployed import DeployedLayer, read_layer, release_here
from gazette_cli.templates.differences import Files, differences
from gazette_cli.templates.listing import show
from gazette_cli.templates.pushing import (
    packed,
    refuse_what_needs_a_deployment,
    tree_of,
    try_in_sandbox,
)
from gazette_cli.templates.stage import (
    files_of,
    in_words_of,
    named,
    number_of,
    refusals,
    versions_of,
)
from gazette_cli.templates.telling import (
    SOON,
    nothing_to_push,
    show_changes,
    tell_in_force,
    tell_pushed,
)
from gazette_support.steps import templates as steps
from gazette_support.steps.templates import Bundle, TemplatesContext

_LONGEST_NOTE = 200

templates = typer.Typer(
    help="Push, compare, roll out and roll back templates without a deployment.",
    no_args_is_help=True,
)
templates.command("list", cls=Command)(show)
templates.command("diff", cls=Command)(diff)


@templates.command("push", cls=Command)
def push(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="The folder with your own templates. The default is the setting `templates`.",
        ),
    ] = None,
    percent: Annotated[
        int,
        typer.Option(
            min=1,
            max=EVERYBODY,
            help=(
                "The percentage of readers who get the new version. A reader does not switch "
                "between versions."
            ),
        ),
    ] = EVERYBODY,
    remark: Annotated[
        str,
        typer.Option(
            "--note", metavar="TEXT", help="A description of the change, shown by `list`."
        ),
    ] = "",
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Push the templates of the working tree, and put them in force within a minute.

    The command builds and checks the templates as in a deployment, and renders them in the same
    sandbox as the workers. If a template fails, the error names the file and the line, and the
    templates are not uploaded. A push is rejected if the schemas of `data`, the brand, a web page,
    a translation of a web page, or the code changed. These changes need a deployment.
    """
    if len(remark) > _LONGEST_NOTE:
        raise NotPossible(f"--note has {len(remark)} characters. The limit is {_LONGEST_NOTE}.")
    with refusals(stage):
        context = versions_of(stage)
        before = context.versions.in_force()
        steps.refuse_push(before)
        tree = tree_of(stage, folder)
        bundle = packed(tree)
        try_in_sandbox(bundle, tree)
        layer = read_layer(stage)
        refuse_what_needs_a_deployment(bundle, layer, stage)
        old = _files_in_force(before.current, layer, context, stage)
        changes = differences(old or {}, bundle.files, named=("", ""))
        if not changes and _is_of(before.current, layer, context):
            nothing_to_push(before, percent, bundle)
            return
        show_changes(before, changes, bundle.settings)
        if not yes:
            confirm(f"Use these templates for {_readers(percent)} of stage {stage}?")
        outcome = steps.push(
            Bundle(
                content=bundle.content,
                checksum=checksum_of(bundle.content),
                settings=bundle.settings,
                note=printable(remark.strip()),
                release=release_here(),
                layer=layer.arn,
            ),
            percent,
            by=caller(),
            context=context,
            seen=before,
        )
    tell_pushed(outcome, before, changes, stage)


@templates.command("rollout", cls=Command)
def rollout(
    percent: Annotated[
        int,
        typer.Argument(
            metavar="PERCENT",
            min=0,
            max=EVERYBODY,
            help="The percentage of readers who get the candidate.",
        ),
    ],
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Change the percentage of readers who get the candidate. 100 ends the rollout.

    If you raise the percentage, readers who already have the candidate keep it.
    """
    with refusals(stage):
        context = versions_of(stage)
        before = context.versions.in_force()
        if before.candidate and before.candidate.percent == percent:
            tell_in_force(before, stage, changed=False)
            return
        if before.candidate and not yes:
            version = named(before.candidate.version)
            confirm(f"Give {version} to {_readers(percent)} of stage {stage}?")
        after = steps.roll_out(percent, by=caller(), context=context, seen=before)
    tell_in_force(after, stage, changed=True)
    note(SOON)


@templates.command("rollback", cls=Command)
def rollback(
    version: Annotated[
        str | None,
        typer.Argument(
            metavar="VERSION",
            help="The number of a version, or `deployed`. The default is the previous version.",
        ),
    ] = None,
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Withdraw the candidate, or put an earlier version in force for all readers.

    Without VERSION, the command withdraws the candidate. If there is no candidate, all readers get
    the previous version. The change takes effect within a minute, without a build.
    """
    to = None if version is None else number_of(version)
    with refusals(stage):
        context = versions_of(stage)
        seen = None
        if not yes:
            seen = context.versions.in_force()
            confirm(f"In stage {stage}, {in_words_of(seen)}. {_question(to)}")
        after = steps.roll_back(to, by=caller(), context=context, seen=seen)
    tell_in_force(after, stage, changed=True)
    note(SOON)


def _readers(percent: int) -> str:
    return "all readers" if percent == EVERYBODY else f"{percent} % of the readers"


def _question(to: int | None) -> str:
    if to is None:
        return "Roll back?"
    return f"Put {f'version {to}' if to else 'the deployed templates'} in force for all readers?"


def _files_in_force(
    current: Version, layer: DeployedLayer, context: TemplatesContext, stage: str
) -> Files | None:
    """Return the files in force, for comparison with a push. Return None if the files are no longer
    stored, so that a push can still replace them.
    """
    try:
        return layer.templates if current.is_deployed else files_of(current, context, stage)
    except NotPossible as err:
        note(str(err))
        return None


def _is_of(current: Version, layer: DeployedLayer, context: TemplatesContext) -> bool:
    """Return True if a version is the deployed version, or was pushed after the deployment."""
    pushed = context.versions.find(current.number)
    return current.is_deployed or (pushed is not None and pushed.layer == layer.arn)
