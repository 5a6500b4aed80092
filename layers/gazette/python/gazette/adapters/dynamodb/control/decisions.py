"""A worker's cache of operators' decisions that apply to all emails."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

from gazette.adapters.cached import Cached
from gazette.adapters.dynamodb.client import Row, bind, read_rows
from gazette.adapters.dynamodb.control.experiments import EXPERIMENT, experiment_of
from gazette.adapters.dynamodb.control.template_versions import IN_FORCE, in_force_of
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.feedback.experiment import Experiment
from gazette.domain.ports.clock import Clock
from gazette.domain.templates.settings import Ranges
from gazette.domain.templates.versions import NOTHING_PUSHED, InForce

DecisionT = TypeVar("DecisionT")


@dataclass(frozen=True, slots=True)
class _Decisions:
    experiment: Experiment | None = None
    in_force: InForce = NOTHING_PUSHED


class CachedDecisions:
    """The running experiment and the active template versions, read at most once a minute.

    If a row cannot be read or the table does not respond, the last values are kept. The initial
    values are the deployed version and no experiment.
    """

    def __init__(self, table_name: str, *, ranges: Ranges, clock: Clock) -> None:
        bind(ControlRow, table_name)
        self._ranges = ranges
        self._last = _Decisions()
        self._cached = Cached(self._read, clock=clock, default=self._last)

    def experiment(self) -> Experiment | None:
        """Return the running experiment. Implements the `RunningExperiment` port."""
        return self._cached.get().experiment

    def in_force(self) -> InForce:
        """Return the active template versions. Implements the `VersionsInForce` port."""
        return self._cached.get().in_force

    def _read(self) -> _Decisions:
        """Read the experiment and the template versions with one strongly consistent
        BatchGetItem.
        """
        experiment, in_force = read_rows([(ControlRow, EXPERIMENT), (ControlRow, IN_FORCE)])
        self._last = _Decisions(
            _read_or(self._last.experiment, experiment, experiment_of),
            _read_or(
                self._last.in_force, in_force, lambda row: in_force_of(row, ranges=self._ranges)
            ),
        )
        return self._last


def _read_or(
    before: DecisionT,
    row: Row | Unavailable | None,
    decode: Callable[[ControlRow | None], DecisionT],
) -> DecisionT:
    if isinstance(row, Unavailable):
        return before
    try:
        return decode(cast("ControlRow | None", row))
    except (Unavailable, UnreadableRow):
        return before
