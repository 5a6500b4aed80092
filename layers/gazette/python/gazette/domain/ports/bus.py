"""The event bus to which services publish events.

The port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and repeats
the call.
"""

from collections.abc import Sequence
from typing import Protocol

from gazette.domain.commands import ChangeFollow, ChoosePreferences, MarkActive

BusCommand = ChoosePreferences | ChangeFollow | MarkActive
"""A command that Gazette itself publishes: a choice on its pages, or a reader's activity."""


class Bus(Protocol):
    """The event bus to which services publish events."""

    def put(self, commands: Sequence[BusCommand]) -> bool:
        """Publish commands to the bus. Return False if the bus accepted none of them.

        Raises Unavailable if the bus rejected some of them, or if the result is unknown.
        """
