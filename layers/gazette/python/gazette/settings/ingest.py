"""The settings of `ingest`, `followers` and other functions that route events."""

import json
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.hosts import LinkHosts
from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.scheduling.limits import RoutingLimits
from gazette.domain.scheduling.quiet import NO_QUIET_HOURS, QuietHours
from gazette.domain.sources import DETAIL_TYPES
from gazette.domain.subscribers.frequency import Frequencies, Frequency, frequencies
from gazette.settings.environment import InvalidSetting, ScheduleSettings, check_list

LONGEST_LINK_HOSTS = 2000
"""The maximum length of `link_hosts` as JSON, in characters.

Lambda allows 4 KB of environment variables per function. Half of that is reserved for other
variables. https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

MOST_CRITICAL = 20
"""The maximum number of critical categories of a stage.

A stage that needs more categories probably uses them for events that are not critical.
"""

MOST_PER_HOUR = 60
"""The highest limit of immediate emails an hour, which is far more than a reader can read."""

MOST_PER_DAY = 500
"""The highest limit of immediate emails a day."""

_AT_ONCE = Frequency.IMMEDIATE.value


@dataclass(frozen=True, kw_only=True)
class ReaderSettings(ScheduleSettings):
    """The settings of every function that reads what is in force for a reader."""

    follows_table: str
    default_frequencies: str
    """The default frequencies by category, as JSON, for readers who have not chosen any."""

    critical_categories: str
    """The categories that are sent regardless of a reader's choice, as JSON."""

    quiet_hours: str
    """The quiet hours of readers without their own choice, such as `22:00-07:00`, or an empty
    text."""

    event_retention_days: int

    def __post_init__(self) -> None:
        """Raise InvalidSetting for values that are out of range, for invalid default frequencies,
        and for invalid quiet hours."""
        super().__post_init__()
        _read_quiet_hours(self.quiet_hours)
        _check_frequencies(self.default_frequencies)
        _check_critical(self.critical_categories, self.default_frequencies)

    @property
    def defaults(self) -> Frequencies:
        """The default frequencies by category."""
        return frequencies(json.loads(self.default_frequencies))

    @property
    def critical(self) -> frozenset[str]:
        """The categories that are sent regardless of a reader's choice."""
        return frozenset(json.loads(self.critical_categories))

    @property
    def default_quiet_hours(self) -> QuietHours | None:
        """The quiet hours of readers without their own choice. None if there are none."""
        return _read_quiet_hours(self.quiet_hours)

    @property
    def event_retention(self) -> timedelta:
        """The minimum retention of events."""
        return timedelta(days=self.event_retention_days)


@dataclass(frozen=True, kw_only=True)
class RoutingSettings(RoutingLimits, ReaderSettings):
    """The settings of every function that routes events."""

    immediate_queue_url: str
    immediate_limit: str
    """The limit of immediate emails per reader, as JSON; `{}` for no limit."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for values that are out of range, and for an invalid limit."""
        super().__post_init__()
        _read_limit(self.immediate_limit)

    @property
    def limit(self) -> ImmediateLimit | None:
        """The limit of immediate emails per reader; None if there is none."""
        return _read_limit(self.immediate_limit)


@dataclass(frozen=True, kw_only=True)
class ActivitiesSettings(RoutingSettings):
    """The settings of every function that stores activities and processes followers."""

    activities_table: str
    followers_queue_url: str


@dataclass(frozen=True, kw_only=True)
class IngestSettings(ActivitiesSettings):
    """The settings of `ingest`."""

    suppressions_table: str
    suppressions_secret: str
    ingest_queue_url: str
    quarantine_queue_url: str
    sources: str
    """The sources that may publish each detail type, as JSON."""

    link_hosts: str
    """The hosts that event links may point to, as a JSON list for LinkHosts.of."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for values that are out of range, invalid sources, and invalid
        hosts."""
        super().__post_init__()
        _check_sources(self.sources)
        _check_link_hosts(self.link_hosts)


@dataclass(frozen=True, kw_only=True)
class FollowersSettings(ActivitiesSettings):
    """The settings of `followers`."""

    suppressions_table: str
    suppressions_secret: str


