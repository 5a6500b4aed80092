"""Our fakes with indexes, and with the chains that were read since the last write."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gazette.domain.delivery.run import Run
from gazette.domain.model import RunKey

from tests.indexed import IndexedRuns, RunRows


class _Rows(RunRows):
    def __init__(self) -> None:
        super().__init__()
        self.chains: dict[object, Sequence[Run]] = {}

    def __setitem__(self, key: RunKey, run: Run) -> None:
        self.chains.clear()
        super().__setitem__(key, run)


@dataclass
class HistoryRuns(IndexedRuns):
    """The port `Runs`. A chain is read again only after a write."""

    rows: _Rows = field(default_factory=_Rows)

    def chain(self, key: RunKey, **more: Any) -> Sequence[Run]:
        asked = (key, *more.items())
        if asked not in self.rows.chains:
            self.rows.chains[asked] = super().chain(key, **more)
        return list(self.rows.chains[asked])
