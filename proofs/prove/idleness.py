"""A check that schedules go idle when no event waits in them, and only then (rule 23)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from gazette.domain.ports.ledgers import ScheduleKey

from proofs.invariants import forgotten
from proofs.prove.land import Land
from proofs.prove.strikes import Calls
from tests.builders import SettableClock

_APART = timedelta(seconds=5)
"""The most that the clock that stamps an event may lag behind the true time."""


class Looks:
    """The port `EventReader`; records the schedules in which its worker found no waiting event."""

    def __init__(self, events: Any, in_vain: set[ScheduleKey]) -> None:
        self._events = events
        self._in_vain = in_vain

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._events, attribute)

    def holds(self, user_id: str, schedule: str, *, after: datetime) -> bool:
        """Record the result for the schedule. Only fan-out calls this method here."""
        found: bool = self._events.holds(user_id, schedule, after=after)
        if found:
            self._in_vain.discard((user_id, schedule))
        else:
            self._in_vain.add((user_id, schedule))
        return found


class Idleness:
    """The state of the schedules of one life. `broken` lists each violation found."""

    def __init__(
        self,
        land: Land,
        readers: Sequence[str],
        calls: Calls,
        clock: SettableClock,
        is_ingest_behind: Callable[[], bool],
    ) -> None:
        self.broken: list[str] = []
        self._onlooker, self._readers = land.onlooker, readers
        self._calls, self._clock, self._is_ingest_behind = calls, clock, is_ingest_behind
        self._in_vain = set[ScheduleKey]()
        self._at_work = 0
        self._behind_since: datetime | None = None
        self._behind: list[tuple[datetime, datetime]] = []
        land.world.events = Looks(land.world.events, self._in_vain)  # type: ignore[assignment]

    @contextmanager
    def of_invocation(self) -> Iterator[None]:
        """Check that a worker that finds no event and is not struck makes the schedule idle.

        Between invocations, with no message on its way to ingest, also check that no event waits in
        an idle schedule.
        """
        calls, outer = self._calls, self._in_vain.copy()
        struck, has_ended = calls.struck, False
        self._in_vain.clear()
        self._at_work += 1
        self._note_whether_behind()
        try:
            yield
            has_ended = True
        finally:
            self._at_work -= 1
            worker, calls.worker = calls.worker, None
            self._note_whether_behind()
            if has_ended and calls.struck == struck:
                self.broken += self._visited_in_vain()
            if not self._at_work and self._behind_since is None:
                self.broken += forgotten(self._onlooker, self._readers)
            self._in_vain.clear()
            self._in_vain |= outer
            calls.worker = worker

    def arrived(self, stored_at: datetime) -> datetime:
        """Return the time by which ingest had processed all messages pending at `stored_at`."""
        return next(
            (until for since, until in self._behind if since - _APART <= stored_at <= until),
            stored_at,
        )

    def _note_whether_behind(self) -> None:
        is_behind, now = self._is_ingest_behind(), self._clock()
        if is_behind and self._behind_since is None:
            self._behind_since = now
        elif not is_behind and self._behind_since:
            self._behind.append((self._behind_since, now))
            self._behind_since = None

    def _visited_in_vain(self) -> Iterator[str]:
        for user_id, name in sorted(self._in_vain):
            schedule = self._onlooker.schedules.get(user_id, name)
            if schedule and not schedule.is_idle and not schedule.sources:
                yield f"rule 23: {name} of {user_id} was visited in vain, and is {schedule.state}"
