"""What the functions need that take events in and put them in their place."""

import json
import re
from dataclasses import dataclass

from gazette.settings.environment import InvalidSetting, Settings, check

_CATEGORY = re.compile(r"[a-z][a-z0-9_]{0,31}")
_FREQUENCIES = {"never", "immediate", "daily", "weekly", "custom"}

EVENT_WRITE_TIMEOUT_MS = 1500
"""The longest that one attempt to write an event takes: the settle lag must be longer."""

LONGEST_LIFE_DAYS = 12 * 7 + 2 * 31 + 14 + 2
"""No event waits longer, unless event_retention_days is more: for the occurrence after the next of
a monthly digest behind the longest pause, with a margin (domain/scheduling/lifetime.py)."""

KEPT_AFTER_DAYS = 31 + 3
"""The longest that the row of an event is kept after its life."""


@dataclass(frozen=True, kw_only=True)
class RoutingSettings(Settings):
    """What every function that moves events to their place needs.

    `default_frequencies` is JSON: category to frequency, for readers who chose none. `collapse`:
    how long an immediate email collects what else happens on the same entity. `sunset_days`: after
    how many days without a sign of life a reader is dormant; 0: never.
    """

    subscribers_table: str
    schedules_table: str
    follows_table: str
    events_table: str
    runs_table: str
    control_table: str
    generate_queue_url: str
    shards: int
    default_frequencies: str
    collapse: int
    settle_lag: int
    clock_skew: int
    check_after: int
    sunset_days: int
    event_retention_days: int
    run_retention_days: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting. What is hidden by SQS is hidden for 900 s at most."""
        check(
            self,
            shards=(1, 256),
            collapse=(1, 300),
            settle_lag=(1, 300),
            clock_skew=(0, 60),
            check_after=(0, None),
            sunset_days=(0, None),
            event_retention_days=(35, None),
        )
        check_frequencies(self.default_frequencies)


@dataclass(frozen=True, kw_only=True)
class ActivitiesSettings(RoutingSettings):
    """What every function needs that takes events in, or brings them to followers."""

    activities_table: str
    followers_queue_url: str


@dataclass(frozen=True, kw_only=True)
class IngestSettings(ActivitiesSettings):
    """What `ingest` needs."""

    suppressions_table: str
    quarantine_queue_url: str


@dataclass(frozen=True, kw_only=True)
class FollowersSettings(ActivitiesSettings):
    """What `followers` needs."""


def check_frequencies(given: str) -> None:
    """Raises InvalidSetting where `default_frequencies` is not what it must be."""
    try:
        chosen = json.loads(given)
    except ValueError:
        chosen = None
    if (
        not isinstance(chosen, dict)
        or not all(map(_CATEGORY.fullmatch, chosen))
        or not set(map(str, chosen.values())) <= _FREQUENCIES
    ):
        raise InvalidSetting(
            f"GAZETTE_DEFAULT_FREQUENCIES is {given!r}; it must give each category one of "
            f"{', '.join(sorted(_FREQUENCIES))}."
        )
