"""What a forecast says, in sentences and rows, and as a document."""

from cli.shared.answers import NOTHING, Document, Rows, Shown
from cli.simulate.ceilings import Ceiling
from cli.simulate.outcome import ALL, Outcome

_MINUTE = 60
_TEN = 10


def last_line(told: Outcome) -> str:
    """The sum, for whoever compares runs."""
    return (
        f"simulate: readers={told.readers} emails={told.emails} in_hour={told.in_hour:.4f} "
        f"usd={told.dollars['total']:.2f} peak_mb={told.peak_mb:.0f} wall_s={told.wall_s:.0f}"
    )


def sentences(told: Outcome) -> list[str]:
    """The answers, the most important first."""
    found = [_on_time(told), _first_to_break(told.ceilings[0])]
    for number, what in (
        (told.too_late, "are skipped as too late (max_lateness)"),
        (told.over_cap, "are skipped because the day's cap is used up"),
        (told.failed, "fail, refused by SES six times"),
    ):
        if number:
            found.append(f"{number:,} emails {what}.")
    dollars = told.dollars
    found.append(
        f"A month of such days, with the emails that go out, costs ${dollars['total']:,.0f}: "
        f"SES ${dollars['ses']:,.0f}, what else grows with use ${dollars['grows']:,.0f}, "
        f"fixed ${dollars['fixed']:,.0f}."
    )
    return found


def _on_time(told: Outcome) -> str:
    if not told.due:
        return "No digest is due: nothing waits for any reader."
    return (
        f"{_verdict(told)}: {told.in_hour:.2%} of {told.due:,} digests go out in the hour that "
        f"their readers chose, and {told.soon_after:.2%} in the ten minutes after it. "
        f"The last one that goes out: {told.last_at:%Y-%m-%d %H:%M} UTC."
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
    return "Nearly" if told.in_hour + told.soon_after >= ALL else "No"


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
