"""The changes that operators can make to the template versions in force.

Pure; a command stores the results.
"""

from dataclasses import replace
from datetime import datetime

from gazette.domain.templates.versions import (
    EVERYBODY,
    Act,
    Candidate,
    Change,
    InForce,
    Version,
)


class InvalidRollout(ValueError):
    """An invalid rollout of a template version. The error text names the error and how to fix
    it."""


Changed = tuple[InForce, Change]
"""The template versions in force after a change, with the entry for the audit log."""


def pushed(before: InForce, version: Version, percent: int, *, at: datetime, by: str) -> Changed:
    """Return the change that gives a pushed template version to `percent` (1 to 100) of the
    readers.

    The pushed version replaces the current candidate, if any.
    """
    if not 1 <= percent <= EVERYBODY:
        raise InvalidRollout(f"percent is {percent}; it must be 1 to {EVERYBODY}")
    if percent == EVERYBODY:
        after = replace(before, current=version, candidate=None)
    else:
        after = replace(before, candidate=Candidate(version, percent))
    return _changed(after, Act.PUSHED, at, by)


def rolled_out(before: InForce, percent: int, *, at: datetime, by: str) -> Changed:
    """Return the change that gives the candidate to `percent` (0 to 100) of the readers.

    With 100, the candidate becomes the current version. Raises InvalidRollout if there is no
    candidate.
    """
    candidate = _candidate(before)
    if not 0 <= percent <= EVERYBODY:
        raise InvalidRollout(f"percent is {percent}; it must be 0 to {EVERYBODY}")
    if percent == EVERYBODY:
        after = replace(before, current=candidate.version, candidate=None)
        return _changed(after, Act.PROMOTED, at, by)
    after = replace(before, candidate=replace(candidate, percent=percent))
    return _changed(after, Act.ROLLED_OUT, at, by)


def taken_back(before: InForce, *, at: datetime, by: str) -> Changed:
    """Return the change that withdraws the candidate.

    Raises InvalidRollout if there is no candidate.
    """
    _candidate(before)
    return _changed(replace(before, candidate=None), Act.TAKEN_BACK, at, by)


def rolled_back(before: InForce, to: Version, *, at: datetime, by: str) -> Changed:
    """Return the change that gives all readers the version `to` and withdraws any candidate.

    `to` may be DEPLOYED. Raises InvalidRollout if all readers have that version already.
    """
    if before.candidate is None and before.current == to:
        raise InvalidRollout(f"version {to.number} is already in force for all readers")
    return _changed(replace(before, current=to, candidate=None), Act.ROLLED_BACK, at, by)


def _candidate(before: InForce) -> Candidate:
    if before.candidate is None:
        raise InvalidRollout(
            f"there is no candidate, because version {before.current.number} is in force for all "
            "readers; push a version with --percent"
        )
    return before.candidate


def _changed(after: InForce, act: Act, at: datetime, by: str) -> Changed:
    after = replace(after, revision=after.revision + 1, changed_at=at, changed_by=by)
    candidate = after.candidate
    entry = Change(
        after.revision,
        act,
        at,
        by,
        current=after.current.number,
        candidate=candidate.version.number if candidate else 0,
        percent=candidate.percent if candidate else 0,
    )
    return after, entry
