"""Base classes of commands: errors, exit codes, help, `--json` and `--yes`."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from gazette_cli.shared.aws_errors import refusals_of_queues
from gazette_cli.shared.console import NOT_POSSIBLE, failed, one_line_errors
from gazette_cli.shared.next_commands import DEFAULT_STAGE


class Command(TyperCommand):
    """A command that reports an expected error on one line, and accepts `--json`."""

    def __init__(self, name: str | None, **options: Any) -> None:
        super().__init__(name, **options)
        self.help = paragraphs(self.help or "")
        self.params.append(_json_option())

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse the arguments. With `--json`, report an invalid option as JSON."""
        is_json = "--json" in _options(args)
        try:
            return super().make_context(info_name, args, parent, **extra)
        except typer.TyperException as err:
            if not is_json:
                raise
            failed(err.format_message(), in_json=True)
            raise typer.Exit(NOT_POSSIBLE) from err

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        stage = ctx.params.get("stage") or DEFAULT_STAGE
        in_json = ctx.params.pop("as_json", False)
        with one_line_errors(in_json=in_json, stage=stage), refusals_of_queues():
            return super().invoke(ctx)


class UnaskedChange(Command):
    """A command that changes a stage without confirmation, because the change can be undone or
    repeated.

    The command accepts `--yes` so that a script can pass the option to every command.
    """

    def __init__(self, name: str | None, **options: Any) -> None:
        super().__init__(name, **options)
        self.params.insert(-1, _yes_option())

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        ctx.params.pop("yes", None)
        return super().invoke(ctx)


def paragraphs(text: str) -> str:
    """Join the lines of each paragraph into one line, so that the terminal wraps the text at its
    width.
    """
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _options(args: Sequence[str]) -> list[str]:
    """Return the command-line words before `--`. All words after `--` are arguments."""
    return list(args[: args.index("--")] if "--" in args else args)


def _json_option() -> TyperOption:
    def command(
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Declare the option."""

    return _only_option(command)


def _yes_option() -> TyperOption:
    def command(
        yes: Annotated[
            bool,
            typer.Option(
                "--yes",
                help="Has no effect. Scripts can pass this option to every command.",
            ),
        ] = False,
    ) -> None:
        """Declare the option."""

    return _only_option(command)


def _only_option(command: Callable[..., None]) -> TyperOption:
    """Return a new option. Typer creates the option from the only parameter of a function."""
    probe = typer.Typer(add_completion=False)
    probe.command()(command)
    (option,) = (
        each for each in typer.main.get_command(probe).params if isinstance(each, TyperOption)
    )
    return option
