"""The CPU time of an invocation by package, in all of its threads.

Profiling makes each call slower, so the shares are more reliable than the sums. yappi measures the
CPU time of each thread, and a thread that waits uses none. cProfile cannot do that: from Python
3.12 on, a second profile cannot start while one is active
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
"""Kinds of folders, each with the number of names that distinguish its packages."""


def profiled(act: Callable[[], object]) -> Mapping[str, float]:
    """Return the CPU seconds of `act` by package, the greatest first.

    The time of a built-in function counts for its caller.
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
