"""The history in the audit log: previous template versions, and rollout periods. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gazette.domain.templates.versions import DEPLOYED, Act, Change

from gazette_support.domain.templates.changes import InvalidRollout


def current_before(current: int, changes: Sequence[Change]) -> int:
    """Return the number of the previous version, to which a rollback returns.

    `changes` are all changes, latest first. A version that was rolled back is skipped, so two
    rollbacks in a row go back two versions, and a bad version is not restored. Raises
    InvalidRollout if `current` is the deployed version.
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
            "the deployed version is in force for all readers, so there is nothing to roll back"
        )
    return undone[-2]


@dataclass(frozen=True, slots=True)
class Rollout:
    """A period in which some readers had a candidate version and all other readers had `current`.

    Instants are in UTC.
    """

    current: int
    since: datetime
    until: datetime | None
    """The end of the rollout; None while the rollout continues."""


def last_rollout(number: int, changes: Sequence[Change]) -> Rollout | None:
    """Return the last period in which the version was the candidate; None if it never was a
    candidate.

    `changes` are all changes, latest first. Times at which the candidate's percent was 0 are not
    included, because it had no readers.
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