def _read_quiet_hours(text: str) -> QuietHours | None:
    try:
        return QuietHours.of(text or NO_QUIET_HOURS)
    except ValueError as err:
        raise InvalidSetting(
            f"GAZETTE_QUIET_HOURS is {text!r}; it {err}. Leave it empty for no quiet hours."
        ) from None


def _check_frequencies(text: str) -> None:
    try:
        chosen = json.loads(text)
    except ValueError:
        chosen = None
    if (
        not isinstance(chosen, dict)
        or not all(map(CATEGORY_NAME.fullmatch, chosen))
        or not set(map(str, chosen.values())) <= set(Frequency)
    ):
        raise InvalidSetting(
            f"GAZETTE_DEFAULT_FREQUENCIES is {text!r}; it must give each category one of "
            f"{', '.join(sorted(Frequency))}."
        )


def _check_critical(text: str, default_frequencies: str) -> None:
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if (
        not isinstance(listed, list)
        or len(listed) > MOST_CRITICAL
        or not all(isinstance(name, str) and CATEGORY_NAME.fullmatch(name) for name in listed)
    ):
        raise InvalidSetting(
            f"GAZETTE_CRITICAL_CATEGORIES is {text!r}; it must be a list of {MOST_CRITICAL} "
            'categories at most, such as ["security"].'
        )
    often = json.loads(default_frequencies)
    if wrong := [name for name in listed if often.get(name, _AT_ONCE) != _AT_ONCE]:
        raise InvalidSetting(
            f"GAZETTE_CRITICAL_CATEGORIES names {', '.join(wrong)}, to which "
            "GAZETTE_DEFAULT_FREQUENCIES gives a frequency other than immediate. Critical events "
            "are always immediate; remove the category from one of the two settings."
        )


def _read_limit(text: str) -> ImmediateLimit | None:
    """Return the limit in `immediate_limit`, or None if it is empty."""
    try:
        limit = json.loads(text)
    except ValueError:
        limit = None
    if limit == {}:
        return None
    if isinstance(limit, dict) and limit.keys() == {"per_hour", "per_day"}:
        hour, day = limit["per_hour"], limit["per_day"]
        are_numbers = type(hour) is type(day) is int
        if are_numbers and 1 <= hour <= MOST_PER_HOUR and hour <= day <= MOST_PER_DAY:
            return ImmediateLimit(per_hour=hour, per_day=day)
    raise InvalidSetting(
        f'GAZETTE_IMMEDIATE_LIMIT is {text!r}; it must be {{}} or {{"per_hour": EMAILS, '
        f'"per_day": EMAILS}}, with 1 to {MOST_PER_HOUR} emails an hour, and from as many to '
        f"{MOST_PER_DAY} emails a day."
    )


def _check_sources(text: str) -> None:
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if not isinstance(listed, dict):
        raise InvalidSetting(
            f"GAZETTE_SOURCES is {text!r}; it must map detail types to the sources that may "
            'publish them, such as {"subscriber.deleted": ["shop.accounts"]}.'
        )
    for detail_type, names in listed.items():
        if detail_type not in DETAIL_TYPES:
            raise InvalidSetting(
                f"GAZETTE_SOURCES names {detail_type!r}, which is not a detail type; use one of "
                f"{', '.join(DETAIL_TYPES)}, or remove it."
            )
        if not isinstance(names, list) or not names or not all(map(_is_source, names)):
            raise InvalidSetting(
                f"GAZETTE_SOURCES is {json.dumps(names)} for {detail_type!r}; list the sources "
                'that may publish it, such as ["shop.accounts"], or remove it to allow every '
                "source."
            )


def _is_source(name: object) -> bool:
    return isinstance(name, str) and name.isprintable() and name == name.strip() != ""


def _check_link_hosts(text: str) -> None:
    check_list(
        "GAZETTE_LINK_HOSTS",
        text,
        longest=LONGEST_LINK_HOSTS,
        shorten="Write *.example.com for the subdomains of a domain.",
        entries="hosts",
        parse=LinkHosts.of,
    )
