"""`python -m proofs.arming`: search every state within each bound; the last line has the totals."""

import sys
from collections.abc import Iterator

from gazette.domain.model import ScheduleState

from proofs.arming.search import search
from proofs.arming.state import Place, Setup
from proofs.searches import run_searches

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
    return run_searches("arming", __doc__, bounds(), search)


if __name__ == "__main__":
    sys.exit(main())
