"""The output of the command: plain lines, and one line with what to do if it cannot go on."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from unicodedata import category

import typer
from rich.console import Console
from rich.text import Text

from cli.shared.next_commands import DEFAULT_STAGE, aimed

NOT_POSSIBLE = 2
"""The exit status where the command could not do what it was asked, as for a wrong option."""

_IN_JSON = ContextVar("in_json", default=False)
"""Whether the command that runs was given `--json`."""

_STAGE = ContextVar("stage", default=DEFAULT_STAGE)
"""The stage of the command that runs. Commands in its lines are for that stage."""

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of characters that steer a terminal or cannot be seen: controls, those that turn the
direction of text or join it, halves of pairs, separators of lines.
https://www.unicode.org/reports/tr44/#General_Category_Values"""

_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Of other categories, and drawn as nothing."""


class NotPossible(Exception):
    """The command cannot go on. Each text is one line: what is wrong, and what to do."""

    def __str__(self) -> str:
        """All of them on one line."""
        return " ".join(self.args)


def printable(text: str) -> str:
    """`text` on one line; `?` for what would steer a terminal or cannot be seen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("?" if category(each) in _UNSEEN or each in _BLANK else each for each in text)


def say(text: str, *, style: str = "") -> None:
    """One line of the answer for people, never wrapped; nothing with `--json`."""
    if not wants_json():
        _line(Console(), text, style)


def note(text: str, *, style: str = "") -> None:
    """One line beside the answer, on standard error; with `--json`, an object."""
    text = aimed(text, stage=_STAGE.get())
    if wants_json():
        _object(note=text)
    else:
        _line(Console(stderr=True), text, style)


def failed(*texts: str, in_json: bool) -> None:
    """Why the command cannot go on, on standard error: a line for each reason."""
    reasons = [aimed(text, stage=_STAGE.get()) for text in texts]
    if in_json:
        _object(error=" ".join(reasons), exit_code=NOT_POSSIBLE)
        return
    for reason in reasons:
        _line(Console(stderr=True), f"gazette: {reason}", "red")


def wants_json() -> bool:
    """Whether the command that runs was given `--json`."""
    return _IN_JSON.get()


@contextmanager
def one_line_errors(*, in_json: bool = False, stage: str = DEFAULT_STAGE) -> Iterator[None]:
    """Ends the command with one line where it cannot go on; `in_json`: its answer, notes and error
    are JSON. Commands that its notes and its error name between backticks are for `stage`."""
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
