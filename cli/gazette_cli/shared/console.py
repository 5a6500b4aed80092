"""Output on standard output and standard error, and one-line errors."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from unicodedata import category

import typer
from rich.console import Console
from rich.text import Text

from gazette_cli.shared.next_commands import DEFAULT_STAGE, aimed

NOT_POSSIBLE = 2
"""The exit status if the command could not run, for example because an option is invalid."""

_IN_JSON = ContextVar("in_json", default=False)
"""True while a command with `--json` runs."""

_STAGE = ContextVar("stage", default=DEFAULT_STAGE)
"""The stage of the running command. It is added to commands that messages recommend."""

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories of characters that control a terminal or are invisible: control and format
characters, surrogates, and line and paragraph separators.

https://www.unicode.org/reports/tr44/#General_Category_Values
"""

_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Additional characters that a terminal shows as a blank."""


class NotPossible(Exception):
    """An expected failure of a command. Each text is one line with the problem and the remedy."""

    def __str__(self) -> str:
        """Join the texts into one line."""
        return " ".join(self.args)


def printable(text: str) -> str:
    """Return `text` on one line, with `?` for each control or invisible character."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("?" if category(each) in _UNSEEN or each in _BLANK else each for each in text)


def say(text: str, *, style: str = "") -> None:
    """Print a line of text without wrapping. With `--json`, print nothing."""
    if not wants_json():
        _line(Console(), text, style)


def note(text: str, *, style: str = "") -> None:
    """Print a note on standard error, as one line, or as a JSON object with `--json`."""
    text = aimed(text, stage=_STAGE.get())
    if wants_json():
        _object(note=text)
    else:
        _line(Console(stderr=True), text, style)


def failed(*texts: str, in_json: bool) -> None:
    """Print the reasons for a failure on standard error, one per line, or as one JSON object with
    `--json`.
    """
    reasons = [aimed(text, stage=_STAGE.get()) for text in texts]
    if in_json:
        _object(error=" ".join(reasons), exit_code=NOT_POSSIBLE)
        return
    for reason in reasons:
        _line(Console(stderr=True), f"gazette: {reason}", "red")


def wants_json() -> bool:
    """Return True if the running command has `--json`."""
    return _IN_JSON.get()


@contextmanager
def one_line_errors(*, in_json: bool = False, stage: str = DEFAULT_STAGE) -> Iterator[None]:
    """Print the texts of a NotPossible error, and exit with the status `NOT_POSSIBLE`.

    With `in_json`, the output, notes and errors are JSON. `stage` is added to commands that notes
    and errors name in backticks.
    """
    before, stage_before = _IN_JSON.set(in_json), _STAGE.set(stage)
    try:
        yield
    except NotPossible as err:
        failed(*err.args, in_json=in_json)
        raise typer.Exit(NOT_POSSIBLE) from err
    finally:
        _IN_JSON.reset(before)
        _STAGE.reset(stage_before)


def _object(**fields: object) -> None:
    typer.echo(json.dumps(fields), err=True)


def _line(console: Console, text: str, style: str) -> None:
    console.print(Text(printable(text), style=style), soft_wrap=True)
