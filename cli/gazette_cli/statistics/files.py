"""Files that contain reports."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from gazette_cli.shared.console import NotPossible


def check_writable(option: str, file: Path | None) -> None:
    """Check that a path is writable. Raises NotPossible.

    The path is checked first, because reading the data takes a minute.
    """
    if file is None:
        return
    if file.is_dir():
        raise NotPossible(f"{option} {file} is a folder. Specify a file.")
    if not file.parent.is_dir():
        raise NotPossible(f"{option} {file}: folder {file.parent} does not exist. Create it first.")


def readers_file(file: Path) -> Path:
    """Return the path of the readers table, such as `report.readers.csv` for `report.csv`."""
    return file.with_name(f"{file.stem}.readers{file.suffix}")


def write_csv(option: str, file: Path, lines: Iterable[tuple[str, ...]]) -> None:
    """Write CSV (RFC 4180, but with line feeds only). Raises NotPossible."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    write(option, file, text.getvalue())


def write(option: str, file: Path, text: str) -> None:
    """Write text to a file in UTF-8. Raises NotPossible."""
    try:
        file.write_text(text, encoding="utf-8", newline="")
    except OSError as err:
        raise NotPossible(f"{option} {file} is not writable: {err.strerror}.") from err
