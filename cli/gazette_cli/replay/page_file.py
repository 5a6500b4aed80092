"""The file with the page of a replay."""

from pathlib import Path
from tempfile import TemporaryFile

from gazette_cli.shared.console import NotPossible


def place_of_page(folder: Path) -> Path:
    """Return the path of the page in a writable folder. Raises NotPossible.

    The folder is checked before the replay, which takes minutes.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as err:
        raise _unwritable(folder, err) from err
    return folder / "index.html"


def write_page(index: Path, content: str) -> None:
    """Write the page. Raises NotPossible."""
    try:
        index.write_text(content, encoding="utf-8", newline="")
    except OSError as err:
        raise _unwritable(index.parent, err) from err


def _unwritable(folder: Path, err: OSError) -> NotPossible:
    return NotPossible(
        f"--to {folder} is not writable ({err.strerror}). Specify a different folder."
    )
