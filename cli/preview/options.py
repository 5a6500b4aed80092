"""The options of commands that show templates."""

from typing import Annotated

import typer

Variation = Annotated[
    int, typer.Option(min=1, metavar="NUMBER", help="This variation of the templates.")
]
Version = Annotated[
    str | None,
    typer.Option(
        metavar="VERSION",
        help="This version of the templates, its number or `deployed`, not the working tree.",
    ),
]
