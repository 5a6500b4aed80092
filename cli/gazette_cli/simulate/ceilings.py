"""The limits of a stage, and the share of each limit that is used at the busiest time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from gazette.domain.delivery.pace import (
    MAX_RATE,
    Pace,
    Quota,
    full_rate,
)
from gazette.domain.delivery.streams import divided
from gazette.domain.scheduling.quiet import JITTER

from gazette_cdk.concurrency import READERS_A_SHARD, TEN_EVENTS, TEN_REPORTS, Size
from gazette_cli.cost.actions import PARTITIONS, WRITES
from gazette_cli.simulate.engine.times import A_SLOT, Times
from gazette_cli.simulate.forecast import Forecast

_HOUR, _DAY = 3600.0, 86_400.0
_SLOTS_AN_HOUR = 6
_TEN = 10
_UNEVEN = 2
"""The ratio of the peak event rate to the average event rate, as in settings.concurrency. The rate
of emails has no peak.
"""

A_PARTITION = 1000
"""The maximum write units per second of a partition key.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """A limit, and the load at the busiest time."""

    name: str

    # The load at the busiest time, in `unit`.
    load: float

    # The limit, in `unit`.
    limit: float

    unit: str

    # The action that raises the limit.
    to_do: str

    @property
    def multiple(self) -> float:
        """The factor by which the load can grow until the limit is reached, or infinity if there is
        no load.
        """
        return self.limit / self.load if self.load else inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """The load on each part of a stage at its busiest time."""

    # Digests due in the busiest hour.
    hour: float

    # Digests due in the busiest slot.
    slot: float

    # Schedules due in the busiest slot.
    schedules: float

    # Immediate emails per second. After quiet hours, those that waited are added.
    immediate: float

    # Events per second.
    events: float

    emails_a_day: float

    @property
    def digests(self) -> float:
        """The digests per second in the busiest hour."""
        return self.hour / _HOUR

    @property
    def emails(self) -> float:
        """The emails per second of both streams."""
        return self.digests + self.immediate


