"""`python -m proofs.heads`: search every state within each bound; the last line has the totals."""

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from time import perf_counter

from gazette.domain.delivery.signals import Policy

from proofs.breadth_first import Found
from proofs.heads.search import search
from proofs.heads.state import Setup

BEHIND = Setup(refusals=1, strays=1, hours=0, days=1)
OVERTAKEN = Setup(events=3, refusals=1, repeats=1, hours=0)


def bounds() -> Iterator[tuple[str, Setup]]:
    """Return the searches by name."""
    yield "three events, an hour", Setup(events=3)
    yield "three events, one refused, an hour", Setup(events=3, refusals=1)
    yield "two events, one refused wrongly, an hour and a day", Setup(days=1, lies=1)
    yield (
        "two events, an unknown outcome, a refusal, an hour and a day",
        Setup(unknowns=1, refusals=1, days=1, policy=Policy.RESEND),
    )
    yield "two events, two unknown outcomes, an hour", Setup(unknowns=2)
    yield "two events, a stray, a repetition", Setup(strays=1, repeats=1)
    yield "two events, one refused, a stray, a day", BEHIND
    yield "three events, one refused, a repetition", OVERTAKEN


def main() -> int:
    """Return exit status 0 only if every promise holds."""
    parser = argparse.ArgumentParser(prog="proofs.heads", description=__doc__)
    parser.add_argument("--first", type=int, help="search only the first bounds")
    given = parser.parse_args()
    begun = perf_counter()
    everything: list[Found] = []
    for name, setup in islice(bounds(), given.first):
        began = perf_counter()
        found = search(setup)
        print(f"  {name}: {_figures([found], began)}", flush=True)  # noqa: T201
        if found.violation:
            _tell(found)
        everything.append(found)
    print(f"heads: {_figures(everything, begun)}")  # noqa: T201 -- what the command is for
    return 1 if any(found.violation for found in everything) else 0


def _figures(found: list[Found], since: float) -> str:
    return (
        f"states={sum(each.states for each in found)}"
        f" transitions={sum(each.transitions for each in found)}"
        f" violations={sum(each.violation is not None for each in found)}"
        f" seconds={perf_counter() - since:.1f}"
    )


def _tell(found: Found) -> None:
    print(f"  {found.violation}")  # noqa: T201
    for number, line in enumerate(found.trace, start=1):
        print(f"    {number}. {line}")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
