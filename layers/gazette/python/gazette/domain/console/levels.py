"""The severity of a finding about a stage, and the line that states a finding."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The severity of a finding, with the worst first. All commands and pages use this scale."""

    PROBLEM = "problem"
    """A failure. Email is not sent or not accepted, delivery events are lost, or messages need an
    operator.
    """

    UNSEEN = "unseen"
    """A check that was not possible. It is unknown whether the checked resource works."""

    WARNING = "warning"
    """A finding to review. The checked resource works, or an operator stopped it intentionally."""

    OK = "ok"

    @property
    def rank(self) -> int:
        """The sort key of levels. The worst level has the rank 0."""
        return [*Level].index(self)


@dataclass(frozen=True, slots=True)
class Line:
    """A line about the state of a stage."""

    level: Level

    # The subject, such as `alarm` or `quarantine`.
    area: str

    text: str

    # The command to run or the page to read next, or "".
    command: str = ""
