"""`python -m proofs.arming`: search every state within each bound; the last line has the totals."""

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from time import perf_counter

from gazette.domain.model import ScheduleState

from proofs.arming.search import search
from proofs.arming.state import Place, Setup
from proofs.breadth_first import Found

_NEW, _HERE, _AWAY = Place.NOWHERE, Place.HERE, Place.AWAY
_ONE = Setup(events=(_NEW,), moves=(_NEW,), ingests=1)
_TWO = Setup()


def bounds() -> Iterator[tuple[str, Setup]]:
    """Return the searches by name."""
    yield "one event, two deaths", _ONE._replace(deaths=2)
    yield "one event, any two occurrences, a death", _ONE._replace(hasty=2, occurrences=6, deaths=1)
    yield "one event twice at once, a death", _ONE._replace(ingests=2, repeats=1, deaths=1)
    yield "one event, written late, a death", _ONE._replace(late=1, deaths=1)
    yield "one event, refused, a death", _ONE._replace(refusals=1, deaths=1)
    yield "one event, moved away", _ONE._replace(moves=(_AWAY,))
    yield "one event, moved here, a death", _ONE._replace(events=(_AWAY,), moves=(_HERE,), deaths=1)
    yield "two events", _TWO
    yield "two events, flagged", _TWO._replace(row=ScheduleState.LEAVING)
    idle = _TWO._replace(row=ScheduleState.IDLE)
    yield "two events, idle, a death", idle._replace(deaths=1)
    yield "two events, idle, any two occurrences", idle._replace(hasty=2, occurrences=6)
    yield "two events, absent, a death", _TWO._replace(row=None, deaths=1)
    born = _ONE._replace(row=None, births=1)
    yield "one event, born twice at once, a death", born._replace(births=2, deaths=1)
    yield (
        "one event, born, and moved here, a death",
        born._replace(events=(_AWAY,), moves=(_HERE,), deaths=1),
    )
    yield "two events, born", _TWO._replace(row=None, births=1)
    yield "one event, another moved here", _ONE._replace(events=(_NEW, _AWAY), moves=(_NEW, _HERE))
    dormant = _ONE._replace(fanouts=1, sunsets=1, wakes=1)
    for row in (ScheduleState.ARMED, ScheduleState.IDLE, ScheduleState.WITHDRAWN, None):
        named = row.value if row else "absent"
        yield f"one event, dormant and back, {named}", dormant._replace(row=row)
    yield (
        "one event, dormant and back, idle, a death",
        dormant._replace(row=ScheduleState.IDLE, deaths=1),
    )
    yield "one event, born, dormant and back", dormant._replace(row=None, births=1)
    asking = _ONE._replace(asks=True, unfetched=1)
    yield "one event, asks, a death", asking._replace(deaths=1)
    yield "one event, asks, any two occurrences", asking._replace(hasty=2, occurrences=6)
    yield "one event, asks, moved away", asking._replace(moves=(_AWAY,))
    yield "one event, asks, written late", asking._replace(late=1)
    yield "two events, asks", _TWO._replace(asks=True, unfetched=1)
    yield "one event, asks, born", asking._replace(row=None, births=1)
    yield (
        "one event, asks, dormant and back",
        asking._replace(fanouts=1, sunsets=1, wakes=1),
    )


def main() -> int:
    """Return exit status 0 only if every promise holds."""
    parser = argparse.ArgumentParser(prog="proofs.arming", description=__doc__)
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
    print(f"arming: {_figures(everything, begun)}")  # noqa: T201 -- what the command is for
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
