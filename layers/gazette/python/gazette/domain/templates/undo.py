"""Which version a rollback without a number goes back to. Pure."""

from collections.abc import Sequence

from gazette.domain.templates.changes import InvalidRollout
from gazette.domain.templates.versions import DEPLOYED, Act, Change


def current_before(current: int, changes: Sequence[Change]) -> int:
    """The number of the version that was in force for everybody before the current one.

    `changes`: all of them, the latest first. What was rolled back is not gone back to: two
    rollbacks in a row go back two versions, and a version that was bad once stays out.
    Raises InvalidRollout if that is what was deployed.
    """
    undone = [DEPLOYED.number]
    for change in reversed(changes):
        if change.act is Act.ROLLED_BACK and change.current in undone:
            while undone[-1] != change.current:
                undone.pop()
        elif change.current != undone[-1]:
            undone.append(change.current)
    if current == DEPLOYED.number or len(undone) == 1:
        raise InvalidRollout(
            "what was deployed is in force for everybody: there is nothing to roll back"
        )
    return undone[-2]
