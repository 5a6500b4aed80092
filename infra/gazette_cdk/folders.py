"""The folder of Gazette's own files, and the folder of the project that deploys Gazette.

They are the same in a checkout of Gazette. They differ if Gazette is installed as a package.
"""

import json
from pathlib import Path
from typing import Any

GAZETTE = Path(__file__).parents[2]
"""The folder that contains Gazette's own `functions`, `layers` and `templates`."""

_CDK_JSON = "cdk.json"


def project() -> Path:
    """Return the folder of the project: the nearest folder whose cdk.json contains stages.

    Search the current folder and its parents. If none of them is a project, return Gazette's own
    folder, so that a checkout can be used from any folder.
    """
    here = Path.cwd()
    return next((each for each in (here, *here.parents) if _has_stages(each)), GAZETTE)


def context() -> dict[str, Any]:
    """Return the context in the cdk.json of the project.

    Raises OSError, ValueError, KeyError and TypeError.
    """
    return _context_in(project())


def _context_in(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / _CDK_JSON).read_text())["context"])


def _has_stages(folder: Path) -> bool:
    try:
        return "stages" in _context_in(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return False
