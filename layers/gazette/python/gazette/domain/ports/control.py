"""The decisions of operators: experiments and category holds.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol

from gazette.domain.feedback.experiment import Experiment, ExperimentPeriod

HeldCategories = Callable[[], Collection[str]]
"""Returns the categories that are on hold. A change takes effect within a minute. Never raises."""


RunningExperiment = Callable[[], Experiment | None]
"""Returns the running experiment, or None. A change takes effect within a minute. Never raises."""


class Experiments(Protocol):
    """The experiments, of which one runs at a time."""

    def running(self) -> Experiment | None:
        """Return the experiment that runs now, or None."""

    def start(self, wanted: Experiment) -> None:
        """Start this experiment; it replaces any other. Can be repeated."""

    def stop(self, at: datetime) -> None:
        """Stop the experiment: everybody gets variation 1. Can be repeated."""

    def periods(self) -> Mapping[str, ExperimentPeriod]:
        """Return from when to when each experiment ran, by name."""
