"""The key figures of a simulation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from resource import RUSAGE_SELF, getrusage
from sys import platform

from gazette_cli.cost.bill import bill
from gazette_cli.cost.command import sums
from gazette_cli.cost.prices import Prices
from gazette_cli.cost.usage import Sending, Usage
from gazette_cli.simulate.ceilings import Ceiling, ceilings
from gazette_cli.simulate.forecast import Forecast

_MONTH = 30
ALL = 0.999
"""The minimum share of on-time digests for the result that all digests are on time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The load of a queue in a simulation."""

    name: str

    # The largest number of waiting messages.
    most: int

    # The time at which the number was largest.
    at: datetime

    # The longest time in minutes for which the queue was not empty.
    minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The key figures of a simulation."""

    forecast: Forecast
    readers: int

    # Digests and immediate emails that were sent.
    digests: int
    immediate: int

    # Digests that were due.
    due: int

    # The shares of due digests that were sent in the chosen hour, and in the ten minutes after that
    # hour.
    in_hour: float
    soon_after: float

    # The median and the 99th percentile of the delay since the due time, in seconds.
    digest_delay: tuple[float, float]

    # The 99th percentile of the delay since the event, in seconds.
    immediate_delay: float

    # Emails that were skipped because of max_lateness.
    too_late: int

    # Emails that were skipped because of the daily cap.
    over_cap: int

    # Digests that were skipped because of their low score.
    skips: int

    # Temporary rejections.
    refused: int

    # Emails that failed because they were rejected too often.
    failed: int

    requeues_per_email: float

    # The time at which the last digest was sent.
    last_at: datetime

    queues: Sequence[Queue]
    ceilings: Sequence[Ceiling]

    # The cost per month by part.
    dollars: dict[str, float]

    write_units: int

    # The memory and the duration of the simulation itself.
    peak_mb: float
    wall_s: float

    @property
    def emails(self) -> int:
        """The number of emails in both streams (digests and immediate emails)."""
        return self.digests + self.immediate

    @property
    def is_on_time(self) -> bool:
        """True if all digests are sent in the hour that their readers chose."""
        return self.in_hour >= ALL


def outcome(forecast: Forecast, usage: Usage, prices: Prices, *, wall_s: float) -> Outcome:
    """Compute the figures of a simulation. `usage` provides the settings of the stage."""
    tally = forecast.tally
    digests, immediate = tally.sent["digest"], tally.sent["immediate"]
    due = sum(forecast.due.values())
    late = tally.late["digest"]
    emails = digests + immediate
    requeues = sum(tally.requeued.values()) / emails if emails else 0.0
    return Outcome(
        forecast=forecast,
        readers=forecast.question.traffic.readers,
        digests=digests,
        immediate=immediate,
        due=due,
        in_hour=tally.in_time / due if due else 1.0,
        soon_after=tally.soon_after / due if due else 0.0,
        digest_delay=(late.percentile(0.5), late.percentile(0.99)),
        immediate_delay=tally.late["immediate"].percentile(0.99),
        too_late=tally.skipped["too_late"],
        over_cap=tally.skipped["daily_cap"],
        skips=forecast.skips,
        refused=tally.refused,
        failed=tally.skipped["failed"],
        requeues_per_email=requeues,
        last_at=forecast.begin + timedelta(seconds=tally.last_at),
        queues=[
            _queue(forecast, name, depths) for name, depths in forecast.depths.by_minute.items()
        ],
        ceilings=ceilings(forecast),
        dollars=sums(bill(_month(forecast, usage), prices)),
        write_units=sum(forecast.writes.values()),
        peak_mb=_peak_mb(),
        wall_s=wall_s,
    )


def _month(forecast: Forecast, usage: Usage) -> Usage:
    """Scale the figures of the simulated days to thirty days."""
    traffic, tally, days = forecast.question.traffic, forecast.tally, forecast.question.days
    digests = tally.sent["digest"]
    return replace(
        usage,
        readers=traffic.readers,
        events=traffic.events,
        immediate=traffic.immediate * forecast.emails_per_immediate_event,
        digests=digests / traffic.readers / days,
        # A skipped digest costs about as much as a schedule without a waiting event.
        quiet=min(1.0, (forecast.quiet + forecast.skips) / digests) if digests else 0,
        quiet_share=forecast.quiet_waits / forecast.first_at_once if forecast.quiet_waits else 0,
        days=_MONTH,
        digests_sent=_sent(forecast, "generate", "digest", usage.digests_sent),
        immediate_sent=_sent(forecast, "immediate", "immediate", usage.immediate_sent),
    )


def _sent(forecast: Forecast, queue: str, stream: str, otherwise: Sending) -> Sending:
    """Return how the simulation sent the emails of a stream. Invocations that send no email do not
    count as invocations, but their duration counts. Returns `otherwise` if no email was sent.
    """
    tally = forecast.tally
    emails, invoked = tally.sent[stream], tally.sending[queue]
    if not emails or not invoked:
        return otherwise
    return Sending(
        together=max(1.0, emails / invoked),
        seconds=tally.billed[queue] / emails,
        requeues=tally.requeued[stream] / emails,
        share_reads=otherwise.share_reads,
    )


def _queue(forecast: Forecast, name: str, depths: Sequence[int]) -> Queue:
    most = max(depths, default=0)
    longest = now = 0
    for depth in depths:
        now = now + 1 if depth else 0
        longest = max(longest, now)
    at = forecast.begin + timedelta(minutes=depths.index(most) if depths else 0)
    return Queue(name=name, most=most, at=at, minutes=longest)


def _peak_mb() -> float:
    """Return the peak memory of this process.

    https://man7.org/linux/man-pages/man2/getrusage.2.html
    """
    unit = 1024**2 if platform == "darwin" else 1024
    return getrusage(RUSAGE_SELF).ru_maxrss / unit
