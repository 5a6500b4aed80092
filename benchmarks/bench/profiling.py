"""A profiler of an invocation's CPU time by package, across all threads.

Profiling slows down every call, so the shares are more reliable than the sums. yappi measures the
CPU time of each thread, excluding waits. cProfile cannot profile several threads: since Python
3.12, a second profile cannot start while another is active
(https://github.com/python/cpython/issues/124656).
"""

import sysconfig
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import gazette
import yappi

_FOLDERS = {
    f"{sysconfig.get_path('purelib')}/": 1,
    f"{sysconfig.get_path('stdlib')}/": 1,
    f"{Path(gazette.__file__).parents[1]}/": 3,
    f"{Path(__file__).parents[2]}/": 1,
}
"""Kinds of folders, with the number of path components that identify a package."""


def profiled(act: Callable[[], object]) -> Mapping[str, float]:
    """Return the CPU seconds of `act` by package, in descending order.

    The time of a built-in function counts towards its caller.
    """
    yappi.set_clock_type("cpu")
    yappi.start(builtins=False)
    try:
        act()
    finally:
        yappi.stop()
    seconds: Counter[str] = Counter()
    for function in yappi.get_func_stats():
        seconds[_package(function.module)] += function.tsub
    yappi.clear_stats()
    return dict(seconds.most_common())


def _package(file: str) -> str:
    """Return the package, such as `gazette.adapters.rendering`, `botocore` or the library's
    `json`."""
    if file.endswith((".html", ".txt")) or file == "<template>":
        return "templates"
    if file.startswith("<"):
        return "Python"
    for folder, depth in _FOLDERS.items():
        if file.startswith(folder):
            path = file.removeprefix(folder).removesuffix(".py").split("/")
            return ".".join(path[:depth] if len(path) > depth else path[: max(1, len(path) - 1)])
    return Path(file).stem
