"""`gazette templates`: push a version of the templates, roll it out, and take it back."""

from pathlib import Path
from typing import Annotated

import typer
from gazette.adapters.templates.bundle import checksum_of
from gazette.domain.templates.versions import EVERYBODY, Version
from gazette.steps.support import templates as steps
from gazette.steps.support.templates import Bundle, TemplatesContext

from cli.shared.answers import Yes, confirm
from cli.shared.commands import Command
from cli.shared.console import NotPossible, note, printable
from cli.shared.deployed import StageName
from cli.templates.caller import caller
from cli.templates.comparing import diff
from cli.templates.deployed import DeployedLayer, read_layer, release_here
from cli.templates.differences import Files, differences
from cli.templates.listing import show
from cli.templates.pushing import (
    packed,
    refuse_what_needs_a_deployment,
    tree_of,
    try_in_sandbox,
)
from cli.templates.stage import files_of, in_words_of, named, number_of, refusals, versions_of
from cli.templates.telling import (
    SOON,
    nothing_to_push,
    show_changes,
    tell_in_force,
    tell_pushed,
)

_LONGEST_NOTE = 200

templates = typer.Typer(
    help="Change the templates without a deployment: push, compare, roll out, take back.",
    no_args_is_help=True,
)
templates.command("list", cls=Command)(show)
templates.command("diff", cls=Command)(diff)


@templates.command("push", cls=Command)
def push(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Your own templates. Without it: those that cdk.json names."
        ),
    ] = None,
    percent: Annotated[
        int,
        typer.Option(min=1, max=EVERYBODY, help="Of the readers who get it, always the same."),
    ] = EVERYBODY,
    remark: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="What it changes, for those who list it.")
    ] = "",
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Push the templates of the working tree, and put them in force within a minute.

    They are built and checked as for a deployment, and rendered in the sandbox as workers will. A
    template that fails is named with file and line, and then nothing is uploaded. What needs a
    deployment is refused: other schemas of data, another brand, other web pages or sentences of
    them, or another release of the code.
    """
    if len(remark) > _LONGEST_NOTE:
        raise NotPossible(f"--note has {len(remark)} characters: {_LONGEST_NOTE} at most.")
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
        found = differences(old or {}, bundle.files, named=("", ""))
        if not found and _is_of(before.current, layer, context):
            nothing_to_push(before, percent, bundle)
            return
        show_changes(before, found, bundle.settings)
        if not yes:
            whom = "everybody" if percent == EVERYBODY else f"{percent} % of the readers"
            confirm(f"Put this in force for {whom} of stage {stage}?")
        done = steps.push(
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
    tell_pushed(done, before, found, stage)


@templates.command("rollout", cls=Command)
def rollout(
    percent: Annotated[
        int,
        typer.Argument(
            metavar="PERCENT", min=0, max=EVERYBODY, help="Of the readers; 100: everybody."
        ),
    ],
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Give the candidate to more readers, or to fewer; 100 ends the rollout.

    Whoever has it keeps it when the percent is raised.
    """
    with refusals(stage):
        context = versions_of(stage)
        before = context.versions.in_force()
        if before.candidate and before.candidate.percent == percent:
            tell_in_force(before, stage, changed=False)
            return
        if before.candidate and not yes:
            whom = "everybody" if percent == EVERYBODY else f"{percent} % of the readers"
            confirm(f"Give {named(before.candidate.version)} to {whom} of stage {stage}?")
        after = steps.roll_out(percent, by=caller(), context=context, seen=before)
    tell_in_force(after, stage, changed=True)
    note(SOON)


@templates.command("rollback", cls=Command)
def rollback(
    version: Annotated[
        str | None,
        typer.Argument(
            metavar="VERSION",
            help="A version: its number, or `deployed`. Without it: what was in force before.",
        ),
    ] = None,
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Take the candidate back, or put an earlier version in force for everybody.

    Without a version it takes back the candidate; if there is none, everybody gets what was in
    force before. It takes effect within a minute, and builds nothing.
    """
    to = None if version is None else number_of(version)
    with refusals(stage):
        context = versions_of(stage)
        seen = None
        if not yes:
            seen = context.versions.in_force()
            confirm(f"In stage {stage} {in_words_of(seen)}. {_question(to)}")
        after = steps.roll_back(to, by=caller(), context=context, seen=seen)
    tell_in_force(after, stage, changed=True)
    note(SOON)


def _question(to: int | None) -> str:
    if to is None:
        return "Go back?"
    return f"Put {f'version {to}' if to else 'what was deployed'} in force for everybody?"


def _files_in_force(
    current: Version, layer: DeployedLayer, context: TemplatesContext, stage: str
) -> Files | None:
    """What a push is compared with; None where that is lost, which a push may mend."""
    try:
        return layer.templates if current.is_deployed else files_of(current, context, stage)
    except NotPossible as err:
        note(str(err))
        return None


def _is_of(current: Version, layer: DeployedLayer, context: TemplatesContext) -> bool:
    """Whether a version was pushed since the stage was deployed. What was deployed always is."""
    pushed = context.versions.find(current.number)
    return current.is_deployed or (pushed is not None and pushed.layer == layer.arn)
