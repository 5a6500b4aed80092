"""`gazette rollback`: let all functions work as an earlier deployment published them."""

from typing import Annotated

import typer

from cli.rollback.versions import Deployment, Deployments, point_to, read_deployments
from cli.shared.answers import Rows, Shown, Yes, confirm
from cli.shared.console import NotPossible, note, say
from cli.shared.deployed import StageName


def rollback(
    deployment: Annotated[
        str | None,
        typer.Argument(
            metavar="DEPLOYMENT", help="Its name, as --list shows it. Without it: the one before."
        ),
    ] = None,
    stage: StageName = "prod",
    only_list: Annotated[
        bool, typer.Option("--list", help="List the deployments, and change nothing.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Let all functions run as an earlier deployment published them.

    That is their code, their layers with the templates, and their settings. It takes seconds and
    builds nothing. Tables and their rows, queues, schedules, alarms and policies stay as they are.
    The next deployment that changes something puts its own version to work; deploying the same once
    more does not.

    If a rollback broke off, finish it first, with the name of its deployment.
    """
    found = read_deployments(stage)
    if only_list:
        _show(found)
        return
    goal = _goal(found, deployment)
    if found.live == goal.versions:
        note(f"Deployment {goal.name} works already.")
        _show(found)
        return
    if not yes:
        confirm(f"Let all functions of stage {stage} work as deployment {goal.name}?")
    try:
        point_to(goal, stage)
    except BaseException:
        note(
            f"It broke off: some functions may work as deployment {goal.name}, and others not. "
            f"`gazette rollback {goal.name}` finishes it."
        )
        raise
    say(f"All functions of stage {stage} work as deployment {goal.name}.")
    note("Tables, queues, schedules and policies are as before. Mend what was wrong, then deploy.")
    _show(Deployments(found.all, goal.versions))


def _goal(found: Deployments, name: str | None) -> Deployment:
    if name is None:
        if found.working is None:
            raise NotPossible(_which_to_finish(found))
        if found.before is None:
            raise NotPossible(
                "There is no whole deployment before the one that works: "
                "`gazette rollback --list` shows those that there are."
            )
        return found.before
    goal = next((each for each in found.all if each.name == name), None)
    if goal is None:
        raise NotPossible(f"There is no deployment {name}: `gazette rollback --list` names them.")
    if not goal.is_whole:
        raise NotPossible(
            f"Deployment {name} does not have every function: choose one that is whole."
        )
    return goal


def _which_to_finish(found: Deployments) -> str:
    """What to run where the functions are of several deployments: none is the one before them."""
    commands = [f"`gazette rollback {each.name}`" for each in found.begun]
    said = "The functions do not all work as one deployment, as after a rollback that broke off."
    if not commands:
        return f"{said} Name one of `gazette rollback --list` that is whole."
    return f"{said} Let them all work as one of those that some work as: {' or '.join(commands)}."


def _show(found: Deployments) -> None:
    working = found.working
    rows = [
        (
            each.name,
            each.published_at,
            Shown(each == working, "works" if each == working else ""),
            Shown(each.is_whole, "yes" if each.is_whole else "no"),
        )
        for each in found.all
    ]
    columns = {
        "deployment": "deployment",
        "published_at": "published at",
        "is_live": "works",
        "is_whole": "whole",
    }
    Rows("deployments", columns, rows).show()
