"""The hops of docs/architecture.md, and their comparison with the executed code."""

import ast
import re
from dataclasses import dataclass

from proofs.walk.record import ROOT, Record, file_of

PAGE = ROOT / "docs" / "architecture.md"
MOST_HOPS = 25

MOST_FILES = 81
"""The limit of files that are executed for one event. Raise it only for a good reason."""

_CALL = re.compile(r"`([\w/]+\.py):([\w.]+)`")
_HOP = re.compile(r"^(?P<number>\d+)\. `(?P<path>[\w/]+\.py):(?P<function>[\w.]+)` (?P<told>.+)$")


@dataclass(frozen=True)
class Hop:
    """One step of the path: a function, and the page's text about it."""

    number: int
    path: str
    function: str
    told: str

    @property
    def call(self) -> str:
        """The function in the form of a record."""
        return f"{self.path}:{self.function}"


def hops(page: str) -> list[Hop]:
    """Return the numbered hops of the page, in its order."""
    return [
        Hop(int(found["number"]), found["path"], found["function"], found["told"])
        for found in map(_HOP.match, page.splitlines())
        if found
    ]


def first_problem(told: list[Hop], record: Record) -> str | None:
    """Describe the first wrong hop; None if the page is right.

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
    """Return each `path.py:function` on the page, in a hop or not, that does not exist."""
    return [
        f"{path}:{function}"
        for path, function in _CALL.findall(page)
        if not _exists(path, function)
    ]


def _exists(path: str, function: str) -> bool:
    file = file_of(path)
    return file.is_file() and function in _functions(ast.parse(file.read_text()))


def _functions(tree: ast.AST, outer: str = "") -> set[str]:
    """Return the names of all functions, as `function` or `Class.method`."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            found |= _functions(node, f"{outer}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            found |= {f"{outer}{node.name}"}
    return found
