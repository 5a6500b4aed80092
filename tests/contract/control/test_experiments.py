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


def test_at_first_none_runs(experiments: Experiments) -> None:
    assert experiments.running() is None


def test_one_runs_at_a_time(experiments: Experiments) -> None:
    experiments.start(SUBJECT)
    assert experiments.running() == SUBJECT
    experiments.start(RANKING)
    experiments.start(RANKING)
    assert experiments.running() == RANKING


def test_it_is_stopped_and_may_be_stopped_again(experiments: Experiments) -> None:
    experiments.start(SUBJECT)
    experiments.stop(NOW)
    experiments.stop(NOW)
    assert experiments.running() is None


def test_of_each_it_is_known_from_when_to_when_it_ran(experiments: Experiments) -> None:
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


def test_one_that_is_started_again_has_one_course(experiments: Experiments) -> None:
    experiments.start(SUBJECT)
    experiments.stop(NOW + timedelta(days=1))
    experiments.start(replace(SUBJECT, since=NOW + timedelta(days=2)))
    assert experiments.periods() == {"subject": ExperimentPeriod(NOW, None)}


def test_a_worker_looks_once_a_minute_and_fails_for_nothing(
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
def test_a_row_that_somebody_broke_by_hand_stops_nobody(
    experiments: Experiments, clock: SettableClock, weights: str
) -> None:
    ControlRow("experiment", "email", since=NOW, name="subject", weights=weights).save()
    with pytest.raises(Unavailable, match="is invalid"):
        experiments.running()
    assert Cached(experiments.running, default=None, clock=clock).get() is None
