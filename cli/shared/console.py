"""The output of the command: plain lines, and one line with what to do if it cannot go on."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

NOT_POSSIBLE = 2
"""The exit status where the command could not do what it was asked, as for a wrong option."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class NotPossible(Exception):
    """The command cannot go on. The text is one line: what is wrong, and what to do."""


def printable(text: str) -> str:
    """`text` on one line, without what would steer a terminal."""
    return _UNPRINTABLE.sub("?", text)


def say(text: str, *, style: str = "") -> None:
    """One line of the answer, never wrapped."""
    _line(Console(), text, style)


def note(text: str, *, style: str = "") -> None:
    """One line beside the answer, on standard error."""
    _line(Console(stderr=True), text, style)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Ends the command with one line where it cannot go on."""
    try:
        yield
    except NotPossible as err:
        note(f"gazette: {err}", style="red")
        raise typer.Exit(NOT_POSSIBLE) from err


def _line(console: Console, text: str, style: str) -> None:
    console.print(Text(printable(text), style=style), soft_wrap=True)
