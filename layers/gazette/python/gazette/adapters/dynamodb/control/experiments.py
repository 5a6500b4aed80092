"""Experiments in DynamoDB: one row for the running experiment, and one row for each experiment's
period.
"""

import json
from collections.abc import Mapping
from datetime import datetime

from gazette.adapters.dynamodb.client import bind, decoded, read_row, translated
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.feedback.experiment import Experiment, ExperimentPeriod, experiment

EXPERIMENT = ("experiment", "email")
_PERIOD = "period"


class DynamoExperiments:
    """Implementation of the `Experiments` port backed by rows of the `control` table."""

    def __init__(self, table_name: str) -> None:
        bind(ControlRow, table_name)

    def running(self) -> Experiment | None:
        """Read the running experiment with one strongly consistent GetItem."""
        return experiment_of(read_row(ControlRow, *EXPERIMENT))

    def start(self, wanted: Experiment) -> None:
        """Start an experiment with one Query and two PutItem, or three PutItem if a different
        experiment was running.

        The period is written first, so that every running experiment has a period.
        """
        known = self.periods()
        before = known.get(wanted.name, ExperimentPeriod(wanted.since, None))
        self._end(known, wanted.since, but=wanted.name)
        with translated():
            ControlRow(_PERIOD, wanted.name, since=min(before.since, wanted.since)).save()
            ControlRow(
                *EXPERIMENT,
                since=wanted.since,
                name=wanted.name,
                weights=json.dumps(dict(wanted.weights)),
            ).save()

    def stop(self, at: datetime) -> None:
        """Stop the experiment with one DeleteItem, one Query and, if an experiment was running, one
        PutItem.
        """
        with translated():
            ControlRow(*EXPERIMENT).delete()
        self._end(self.periods(), at)

    def periods(self) -> Mapping[str, ExperimentPeriod]:
        """Read the periods of all experiments with one strongly consistent Query."""
        with translated():
            rows = list(ControlRow.query(_PERIOD, consistent_read=True))
        return {row.id: decoded(row, _period, needs=("since",)) for row in rows}

    @staticmethod
    def _end(periods: Mapping[str, ExperimentPeriod], at: datetime, *, but: str = "") -> None:
        for name, period in periods.items():
            if period.until is None and name != but:
                with translated():
                    ControlRow(_PERIOD, name, since=period.since, until=at).save()


def experiment_of(row: ControlRow | None) -> Experiment | None:
    """Return the experiment in the row, or None if the row does not exist.

    Raises Unavailable if the row is invalid.
    """
    if row is None:
        return None
    try:
        return decoded(row, _experiment, needs=("since",))
    except UnreadableRow as err:
        raise Unavailable(f"The experiment in the table `control` is invalid: {err}") from err


def _experiment(row: ControlRow) -> Experiment:
    stored_weights = json.loads(row.weights or "{}")
    weights = {int(variation): int(weight) for variation, weight in stored_weights.items()}
    return experiment(row.name or "", weights, row.since)


def _period(row: ControlRow) -> ExperimentPeriod:
    return ExperimentPeriod(row.since, row.until)
