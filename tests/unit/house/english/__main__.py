"""Print the findings in files and folders, or count them."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.unit.house.english import check
from tests.unit.house.english.habits import HABITS


def main() -> int:
    """Run the command. Return 1 if it printed a finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.unit.house.english", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="files and folders (default: all)")
    parser.add_argument("--only", help="print the findings of one habit")
    parser.add_argument("--habits", action="store_true", help="explain each habit")
    parser.add_argument("--count", action="store_true", help="count findings by habit and folder")
    options = parser.parse_args()
    if options.habits:
        return _explain()
    paths = check.files(options.paths or [check.ROOT])
    matches = [each for each in check.findings(paths) if options.only in (None, each.habit.name)]
    if options.count:
        print(_table(matches))
        return 0
    for finding in matches:
        print(finding)
    return bool(matches)


def _explain() -> int:
    """Print each habit: the reason to drop it, the advice, and an example."""
    for habit in HABITS:
        print(f"{habit.name}\n  {habit.why}\n  {habit.instead}")
        for bad, good in habit.examples.items():
            print(f"  - {bad}\n  + {good}")
    return 0


def _table(findings: Iterable[check.Finding]) -> str:
    """Return a table in Markdown of the findings by habit and folder."""
    numbers = Counter((each.habit.name, each.path.split("/")[0]) for each in findings)
    tops = sorted({top for _, top in numbers})
    rows = [["habit", *tops, "all"], ["---", *["---:" for _ in tops], "---:"]]
    rows += [
        [name, *(str(numbers[name, top]) for top in tops), _sum(numbers, name=name)]
        for name in [habit.name for habit in HABITS]
    ]
    rows.append(["all", *(_sum(numbers, top=top) for top in tops), _sum(numbers)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _sum(
    numbers: Mapping[tuple[str, str], int], *, name: str | None = None, top: str | None = None
) -> str:
    keys = [key for key in numbers if name in (None, key[0]) and top in (None, key[1])]
    return str(sum(numbers[key] for key in keys))


if __name__ == "__main__":
    sys.exit(main())
