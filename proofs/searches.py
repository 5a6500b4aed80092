"""Run the searches of a model one after the other, and print what each came to."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from time import perf_counter
from typing import TypeVar

from proofs.breadth_first import Found

SetupT = TypeVar("SetupT")


def run_searches(
    name: str,
    about: str | None,
    bounds: Iterable[tuple[str, SetupT]],
    search: Callable[[SetupT], Found],
) -> int:
    """Search each of the named bounds. Return the exit status: 0 only if no promise was broken."""
    parser = argparse.ArgumentParser(prog=f"proofs.{name}", description=about)
    parser.add_argument("--first", type=int, help="search only the first bounds")
    given = parser.parse_args()
    begun = perf_counter()
    everything: list[Found] = []
    for bound, setup in islice(bounds, given.first):
        began = perf_counter()
        found = search(setup)
        print(f"  {bound}: {figures([found], began)}", flush=True)  # noqa: T201
        if found.violation:
            print(f"  {found.violation}")  # noqa: T201
            for number, line in enumerate(found.trace, start=1):
                print(f"    {number}. {line}")  # noqa: T201
        everything.append(found)
    print(f"{name}: {figures(everything, begun)}")  # noqa: T201 -- what the command is for
    return 1 if any(found.violation for found in everything) else 0


def figures(found: Sequence[Found], since: float) -> str:
    """Return the sums of searches. `since`: when they began, by `perf_counter`."""
    return (
        f"states={sum(each.states for each in found)}"
        f" transitions={sum(each.transitions for each in found)}"
        f" violations={sum(each.violation is not None for each in found)}"
        f" seconds={perf_counter() - since:.1f}"
    )
