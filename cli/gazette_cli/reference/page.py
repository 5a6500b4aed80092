"""`python -m gazette_cli.reference.page`: write docs/cli from the commands and permissions."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from gazette_cdk.folders import GAZETTE
from gazette_cli.main import app
from gazette_cli.reference.examples import EXAMPLES
from gazette_cli.reference.permissions import IN_THE_CONSOLE, PERMISSIONS, Grant, policy
from gazette_cli.reference.shapes import ONE_A_LINE, SHAPES
from gazette_cli.shared.commands import paragraphs

FOLDER = GAZETTE / "docs" / "cli"

INDEX = "README.md"

_INTRO = Path(__file__).with_name("introduction.md")
_PROGRAMS = Path(__file__).with_name("programs.md")
_CONSOLE = Path(__file__).with_name("console.md")


def commands() -> dict[str, dict[str, TyperCommand]]:
    """Return the commands by group and path. A command without a group forms its own group."""
    return {name: _of_root(name, group) for name, group in _roots().items()}


def pages() -> Mapping[str, str]:
    """Return the content of each page, by file name."""
    written = {
        INDEX: (_INTRO.read_text().rstrip(), *_index(), f"\n{_PROGRAMS.read_text().rstrip()}"),
        "aws-console.md": (_CONSOLE.read_text().rstrip(), *_policy(IN_THE_CONSOLE)),
        **{f"{name}.md": tuple(_group(name, group)) for name, group in _roots().items()},
    }
    return {name: "\n".join(lines) + "\n" for name, lines in written.items()}


def write() -> None:
    """Write the pages, and delete the pages of commands that no longer exist."""
    FOLDER.mkdir(exist_ok=True)
    written = pages()
    for page in FOLDER.glob("*.md"):
        if page.name not in written:
            page.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text)


@cache
def _roots() -> Mapping[str, TyperGroup | TyperCommand]:
    """Return the groups, and the commands without a group, by name. Typer takes half a second."""
    root = typer.main.get_command(app)
    members = root.commands.items() if isinstance(root, TyperGroup) else ()
    return {
        name: each for name, each in sorted(members) if isinstance(each, (TyperGroup, TyperCommand))
    }


def _of_root(name: str, group: TyperGroup | TyperCommand) -> dict[str, TyperCommand]:
    if not isinstance(group, TyperGroup):
        return {name: group}
    return {
        f"{name} {each}": inner
        for each, inner in group.commands.items()
        if isinstance(inner, TyperCommand)
    }


def _index() -> Iterator[str]:
    yield "\n| command | purpose |"
    yield "| --- | --- |"
    for name, group in commands().items():
        for path, command in group.items():
            anchor = "" if path == name else f"#gazette-{path.replace(' ', '-')}"
            yield f"| [`{path}`]({name}.md{anchor}) | {_summary(command)} |"


def _summary(command: TyperCommand) -> str:
    """Return the first sentence of a command's help text."""
    first = paragraphs(command.help or "").partition("\n")[0]
    return re.split(r"(?<=[.!]) ", first, maxsplit=1)[0]


def _group(name: str, group: TyperGroup | TyperCommand) -> Iterator[str]:
    yield f"# gazette {name}"
    if isinstance(group, TyperGroup):
        yield f"\n{paragraphs(group.help or '')}"
    inner = _of_root(name, group)
    for path, command in inner.items():
        if path != name:
            yield f"\n## gazette {path}"
        yield from _command(path, command)
    yield "\n## IAM policy"
    granted = frozenset[Grant]().union(*(PERMISSIONS[path] for path in inner))
    if granted:
        yield from _policy(granted)
    else:
        yield "\nNone: the command does not call AWS."


def _command(path: str, command: TyperCommand) -> Iterator[str]:
    context = typer.Context(command, info_name=f"gazette {path}")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"\n{paragraphs(command.help or '')}"
    yield f"\n```sh\ngazette {path} {usage}\n\n{EXAMPLES[path]}\n```"
    rows = [
        row
        for each in command.params
        if isinstance(each, (TyperArgument, TyperOption)) and each.name != "as_json"
        for row in _row(each)
    ]
    if rows:
        yield "\n| argument or option | meaning | default |"
        yield "| --- | --- | --- |"
        yield from rows
    lines = ", one object per line" if path in ONE_A_LINE else ""
    yield f"\nWith `--json`{lines}:\n\n```json\n{json.dumps(SHAPES[path], indent=2)}\n```"


def _row(parameter: TyperArgument | TyperOption) -> Iterator[str]:
    if isinstance(parameter, TyperOption):
        label = "/".join((*parameter.opts, *parameter.secondary_opts))
    else:
        label = parameter.metavar or (parameter.name or "").upper()
    yield f"| `{label}` | {paragraphs(parameter.help or '')} | {_default(parameter)} |"


def _default(parameter: TyperArgument | TyperOption) -> str:
    if parameter.required:
        return "required"
    if isinstance(parameter.show_default, str):
        return f"`{parameter.show_default}`"
    if parameter.default is None or parameter.default is False or parameter.default == "":
        return ""
    return "yes" if parameter.default is True else f"`{parameter.default}`"


def _policy(granted: frozenset[Grant]) -> Iterator[str]:
    yield f"\n```json\n{json.dumps(policy(granted, 'prod'), indent=2)}\n```"


if __name__ == "__main__":
    write()
