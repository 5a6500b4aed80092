"""A worker's cache of operators' decisions about all emails."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

from gazette.adapters.cached import Cached
from gazette.adapters.dynamodb.client import Row, bind, read_rows
from gazette.adapters.dynamodb.control.experiments import EXPERIMENT, experiment_of
from gazette.adapters.dynamodb.control.template_versions import IN_FORCE, in_force_of
from gazette.adapters.dynamodb.control.withdrawals import WITHDRAWALS, withdrawals_in
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.ports.clock import Clock
from gazette.domain.templates.ports import CurrentDecisions, Decisions
from gazette.domain.templates.settings import Ranges

DecisionT = TypeVar("DecisionT")


def cached_decisions(table_name: str, *, ranges: Ranges, clock: Clock) -> CurrentDecisions:
    """Return an implementation of the `CurrentDecisions` port, which reads them at most once a
    minute.

    A read is one strongly consistent BatchGetItem. If a row cannot be read or the table does not
    respond, the last values are kept. The initial values are the deployed version, no experiment
    and no withdrawals.
    """
    bind(ControlRow, table_name)
    last = Decisions()

    def read() -> Decisions:
        nonlocal last
        keys = (EXPERIMENT, IN_FORCE, WITHDRAWALS)
        experiment, in_force, withdrawals = read_rows([(ControlRow, key) for key in keys])
        last = Decisions(
            _read_or(last.experiment, experiment, experiment_of),
            _read_or(last.in_force, in_force, partial(in_force_of, ranges=ranges)),
            _read_or(
                last.withdrawals,
                withdrawals,
                lambda row: withdrawals_in(row).withdrawals if row else (),
            ),
        )
        return last

    return Cached(read, clock=clock, default=last).get


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
