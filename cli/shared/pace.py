"""How fast a stream of email goes out, and why it is stopped, for people and for programs."""

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading

from cli.shared.answers import Document, moment
from cli.shared.console import printable


def stream(pace: PaceReading) -> Document:
    """The rate of a stream, and why it is stopped, for programs."""
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
    """Whether a stream goes out, in a word."""
    if breaker is None:
        return "sending"
    return "stopped by hand" if breaker.by_hand else "stopped automatically"


def pace_text(pace: PaceReading) -> str:
    """The rate of all digests together, and why they are stopped, if they are."""
    stopped = f"; {stopped_text(pace.breaker)}" if pace.breaker else ""
    return f"{rate_text(pace)}{stopped}"


def rate_text(pace: PaceReading) -> str:
    """How fast a stream goes, and what it has of the day."""
    of = "" if pace.rate == pace.full_rate else f" of {pace.full_rate:g}"
    cap = "" if pace.cap is None else f" of {pace.cap}, the cap of a new sending domain"
    quota = ""
    if pace.quota and pace.quota.daily is not None and pace.quota.left is not None:
        left, daily = pace.quota.left, pace.quota.daily
        quota = f"; {left:,} left for it of the account's {daily:,} in 24 hours"
    return f"at most {pace.rate:g}{of} emails a second; {pace.taken}{cap} today (UTC){quota}"


def stopped_text(breaker: OpenBreaker) -> str:
    """Why nothing is sent, since when, and when the next email is tried."""
    how = "by hand" if breaker.by_hand else "automatically"
    why = f" ({printable(breaker.why)})" if breaker.why else ""
    return f"stopped {how} since {moment(breaker.since)}{why}: {next_try(breaker)}"


def next_try(breaker: OpenBreaker) -> str:
    """When the next email is tried."""
    if breaker.by_hand:
        return "none until you resume sending"
    if breaker.is_probed:
        return f"one email is being tried now, the next at {moment(breaker.until)} or later"
    return f"one email at {moment(breaker.until)} or later"
