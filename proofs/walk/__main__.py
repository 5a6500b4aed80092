"""`python -m proofs.walk`, which compares the hops of docs/architecture.md with the executed
code."""

import argparse
import logging
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from gazette.observability import logger

from gazette_cdk.assets.templates.build import build_templates
from proofs.walk.event import walk
from proofs.walk.hops import PAGE, first_problem, hops
from proofs.walk.record import ROOT, Record


def main() -> int:
    """Return 0 only if every hop of the page is executed, in the page's order."""
    parser = argparse.ArgumentParser(prog="make walk", description=__doc__)
    parser.add_argument("--files", action="store_true", help="list executed files and their lines")
    parser.add_argument("--functions", action="store_true", help="list functions as first called")
    asked = parser.parse_args()
    record, cold = _walked()
    if asked.files:
        for path, lines in record.lines.items():
            print(f"{len(lines):4}  {path}")  # noqa: T201 -- what the command is for
    if asked.functions:
        print(*record.functions(), sep="\n")  # noqa: T201
    told = hops(PAGE.read_text())
    problem = first_problem(told, record)
    if problem:
        print(f"walk: {problem}", file=sys.stderr)  # noqa: T201
    print(  # noqa: T201
        f"walk: hops={len(told)} {_figures(record)} (with the start of each function: "
        f"{_figures(cold)})"
    )
    return 1 if problem else 0


def _figures(record: Record) -> str:
    return f"files={len(record.lines)} lines={record.executed_lines()} of {record.length()}"


def _walked() -> tuple[Record, Record]:
    """Walk once through warm functions, and once through functions that start."""
    logger().setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as layer:
        build_templates(ROOT / "templates", Path(layer) / "gazette_templates")
        sys.path.insert(0, layer)
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):  # metrics go there
            return walk(), walk(cold=True)


if __name__ == "__main__":
    sys.exit(main())
