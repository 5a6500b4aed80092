"""`python -m proofs.timetravel`, which checks every zone for three years, then 400 days of
ticks, and nights near changes of the clocks."""

import argparse
import sys
from itertools import islice

from proofs.timetravel.nights import nights
from proofs.timetravel.travel import travel, travel_with_new_rules
from tests.unit.calendar.test_every_zone import assert_once_a_day
from tests.zones import FIRST, LAST, zones_that_differ

_NIGHTS = 24
"""The number of zones with quiet hours. Each has about three changes of the clocks."""


def main() -> int:
    """Return 0 only if every occurrence had one run, at its hour."""
    parser = argparse.ArgumentParser(prog="make timetravel", description=__doc__)
    parser.add_argument("--subscribers", type=int, default=2000)
    parser.add_argument("--days", type=int, default=400)
    parser.add_argument("--zones", type=int, help="walk the calendar of so many zones, not of all")
    given = parser.parse_args()
    walked = sum(
        assert_once_a_day(zone, periods, hour, FIRST, LAST)
        for periods, zone in islice(zones_that_differ().items(), given.zones)
        for hour in range(24)
    )
    print(f"calendar: {walked} occurrences in every zone, at every hour, once a day")  # noqa: T201
    tally = travel(given.subscribers, given.days)
    print(tally)  # noqa: T201 -- what the command is for
    unknown = travel_with_new_rules(given.subscribers // 10, given.days)
    print(f"zones unknown for a third of the days: {unknown}")  # noqa: T201
    found = nights(min(given.zones or _NIGHTS, _NIGHTS))
    print(found)  # noqa: T201
    return 0 if tally.is_clean and unknown.is_clean and found.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
