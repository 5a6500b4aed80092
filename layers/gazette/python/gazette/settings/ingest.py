"""What `ingest` and `followers` need, and every function that routes events as they do."""

import json
from dataclasses import dataclass

from gazette.domain.hosts import LinkHosts
from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.sources import DETAIL_TYPES
from gazette.domain.subscribers.frequency import Frequency
from gazette.settings.environment import InvalidSetting, Settings

LONGEST_LINK_HOSTS = 2000
"""Characters of JSON. Lambda takes 4 KB of variables for a function, half of it for all others.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

MOST_CRITICAL = 20
"""Critical categories of a stage. Who needs more means something else than critical."""

_AT_ONCE = Frequency.IMMEDIATE.value


@dataclass(frozen=True, kw_only=True)
class RoutingSettings(Settings):
    """What every function needs that routes events.

    `default_frequencies` is JSON: category to frequency, for readers who chose none.
    `critical_categories` too: those that come whatever a reader chose. `content_sources` too: those
    of digests, in order. `collapse`: how long an immediate email collects further events on the
    same entity. `sunset_days`: after how many days without a sign of life a reader is dormant; 0:
    never.
    """

    subscribers_table: str
    schedules_table: str
    follows_table: str
    events_table: str
    runs_table: str
    control_table: str
    immediate_queue_url: str
    shards: int
    default_frequencies: str
    critical_categories: str
    content_sources: str
    collapse: int
    settle_lag: int
    clock_skew: int
    check_after: int
    sunset_days: int
    event_retention_days: int
    run_retention_days: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting for values out of range, and for wrong default frequencies."""
        super().__post_init__()
        _check_frequencies(self.default_frequencies)
        _check_critical(self.critical_categories, self.default_frequencies)


@dataclass(frozen=True, kw_only=True)
class ActivitiesSettings(RoutingSettings):
    """What every function needs that stores activities and walks through followers."""

    activities_table: str
    followers_queue_url: str


@dataclass(frozen=True, kw_only=True)
class IngestSettings(ActivitiesSettings):
    """What `ingest` needs.

    `sources` is JSON: detail type to the sources that may put it. `link_hosts` too: the hosts to
    which links of events may lead, as LinkHosts.of takes them.
    """

    suppressions_table: str
    suppressions_secret: str
    ingest_queue_url: str
    quarantine_queue_url: str
    sources: str
    link_hosts: str

    def __post_init__(self) -> None:
        """Raises InvalidSetting for values out of range, wrong sources, and wrong hosts."""
        super().__post_init__()
        _check_sources(self.sources)
        _check_link_hosts(self.link_hosts)


@dataclass(frozen=True, kw_only=True)
class FollowersSettings(ActivitiesSettings):
    """What `followers` needs."""

    suppressions_table: str
    suppressions_secret: str


def _check_frequencies(given: str) -> None:
    try:
        chosen = json.loads(given)
    except ValueError:
        chosen = None
    if (
        not isinstance(chosen, dict)
        or not all(map(CATEGORY_NAME.fullmatch, chosen))
        or not set(map(str, chosen.values())) <= set(Frequency)
    ):
        raise InvalidSetting(
            f"GAZETTE_DEFAULT_FREQUENCIES is {given!r}; it must give each category one of "
            f"{', '.join(sorted(Frequency))}."
        )


def _check_critical(given: str, default_frequencies: str) -> None:
    try:
        listed = json.loads(given)
    except ValueError:
        listed = None
    if (
        not isinstance(listed, list)
        or len(listed) > MOST_CRITICAL
        or not all(isinstance(name, str) and CATEGORY_NAME.fullmatch(name) for name in listed)
    ):
        raise InvalidSetting(
            f"GAZETTE_CRITICAL_CATEGORIES is {given!r}; it must be a list of {MOST_CRITICAL} "
            'categories at most, such as ["security"].'
        )
    often = json.loads(default_frequencies)
    if wrong := [name for name in listed if often.get(name, _AT_ONCE) != _AT_ONCE]:
        raise InvalidSetting(
            f"GAZETTE_CRITICAL_CATEGORIES names {', '.join(wrong)}, to which "
            "GAZETTE_DEFAULT_FREQUENCIES gives another frequency than immediate; what is critical "
            "always comes at once: remove it from one of the two."
        )


def _check_sources(given: str) -> None:
    try:
        listed = json.loads(given)
    except ValueError:
        listed = None
    if not isinstance(listed, dict):
        raise InvalidSetting(
            f"GAZETTE_SOURCES is {given!r}; it must give detail types the sources that may put "
            'them, such as {"subscriber.deleted": ["shop.accounts"]}.'
        )
    for detail_type, names in listed.items():
        if detail_type not in DETAIL_TYPES:
            raise InvalidSetting(
                f"GAZETTE_SOURCES names {detail_type!r}, which is no detail type; name one of "
                f"{', '.join(DETAIL_TYPES)}, or remove it."
            )
        if not isinstance(names, list) or not names or not all(map(_is_source, names)):
            raise InvalidSetting(
                f"GAZETTE_SOURCES gives {detail_type!r} {json.dumps(names)}; list the sources that "
                'may put it, such as ["shop.accounts"], or remove it: every source may then.'
            )


def _is_source(name: object) -> bool:
    return isinstance(name, str) and name.isprintable() and name == name.strip() != ""


def _check_link_hosts(given: str) -> None:
    if len(given) > LONGEST_LINK_HOSTS:
        raise InvalidSetting(
            f"GAZETTE_LINK_HOSTS is {len(given):,} characters long; it may have "
            f"{LONGEST_LINK_HOSTS:,}. Write *.example.com for the subdomains of a domain."
        )
    try:
        entries = json.loads(given)
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        raise InvalidSetting(f"GAZETTE_LINK_HOSTS is {given!r}; it must be a list of hosts.")
    try:
        LinkHosts.of(entries)
    except ValueError as err:
        raise InvalidSetting(f"GAZETTE_LINK_HOSTS is wrong: {err}.") from err
