"""`python -m proofs.model`: search every policy within all bounds; the last line has the totals."""

import argparse
import sys
from collections.abc import Iterator
from time import perf_counter

from gazette.domain.delivery.signals import Policy

from proofs.breadth_first import Found
from proofs.model.search import search
from proofs.model.state import Halt, Setup
from proofs.searches import figures

_QUIET = Setup(Policy.RESEND, deaths=0, losses=0, refusals=0, drops=0)


def bounds(policy: Policy) -> Iterator[Setup]:
    """Return the searches of a policy. Each has two events and a combination of faults."""
    quiet = _QUIET._replace(policy=policy)
    yield quiet._replace(deaths=1, losses=1)
    yield quiet._replace(deaths=2)
    yield quiet._replace(losses=2)
    yield quiet._replace(losses=1, refusals=1)
    yield quiet._replace(deaths=1, refusals=1)
    yield quiet._replace(deaths=1, drops=1)
    yield quiet._replace(occurrences=3, deaths=1)
    yield quiet._replace(occurrences=3, losses=1)
    yield quiet._replace(occurrences=3, workers=1, losses=2, refusals=1)
    yield quiet._replace(occurrences=3, workers=1, events=3, deaths=1, losses=1)
    yield quiet._replace(halt=Halt.SUBSCRIBER, deaths=1)
    yield quiet._replace(halt=Halt.SUBSCRIBER, refusals=1)
    yield quiet._replace(halt=Halt.CHOICE, deaths=1)
    yield quiet._replace(halt=Halt.CHOICE, losses=1)
    yield quiet._replace(halt=Halt.BATCH, losses=1)
    yield quiet._replace(halt=Halt.BATCH, refusals=1)
    yield quiet._replace(halt=Halt.EVENT, losses=1)
    yield quiet._replace(halt=Halt.EVENT, refusals=1)


def deep(policy: Policy) -> Setup:
    """Return a search that combines a death, a lost answer and a rejection."""
    return _QUIET._replace(policy=policy, deaths=1, losses=1, refusals=1)


def main() -> int:
    """Return exit status 0 only if every promise holds."""
    parser = argparse.ArgumentParser(prog="make model", description=__doc__)
    parser.add_argument("--policy", type=Policy, choices=list(Policy), action="append")
    parser.add_argument("--each", action="store_true", help="print a line for each search")
    parser.add_argument("--deep", action="store_true", help="three at once too; takes 1 GB")
    parser.add_argument("--first", type=int, help="search only the first bounds of each policy")
    given = parser.parse_args()
    begun = perf_counter()
    everything: list[Found] = []
    for policy in given.policy or Policy:
        started = perf_counter()
        found: list[Found] = []
        searches = (*bounds(policy), *([deep(policy)] if given.deep else []))
        for setup in searches[: given.first]:
            began = perf_counter()
            found.append(search(setup))
            if given.each:
                print(f"  {_named(setup)}: {figures(found[-1:], began)}")  # noqa: T201
            if found[-1].violation:
                _tell(setup, found[-1])
        print(f"model {policy}: {figures(found, started)}", flush=True)  # noqa: T201
        everything += found
    print(f"model: {figures(everything, begun)}")  # noqa: T201 -- what the command is for
    return 1 if any(found.violation for found in everything) else 0


def _named(setup: Setup) -> str:
    """Return the differences between a setup and one without faults."""
    quiet = _QUIET._asdict()
    return " ".join(
        f"{name}={value}"
        for name, value in setup._asdict().items()
        if value != quiet[name] and name != "policy"
    )


def _tell(setup: Setup, found: Found) -> None:
    print(f"{setup.policy}, {_named(setup)}: {found.violation}")  # noqa: T201
    for number, line in enumerate(found.trace, start=1):
        print(f"  {number}. {line}")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
