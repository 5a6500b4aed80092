"""The inputs of a simulation: traffic, the SES account and the stage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType

from gazette.domain.delivery.pace import PacePlan
from gazette.domain.scheduling.quiet import QuietHours

from gazette_cdk.concurrency import MORE_MEMORY, Size
from gazette_cli.simulate.engine.service import ServicePlan

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
"""The default percentage of readers in each time zone.

This is an assumption that roughly follows the number of Internet users.
https://data.worldbank.org/indicator/IT.NET.USER.ZS
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The readers and their events."""

    readers: int

    # Events per reader per day.
    events: float = 3

    # The share of events that are sent as immediate email.
    immediate: float = 0

    # The score of each event, if the stage has a minimum for daily digests.
    score: float = 3
    # The share of events that readers see in the app before an email shows them (entity.seen).
    seen: float = 0

    # The number of a reader's immediate events about one entity that occur within an hour.
    burst: int = 1

    # The hour of the digest, in the reader's time zone.
    hour: int = 8

    # The share of readers who chose the first minute of the hour. Other readers get one of the six
    # slots of the hour.
    on_the_hour: float = 0

    # The share of readers by time zone, in any unit.
    zones: Mapping[str, float] = field(default_factory=lambda: WORLD)

    @property
    def unseen(self) -> float:
        """The events per reader and day that emails show."""
        return self.events * (1 - self.seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The SES account of a simulation."""

    # Emails per second.
    rate: float

    # Emails per 24 hours, or None without a limit.
    daily: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The settings of a stage that affect sending."""

    # The rate plan for both streams together.
    plan: PacePlan

    immediate_share: int
    shards: int
    spread: timedelta
    max_lateness: timedelta

    # The time for which the first immediate email about an entity collects events.
    collapse: timedelta

    # The time after which all events that an immediate email collected can be read.
    hold: timedelta

    # The minimum score of a daily digest and the longest wait in days, or None.
    worth: tuple[float, int] | None

    # The quiet hours of the stage, or None.
    quiet_hours: QuietHours | None = None

    # True if the stage limits the immediate emails of a reader.
    limited: bool = False

    # The size of each function, by name.
    sizes: Mapping[str, Size]

    # The memory of generate in MB.
    memory: int = MORE_MEMORY

    # Delivery events per email.
    reports: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The inputs of a simulation."""

    traffic: Traffic
    account: Account
    installation: Installation

    # The first day, in UTC.
    begin: date

    days: int = 1

    # The service that each digest queries, or None.
    service: ServicePlan | None = None

    seed: int = 1
