"""Options shared by the commands that render templates."""

from typing import Annotated

import typer

Variation = Annotated[
    int, typer.Option(min=1, metavar="NUMBER", help="The variation of the templates to render.")
]
Version = Annotated[
    str | None,
    typer.Option(
        metavar="VERSION",
        help=(
            "The number of a version of the templates, or `deployed`. The default is the "
            "templates of the working tree."
        ),
    ),
]
