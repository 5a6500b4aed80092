"""`python -m proofs.happening`: search every state within each bound, then without each condition.

The last line has the totals. Without a condition, at least one of its worlds must break a promise.
"""

import sys
from collections.abc import Iterator
from time import perf_counter

from proofs.happening.conditions import BOTH, WORLDS
from proofs.happening.search import search
from proofs.happening.state import Message, Setup
from proofs.searches import run_searches

_STOPS = (
    Message.RETRACT_MENTION,
    Message.RETRACT_COMMENT,
    Message.MUTE,
    Message.UNFOLLOW,
)
_PLACES = (("now", "daily"), ("daily", "now"), ("daily", "daily"), ("now", "now"))


def bounds() -> Iterator[tuple[str, Setup]]:
    """Return the searches by name."""
    for mention, comment in _PLACES:
        named = f"mention {mention}, comment {comment}"
        setup = Setup(BOTH, mention, comment, ticks=1)
        yield f"{named}, a death", setup._replace(deaths=1)
        yield (
            f"{named}, a death, a repetition, a refusal",
            setup._replace(deaths=1, repeats=1, refusals=1),
        )
        for stop in _STOPS:
            stopped = setup._replace(messages=(*BOTH, stop))
            yield f"{named}, {stop}", stopped
            yield f"{named}, {stop}, a refusal", stopped._replace(refusals=1)
            waiting = stopped._replace(ticks=int(mention == "now" != comment))
            yield f"{named}, {stop}, a repetition", waiting._replace(repeats=1)
            yield f"{named}, {stop}, a death", waiting._replace(deaths=1)
        for stops in ((_STOPS[0], _STOPS[1]), (_STOPS[0], _STOPS[3]), (_STOPS[2], _STOPS[1])):
            yield f"{named}, {stops[0]} and {stops[1]}", setup._replace(messages=(*BOTH, *stops))
    critical = Setup(BOTH, critical=True, ticks=1)
    yield "critical mention, a death", critical._replace(deaths=1)


def without_each_condition() -> int:
    """Print what the search finds without each condition. Return the number of harmless ones."""
    harmless = 0
    for rule, worlds in WORLDS.items():
        began, violations, states, orders = perf_counter(), list[str](), 0, 0
        for setup in worlds:
            result = search(setup._replace(without=frozenset({rule})))
            states, orders = states + result.states, orders + result.transitions
            violations += [result.violation] if result.violation else []
        harmless += not violations
        print(  # noqa: T201 -- the output of the command
            f"  without {rule}: worlds={len(worlds)} states={states} transitions={orders}"
            f" violations={len(violations)} seconds={perf_counter() - began:.1f}"
            f" {'; '.join(sorted(set(violations)))}",
            flush=True,
        )
    return harmless


def main() -> int:
    """Return exit status 0 only if every promise holds, and no condition is redundant."""
    harmless = without_each_condition()
    print(f"happening: conditions={len(WORLDS)} harmless={harmless}")  # noqa: T201
    return run_searches("happening", __doc__, bounds(), search) or min(harmless, 1)


if __name__ == "__main__":
    sys.exit(main())
