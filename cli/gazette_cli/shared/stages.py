"""The stages in the project's cdk.json or gazette.toml, for commands that do not call AWS."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gazette.domain.hosts import LinkHosts
from gazette.domain.sources import Sources

from gazette_cdk.folders import NotToml, stages, stages_file
from gazette_cdk.stage import Stage as Stage
from gazette_cdk.stages import StageError, read_stage
from gazette_cli.shared.console import NotPossible


def stage_of(name: str, *, overrides: Mapping[str, object] = MappingProxyType({})) -> Stage:
    """Read a stage of the project, with optional overrides of settings. Raises NotPossible."""
    known = _stages()
    if isinstance(known.get(name), Mapping):
        known[name] = {**known[name], **overrides}
    try:
        return read_stage(name, known, origin=stages_file().name)
    except StageError as err:
        raise NotPossible(*str(err).splitlines()) from err


def check_settings(name: str, values: Mapping[str, object], *, origin: str) -> None:
    """Raise NotPossible with all problems of a stage's settings. `origin` is their place."""
    try:
        read_stage(name, {name: values}, origin=origin)
    except StageError as err:
        raise NotPossible(*str(err).splitlines()) from err


def _stages() -> dict[str, Any]:
    file = stages_file()
    try:
        return stages()
    except FileNotFoundError as err:
        raise NotPossible(
            f"{file.parent} and its parent folders have no gazette.toml, and no cdk.json with "
            "stages. Run the command in the folder of your project. `gazette init FOLDER` creates "
            "a project."
        ) from err
    except NotToml as err:
        raise NotPossible(str(err)) from err
    except (OSError, ValueError, KeyError, TypeError) as err:
        raise NotPossible(f"{file} is unreadable ({err}). Fix the file.") from err


def sources_of(name: str) -> Sources:
    """Return the sources that may publish each detail type in a stage. Raises NotPossible."""
    return Sources.of(stage_of(name).sources)


def hosts_of(name: str) -> LinkHosts:
    """Return the hosts that event links may point to in a stage. Raises NotPossible."""
    return LinkHosts.of(stage_of(name).link_hosts)
