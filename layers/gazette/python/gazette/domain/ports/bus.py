"""The bus to which services publish events.

The port may raise `Unavailable`. The caller then cannot know whether a write was made, and repeats
the call.
"""

from collections.abc import Sequence
from typing import Protocol

from gazette.domain.commands import ChangeFollow, ChoosePreferences, MarkActive

BusCommand = ChoosePreferences | ChangeFollow | MarkActive
"""A command that Gazette itself publishes: a reader's choice on its pages, or a reader's activity.
"""


class Bus(Protocol):
    """The bus to which services publish events."""

    def put(self, commands: Sequence[BusCommand]) -> bool:
        """Publish commands to the bus; return False if the bus accepted none of them.

        Raises Unavailable if it rejected some of them, or if the result is unknown.
        """
