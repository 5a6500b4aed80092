"""The settings that operators control at run time: experiments and category holds.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol

from gazette.domain.feedback.experiment import Experiment, ExperimentPeriod

HeldCategories = Callable[[], Collection[str]]
"""A function that returns the categories on hold. A change takes effect within a minute.

Never raises.
"""


class Experiments(Protocol):
    """The store of experiments. Only one experiment runs at a time."""

    def running(self) -> Experiment | None:
        """Return the running experiment, or None."""

    def start(self, wanted: Experiment) -> None:
        """Start this experiment in place of any running experiment. Can be repeated."""

    def stop(self, at: datetime) -> None:
        """Stop the running experiment, so that all readers get variation 1. Can be repeated."""

    def periods(self) -> Mapping[str, ExperimentPeriod]:
        """Return the periods of all experiments, by name."""
