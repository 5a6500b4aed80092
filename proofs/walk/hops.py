"""The hops that docs/architecture.md tells, and whether they are what is executed."""

import ast
import re
from dataclasses import dataclass

from proofs.walk.record import ROOT, Record, file_of

PAGE = ROOT / "docs" / "architecture.md"
MOST_HOPS = 25

MOST_FILES = 81
"""Executed for one event. A detour more has to be worth raising this."""

_CALL = re.compile(r"`([\w/]+\.py):([\w.]+)`")
_HOP = re.compile(r"^(?P<number>\d+)\. `(?P<path>[\w/]+\.py):(?P<function>[\w.]+)` (?P<told>.+)$")


@dataclass(frozen=True)
class Hop:
    """One step of the way: a function, and what the page says that it does."""

    number: int
    path: str
    function: str
    told: str

    @property
    def call(self) -> str:
        """As a record names it."""
        return f"{self.path}:{self.function}"


def hops(page: str) -> list[Hop]:
    """The numbered hops of the page, in its order."""
    return [
        Hop(int(found["number"]), found["path"], found["function"], found["told"])
        for found in map(_HOP.match, page.splitlines())
        if found
    ]


def first_problem(told: list[Hop], record: Record) -> str | None:
    """What is wrong with the first hop that is wrong; None where the page tells what happens.

    Every hop must be called, and later than the hop before it.
    """
    if not 0 < len(told) <= MOST_HOPS:
        return f"the page has {len(told)} hops; it may have 1 to {MOST_HOPS}"
    position = 0
    for index, hop in enumerate(told):
        if hop.number != index + 1:
            return f"hop {hop.number} stands where hop {index + 1} belongs"
        if not _exists(hop.path, hop.function):
            return f"hop {hop.number} does not exist: {hop.call}"
        if hop.call not in record.calls:
            return f"hop {hop.number} was not executed: {hop.call}"
        try:
            position = record.calls.index(hop.call, position) + 1
        except ValueError:
            return f"hop {hop.number} is out of order: {hop.call} is not called after hop {index}"
    return None


def missing(page: str) -> list[str]:
    """Each `path.py:function` on the page, hop or not, that is no function of ours."""
    return [
        f"{path}:{function}"
        for path, function in _CALL.findall(page)
        if not _exists(path, function)
    ]


def _exists(path: str, function: str) -> bool:
    file = file_of(path)
    return file.is_file() and function in _functions(ast.parse(file.read_text()))


def _functions(tree: ast.AST, outer: str = "") -> set[str]:
    """The names of all functions, as `function` or `Class.method`."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            found |= _functions(node, f"{outer}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            found |= {f"{outer}{node.name}"}
    return found
