"""Import every module of the product, for CI on the Python versions whose tests it does not run.

Warnings are errors, as in the tests. A removed feature of the language or the standard library
fails here, with the name of the module.
"""

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_FOLDERS = {
    "layers/gazette/python": ("gazette",),
    "cli": ("gazette_cli", "gazette_support"),
    "infra": ("gazette_cdk",),
    ".": ("functions", "producer", "examples"),
}
"""The folders of modules, by the folder in which Python searches for them."""


def modules() -> Iterator[str]:
    """Return the names of all modules that can be imported, which excludes `__main__`."""
    for place, folders in _FOLDERS.items():
        root = _ROOT / place
        for folder in folders:
            (root / folder).stat()  # it exists
            for path in sorted((root / folder).rglob("*.py")):
                *packages, name = path.relative_to(root).with_suffix("").parts
                if name != "__main__":
                    yield ".".join(packages if name == "__init__" else [*packages, name])


def main() -> None:
    """Import them, and print how many."""
    warnings.simplefilter("error")
    names = list(modules())
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as err:
            err.add_note(f"Python {sys.version_info[0]}.{sys.version_info[1]} imported {name}.")
            raise
    sys.stdout.write(f"imported {len(names)} modules on Python {sys.version.partition(' ')[0]}\n")


if __name__ == "__main__":
    main()
