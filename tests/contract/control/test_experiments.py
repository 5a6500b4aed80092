"""Which experiment runs: our fake, and a row of DynamoDB on moto."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.adapters.cached import READ_INTERVAL, Cached
from gazette.adapters.dynamodb.control.experiments import DynamoExperiments
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.experiment import ExperimentPeriod, experiment
from gazette.domain.ports.control import Experiments

from tests.builders import NOW, SettableClock
from tests.fakes import FakeExperiments

SUBJECT = experiment("subject", {1: 90, 2: 10}, NOW)
RANKING = experiment("ranking", {1: 1, 3: 1}, NOW + timedelta(days=1))


@pytest.fixture
def experiments(engine: str) -> Experiments:
    return FakeExperiments() if engine != "moto" else DynamoExperiments("control")


def test_no_experiment_is_initially_running(experiments: Experiments) -> None:
    assert experiments.running() is None


def test_only_a_single_experiment_runs_at_a_time(experiments: Experiments) -> None:
    experiments.start(SUBJECT)
    assert experiments.running() == SUBJECT
    experiments.start(RANKING)
    experiments.start(RANKING)
    assert experiments.running() == RANKING


def test_experiment_can_be_stopped_repeatedly(experiments: Experiments) -> None:
    experiments.start(SUBJECT)
    experiments.stop(NOW)
    experiments.stop(NOW)
    assert experiments.running() is None


def test_experiment_periods_are_recorded(experiments: Experiments) -> None:
    assert experiments.periods() == {}
    experiments.stop(NOW)
    experiments.start(SUBJECT)
    experiments.start(replace(SUBJECT, weights=((1, 1), (2, 1))))
    experiments.start(RANKING)
    experiments.stop(RANKING.since + timedelta(days=1))
    experiments.stop(RANKING.since + timedelta(days=2))
    assert experiments.periods() == {
        "subject": ExperimentPeriod(NOW, RANKING.since),
        "ranking": ExperimentPeriod(RANKING.since, RANKING.since + timedelta(days=1)),
    }


def test_experiment_started_again_keeps_its_first_period(experiments: Experiments) -> None:
    experiments.start(SUBJECT)
    experiments.stop(NOW + timedelta(days=1))
    experiments.start(replace(SUBJECT, since=NOW + timedelta(days=2)))
    assert experiments.periods() == {"subject": ExperimentPeriod(NOW, None)}


def test_experiment_is_read_once_a_minute_and_errors_are_ignored(
    experiments: Experiments, clock: SettableClock, answers: list[str], engine: str
) -> None:
    cached = Cached(experiments.running, default=None, clock=clock)
    assert cached.get() is None
    experiments.start(SUBJECT)
    assert cached.get() is None
    clock.now += READ_INTERVAL + timedelta(seconds=1)
    assert cached.get() == SUBJECT
    if engine == "moto":
        answers += ["lost before"]
        clock.now += READ_INTERVAL + timedelta(seconds=1)
        assert cached.get() == SUBJECT
        assert answers == []
        assert cached.get() == SUBJECT


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.parametrize(
    "weights",
    ["{", '{"x": 1}', '{"1": 0}', "{}", "[]", "7", '{"1": null}', '{"1": [1]}', '{"1": Infinity}'],
)
def test_corrupt_experiment_row_is_ignored(
    experiments: Experiments, clock: SettableClock, weights: str
) -> None:
    ControlRow("experiment", "email", since=NOW, name="subject", weights=weights).save()
    with pytest.raises(Unavailable, match="is invalid"):
        experiments.running()
    assert Cached(experiments.running, default=None, clock=clock).get() is None
