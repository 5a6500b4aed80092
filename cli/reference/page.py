"""`python -m cli.reference.page`: docs/cli.md, written from the commands and their permissions."""

import json
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from cli.main import app
from cli.reference.examples import EXAMPLES
from cli.reference.permissions import IN_THE_CONSOLE, PERMISSIONS, Grant, policy
from cli.reference.shapes import ONE_A_LINE, SHAPES
from cli.shared.commands import paragraphs

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"

_INTRO = Path(__file__).with_name("introduction.md")

_CONSOLE = Path(__file__).with_name("console.md")


def commands() -> dict[str, dict[str, TyperCommand]]:
    """Every command by its path, by group; a command outside a group is a group of its own."""
    return {
        name: {f"{name} {each}": inner for each, inner in _inner(group)}
        if isinstance(group, TyperGroup)
        else {name: group}
        for name, group in _roots()
    }


def page() -> str:
    """The whole page."""
    return "\n".join((_INTRO.read_text().rstrip(), *_contents(), *_groups(), *_console())) + "\n"


def _roots() -> list[tuple[str, TyperGroup | TyperCommand]]:
    root = typer.main.get_command(app)
    found = root.commands.items() if isinstance(root, TyperGroup) else ()
    return sorted(
        (name, each) for name, each in found if isinstance(each, (TyperGroup, TyperCommand))
    )


def _inner(group: TyperGroup) -> list[tuple[str, TyperCommand]]:
    return [(name, each) for name, each in group.commands.items() if isinstance(each, TyperCommand)]


def _contents() -> Iterator[str]:
    yield ""
    yield "| command | what it is for |"
    yield "| --- | --- |"
    for name, group in _roots():
        yield f"| [`{name}`](#gazette-{name}) | {paragraphs(group.help or '').splitlines()[0]} |"


def _groups() -> Iterator[str]:
    inner = commands()
    for name, group in _roots():
        yield f"\n## gazette {name}"
        if isinstance(group, TyperGroup):
            yield f"\n{paragraphs(group.help or '')}"
        for path, command in inner[name].items():
            if path != name:
                yield f"\n### gazette {path}"
            yield from _command(path, command)
        yield from _policy(name)


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
    lines = ", an object a line" if path in ONE_A_LINE else ""
    yield f"\nWith `--json`{lines}:\n\n```json\n{json.dumps(SHAPES[path], indent=2)}\n```"


def _row(parameter: TyperArgument | TyperOption) -> Iterator[str]:
    if isinstance(parameter, TyperOption):
        named = "/".join((*parameter.opts, *parameter.secondary_opts))
    else:
        named = parameter.metavar or (parameter.name or "").upper()
    yield f"| `{named}` | {paragraphs(parameter.help or '')} | {_default(parameter)} |"


def _default(parameter: TyperArgument | TyperOption) -> str:
    if parameter.required:
        return "required"
    if isinstance(parameter.show_default, str):
        return f"`{parameter.show_default}`"
    if parameter.default is None or parameter.default is False or parameter.default == "":
        return ""
    return "yes" if parameter.default is True else f"`{parameter.default}`"


def _policy(group: str) -> Iterator[str]:
    granted = frozenset[Grant]().union(*(PERMISSIONS[path] for path in commands()[group]))
    if not granted:
        yield "\nCalls nothing in AWS."
        return
    yield from _written(granted)


def _console() -> Iterator[str]:
    yield f"\n{_CONSOLE.read_text().rstrip()}"
    yield from _written(IN_THE_CONSOLE)


def _written(granted: frozenset[Grant]) -> Iterator[str]:
    written = json.dumps(policy(granted, "prod"), indent=2)
    yield f"\nIAM policy:\n\n```json\n{written}\n```"


if __name__ == "__main__":
    PAGE.write_text(page())
