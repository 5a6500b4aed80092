"""`gazette rollback`: roll back all functions to an earlier deployment."""

from typing import Annotated

import typer

from gazette_cli.rollback.versions import Deployment, Deployments, point_to, read_deployments
from gazette_cli.shared.answers import Rows, Shown, Yes, confirm
from gazette_cli.shared.console import NotPossible, note, say
from gazette_cli.shared.deployed import StageName


def rollback(
    deployment: Annotated[
        str | None,
        typer.Argument(
            metavar="DEPLOYMENT",
            help="The name of a deployment, from the output of --list. The default is the "
            "previous deployment.",
        ),
    ] = None,
    stage: StageName = "prod",
    only_list: Annotated[
        bool, typer.Option("--list", help="List the deployments without changing anything.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Roll back all functions to an earlier deployment, within seconds and without a build.

    A rollback restores the code, the layers with the templates, and the settings of the functions.
    Tables, queues, schedules, alarms and policies do not change. The next deployment replaces the
    versions only if it changes a function, so deploying the same code again does not undo the
    rollback.

    If a rollback was interrupted, run the command again with the same deployment.
    """
    deployments = read_deployments(stage)
    if only_list:
        _show(deployments)
        return
    goal = _goal(deployments, deployment)
    if deployments.live == goal.versions:
        note(f"Deployment {goal.name} is already live.")
        _show(deployments)
        return
    if not yes:
        confirm(f"Roll back all functions of stage {stage} to deployment {goal.name}?")
    try:
        point_to(goal, stage)
    except BaseException:
        note(
            "The rollback was interrupted, so the functions may run different deployments. To "
            f"complete the rollback, run `gazette rollback {goal.name}`."
        )
        raise
    say(f"All functions of stage {stage} run deployment {goal.name}.")
    note("Tables, queues, schedules and policies did not change. Fix the cause, then deploy.")
    _show(Deployments(deployments.all, goal.versions))


def _goal(deployments: Deployments, name: str | None) -> Deployment:
    if name is None:
        if deployments.working is None:
            raise NotPossible(_which_to_finish(deployments))
        if deployments.before is None:
            raise NotPossible(
                "There is no complete deployment before the live deployment. To see all "
                "deployments, run `gazette rollback --list`."
            )
        return deployments.before
    goal = next((each for each in deployments.all if each.name == name), None)
    if goal is None:
        raise NotPossible(
            f"Deployment {name} does not exist. To see all deployments, run `gazette rollback "
            "--list`."
        )
    if not goal.is_whole:
        raise NotPossible(
            f"Deployment {name} does not have a version of every function. Specify a complete "
            "deployment."
        )
    return goal


def _which_to_finish(deployments: Deployments) -> str:
    """Return the error, including the remedy, for functions that run different deployments."""
    commands = [f"`gazette rollback {each.name}`" for each in deployments.begun]
    problem = "The functions run different deployments, for example after an interrupted rollback."
    if not commands:
        return f"{problem} Specify a complete deployment from `gazette rollback --list`."
    return f"{problem} To use one deployment for all functions, run {' or '.join(commands)}."


def _show(deployments: Deployments) -> None:
    working = deployments.working
    rows = [
        (
            each.name,
            each.version,
            each.published_at,
            Shown(each == working, "live" if each == working else ""),
            Shown(each.is_whole, "yes" if each.is_whole else "no"),
        )
        for each in deployments.all
    ]
    columns = {
        "deployment": "deployment",
        "version": "version",
        "published_at": "published at",
        "is_live": "live",
        "is_whole": "complete",
    }
    Rows("deployments", columns, rows).show()
