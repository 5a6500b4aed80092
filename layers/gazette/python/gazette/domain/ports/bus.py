"""The bus that services put events on.

The port may raise `Unavailable`. The caller then cannot know whether a write was made, and repeats
the call.
"""

from collections.abc import Sequence
from typing import Protocol

from gazette.domain.commands import ChangeFollow, ChoosePreferences, MarkActive

BusCommand = ChoosePreferences | ChangeFollow | MarkActive
"""What Gazette itself puts on the bus: readers' choices on its pages, and signs of life."""


class Bus(Protocol):
    """The bus that services put events on."""

    def put(self, commands: Sequence[BusCommand]) -> bool:
        """Put what readers said on the bus; False if the bus accepted none of it.

        Raises Unavailable if it did not accept some of it, or if that is not known.
        """
