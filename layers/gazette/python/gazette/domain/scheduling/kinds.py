"""What sends the events under a schedule, told by the schedule's name. Pure."""

import hashlib
from enum import Enum, StrEnum, auto

_IMMEDIATE = "now"


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
    no email showed it in time, or before it lapsed. `GIVEN_UP`: as `EXCLUDED`, but an email may
    have shown it; it stays here.
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
    return _IMMEDIATE + hashlib.sha256(entity.encode()).hexdigest()[:20]
