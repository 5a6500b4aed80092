"""Our fakes with indexes, so that a call for one schedule does not scan all schedules."""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gazette.domain.delivery.run import Run
from gazette.domain.model import Retracted, RunKey, StoredEvent

from tests.fake_stores import FakeEvents, FakeRuns

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_AT_FIRST = 64
"""The upper limit of the usual length of a chain."""


class Grouped(dict[K, V]):
    """A dictionary that also groups its keys by `group_of`."""

    def __init__(self, group_of: Callable[[K, V], Hashable]) -> None:
        super().__init__()
        self._group_of = group_of
        self.groups: dict[Hashable, dict[K, None]] = defaultdict(dict)

    def __setitem__(self, key: K, value: V) -> None:
        if key in self:
            self.groups[self._group_of(key, self[key])].pop(key, None)
        super().__setitem__(key, value)
        self.groups[self._group_of(key, value)][key] = None

    def __delitem__(self, key: K) -> None:
        self.groups[self._group_of(key, self[key])].pop(key, None)
        super().__delitem__(key)

    def setdefault(self, key: K, default: V) -> V:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, others: Mapping[K, V]) -> None:  # type: ignore[override]
        for key, value in others.items():
            self[key] = value

    def __ior__(self, others: Mapping[K, V]) -> "Grouped[K, V]":  # type: ignore[override, misc]
        self.update(others)
        return self


class _Rows(Grouped[RunKey, Run]):
    """Runs with the sorted sequences of each schedule, and the chains read since the last write."""

    def __init__(self) -> None:
        super().__init__(lambda key, _: (key.user_id, key.schedule))
        self.sequences: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.chains: dict[object, Sequence[Run]] = {}

    def __setitem__(self, key: RunKey, value: Run) -> None:
        if key not in self:
            insort(self.sequences[key.user_id, key.schedule], key.sequence)
        self.chains.clear()
        super().__setitem__(key, value)


class HistoryRuns(FakeRuns):
    """The port `Runs`. A search for a chain reads the newest runs first, and all runs only if the
    chain is longer.
    """

    def __init__(self) -> None:
        super().__init__(rows=_Rows())

    def chain(self, key: RunKey, **more: Any) -> Sequence[Run]:
        rows = self.rows
        assert isinstance(rows, _Rows)
        asked = (key, *more.items())
        if asked not in rows.chains:
            rows.chains[asked] = self._chain(rows, key, **more)
        return list(rows.chains[asked])

    def _chain(self, rows: _Rows, key: RunKey, **more: Any) -> Sequence[Run]:
        present = rows.sequences.get((key.user_id, key.schedule), [])
        until, number = bisect_right(present, key.sequence), _AT_FIRST
        while True:
            some = present[max(until - number, 0) : until]
            keys = (RunKey(key.user_id, key.schedule, each) for each in some)
            part = FakeRuns({each: rows[each] for each in keys}, self.unreadable)
            found = part.chain(key, **more)
            if len(found) < len(some) or number >= until:
                return found
            number *= 4


@dataclass
class HistoryEvents(FakeEvents):
    """The port `Events`. A search reads only the events of one schedule."""

    rows: dict[tuple[str, str], StoredEvent | Retracted] = field(
        default_factory=lambda: Grouped(
            lambda key, row: (key[0], row.schedule if isinstance(row, StoredEvent) else "")
        )
    )
    _only: str | None = None

    def _kept(self, user_id: str, schedule: str, *more: Any, **by: Any) -> list[StoredEvent]:
        with self._of(schedule):
            return super()._kept(user_id, schedule, *more, **by)

    def _rows_of(self, user_id: str) -> Mapping[tuple[str, str], StoredEvent | Retracted]:
        if self._only is None or not isinstance(self.rows, Grouped):
            return super()._rows_of(user_id)
        return {key: self.rows[key] for key in self.rows.groups.get((user_id, self._only), ())}

    @contextmanager
    def _of(self, schedule: str) -> Iterator[None]:
        before, self._only = self._only, schedule
        try:
            yield
        finally:
            self._only = before
