"""The sending rate of a stream, and the reason if the stream is stopped."""

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading
from gazette.steps.support.words import stops

from gazette_cli.shared.answers import Document
from gazette_cli.shared.console import printable


def stream(pace: PaceReading) -> Document:
    """Return the rate of a stream, and the reason if the stream is stopped, as JSON output."""
    breaker, quota = pace.breaker, pace.quota
    return {
        "state": state(breaker),
        "reason": breaker.why if breaker else None,
        "since": breaker.since if breaker else None,
        "next_try_at": breaker.until if breaker and not breaker.by_hand else None,
        "per_second": pace.rate,
        "at_most_per_second": pace.full_rate,
        "sent_today": pace.taken,
        "daily_cap": pace.cap,
        "quota": quota.daily if quota else None,
        "quota_left": quota.left if quota else None,
    }


def state(breaker: OpenBreaker | None) -> str:
    """Return the state of a stream in a few words."""
    if breaker is None:
        return "sending"
    return "stopped manually" if breaker.by_hand else "stopped automatically"


def pace_text(pace: PaceReading) -> str:
    """Describe the rate of a stream, and the reason if the stream is stopped."""
    stopped = f"; {stopped_text(pace.breaker)}" if pace.breaker else ""
    return f"{rate_text(pace)}{stopped}"


def rate_text(pace: PaceReading) -> str:
    """Describe the rate of a stream, and the used part of the daily limit."""
    of = "" if pace.rate == pace.full_rate else f" of {pace.full_rate:g}"
    cap = "" if pace.cap is None else f" of {pace.cap}, the cap of a new sending domain"
    quota = ""
    if pace.quota and pace.quota.daily is not None and pace.quota.left is not None:
        remaining, daily = pace.quota.left, pace.quota.daily
        quota = f"; {remaining:,} of its share of the account's {daily:,} per 24 hours remain"
    return f"at most {pace.rate:g}{of} emails per second; {pace.taken}{cap} today (UTC){quota}"


def stopped_text(breaker: OpenBreaker) -> str:
    """Describe when and why a stream was stopped, on one line of a terminal."""
    return printable(stops.stopped_text(breaker))
