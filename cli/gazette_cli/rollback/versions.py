"""The deployments of a stage, with the version of each function."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import boto3
from gazette.settings.environment import LIVE

from gazette_cdk.stacks.version import DeploymentLabel
from gazette_cdk.topology import API, API_WRITES, CONTENT, OUTBOX, STEPS, SUPPORT, SUPPORT_REDRIVE
from gazette_cli.shared.aws_errors import refusals_in_words

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

FUNCTIONS = tuple(step.name for step in STEPS)

_OPTIONAL = tuple(
    step.name for step in (CONTENT, OUTBOX, API, API_WRITES, SUPPORT, SUPPORT_REDRIVE)
)
"""Functions that only some stages have.

A deployment without these functions is complete. A rollback to such a deployment does not change
the functions.
"""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment of the functions."""

    name: str
    published_at: datetime

    # The version of Gazette, or "" if a version before 0.2.0 was deployed.
    version: str

    # The version of each function.
    versions: Mapping[str, int]

    @property
    def is_whole(self) -> bool:
        """True if the deployment has a version of every required function."""
        return self.versions.keys() >= set(FUNCTIONS)

    def works(self, live: Mapping[str, int]) -> bool:
        """Return True if every function runs the version of this deployment."""
        return self.is_whole and all(live.get(name) == at for name, at in self.versions.items())


@dataclass(frozen=True, slots=True)
class Deployments:
    """All deployments of a stage."""

    # The deployments, newest first.
    all: tuple[Deployment, ...]

    # The version that the alias of each function points to.
    live: Mapping[str, int]

    @property
    def working(self) -> Deployment | None:
        """The live deployment, or None if the functions run different deployments."""
        return next((each for each in self.all if each.works(self.live)), None)

    @property
    def begun(self) -> tuple[Deployment, ...]:
        """The complete deployments with at least one live version, newest first."""
        return tuple(
            each
            for each in self.all
            if each.is_whole and any(each.versions[name] == self.live[name] for name in FUNCTIONS)
        )

    @property
    def before(self) -> Deployment | None:
        """The newest complete deployment whose versions are all older than the live versions."""
        return next(
            (
                each
                for each in self.all
                if each.is_whole
                and all(each.versions[name] < self.live[name] for name in FUNCTIONS)
            ),
            None,
        )


def read_deployments(stage: str) -> Deployments:
    """Read the deployments. Each function requires one GetAlias call, and one
    ListVersionsByFunction call per fifty versions.
    """
    versions: dict[DeploymentLabel, dict[str, int]] = defaultdict(dict)
    published: dict[DeploymentLabel, datetime] = {}
    live: dict[str, int] = {}
    for function in (*FUNCTIONS, *_OPTIONAL):
        name = f"gazette-{stage}-{function}"
        with refusals_in_words(name, service="lambda"):
            client: LambdaClient = boto3.client("lambda")
            try:
                alias = client.get_alias(FunctionName=name, Name=LIVE)
            except client.exceptions.ResourceNotFoundException:
                if function in _OPTIONAL:
                    continue
                raise
            live[function] = int(alias["FunctionVersion"])
            pages = client.get_paginator("list_versions_by_function").paginate(FunctionName=name)
            summaries = [version for page in pages for version in page["Versions"]]
        for version in summaries:
            label = DeploymentLabel.read(version.get("Description", ""))
            if label and version["Version"].isdigit():
                number = int(version["Version"])
                at = datetime.fromisoformat(version["LastModified"])
                versions[label][function] = max(number, versions[label].get(function, 0))
                published[label] = max(at, published.get(label, at))
    every = [
        Deployment(label.name, published[label], label.version, versions[label])
        for label in versions
    ]
    newest = sorted(every, key=lambda each: (each.published_at, each.name), reverse=True)
    return Deployments(tuple(newest), live)


def point_to(deployment: Deployment, stage: str) -> None:
    """Move the alias of each function, with one UpdateAlias call per function. This is safe to
    repeat.
    """
    for function, version in deployment.versions.items():
        name = f"gazette-{stage}-{function}"
        with refusals_in_words(name, service="lambda"):
            client: LambdaClient = boto3.client("lambda")
            client.update_alias(FunctionName=name, Name=LIVE, FunctionVersion=str(version))
