"""The file with the settings of the stages of a project that installs Gazette."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gazette_cdk.folders import STAGE_FILE, NotToml, stages_in
from gazette_cdk.refusal import Refused


@dataclass(frozen=True, slots=True)
class StageFile:
    """The settings of stages, and the file that contains them."""

    path: Path

    # The settings of each stage, by the name of the stage.
    stages: Mapping[str, Any]


def stage_file(file: str | Path = STAGE_FILE) -> StageFile:
    """Read a TOML file in which each table is a stage, such as `[prod]`.

    A relative path starts at the current folder, which is the folder of cdk.json while the CDK runs
    the app. Raises Refused if the file cannot be read.
    """
    path = Path(file).absolute()
    try:
        return StageFile(path, stages_in(path))
    except OSError as err:
        raise Refused(f"{path} is not readable: {err.strerror}.") from err
    except NotToml as err:
        raise Refused(str(err)) from err
