"""What breaks first: how much of each limit the busiest time takes, and when it would not do."""

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
from gazette.settings.concurrency import READERS_A_SHARD, TEN_EVENTS, TEN_REPORTS, Size

from cli.cost.actions import PARTITIONS, WRITES
from cli.simulate.engine.times import A_SLOT, Times
from cli.simulate.forecast import Forecast

_HOUR, _DAY = 3600.0, 86_400.0
_SLOTS_AN_HOUR = 6
_TEN = 10
_UNEVEN = 2
"""Events come unevenly, as settings.concurrency leaves room for; emails go out evenly."""

A_PARTITION = 1000
"""Write units a second of one partition key.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """A limit, and what the busiest time takes of it, both in `unit`. `to_do`: what raises it."""

    name: str
    load: float
    limit: float
    unit: str
    to_do: str

    @property
    def multiple(self) -> float:
        """At which multiple of this load it would not do; infinite where there is no load."""
        return self.limit / self.load if self.load else inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """The busiest times. Rates are a second; `hour` and `slot`: digests, and schedules due."""

    hour: float
    slot: float
    schedules: float
    immediate: float
    events: float
    emails_a_day: float

    @property
    def digests(self) -> float:
        """Digests a second for the busiest hour."""
        return self.hour / _HOUR

    @property
    def emails(self) -> float:
        """Emails a second, of both streams."""
        return self.digests + self.immediate


def peaks(found: Forecast) -> Peaks:
    """Of what came due, whatever became of it."""
    slots = [0.0] * int(found.question.days * _DAY / A_SLOT)
    for due, number in found.due.items():
        slots[int(due // A_SLOT)] += number
    schedules = sum(found.due.values()) + found.quiet
    digests = sum(found.due.values())
    hours = (sum(slots[at : at + _SLOTS_AN_HOUR]) for at in range(len(slots)))
    traffic = found.question.traffic
    events = traffic.readers * traffic.events / _DAY
    return Peaks(
        hour=max(hours, default=0),
        slot=max(slots, default=0),
        schedules=max(slots, default=0) * (schedules / digests if digests else 0),
        immediate=events * traffic.immediate,
        events=events,
        emails_a_day=(digests + found.at_once) / found.question.days,
    )


def ceilings(found: Forecast, times: Times | None = None) -> list[Ceiling]:
    """All of them, what breaks first at the top."""
    return sorted(_ceilings(found, peaks(found), times or Times()), key=lambda one: one.multiple)


def _ceilings(found: Forecast, peak: Peaks, times: Times) -> Iterator[Ceiling]:
    yield from _of_sending(found, peak)
    yield from _of_functions(found, peak, times)
    yield from _of_tables(found, peak)
    if found.service and (plan := found.service.plan):
        yield Ceiling(
            name="the service behind",
            load=peak.digests,
            limit=plan.most * plan.each,
            unit="requests a second",
            to_do="more instances (--service-most)",
        )


def _of_sending(found: Forecast, peak: Peaks) -> Iterator[Ceiling]:
    account, plan = found.question.account, found.question.installation.plan
    shares = divided(found.question.installation.immediate_share)
    pace = Pace(quota=Quota(rate=account.rate), quota_at=found.begin)
    digests = full_rate(pace, replace(plan, share=shares.digest))
    immediate = full_rate(pace, replace(plan, share=shares.immediate))
    more = "a higher sending rate of SES and emails_per_second"
    yield Ceiling(
        name="rate of digests",
        load=peak.digests,
        limit=digests,
        unit="emails a second",
        to_do=f"{more}, or a smaller immediate_share",
    )
    yield Ceiling(
        name="rate of immediate emails",
        load=peak.immediate,
        limit=immediate,
        unit="emails a second",
        to_do=f"{more}, or a larger immediate_share",
    )
    yield Ceiling(
        name="sending rate of SES",
        load=peak.emails,
        limit=account.rate,
        unit="emails a second",
        to_do="ask AWS for a higher sending rate",
    )
    if account.daily is not None:
        yield Ceiling(
            name="daily quota of SES",
            load=peak.emails_a_day,
            limit=account.daily,
            unit="emails in 24 hours",
            to_do="ask AWS for a larger daily quota",
        )
    if (cap := plan.cap_on(found.question.begin)) is not None:
        yield Ceiling(
            name="warm-up",
            load=peak.emails_a_day,
            limit=cap,
            unit="emails a day",
            to_do="wait: it doubles each day; or begin with fewer readers",
        )


def _of_functions(found: Forecast, peak: Peaks, times: Times) -> Iterator[Ceiling]:
    installation = found.question.installation
    sizes = installation.sizes
    at_once = min(installation.shards, sizes["fanout"].concurrency)
    yield Ceiling(
        name="fan-out",
        load=peak.schedules,
        limit=at_once * READERS_A_SHARD,
        unit="due schedules in a slot",
        to_do="more shards"
        if installation.shards <= sizes["fanout"].concurrency
        else "more concurrency of fanout",
    )
    asking = found.service.plan.latency if found.service else 0.0
    for name, load, waits in (
        ("generate", peak.digests, asking),
        ("immediate", peak.immediate, 0.0),
    ):
        yield Ceiling(
            name=f"concurrency of {name}",
            load=load,
            limit=_emails_a_second(sizes[name], times, waits=waits),
            unit="emails a second",
            to_do=f"emails_per_second, or more concurrency of {name}",
        )
    for name, load, ten in (
        ("ingest", peak.events * _UNEVEN, TEN_EVENTS),
        ("feedback", peak.emails * installation.reports, TEN_REPORTS),
    ):
        yield Ceiling(
            name=f"concurrency of {name}",
            load=load,
            limit=sizes[name].concurrency * _TEN / ten,
            unit="messages a second",
            to_do=f"more concurrency of {name}",
        )


def _emails_a_second(size: Size, times: Times, *, waits: float) -> float:
    """As many as the workers send where none waits for its permits.

    `waits`: seconds for the service behind, while it keeps up.
    """
    took = times.start + times.prepare + (size.batch - 1) * times.more + waits + times.send
    return size.concurrency * size.batch / took


def _of_tables(found: Forecast, peak: Peaks) -> Iterator[Ceiling]:
    yield Ceiling(
        name="row of the pace",
        load=peak.emails,
        limit=MAX_RATE,
        unit="emails a second",
        to_do="a second stage, for a part of the readers",
    )
    of_index = 2
    yield Ceiling(
        name="partitions of a batch",
        load=peak.slot * of_index / A_SLOT,
        limit=PARTITIONS * A_PARTITION,
        unit="write units a second",
        to_do="a second stage, for a part of the readers",
    )
    each = (WRITES["a due schedule, in fan-out"] - 3) / A_SLOT
    yield Ceiling(
        name="partitions of the due index",
        load=peak.schedules * each,
        limit=found.question.installation.shards * A_PARTITION,
        unit="write units a second",
        to_do="more shards",
    )
