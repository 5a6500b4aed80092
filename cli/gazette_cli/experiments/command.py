"""`gazette experiment`: show, start, change and stop experiments."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from gazette.adapters.rendering.environment import VARIATIONS
from gazette.bootstrap.parts.clock import now
from gazette.domain.feedback.experiment import Experiment, InvalidExperiment
from gazette.domain.ports.control import Experiments
from gazette.domain.scheduling.instants import moment
from gazette.settings.delivery import GenerateSettings

from gazette_cli.shared.answers import Document, Yes, confirm, facts, tell
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.commands import Command, UnaskedChange
from gazette_cli.shared.console import NotPossible, note
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.templates.building import templates_of
from gazette_support.bootstrap.statistics import build_experiments
from gazette_support.steps.statistics import start_experiment

_SHARE = re.compile(r"([0-9]{1,2})=([0-9]{1,5})")

_SOON = "The change takes effect within a minute."

experiment = typer.Typer(
    help="Show, start, change and stop A/B tests of email variations.",
    no_args_is_help=True,
)


@experiment.command("show", cls=Command)
def show(stage: StageName = "prod") -> None:
    """Show the running experiment, its start time, and the share of each variation."""
    with refusals_of_tables(stage):
        running = _experiments(stage).running()
    if running is None:
        tell(
            f"stage {stage} has no running experiment; all readers get variation 1",
            **_document(None),
        )
        return
    shares = [(f"variation {each}", f"{share:.1%}") for each, share in _shares(running)]
    facts(_document(running), [("name", running.name), ("since", moment(running.since)), *shares])


@experiment.command("start", cls=Command)
def start(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The name of the experiment, such as short-subjects."),
    ],
    weights: Annotated[
        list[str],
        typer.Argument(
            metavar="VARIATION=WEIGHT...", help="The weights of the variations, such as 1=90 2=10."
        ),
    ],
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Start an experiment, or change the weights of the running experiment. A new experiment ends
    the running experiment.

    If NAME is the running experiment, only the weights change. The new weights move as few readers
    as possible to a different variation.
    """
    new_weights = _weights(weights)
    with refusals_of_tables(stage):
        experiments = _experiments(stage)
        before = experiments.running()
        if before and before.name != name and not yes:
            confirm(f"End the running experiment {before.name} and start {name}?")
        try:
            running = start_experiment(name, new_weights, experiments=experiments, clock=now)
        except InvalidExperiment as err:
            raise NotPossible(f"{err}.") from err
    shares = ", ".join(f"{share:.1%} get variation {each}" for each, share in _shares(running))
    tell(f"experiment {name} is running in stage {stage}: {shares}", **_document(running))
    note(_SOON)
    for variation in missing(new_weights, stage):
        note(
            f"The templates of this working tree have no folder {VARIATIONS}/{variation}. If the "
            "deployed templates do not have this folder either, readers with variation "
            f"{variation} get the default templates."
        )


@experiment.command("stop", cls=UnaskedChange)
def stop(
    stage: StageName = "prod",
) -> None:
    """End the running experiment. All readers get variation 1."""
    with refusals_of_tables(stage):
        _experiments(stage).stop(now())
    tell(
        f"stage {stage} no longer has an experiment; all readers get variation 1",
        **_document(None),
    )
    note(_SOON)


def missing(weights: dict[int, int], stage: str) -> list[int]:
    """Return the variations in use that have no folder in the templates of the working tree."""
    with suppress(NotPossible):
        templates = templates_of(stage)
        return [
            variation
            for variation, weight in weights.items()
            if weight
            and variation != 1
            and not templates.origin(Path(VARIATIONS, str(variation))).is_dir()
        ]
    return []


def _weights(arguments: list[str]) -> dict[int, int]:
    weights: dict[int, int] = {}
    for each in arguments:
        match = _SHARE.fullmatch(each)
        if match is None:
            raise NotPossible(f"{each!r} is not VARIATION=WEIGHT. Specify numbers, such as 2=50.")
        if int(match[1]) in weights:
            raise NotPossible(f"Variation {match[1]} has two weights. Specify one.")
        weights[int(match[1])] = int(match[2])
    return weights


def _shares(running: Experiment) -> list[tuple[int, float]]:
    total = sum(weight for _, weight in running.weights)
    return [(variation, weight / total) for variation, weight in running.weights]


def _document(running: Experiment | None) -> Document:
    shares = dict(_shares(running)) if running else {}
    return {
        "experiment": running.name if running else None,
        "since": running.since if running else None,
        "variations": [
            {"variation": each, "weight": weight, "share": shares[each]}
            for each, weight in (running.weights if running else ())
        ],
    }


def _experiments(stage: str) -> Experiments:
    return build_experiments(settings_of(stage, "generate", GenerateSettings))
