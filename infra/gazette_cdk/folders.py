"""The folder of Gazette's own files, and the folder of the project that deploys Gazette.

They are the same in a checkout of Gazette. They differ if Gazette is installed as a package.
`python -m gazette_cdk.folders` prints the first folder.
"""

import json
import sys
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

_BUNDLE = Path(__file__).parent / "_bundle"
"""The folder of Gazette's own files in an installed wheel. A checkout has no such folder."""

IS_INSTALLED = _BUNDLE.is_dir()
"""True if Gazette is installed as a package, and False in a checkout of Gazette."""

GAZETTE = _BUNDLE if IS_INSTALLED else Path(__file__).parents[2]
"""The folder that contains Gazette's own `functions`, `templates` and `layers/dependencies`."""

STAGE_FILE = "gazette.toml"
"""The file with the settings of the stages, in the folder of a project that installs Gazette."""

PACKAGE = (
    Path(__file__).parents[1] / "gazette"
    if IS_INSTALLED
    else GAZETTE / "layers" / "gazette" / "python" / "gazette"
)
"""The folder of the package `gazette`, which the layer contains."""

_CDK_JSON = "cdk.json"


class NotToml(ValueError):
    """A file of settings that is not TOML. The text names the file, the problem and the form."""

    def __init__(self, file: Path, problem: ValueError) -> None:
        super().__init__(
            f"{file} is not TOML: {problem}. A setting that is copied from JSON needs the form "
            "of TOML, such as services_api = { requests_per_second = 50 } instead of "
            '"services_api": {"requests_per_second": 50}.'
        )


def project() -> Path:
    """Return the folder of the project: the nearest folder that has a gazette.toml, or a cdk.json
    that contains stages.

    Search the current folder and its parents. If none of them is a project, return Gazette's own
    folder in a checkout, so that the checkout can be used from any folder. Otherwise return the
    current folder.
    """
    here = Path.cwd()
    outside = here if IS_INSTALLED else GAZETTE
    return next((each for each in (here, *here.parents) if _is_project(each)), outside)


def stages_file() -> Path:
    """Return the file with the settings of the project's stages. It may not exist."""
    folder = project()
    file = folder / STAGE_FILE
    return file if file.is_file() else folder / _CDK_JSON


def stages() -> dict[str, Any]:
    """Return the settings of the project's stages, by the name of the stage.

    Raises OSError, ValueError, KeyError and TypeError.
    """
    file = stages_file()
    return stages_in(file) if file.name == STAGE_FILE else dict(context()["stages"])


def stages_in(file: Path) -> dict[str, Any]:
    """Return the settings of the stages in a TOML file, by the name of the stage.

    Each table at the top is a stage. Dates are text, as in cdk.json. Raises OSError and NotToml.
    """
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as err:
        raise NotToml(file, err) from err
    return {name: _as_in_json(value) for name, value in read.items()}


def context() -> dict[str, Any]:
    """Return the context in the cdk.json of the project.

    Raises OSError, ValueError, KeyError and TypeError.
    """
    return _context_in(project())


def _context_in(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / _CDK_JSON).read_text())["context"])


def _is_project(folder: Path) -> bool:
    if (folder / STAGE_FILE).is_file():
        return True
    try:
        return "stages" in _context_in(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _as_in_json(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _as_in_json(each) for key, each in value.items()}
        case list():
            return [_as_in_json(each) for each in value]
        case date() | datetime() | time():
            return value.isoformat()
        case _:
            return value


if __name__ == "__main__":
    sys.stdout.write(f"{GAZETTE}\n")
