"""Stages as cdk.json has them, for commands that ask nothing of AWS."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from gazette.domain.hosts import LinkHosts
from gazette.domain.sources import Sources

from cli.shared.console import NotPossible
from infra.stage import Stage
from infra.stages import StageError, read_stage


def stage_of(
    name: str, project: Path, *, instead: Mapping[str, object] = MappingProxyType({})
) -> Stage:
    """A stage in the cdk.json of a project, with some settings `instead`. Raises NotPossible."""
    stages = json.loads((project / "cdk.json").read_text())["context"]["stages"]
    if name in stages:
        stages[name] = {**stages[name], **instead}
    try:
        return read_stage(name, stages)
    except StageError as err:
        raise NotPossible(*str(err).splitlines()) from err


def sources_of(name: str, project: Path) -> Sources:
    """Which sources may put a detail type on the bus of a stage. Raises NotPossible."""
    return Sources.of(stage_of(name, project).sources)


def hosts_of(name: str, project: Path) -> LinkHosts:
    """The hosts to which a stage lets links of events lead. Raises NotPossible."""
    return LinkHosts.of(stage_of(name, project).link_hosts)
