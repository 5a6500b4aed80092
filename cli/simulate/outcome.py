"""What a forecast says, in figures, sentences and rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from resource import RUSAGE_SELF, getrusage
from sys import platform

from cli.cost.bill import bill
from cli.cost.command import sums
from cli.cost.prices import Prices
from cli.cost.usage import Usage
from cli.shared.answers import NOTHING, Document, Rows, Shown
from cli.simulate.ceilings import Ceiling, ceilings
from cli.simulate.forecast import Forecast

_MONTH = 30
_MINUTE = 60
_TEN = 10
_ALL = 0.999
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
        return self.in_hour >= _ALL


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


def last_line(told: Outcome) -> str:
    """The sum, for whoever compares runs."""
    return (
        f"simulate: readers={told.readers} emails={told.emails} in_hour={told.in_hour:.4f} "
        f"usd={told.dollars['total']:.2f} peak_mb={told.peak_mb:.0f} wall_s={told.wall_s:.0f}"
    )


def sentences(told: Outcome) -> list[str]:
    """The answers, the most important first."""
    dollars = told.dollars
    found = [
        _on_time(told),
        _first_to_break(told.ceilings[0]),
        (
            f"A month costs ${dollars['total']:,.0f}: SES ${dollars['ses']:,.0f}, what else "
            f"grows with use ${dollars['grows']:,.0f}, fixed ${dollars['fixed']:,.0f}."
        ),
    ]
    for number, what in (
        (told.too_late, "are skipped as too late (max_lateness)"),
        (told.over_cap, "are skipped because the day's cap is used up"),
        (told.failed, "fail, refused by SES six times"),
    ):
        if number:
            found.append(f"{number:,} emails {what}.")
    return found


def _on_time(told: Outcome) -> str:
    if not told.due:
        return "No digest is due: nothing waits for any reader."
    return (
        f"{_verdict(told)}: {told.in_hour:.1%} of {told.due:,} digests go out in the hour that "
        f"their readers chose, and {told.soon_after:.1%} in the ten minutes after it. "
        f"The last one: {told.last_at:%Y-%m-%d %H:%M} UTC."
    )


def _first_to_break(first: Ceiling) -> str:
    if not first.load:
        return "Nothing breaks: there is no load."
    return (
        f"First to break: {first.name}, at {first.multiple:,.2f} times this load "
        f"({_short(first.load)} of {_short(first.limit)} {first.unit}). "
        f"What helps: {first.to_do}."
    )


def _short(number: float) -> str:
    """Whole, unless it is so small that this would say nothing."""
    return f"{number:,.0f}" if number >= _TEN else f"{number:.2g}"


def _verdict(told: Outcome) -> str:
    if told.is_on_time:
        return "Yes"
    return "Nearly" if told.in_hour + told.soon_after >= _ALL else "No"


def figures(told: Outcome) -> list[tuple[str, str]]:
    """Names and values, for people."""
    half, most = told.digest_delay
    found = [
        ("readers", f"{told.readers:,}"),
        ("emails", f"{told.emails:,} ({told.immediate:,} immediate)"),
        ("in their hour", f"{told.in_hour:.2%} of {told.due:,} digests"),
        ("delay of a digest", f"{_span(half)} (half), {_span(most)} (99 of 100)"),
        ("delay of an immediate email", f"{_span(told.immediate_delay)} (99 of 100)"),
        ("requeues of an email", f"{told.requeues_per_email:.2f}"),
        ("refused by SES for now", f"{told.refused:,}"),
        ("write units", f"{told.write_units:,}"),
        ("a month", f"${told.dollars['total']:,.2f}"),
    ]
    service = told.found.service
    if service:
        found += [
            ("requests to the service behind", f"{service.total:,}, at most {service.peak:,}/s"),
            ("… that timed out", f"{service.failed:,}"),
            ("… acts of its autoscaler", f"{service.ups} up, {service.downs} down"),
            ("… seconds overloaded", f"{service.overloaded:,}"),
        ]
    return found


def _span(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"


def ceiling_rows(told: Outcome) -> Rows:
    """What breaks first, at the top."""
    return Rows(
        "ceilings",
        {
            "name": "what breaks",
            "multiple": "at times this load",
            "load": "load",
            "limit": "limit",
            "unit": "unit",
            "to_do": "what helps",
        },
        [
            (
                each.name,
                _multiple(each),
                Shown(each.load, f"{each.load:,.1f}"),
                Shown(each.limit, f"{each.limit:,.0f}"),
                each.unit,
                each.to_do,
            )
            for each in told.ceilings
        ],
    )


def queue_rows(told: Outcome) -> Rows:
    """What the queues do."""
    columns = {
        "queue": "queue",
        "most_messages": "most messages",
        "at": "at",
        "minutes_in_use": "longest in use (minutes)",
    }
    rows = [
        (each.name, Shown(each.most, f"{each.most:,}"), each.at, each.minutes)
        for each in told.queues
    ]
    return Rows("queues", columns, rows)


def document(told: Outcome) -> Document:
    """For programs."""
    half, most = told.digest_delay
    service = told.found.service
    return {
        "readers": told.readers,
        "emails": told.emails,
        "digests": told.digests,
        "immediate": told.immediate,
        "due": told.due,
        "in_hour": told.in_hour,
        "soon_after": told.soon_after,
        "on_time": told.is_on_time,
        "digest_delay_p50": half,
        "digest_delay_p99": most,
        "immediate_delay_p99": told.immediate_delay,
        "too_late": told.too_late,
        "over_cap": told.over_cap,
        "refused": told.refused,
        "failed": told.failed,
        "requeues_per_email": told.requeues_per_email,
        "last_at": told.last_at,
        "queues": queue_rows(told).document,
        "ceilings": ceiling_rows(told).document,
        "service": service
        and {
            "requests": service.total,
            "most_a_second": service.peak,
            "timed_out": service.failed,
            "scaled_up": service.ups,
            "scaled_down": service.downs,
            "seconds_overloaded": service.overloaded,
        },
        "write_units": dict(told.found.writes),
        "dollars": told.dollars,
        "peak_mb": told.peak_mb,
        "wall_s": told.wall_s,
    }


def _multiple(each: Ceiling) -> Shown:
    """JSON has no infinity, and neither have people."""
    return Shown(each.multiple, f"{each.multiple:,.2f}") if each.load else Shown(None, NOTHING)
