"""The write units and calls that docs/tables.md promises, for the tests that measure them."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def promised() -> dict[str, int]:
    """The bold units of the page, by operation."""
    rows = re.findall(r"^\| (.+?) \| \*\*(\d+)\*\* \|", PAGE.read_text(), re.MULTILINE)
    return {operation: int(units) for operation, units in rows}


def units_of(operation: str) -> float:
    """The units of one operation of the page, bold or not; its first row, if it has several."""
    found = re.search(rf"^\| {re.escape(operation)} \| \D*([\d.]+)", PAGE.read_text(), re.MULTILINE)
    if found is None:
        raise LookupError(f"docs/tables.md has no operation {operation!r}")
    return float(found.group(1))


def promised_calls() -> dict[str, int]:
    """The calls of the page, by operation, where they are one number."""
    _, _, calls = PAGE.read_text().partition("## Cost in calls")
    rows = re.findall(r"^\| (.+?) \| (\d+) \|", calls, re.MULTILINE)
    return {operation: int(number) for operation, number in rows}
