"""`python -m proofs.heads`: search every state within each bound; the last line has the totals."""

import sys
from collections.abc import Iterator

from gazette.domain.delivery.signals import Policy

from proofs.heads.search import search
from proofs.heads.state import Setup
from proofs.searches import run_searches

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
    return run_searches("heads", __doc__, bounds(), search)


if __name__ == "__main__":
    sys.exit(main())
