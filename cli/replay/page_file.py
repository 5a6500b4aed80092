"""Where the page of a replay goes."""

from pathlib import Path
from tempfile import TemporaryFile

from cli.shared.console import NotPossible


def place_of_page(folder: Path) -> Path:
    """Where the page goes, in a folder that takes files: seen before minutes of reading.

    Raises NotPossible.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as err:
        raise _unwritable(folder, err) from err
    return folder / "index.html"


def write_page(index: Path, content: str) -> None:
    """Raises NotPossible."""
    try:
        index.write_text(content, encoding="utf-8", newline="")
    except OSError as err:
        raise _unwritable(index.parent, err) from err


def _unwritable(folder: Path, err: OSError) -> NotPossible:
    return NotPossible(f"--to {folder} cannot be written ({err.strerror}): name another folder.")
