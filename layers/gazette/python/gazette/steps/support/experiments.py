"""Start an experiment, or change the weights of the running one."""

from collections.abc import Mapping

from gazette.domain.feedback.experiment import Experiment, experiment
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import Experiments


def start_experiment(
    name: str, weights: Mapping[int, int], *, experiments: Experiments, clock: Clock
) -> Experiment:
    """Replace the running experiment; under the same name, it keeps its start.

    Raises InvalidExperiment.
    """
    running = experiments.running()
    since = running.since if running and running.name == name else clock()
    wanted = experiment(name, weights, since)
    experiments.start(wanted)
    return wanted
