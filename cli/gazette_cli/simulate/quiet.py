"""The immediate emails that wait for the end of quiet hours."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from random import Random
from zoneinfo import ZoneInfo

from gazette.domain.scheduling.quiet import QuietHours

from gazette_cli.simulate.engine.draws import binomial


class Quiet:
    """The quiet hours of a stage in the time zones of its readers."""

    def __init__(self, hours: QuietHours, zones: Mapping[str, float], random: Random) -> None:
        self._hours, self._random = hours, random
        total = sum(zones.values())
        self._zones = {ZoneInfo(name): weight / total for name, weight in zones.items()}
        # The ends of the current quiet hours with their shares of the readers, in one minute.
        self._minute = datetime.min.replace(tzinfo=UTC)
        self._ends: dict[datetime, float] = {}

    def ends(self, number: int, at: datetime) -> Iterator[tuple[datetime, int]]:
        """Yield how many of the emails that are due at an instant wait until which end."""
        remaining = 1.0
        for end, share in self._ends_at(at).items():
            if not number:
                return
            some = binomial(self._random, number, min(1.0, share / remaining))
            number, remaining = number - some, remaining - share
            if some:
                yield end, some

    def _ends_at(self, at: datetime) -> Mapping[datetime, float]:
        """Return the ends, which change only with the minute."""
        minute = at.replace(second=0, microsecond=0)
        if minute != self._minute:
            self._minute, self._ends = minute, {}
            for zone, share in self._zones.items():
                if end := self._hours.until(minute, zone):
                    self._ends[end] = self._ends.get(end, 0) + share
        return self._ends
