"""`gazette --version`: print the version of this command, and what a stage runs."""

from collections.abc import Iterator
from typing import Annotated

import typer

from gazette_cdk.stacks.version import PACKAGE, gazette_version
from gazette_cli.doctor.findings import Finding, ok, warning
from gazette_cli.shared.completion import known_stages
from gazette_cli.shared.console import NotPossible, one_line_errors, say
from gazette_cli.shared.deployed import deployment_of
from gazette_cli.templates.deployed import release_here

Version = Annotated[
    bool,
    typer.Option(
        "--version",
        help="Print the version and the release of the code, then exit.",
    ),
]
OfStage = Annotated[
    str | None,
    typer.Option(
        "--stage",
        help="With --version, also print what this stage runs.",
        autocompletion=known_stages,
    ),
]


def print_version(stage: str | None) -> None:
    """Print the version of the package, and the fingerprint that a push stores as its release.

    With `stage`, also print the version and the deployment that the stage runs, with one
    GetFunctionConfiguration call. Otherwise AWS is not called.
    """
    say(f"gazette {gazette_version()} (release {release_here()})")
    if stage is not None:
        with one_line_errors(in_json=False, stage=stage):
            say(f"stage {stage}: {_deployed(stage)}")


def _deployed(stage: str) -> str:
    label = deployment_of(stage, "generate")
    if label is None:
        raise NotPossible(
            f"The description of gazette-{stage}-generate does not name a deployment. Deploy the "
            "stage."
        )
    return str(label)


_CHECK, _PAGE = "version", "docs/runbook/upgrade.md"


def check_version(stage: str) -> Iterator[Finding]:
    """Warn if the stage runs a different version than this command."""
    label, own = deployment_of(stage, "generate"), gazette_version()
    if label is not None and label.version == own:
        yield ok(_CHECK, str(label))
        return
    seen = str(label) if label else "the functions do not name a deployment"
    install = "the version that the stage runs"
    if label and label.version:
        install = f"{PACKAGE}=={label.version}"
    todo = (
        f"This command has version {own}. Install {install}, or deploy version {own}. Commands can "
        "misread rows and settings of another version."
    )
    yield warning(_CHECK, f"the stage runs {seen}" if label else seen, todo, _PAGE)