def peaks(forecast: Forecast) -> Peaks:
    """Compute the peaks from all digests that are due, including digests that are not sent."""
    slots = [0.0] * int(forecast.question.days * _DAY / A_SLOT)
    for due, number in forecast.due.items():
        slots[int(due // A_SLOT)] += number
    schedules = sum(forecast.due.values()) + forecast.quiet
    digests = sum(forecast.due.values())
    hours = (sum(slots[at : at + _SLOTS_AN_HOUR]) for at in range(len(slots)))
    traffic = forecast.question.traffic
    after_quiet = max(forecast.after_quiet.values(), default=0) / JITTER.total_seconds()
    events = traffic.readers * traffic.events / _DAY
    return Peaks(
        hour=max(hours, default=0),
        slot=max(slots, default=0),
        schedules=max(slots, default=0) * (schedules / digests if digests else 0),
        immediate=events
        * (1 - traffic.seen)
        * traffic.immediate
        * forecast.emails_per_immediate_event
        + after_quiet,
        events=events,
        emails_a_day=(digests + forecast.first_at_once) / forecast.question.days,
    )


def ceilings(forecast: Forecast, times: Times | None = None) -> list[Ceiling]:
    """Return all limits. The limit that is reached first is at the top."""
    return sorted(
        _ceilings(
            forecast,
            peaks(forecast),
            times or Times().with_memory(forecast.question.installation.memory),
        ),
        key=lambda one: one.multiple,
    )


def _ceilings(forecast: Forecast, peak: Peaks, times: Times) -> Iterator[Ceiling]:
    yield from _of_sending(forecast, peak)
    yield from _of_functions(forecast, peak, times)
    yield from _of_tables(forecast, peak)
    if forecast.service and (plan := forecast.service.plan):
        yield Ceiling(
            name="the service",
            load=peak.digests,
            limit=plan.most * plan.each,
            unit="requests per second",
            to_do="add instances (--service-most)",
        )


def _of_sending(forecast: Forecast, peak: Peaks) -> Iterator[Ceiling]:
    account, plan = forecast.question.account, forecast.question.installation.plan
    shares = divided(forecast.question.installation.immediate_share)
    pace = Pace(quota=Quota(rate=account.rate), quota_at=forecast.begin)
    digests = full_rate(pace, replace(plan, share=shares.digest))
    immediate = full_rate(pace, replace(plan, share=shares.immediate))
    more = "raise the SES sending rate and emails_per_second"
    yield Ceiling(
        name="rate of digests",
        load=peak.digests,
        limit=digests,
        unit="emails per second",
        to_do=f"{more}, or lower immediate_share",
    )
    yield Ceiling(
        name="rate of immediate emails",
        load=peak.immediate,
        limit=immediate,
        unit="emails per second",
        to_do=f"{more}, or raise immediate_share",
    )
    yield Ceiling(
        name="SES sending rate",
        load=peak.emails,
        limit=account.rate,
        unit="emails per second",
        to_do="request a higher sending rate from AWS",
    )
    if account.daily is not None:
        yield Ceiling(
            name="SES daily quota",
            load=peak.emails_a_day,
            limit=account.daily,
            unit="emails in 24 hours",
            to_do="request a higher daily quota from AWS",
        )
    if (cap := plan.cap_on(forecast.question.begin)) is not None:
        yield Ceiling(
            name="warm-up",
            load=peak.emails_a_day,
            limit=cap,
            unit="emails per day",
            to_do="wait until the cap has grown (it doubles daily), or begin with fewer readers",
        )


def _of_functions(forecast: Forecast, peak: Peaks, times: Times) -> Iterator[Ceiling]:
    installation = forecast.question.installation
    sizes = installation.sizes
    at_once = min(installation.shards, sizes["fanout"].concurrency)
    yield Ceiling(
        name="fan-out",
        load=peak.schedules,
        limit=at_once * READERS_A_SHARD,
        unit="due schedules in a slot",
        to_do="add shards"
        if installation.shards <= sizes["fanout"].concurrency
        else "raise the concurrency of fanout",
    )
    asking = forecast.service.plan.latency if forecast.service else 0.0
    for name, load, waits in (
        ("generate", peak.digests, asking),
        ("immediate", peak.immediate, 0.0),
    ):
        yield Ceiling(
            name=f"concurrency of {name}",
            load=load,
            limit=_emails_a_second(sizes[name], times, waits=waits),
            unit="emails per second",
            to_do=f"raise emails_per_second, or raise the concurrency of {name}",
        )
    for name, load, ten in (
        ("ingest", peak.events * _UNEVEN, TEN_EVENTS),
        ("feedback", peak.emails * installation.reports, TEN_REPORTS),
    ):
        yield Ceiling(
            name=f"concurrency of {name}",
            load=load,
            limit=sizes[name].concurrency * _TEN / ten,
            unit="messages per second",
            to_do=f"raise the concurrency of {name}",
        )


def _emails_a_second(size: Size, times: Times, *, waits: float) -> float:
    """Return the emails per second that workers can send if they never wait for permits.

    `waits` is the response time of the service in seconds while it is not overloaded.
    """
    duration = times.start + times.prepare + (size.batch - 1) * times.more + waits + times.send
    return size.concurrency * size.batch / duration


def _of_tables(forecast: Forecast, peak: Peaks) -> Iterator[Ceiling]:
    yield Ceiling(
        name="pace row",
        load=peak.emails,
        limit=MAX_RATE,
        unit="emails per second",
        to_do="move some readers to a second stage",
    )
    of_index = 2
    yield Ceiling(
        name="partitions of a batch",
        load=peak.slot * of_index / A_SLOT,
        limit=PARTITIONS * A_PARTITION,
        unit="write units per second",
        to_do="move some readers to a second stage",
    )
    each = (WRITES["a due schedule, in fan-out"] - 3) / A_SLOT
    yield Ceiling(
        name="partitions of the due index",
        load=peak.schedules * each,
        limit=forecast.question.installation.shards * A_PARTITION,
        unit="write units per second",
        to_do="add shards",
    )
