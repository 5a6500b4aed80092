"""What the audit tells: what was in force before, and how long a version was rolled out. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

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


@dataclass(frozen=True, slots=True)
class Rollout:
    """While some readers had a version and the others `current`. `until` is None while it lasts.

    Instants are in UTC.
    """

    current: int
    since: datetime
    until: datetime | None


def last_rollout(number: int, changes: Sequence[Change]) -> Rollout | None:
    """The last time that a version was the candidate; None if it never was.

    `changes`: all of them, the latest first. While its percent was 0, it had no readers.
    """
    ended: datetime | None = None
    since: Change | None = None
    for change in changes:
        if change.candidate == number:
            since = change
        elif since is not None:
            break
        else:
            ended = change.at
    return Rollout(since.current, since.at, ended) if since else None
