"""Where the CPU of an invocation goes, by package, in all of its threads.

cProfile makes each call dearer, so the shares say more than the sums. Its clock is that of the
thread: what waits for an answer, or for another thread, takes nothing.
"""

import cProfile
import sysconfig
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from pstats import Stats
from typing import Any

import gazette

_FOLDERS = {
    f"{sysconfig.get_path('purelib')}/": 1,
    f"{sysconfig.get_path('stdlib')}/": 1,
    f"{Path(gazette.__file__).parents[1]}/": 3,
    f"{Path(__file__).parents[2]}/": 1,
}
"""What lies in a folder, and how many of its names tell packages apart."""

_BUILT_IN = "~"

_Function = tuple[str, int, str]


def profiled(act: Callable[[], object]) -> Mapping[str, float]:
    """CPU seconds of `act` by package, the greatest first."""
    profiles: list[cProfile.Profile] = []

    def begin(*_: object) -> None:
        made = cProfile.Profile(time.thread_time)
        profiles.append(made)
        made.enable()

    threading.setprofile(begin)
    begin()
    try:
        act()
    finally:
        profiles[0].disable()
        threading.setprofile(None)
    found: Counter[str] = Counter()
    for each in profiles:
        found.update(_by_package(each))
    return dict(found.most_common())


def _by_package(profile: cProfile.Profile) -> Counter[str]:
    """Seconds by package. What a built-in function took counts for who called it."""
    found: Counter[str] = Counter()
    stats: dict[_Function, Any] = vars(Stats(profile))["stats"]
    for function, (_, _, took, _, callers) in stats.items():
        if function[0] != _BUILT_IN:
            found[_package(function[0])] += took
            continue
        for caller, (_, _, each, _) in callers.items():
            found[_package(caller[0])] += each
    return found


def _package(file: str) -> str:
    """Such as `gazette.adapters.rendering`, `botocore`, or `json` of the standard library."""
    if file.endswith((".html", ".txt")) or file == "<template>":
        return "templates"
    if file.startswith("<"):
        return "Python"
    for folder, depth in _FOLDERS.items():
        if file.startswith(folder):
            path = file.removeprefix(folder).removesuffix(".py").split("/")
            return ".".join(path[:depth] if len(path) > depth else path[: max(1, len(path) - 1)])
    return Path(file).stem
