"""The progress of an import in a file next to the imported file."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gazette_cli.imports.entries import BEGIN, Place
from gazette_cli.imports.items import Kind
from gazette_cli.shared.console import NotPossible
from gazette_support.adapters.files import replace_json

_VERSION = 1


@dataclass(slots=True)
class State:
    """The progress of an import.

    Everything before `place` is acknowledged for the kinds up to `kind`. A crash may lose the
    latest progress, so the next run may publish some items again, which has no effect.
    """

    sha256: str
    stage: str
    source: str
    changed_at: str
    totals: dict[str, int]
    """The number of items in the file, by kind."""

    acknowledged: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))
    """The number of items that are acknowledged, by kind."""

    kind: str = Kind.SUPPRESSION
    place: Place = BEGIN
    is_finished: bool = False

    def save(self, path: Path) -> None:
        """Replace the file, and wait until it is on the disk. Raises OSError."""
        replace_json(path, {"version": _VERSION, **asdict(self)})


def state_path(path: Path) -> Path:
    """Return the path of the state of an imported file."""
    return path.with_name(f"{path.name}.state")


def _of_this_version(content: dict[str, Any]) -> dict[str, Any]:
    if content["version"] != _VERSION:
        raise ValueError(f"its version is {content['version']}")
    return {name: each for name, each in content.items() if name != "version"}


def read_state(path: Path) -> State | None:
    """Read the state of an import; None if there is none. Raises NotPossible."""
    try:
        content = json.loads(path.read_text())
        place = Place(**content["place"])
        return State(**{**_of_this_version(content), "place": place})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
        raise NotPossible(
            f"{path} is not the state of an import ({err}). Delete it to begin again; items that "
            "are already imported do not change."
        ) from err
