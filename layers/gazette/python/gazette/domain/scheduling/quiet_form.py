"""The fields of the preference page for quiet hours. Pure.

The three fields are one choice: `quiet` is `none`, `default` or SOME_HOURS, and the two times of
day apply only for SOME_HOURS.
"""

from collections.abc import Mapping, Sequence
from datetime import time

from gazette.domain.scheduling.quiet import (
    NO_QUIET_HOURS,
    STAGE_QUIET_HOURS,
    QuietHours,
)

QUIET = "quiet"
"""The name of the radio buttons."""

QUIET_FROM = "quiet_from"
"""The name of the list with the times at which quiet hours begin."""

QUIET_UNTIL = "quiet_until"
"""The name of the list with the times at which quiet hours end."""

QUIET_FIELDS = (QUIET, QUIET_FROM, QUIET_UNTIL)

SOME_HOURS = "hours"
"""The value of the radio button for quiet hours of the reader's own."""

TIMES_OF_DAY = frozenset(f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60))
"""The values of the two lists that are accepted.

The lists offer full hours, and the value in force if a service chose one with minutes.
"""

_SUGGESTED = QuietHours(time(22), time(7))


def quiet_fields(stored: str, default: QuietHours | None) -> dict[str, str]:
    """Return the fields for a reader's quiet hours, on a stage with these default hours.

    If the reader has no hours of their own, the times are those of the stage, or a suggestion.
    """
    own = None if stored == STAGE_QUIET_HOURS else QuietHours.of(stored)
    hours = own or default or _SUGGESTED
    if own:
        quiet = SOME_HOURS
    elif stored == STAGE_QUIET_HOURS and default:
        quiet = STAGE_QUIET_HOURS
    else:
        quiet = NO_QUIET_HOURS
    return {
        QUIET: quiet,
        QUIET_FROM: f"{hours.begin:%H:%M}",
        QUIET_UNTIL: f"{hours.end:%H:%M}",
    }


def offered_quiet(default: QuietHours | None) -> tuple[str, ...]:
    """Return the values of the radio buttons. The stage's hours are an option if there are any."""
    of_stage = (STAGE_QUIET_HOURS,) if default else ()
    return (*of_stage, NO_QUIET_HOURS, SOME_HOURS)


def quiet_choice(fields: Mapping[str, Sequence[str]]) -> str:
    """Return the quiet hours in the three fields as one text, in the format of a choice."""
    quiet, begin, end = (fields.get(name, ("",))[0] for name in QUIET_FIELDS)
    return f"{begin}-{end}" if quiet == SOME_HOURS else quiet


def leaves_an_hour(hours: str) -> bool:
    """Return True if quiet hours leave an hour of the day, as `QuietHours.of` requires."""
    try:
        return QuietHours.of(hours) is not None
    except ValueError:
        return False
