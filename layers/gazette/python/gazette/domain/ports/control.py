"""What operators decide: experiments and held categories.

Every port may raise `Unavailable`; the caller then cannot know whether a write was made, and
does the same again. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol

from gazette.domain.feedback.experiment import Course, Experiment

HeldCategories = Callable[[], Collection[str]]
"""Returns the categories that are on hold. A minute late after a change. Never raises."""


RunningExperiment = Callable[[], Experiment | None]
"""Returns the experiment that runs, or None. A minute late after a change. Never raises."""


class Experiments(Protocol):
    """Where it is said which experiment runs: one at a time."""

    def running(self) -> Experiment | None:
        """The one that runs now, or None."""

    def start(self, wanted: Experiment) -> None:
        """Let this one run, in the place of any other. May be repeated."""

    def stop(self, at: datetime) -> None:
        """Let none run: everybody gets variation 1. May be repeated."""

    def courses(self) -> Mapping[str, Course]:
        """From when to when each experiment ran, by name."""
