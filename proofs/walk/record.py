"""A record of Gazette's executed code, in the order of its calls."""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers" / "gazette" / "python" / "gazette"
FUNCTIONS = ROOT / "functions"

_OWN = (f"{PACKAGE}/", f"{FUNCTIONS}/")


class NotRecordedError(Exception):
    """A record that ended before its block did."""


@dataclass
class Record:
    """The calls as `path/file.py:function` in order, and the executed lines by path.

    Paths are relative to the package gazette, or to the root for the handlers in `functions`.
    """

    calls: list[str] = field(default_factory=list)
    lines: dict[str, set[int]] = field(default_factory=dict)

    def functions(self) -> list[str]:
        """Return each function once, in the order of its first call."""
        return list(dict.fromkeys(self.calls))

    def executed_lines(self) -> int:
        """Return the number of executed lines of functions, each counted once."""
        return sum(len(lines) for lines in self.lines.values())

    def length(self) -> int:
        """Return the number of lines of all files with executed code."""
        return sum(len(file_of(path).read_text().splitlines()) for path in self.lines)


@contextmanager
def recorded(record: Record) -> Iterator[None]:
    """Add the code that is executed inside the block to `record`.

    Only bodies of functions count, not the code that runs on import. Raise NotRecordedError if
    something else replaced the trace function of this thread.
    """
    paths: dict[CodeType, str] = {}

    def called(frame: FrameType, _: str, __: Any) -> Any:
        code = frame.f_code
        path = paths.get(code)
        if path is None:
            path = paths[code] = _path_of(code)
        if not path:
            return None
        record.calls.append(f"{path}:{code.co_qualname}")
        executed = record.lines.setdefault(path, set())

        def stepped(inner: FrameType, event: str, _: Any) -> Any:
            if event == "line":
                executed.add(inner.f_lineno)
            return stepped

        return stepped

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield
        if sys.gettrace() is not called:
            raise NotRecordedError("something inside the block took the trace function away")
    finally:
        sys.settrace(before)


def file_of(path: str) -> Path:
    """Return the file of a path in a record or a hop."""
    return (ROOT if path.startswith("functions/") else PACKAGE) / path


def _path_of(code: CodeType) -> str:
    """Return the path of our functions; empty for others' code, modules and classes."""
    if not code.co_filename.startswith(_OWN) or not code.co_flags & inspect.CO_OPTIMIZED:
        return ""
    file = Path(code.co_filename)
    start = ROOT if file.is_relative_to(FUNCTIONS) else PACKAGE
    return file.relative_to(start).as_posix()
