"""The stages in cdk.json, for commands that do not call AWS."""

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
    name: str, project: Path, *, overrides: Mapping[str, object] = MappingProxyType({})
) -> Stage:
    """Read a stage from a project's cdk.json, with optional overrides of settings. Raises
    NotPossible.
    """
    stages = json.loads((project / "cdk.json").read_text())["context"]["stages"]
    if name in stages:
        stages[name] = {**stages[name], **overrides}
    try:
        return read_stage(name, stages)
    except StageError as err:
        raise NotPossible(*str(err).splitlines()) from err


def sources_of(name: str, project: Path) -> Sources:
    """Return the sources that may publish each detail type in a stage. Raises NotPossible."""
    return Sources.of(stage_of(name, project).sources)


def hosts_of(name: str, project: Path) -> LinkHosts:
    """Return the hosts that event links may point to in a stage. Raises NotPossible."""
    return LinkHosts.of(stage_of(name, project).link_hosts)
