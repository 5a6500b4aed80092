"""The stages in cdk.json, for commands that do not call AWS."""

from collections.abc import Mapping
from types import MappingProxyType

from gazette.domain.hosts import LinkHosts
from gazette.domain.sources import Sources

from gazette_cdk.folders import context
from gazette_cdk.stage import Stage
from gazette_cdk.stages import StageError, read_stage
from gazette_cli.shared.console import NotPossible


def stage_of(name: str, *, overrides: Mapping[str, object] = MappingProxyType({})) -> Stage:
    """Read a stage from the project's cdk.json, with optional overrides of settings. Raises
    NotPossible.
    """
    stages = context()["stages"]
    if name in stages:
        stages[name] = {**stages[name], **overrides}
    try:
        return read_stage(name, stages)
    except StageError as err:
        raise NotPossible(*str(err).splitlines()) from err


def sources_of(name: str) -> Sources:
    """Return the sources that may publish each detail type in a stage. Raises NotPossible."""
    return Sources.of(stage_of(name).sources)


def hosts_of(name: str) -> LinkHosts:
    """Return the hosts that event links may point to in a stage. Raises NotPossible."""
    return LinkHosts.of(stage_of(name).link_hosts)
