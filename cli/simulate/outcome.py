"""What a forecast comes to: the figures that its answer is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from resource import RUSAGE_SELF, getrusage
from sys import platform

from cli.cost.bill import bill
from cli.cost.command import sums
from cli.cost.prices import Prices
from cli.cost.usage import Usage
from cli.simulate.ceilings import Ceiling, ceilings
from cli.simulate.forecast import Forecast

_MONTH = 30
ALL = 0.999
"""Of the digests of a day, the share that counts as all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue: the most messages that waited, when that was, and how long any waited in a row."""

    name: str
    most: int
    at: datetime
    minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The figures. Delays are in seconds: of digests since they were due, of immediate emails since
    their event. `dollars`: of a month, by part. `peak_mb`, `wall_s`: of the simulation itself.
    """

    found: Forecast
    readers: int
    digests: int
    immediate: int
    due: int
    in_hour: float
    soon_after: float
    digest_delay: tuple[float, float]
    immediate_delay: float
    too_late: int
    over_cap: int
    refused: int
    failed: int
    requeues_per_email: float
    last_at: datetime
    queues: Sequence[Queue]
    ceilings: Sequence[Ceiling]
    dollars: dict[str, float]
    write_units: int
    peak_mb: float
    wall_s: float

    @property
    def emails(self) -> int:
        """Emails of both streams."""
        return self.digests + self.immediate

    @property
    def is_on_time(self) -> bool:
        """Whether everyone gets the digest in their hour."""
        return self.in_hour >= ALL


def outcome(found: Forecast, usage: Usage, prices: Prices, *, wall_s: float) -> Outcome:
    """What came of it. `usage`: with the settings of the stage, and nothing that was simulated."""
    tally = found.tally
    digests, immediate = tally.sent["digest"], tally.sent["immediate"]
    due = sum(found.due.values())
    late = tally.late["digest"]
    emails = digests + immediate
    requeues = sum(tally.requeued.values()) / emails if emails else 0.0
    return Outcome(
        found=found,
        readers=found.question.traffic.readers,
        digests=digests,
        immediate=immediate,
        due=due,
        in_hour=tally.in_time / due if due else 1.0,
        soon_after=tally.soon_after / due if due else 0.0,
        digest_delay=(late.percentile(0.5), late.percentile(0.99)),
        immediate_delay=tally.late["immediate"].percentile(0.99),
        too_late=tally.skipped["too_late"],
        over_cap=tally.skipped["daily_cap"],
        refused=tally.refused,
        failed=tally.skipped["failed"],
        requeues_per_email=requeues,
        last_at=found.begin + timedelta(seconds=tally.last_at),
        queues=[_queue(found, name, depths) for name, depths in found.depths.by_minute.items()],
        ceilings=ceilings(found),
        dollars=sums(bill(_month(found, usage, requeues), prices)),
        write_units=sum(found.writes.values()),
        peak_mb=_peak_mb(),
        wall_s=wall_s,
    )


def _month(found: Forecast, usage: Usage, requeues: float) -> Usage:
    """The simulated days, thirty of them."""
    traffic, tally, days = found.question.traffic, found.tally, found.question.days
    digests = tally.sent["digest"]
    return replace(
        usage,
        readers=traffic.readers,
        events=traffic.events,
        immediate=traffic.immediate,
        digests=digests / traffic.readers / days,
        quiet=min(1.0, found.quiet / digests) if digests else 0,
        days=_MONTH,
        digests_together=_together(found, "generate", digests),
        immediate_together=_together(found, "immediate", tally.sent["immediate"]),
        requeues=requeues,
    )


def _together(found: Forecast, name: str, emails: int) -> int:
    """Emails of an invocation that sends, as the simulation made them."""
    invoked = found.tally.sending[name]
    return max(1, round(emails / invoked)) if invoked else 1


def _queue(found: Forecast, name: str, depths: Sequence[int]) -> Queue:
    most = max(depths, default=0)
    longest = now = 0
    for depth in depths:
        now = now + 1 if depth else 0
        longest = max(longest, now)
    at = found.begin + timedelta(minutes=depths.index(most) if depths else 0)
    return Queue(name=name, most=most, at=at, minutes=longest)


def _peak_mb() -> float:
    """Of this process, since it began. https://man7.org/linux/man-pages/man2/getrusage.2.html"""
    unit = 1024**2 if platform == "darwin" else 1024
    return getrusage(RUSAGE_SELF).ru_maxrss / unit
