"""The kinds of schedules. The name of a schedule determines its kind. Pure."""

import hashlib
from enum import Enum, StrEnum, auto

_IMMEDIATE = "now"
_CRITICAL = "nowx"
"""The name prefix of critical schedules.

No other immediate schedule has this prefix, because the hash after `_IMMEDIATE` contains no `x`.
"""
_URGENT = "u"
"""The suffix of urgent schedules. The hash before it contains no `u`.

The names of an entity's usual and urgent schedules are next to each other in order, so one query
reads the runs of both.
"""


class ScheduleKind(Enum):
    """The kind of runs that send the events of a schedule."""

    DIGEST = auto()
    """Digest runs, which fan-out starts when the schedule is due."""

    IMMEDIATE = auto()
    """Immediate runs, which start when an event arrives."""

    UNSENT = auto()
    """No runs, because events under the schedule are not sent."""


class Unsent(StrEnum):
    """The schedules under which events are stored without being sent."""

    WAITING = "waiting"
    """The schedule for events whose subscriber is not known yet."""

    EXCLUDED = "excluded"
    """The schedule for events that no email shows, because no template can show them, because
    their reader has seen their entity (`StoredEvent.seen_at`), or because an operator withdrew
    their actor or entity (`StoredEvent.withdrawn_at`)."""

    EXPIRED = "expired"
    """The schedule for events that expired or lapsed before an email showed them."""

    GIVEN_UP = "given_up"
    """The schedule for excluded, expired, seen or withdrawn events that an email may have shown.

    Such events stay here permanently.
    """


_UNSENT = frozenset(Unsent)


def kind_of(schedule: str) -> ScheduleKind:
    """Return the kind of the schedule with this name."""
    if schedule.startswith(_IMMEDIATE):
        return ScheduleKind.IMMEDIATE
    return ScheduleKind.UNSENT if schedule in _UNSENT else ScheduleKind.DIGEST


def immediate_schedule(entity: str) -> str:
    """Return the name of the schedule for immediate emails about an entity, such as `now5f1c…`.

    Each subscriber has one schedule per entity, so that all events on the entity within a collapse
    window share a run.
    """
    return _IMMEDIATE + _hash(entity)


def critical_schedule(entity: str) -> str:
    """Return the name of the schedule for critical immediate emails about an entity.

    The schedule is separate, so that no email combines critical events with events that a stop or a
    choice can hold back.
    """
    return _CRITICAL + _hash(entity)


def urgent_schedule(entity: str) -> str:
    """Return the name of the schedule for immediate emails about an entity that cannot wait.

    The collecting time of its runs does not grow (rule 16).
    """
    return immediate_schedule(entity) + _URGENT


def is_critical(schedule: str) -> bool:
    """Return True if the events under the schedule with this name are critical."""
    return schedule.startswith(_CRITICAL)


def is_urgent(schedule: str) -> bool:
    """Return True if the events under the schedule with this name are urgent."""
    return kind_of(schedule) is ScheduleKind.IMMEDIATE and schedule.endswith(_URGENT)


def collecting_grows(schedule: str) -> bool:
    """Return True if the collecting time of an immediate schedule's runs grows (rule 16).

    Critical and urgent events cannot wait.
    """
    is_immediate = kind_of(schedule) is ScheduleKind.IMMEDIATE
    return is_immediate and not is_critical(schedule) and not is_urgent(schedule)


def is_same_thread(one: str, other: str) -> bool:
    """Return True if both names are of the immediate schedules of one entity, urgent or not."""
    return _is_of_thread(one) and thread_of(one) == thread_of(other)


def thread_of(schedule: str) -> str:
    """Return the name by which emails of an immediate schedule are threaded.

    It is the name of the schedule for an entity's immediate emails, urgent or not. Critical emails
    have a thread of their own.
    """
    return schedule.removesuffix(_URGENT) if is_urgent(schedule) else schedule


def _is_of_thread(schedule: str) -> bool:
    return kind_of(schedule) is ScheduleKind.IMMEDIATE and not is_critical(schedule)


def _hash(entity: str) -> str:
    return hashlib.sha256(entity.encode()).hexdigest()[:20]
