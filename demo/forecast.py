"""The forecast of `gazette simulate` for the demo's week, compared with the measurement."""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gazette.domain.identity import parse_run_id
from gazette.domain.model import DAILY
from gazette.domain.scheduling.calendar import slot_id, slot_of

from demo import campus, invented
from demo.invented import Happened
from demo.replay import last_slot
from gazette_cli.simulate.exact import Reader, Stored, Week, week_in
from gazette_cli.simulate.forecast import Forecast, simulate
from gazette_cli.simulate.inputs import Account, Question, Traffic
from gazette_cli.simulate.stage import installation_of

RECORDED = Path(__file__).parent / "data" / "forecast-week.json.gz"
"""The path of a recorded demo run, with the contents of `week.json` and `measured.json` as `week`
and `measured`.
"""

WITHIN = 0.05
"""The maximum accepted relative error of write units."""

_STAGE = "local"
_HEX = "0123456789ABCDEF"
"""The pattern of the suffix in names that CloudFormation generates."""

_A_LITTLE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The demo's measurement: digests by slot, and write units by table."""

    digests: Mapping[str, int]
    write_units: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A forecast and its measurement.

    `other_slots` contains slots with different numbers of digests.
    """

    slots: int
    other_slots: Sequence[str]
    forecast_units: int
    measured_units: int

    @property
    def apart(self) -> float:
        """The relative error of the forecast of write units."""
        return self.forecast_units / self.measured_units - 1 if self.measured_units else 1.0

    @property
    def agrees(self) -> bool:
        """True if all slots are equal and the write units differ by at most five percent."""
        return not self.other_slots and abs(self.apart) <= WITHIN


def measured(due: Mapping[str, datetime], runs: Iterable[str], counted: Path) -> Measured:
    """Return the number of digests that arrived by due slot, and the write units counted by the
    engine.
    """
    digests = Counter(
        slot_id(slot_of(due[run])) for run in runs if parse_run_id(run).schedule == DAILY
    )
    units = {
        name.split("-")[1].rstrip(_HEX).lower(): units
        for name, units in json.loads(counted.read_text()).items()
        if name != "transactions"
    }
    return Measured(digests=dict(sorted(digests.items())), write_units=units)


def week_of(
    events: Sequence[Happened],
    *,
    students: Iterable[int],
    put_at: Sequence[datetime],
    registered: tuple[datetime, datetime],
    follows: int,
    activities: int,
    at_once: int,
) -> Week:
    """Return the week as input for the simulator.

    `put_at` contains the time at which each day's events are published.
    """
    readers = [
        Reader(name=str(student), zone=campus.zone(student), hour=campus.DIGEST_HOUR, minute=0)
        for student in (invented.AT_ONCE, *students)
    ]
    stored = [
        Stored(reader=str(event.message.target), at=put_at[event.message.day])
        for event in events
        if event.message.target != invented.AT_ONCE
    ]
    return Week(
        readers=readers,
        events=stored,
        ticks=[last_slot(day, registered) for day in range(len(put_at))],
        follows=follows,
        activities=activities,
        at_once=at_once,
    )


def put_times(
    days: int, *, began: datetime, registered: tuple[datetime, datetime]
) -> list[datetime]:
    """Return the publishing time of each day's events: now for the first day, then the end of the
    previous day.
    """
    return [began, *(last_slot(day, registered) + _A_LITTLE for day in range(days - 1))]


def forecast(week: Week) -> Forecast:
    """Return the simulator's forecast for the stage that the demo deploys."""
    question = Question(
        traffic=Traffic(readers=len(week.readers)),
        account=Account(rate=1000),
        installation=installation_of(_STAGE, {"max_lateness": 2 * 24 * 60 * 60}),
        begin=week.begin.astimezone(UTC).date(),
    )
    return simulate(question, week=week)


def digests_by_slot(result: Forecast) -> dict[str, int]:
    """Return the number of digests by the slot in which they were due."""
    slots = {
        slot_id(slot_of(result.begin + timedelta(seconds=due))): number
        for due, number in result.tally.by_due.items()
        if number
    }
    return dict(sorted(slots.items()))


def recorded() -> tuple[Week, Measured]:
    """Return the recorded week and the demo's measurement."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as file:
        content = json.load(file)
    return week_in(content["week"]), Measured(**content["measured"])


def compare(result: Forecast, measurement: Measured) -> Compared:
    """Compare the digests of each slot and the total of write units."""
    mine = digests_by_slot(result)
    every = sorted(mine.keys() | measurement.digests.keys())
    return Compared(
        slots=len(every),
        other_slots=[slot for slot in every if mine.get(slot) != measurement.digests.get(slot)],
        forecast_units=sum(result.writes.values()),
        measured_units=sum(measurement.write_units.values()),
    )
