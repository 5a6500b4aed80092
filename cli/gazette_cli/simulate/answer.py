"""The output of a simulation, as sentences, rows and JSON."""

from gazette.adapters.console.style import Tone

from gazette_cli.shared.answers import NOTHING, Document, Rows, Shown
from gazette_cli.shared.pages.look import Conclusion
from gazette_cli.simulate.ceilings import Ceiling
from gazette_cli.simulate.outcome import ALL, Outcome

_ON_TIME = {
    "Yes": ("On time", Tone.GOOD),
    "Nearly": ("Nearly on time", Tone.NEUTRAL),
    "No": ("Not on time", Tone.BAD),
}
"""The words and the tone of each verdict."""

_MINUTE = 60
_TEN = 10


def last_line(result: Outcome) -> str:
    """Return one line with the main figures, to compare simulations."""
    return (
        f"simulate: readers={result.readers} emails={result.emails} in_hour={result.in_hour:.4f} "
        f"usd={result.dollars['total']:.2f} peak_mb={result.peak_mb:.0f} wall_s={result.wall_s:.0f}"
    )


def sentences(result: Outcome) -> list[str]:
    """Return the results as sentences, with the most important first."""
    lines = [_on_time(result), _first_to_break(result.ceilings[0])]
    for number, what in (
        (result.too_late, "are skipped as too late (max_lateness)"),
        (result.over_cap, "are skipped because the daily cap is used up"),
        (result.skips, "wait for more events because of their low score (digest_worth)"),
        (result.failed, "fail because SES rejects them six times"),
    ):
        if number:
            lines.append(f"{number:,} emails {what}.")
    dollars = result.dollars
    lines.append(
        f"A month of such days costs ${dollars['total']:,.0f}: SES ${dollars['ses']:,.0f}, other "
        f"variable cost ${dollars['grows']:,.0f}, fixed cost ${dollars['fixed']:,.0f}."
    )
    return lines


def conclusion(result: Outcome) -> Conclusion:
    """Return the conclusion of the page, with the other sentences as its details."""
    details = sentences(result)[1:]
    if not result.due:
        return Conclusion(_on_time(result), Tone.NEUTRAL, details)
    words, tone = _ON_TIME[_verdict(result)]
    text = f"{words}: {result.in_hour:.2%} of digests are sent in the chosen hour"
    then = (
        f"{result.soon_after:.2%} of digests are sent in the ten minutes after that hour. The last "
        f"digest is sent at {result.last_at:%Y-%m-%d %H:%M} UTC."
    )
    return Conclusion(text, tone, [then, *details])


def _on_time(result: Outcome) -> str:
    if not result.due:
        return "No digest is due, because no reader has waiting events."
    return (
        f"{_verdict(result)}: {result.in_hour:.2%} of {result.due:,} digests are sent in the "
        f"hour that their readers chose, and {result.soon_after:.2%} in the ten minutes after "
        f"that hour. The last digest is sent at {result.last_at:%Y-%m-%d %H:%M} UTC."
    )


def _first_to_break(first: Ceiling) -> str:
    if not first.load:
        return "No limit is reached because there is no load."
    return (
        f"First limit: {first.name}, at {first.multiple:,.2f} times this load "
        f"({_short(first.load)} of {_short(first.limit)} {first.unit}). To raise this limit, "
        f"{first.to_do}."
    )


def _short(number: float) -> str:
    """Format a number. Only small numbers have decimals."""
    return f"{number:,.0f}" if number >= _TEN else f"{number:.2g}"


def _verdict(result: Outcome) -> str:
    if result.is_on_time:
        return "Yes"
    return "Nearly" if result.in_hour + result.soon_after >= ALL else "No"


def figures(result: Outcome) -> list[tuple[str, str]]:
    """Return the names and values of the key figures. Each has one value."""
    half, most = result.digest_delay
    lines = [
        ("readers", f"{result.readers:,}"),
        ("digests due", f"{result.due:,}"),
        ("digests sent", f"{result.digests:,}"),
        ("immediate emails sent", f"{result.immediate:,}"),
        ("digests sent in the chosen hour", f"{result.in_hour:.2%}"),
        ("delay of a digest, median", _span(half)),
        ("delay of a digest, 99th percentile", _span(most)),
        ("delay of an immediate email, 99th percentile", _span(result.immediate_delay)),
        ("requeues per email", f"{result.requeues_per_email:.2f}"),
        ("temporary rejections by SES", f"{result.refused:,}"),
        ("write units", f"{result.write_units:,}"),
        ("cost per month", f"${result.dollars['total']:,.2f}"),
    ]
    service = result.forecast.service
    if service:
        lines += [
            ("requests to the service", f"{service.total:,}"),
            ("requests to the service per second, at most", f"{service.peak:,}"),
            ("requests to the service that timed out", f"{service.failed:,}"),
            ("times that the service scaled up", f"{service.ups:,}"),
            ("times that the service scaled down", f"{service.downs:,}"),
            ("overload of the service, in seconds", f"{service.overloaded:,}"),
        ]
    return lines


def _span(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"


def ceiling_rows(result: Outcome) -> Rows:
    """Return one row for each limit. The limit that is reached first is at the top."""
    return Rows(
        "ceilings",
        {
            "name": "resource",
            "multiple": "reached at this multiple of the load",
            "load": "load",
            "limit": "limit",
            "unit": "unit",
            "to_do": "to raise the limit",
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
            for each in result.ceilings
        ],
    )


def queue_rows(result: Outcome) -> Rows:
    """Return one row for each queue."""
    columns = {
        "queue": "queue",
        "most_messages": "peak messages",
        "at": "time of peak",
        "minutes_in_use": "longest time in use (minutes)",
    }
    rows = [
        (each.name, Shown(each.most, f"{each.most:,}"), each.at, each.minutes)
        for each in result.queues
    ]
    return Rows("queues", columns, rows)


def document(result: Outcome) -> Document:
    """Return the JSON output."""
    half, most = result.digest_delay
    service = result.forecast.service
    return {
        "readers": result.readers,
        "emails": result.emails,
        "digests": result.digests,
        "immediate": result.immediate,
        "due": result.due,
        "in_hour": result.in_hour,
        "soon_after": result.soon_after,
        "on_time": result.is_on_time,
        "digest_delay_p50": half,
        "digest_delay_p99": most,
        "immediate_delay_p99": result.immediate_delay,
        "too_late": result.too_late,
        "over_cap": result.over_cap,
        "skips": result.skips,
        "refused": result.refused,
        "failed": result.failed,
        "requeues_per_email": result.requeues_per_email,
        "last_at": result.last_at,
        "queues": queue_rows(result).document,
        "ceilings": ceiling_rows(result).document,
        "service": service
        and {
            "requests": service.total,
            "most_a_second": service.peak,
            "timed_out": service.failed,
            "scaled_up": service.ups,
            "scaled_down": service.downs,
            "seconds_overloaded": service.overloaded,
        },
        "write_units": dict(result.forecast.writes),
        "dollars": result.dollars,
        "peak_mb": result.peak_mb,
        "wall_s": result.wall_s,
    }


def _multiple(each: Ceiling) -> Shown:
    """Return the multiple of the load, or None for infinity, which JSON does not support."""
    return Shown(each.multiple, f"{each.multiple:,.2f}") if each.load else Shown(None, NOTHING)
