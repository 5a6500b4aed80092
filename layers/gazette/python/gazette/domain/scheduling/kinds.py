"""What sends the events under a schedule, told by the schedule's name. Pure."""

import hashlib
from enum import Enum, StrEnum, auto

_IMMEDIATE = "now"
_CRITICAL = "nowx"
"""No immediate schedule begins like this: the hash behind `_IMMEDIATE` has no `x`."""


class ScheduleKind(Enum):
    """What sends the events under a schedule.

    `DIGEST`: runs that fan-out starts when the schedule is due. `IMMEDIATE`: runs that start with
    an event. `UNSENT`: nothing.
    """

    DIGEST = auto()
    IMMEDIATE = auto()
    UNSENT = auto()


class Unsent(StrEnum):
    """The schedules whose events are never sent while they are there.

    `WAITING`: the subscriber is not known yet. `EXCLUDED`: no email can show the event. `EXPIRED`:
    no email showed it in time, or before it lapsed. `GIVEN_UP`: as `EXCLUDED` or `EXPIRED`, but an
    email may have shown it; it stays here.
    """

    WAITING = "waiting"
    EXCLUDED = "excluded"
    EXPIRED = "expired"
    GIVEN_UP = "given_up"


_UNSENT = frozenset(Unsent)


def kind_of(schedule: str) -> ScheduleKind:
    """The kind of the schedule with this name."""
    if schedule.startswith(_IMMEDIATE):
        return ScheduleKind.IMMEDIATE
    return ScheduleKind.UNSENT if schedule in _UNSENT else ScheduleKind.DIGEST


def immediate_schedule(entity: str) -> str:
    """The schedule of immediate emails about the entity with this key, such as `now5f1c…`.

    One for each subscriber and entity, so that all events on it within a collapse window share a
    run.
    """
    return _IMMEDIATE + _hash(entity)


def critical_schedule(entity: str) -> str:
    """The immediate schedule of the critical events on the entity with this key.

    One of its own, so that no email shows them beside events that a stop or a choice may end.
    """
    return _CRITICAL + _hash(entity)


def is_critical(schedule: str) -> bool:
    """Whether the events under the schedule with this name are critical."""
    return schedule.startswith(_CRITICAL)


def _hash(entity: str) -> str:
    return hashlib.sha256(entity.encode()).hexdigest()[:20]
