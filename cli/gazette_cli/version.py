"""`gazette --version`: print the release of this command, without a call to AWS."""

from importlib.metadata import version
from typing import Annotated

import typer

from gazette_cli.templates.deployed import release_here


def _print(is_asked: bool) -> None:
    """Print the package version, and the fingerprint that a push stores as its release."""
    if is_asked:
        typer.echo(f"gazette {version('gazette-digest')} (release {release_here()})")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version",
        callback=_print,
        is_eager=True,
        help="Print the version and the release of the code, then exit.",
    ),
]
