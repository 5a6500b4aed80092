"""What is asked: readers and what happens to them, the account of SES, the stage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType

from gazette.domain.delivery.pace import PacePlan
from gazette.settings.concurrency import Size

from cli.simulate.engine.service import ServicePlan

WORLD: Mapping[str, float] = MappingProxyType(
    {
        "Asia/Shanghai": 20,
        "Asia/Kolkata": 17,
        "America/New_York": 8,
        "Asia/Jakarta": 6,
        "Europe/Berlin": 6,
        "Europe/Paris": 5,
        "America/Chicago": 5,
        "America/Sao_Paulo": 5,
        "Africa/Lagos": 4,
        "America/Los_Angeles": 3,
        "Europe/Moscow": 3,
        "Europe/London": 3,
        "Asia/Tokyo": 3,
        "Europe/Istanbul": 2,
        "America/Mexico_City": 2,
        "Asia/Dhaka": 2,
        "Africa/Cairo": 2,
        "America/Bogota": 1.5,
        "Asia/Karachi": 1.5,
        "America/Denver": 1,
    }
)
"""Of a hundred readers, how many live in each time zone, if nobody says otherwise: an assumption,
roughly as the users of the Internet live. https://data.worldbank.org/indicator/IT.NET.USER.ZS"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Readers, and what happens to them.

    `events`: of each reader in a day. `immediate`: the share of them that go out at once, as one
    email each. `hour`: that of the digest, by the reader's clock. `on_the_hour`: the share of
    readers who chose its first minute; all others have one of six slots. `zones`: parts of the
    readers.
    """

    readers: int
    events: float = 3
    immediate: float = 0
    hour: int = 8
    on_the_hour: float = 0
    zones: Mapping[str, float] = field(default_factory=lambda: WORLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What SES lets the account send: emails a second, and in 24 hours; None: any number."""

    rate: float
    daily: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What counts of a stage. `plan`: of both streams. `hold`: of immediate email. `sizes`: of each
    function, by name. `reports`: delivery events of an email. Nothing is about what emails show.
    """

    plan: PacePlan
    immediate_share: int
    shards: int
    spread: timedelta
    max_lateness: timedelta
    hold: timedelta
    sizes: Mapping[str, Size]
    reports: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """All of it. `begin`: the first day, in UTC. `service`: what each digest asks, if anything."""

    traffic: Traffic
    account: Account
    installation: Installation
    begin: date
    days: int = 1
    service: ServicePlan | None = None
    seed: int = 1
