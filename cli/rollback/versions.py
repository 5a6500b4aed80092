"""The deployments of a stage: which versions of its functions belong together, and which work."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import boto3
from gazette.settings.environment import LIVE

from cli.shared.aws_errors import refusals_in_words
from infra.topology import CONTENT, STEPS

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

FUNCTIONS = tuple(step.name for step in STEPS)

_OPTIONAL = (CONTENT.name,)
"""Functions of some stages only. A deployment without them is whole, and leaves them as they are.
"""

_NAMED = "deployment "
"""So begins the description of a version; the deployment's name follows."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """`versions`: the version of each function; fewer than all are no deployment to go back to."""

    name: str
    published_at: datetime
    versions: Mapping[str, int]

    @property
    def is_whole(self) -> bool:
        """Whether it has a version of every function that every stage has."""
        return self.versions.keys() >= set(FUNCTIONS)

    def works(self, live: Mapping[str, int]) -> bool:
        """Whether each function works as it published it."""
        return self.is_whole and all(live.get(name) == at for name, at in self.versions.items())


@dataclass(frozen=True, slots=True)
class Deployments:
    """`all`: newest first. `live`: to which version the alias of each function points."""

    all: tuple[Deployment, ...]
    live: Mapping[str, int]

    @property
    def working(self) -> Deployment | None:
        """The one that works; None while the functions are of several."""
        return next((each for each in self.all if each.works(self.live)), None)

    @property
    def begun(self) -> tuple[Deployment, ...]:
        """The whole ones to which some alias points, newest first."""
        return tuple(
            each
            for each in self.all
            if each.is_whole and any(each.versions[name] == self.live[name] for name in FUNCTIONS)
        )

    @property
    def before(self) -> Deployment | None:
        """The newest whole one whose versions are all older than those that work."""
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
    """One GetAlias a function, and one ListVersionsByFunction for fifty versions of it."""
    versions: dict[str, dict[str, int]] = defaultdict(dict)
    published: dict[str, datetime] = {}
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
            found = [version for page in pages for version in page["Versions"]]
        for version in found:
            said = version.get("Description", "")
            if version["Version"].isdigit() and said.startswith(_NAMED):
                named, number = said.removeprefix(_NAMED), int(version["Version"])
                at = datetime.fromisoformat(version["LastModified"])
                versions[named][function] = max(number, versions[named].get(function, 0))
                published[named] = max(at, published.get(named, at))
    every = [Deployment(name, published[name], versions[name]) for name in versions]
    newest = sorted(every, key=lambda each: (each.published_at, each.name), reverse=True)
    return Deployments(tuple(newest), live)


def point_to(deployment: Deployment, stage: str) -> None:
    """One UpdateAlias a function. What broke off is finished by the same once more."""
    for function, version in deployment.versions.items():
        name = f"gazette-{stage}-{function}"
        with refusals_in_words(name, service="lambda"):
            client: LambdaClient = boto3.client("lambda")
            client.update_alias(FunctionName=name, Name=LIVE, FunctionVersion=str(version))
