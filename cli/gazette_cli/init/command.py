"""`gazette init`: create a project that deploys Gazette with the CDK."""

from pathlib import Path
from typing import Annotated

import typer

from gazette_cli.init.files import BUS, Project, files
from gazette_cli.shared.answers import give
from gazette_cli.shared.console import NotPossible, say
from gazette_cli.shared.stages import check_settings

_COMMANDS = (
    "npm install                         # installs the pinned command of the CDK",
    "python -m unittest                  # checks the settings, and renders all emails",
    "npx cdk bootstrap                   # once per account and Region",
    "npx cdk deploy --all                # deploys the stage test",
    "gazette doctor --stage test         # checks the stage",
)


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of the new project.")
    ],
    sender: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The From address, such as 'Shop <digest@shop.example>'."
        ),
    ] = "",
    list_id: Annotated[
        str,
        typer.Option(
            "--list-id",
            metavar="NAME",
            help="The name of the mailing list, such as digest.shop.example.",
        ),
    ] = "",
    alarm_email: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="The address that receives the alarms of prod."),
    ] = "",
) -> None:
    """Create a project that deploys Gazette: a CDK app, settings, a brand, tests and a workflow.

    The folder must be empty or missing. Placeholders stand for options that you omit. The stage
    `test` can be deployed at once. The settings of the stage `prod` are comments in gazette.toml.
    """
    name = folder.resolve().name.lower()
    project = Project(
        name=name,
        sender=sender or f"{name.title()} <digest@{_label(name)}.example>",
        list_id=list_id or f"digest.{_label(name)}.example",
        alarm_email=alarm_email or f"team@{_label(name)}.example",
    )
    check_settings(
        "test",
        {"sender": project.sender, "list_id": project.list_id, "alarm_email": project.alarm_email},
        origin="the options",
    )
    written = _write(folder, project)
    for path in written:
        say(str(path))
    say("")
    say("Next commands:", style="bold")
    for command in (f"cd {folder}", *_COMMANDS):
        say(f"  {command}")
    say(f"Services publish events to the event bus {BUS}. README.md describes the first event.")
    give({"files": [str(path) for path in written]})


def _label(name: str) -> str:
    """Return the name as a label of a domain."""
    label = "".join(each if each.isascii() and each.isalnum() else "-" for each in name)
    return label.strip("-") or "shop"


def _write(folder: Path, project: Project) -> list[Path]:
    """Write the files. Raises NotPossible if the folder has files or cannot be written."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise NotPossible(f"{folder} is not an empty folder. Specify a new or empty folder.")
        written = []
        for name, text in sorted(files(project).items()):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as err:
        raise NotPossible(
            f"{folder} is not writable ({err.strerror}). Specify a different folder."
        ) from err
    return written
