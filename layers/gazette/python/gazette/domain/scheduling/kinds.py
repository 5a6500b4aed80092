"""The kind of a schedule, which its name determines. Pure."""

import hashlib
from enum import Enum, StrEnum, auto

_IMMEDIATE = "now"
_CRITICAL = "nowx"
"""The prefix of critical schedules.

No other immediate schedule has it, because the hash after `_IMMEDIATE` contains no `x`.
"""


class ScheduleKind(Enum):
    """The kind of runs that send the events under a schedule."""

    DIGEST = auto()
    """Runs that fan-out starts when the schedule is due."""

    IMMEDIATE = auto()
    """Runs that start with an event."""

    UNSENT = auto()
    """No runs."""


class Unsent(StrEnum):
    """The schedules whose events are not sent while they are stored under them."""

    WAITING = "waiting"
    """The subscriber is not known yet."""

    EXCLUDED = "excluded"
    """No email can show the event."""

    EXPIRED = "expired"
    """No email showed the event in time, or before it lapsed."""

    GIVEN_UP = "given_up"
    """Like `EXCLUDED` or `EXPIRED`, but an email may have shown the event. It stays here."""


_UNSENT = frozenset(Unsent)


def kind_of(schedule: str) -> ScheduleKind:
    """Return the kind of the schedule with this name."""
    if schedule.startswith(_IMMEDIATE):
        return ScheduleKind.IMMEDIATE
    return ScheduleKind.UNSENT if schedule in _UNSENT else ScheduleKind.DIGEST


def immediate_schedule(entity: str) -> str:
    """Return the schedule of immediate emails about the entity with this key, such as `now5f1c…`.

    Each subscriber has one per entity, so that all events on it within a collapse window share a
    run.
    """
    return _IMMEDIATE + _hash(entity)


def critical_schedule(entity: str) -> str:
    """Return the immediate schedule of the critical events on the entity with this key.

    It is separate, so that no email shows them with events that a stop or a choice may end.
    """
    return _CRITICAL + _hash(entity)


def is_critical(schedule: str) -> bool:
    """Return True if the events under the schedule with this name are critical."""
    return schedule.startswith(_CRITICAL)


def _hash(entity: str) -> str:
    return hashlib.sha256(entity.encode()).hexdigest()[:20]
