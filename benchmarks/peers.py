"""The peers of the rendering benchmark, which `make bench` installs in the environment `.bench`."""

import subprocess
import sys
import sysconfig
from importlib import import_module
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / ".bench"


class NoPeers(Exception):
    """An error for a missing environment. The message describes the remedy."""


def peer(name: str) -> Any:
    """Return a module from PyPI, such as `css_inline`. Raise NoPeers if the module is missing."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = str(_FOLDER / "lib" / version / "site-packages")
    sys.path.append(packages)
    try:
        return import_module(name)
    except ModuleNotFoundError as err:
        raise NoPeers(f"{name} is not in .bench: run `make bench`, which installs it.") from err
    finally:
        sys.path.remove(packages)


def mjml(source: str) -> str:
    """Return a template rendered to HTML by MJML's command line.

    Raise NoPeers if MJML is missing.
    """
    command = _FOLDER / "node_modules" / "mjml" / "bin" / "mjml"
    if not command.exists():
        raise NoPeers("mjml is not in .bench: run `make bench`, which installs it.")
    node = str(Path(sysconfig.get_path("scripts")) / "node")
    found = subprocess.run(
        [node, str(command), "--stdin", "--stdout"],
        input=source,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout
