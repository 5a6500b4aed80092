"""Where a report is written, and what is wrong where it cannot be."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from cli.shared.console import NotPossible


def check_writable(option: str, file: Path | None) -> None:
    """Before a minute of reading. Raises NotPossible."""
    if file is None:
        return
    if file.is_dir():
        raise NotPossible(f"{option} {file} is a folder: name a file in it.")
    if not file.parent.is_dir():
        raise NotPossible(f"{option} {file}: there is no folder {file.parent}: make it first.")


def readers_file(file: Path) -> Path:
    """Beside `file`: `report.csv` and `report.readers.csv`. One file holds one table."""
    return file.with_name(f"{file.stem}.readers{file.suffix}")


def write_csv(option: str, file: Path, lines: Iterable[tuple[str, ...]]) -> None:
    """RFC 4180, but with line feeds alone. Raises NotPossible."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    write(option, file, text.getvalue())


def write(option: str, file: Path, text: str) -> None:
    """As UTF-8. Raises NotPossible."""
    try:
        file.write_text(text, encoding="utf-8", newline="")
    except OSError as err:
        raise NotPossible(f"{option} {file} cannot be written: {err.strerror}.") from err
