"""The settings that operators control at run time: experiments, holds and withdrawals.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol

from gazette.domain.feedback.experiment import Experiment, ExperimentPeriod
from gazette.domain.withdrawing.withdrawals import WithdrawalList, Withdrawals

HeldCategories = Callable[[], Collection[str]]
"""A function that returns the categories on hold. A change takes effect within a minute.

Never raises.
"""

CurrentWithdrawals = Callable[[], Withdrawals]
"""A function that returns the withdrawals of the stage. A change takes effect within a minute."""


class WithdrawalStore(Protocol):
    """The store of the withdrawals, which is one list."""

    def read(self) -> WithdrawalList:
        """Return the list; an empty one if no withdrawal was ever stored."""

    def change(self, after: WithdrawalList) -> bool:
        """Store the list `after`, which replaces the list with the previous revision.

        Returns False without a change if another list was stored since. A repetition after a lost
        response also returns False.
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
